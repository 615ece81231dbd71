#pragma once
// Defines and launches the filter kernel (filter_kernel.cuh) for coloured noise.

#include "bm3d/cuda/filter/coloured_group.cuh"
#include "bm3d/cuda/filter/filter_kernel.cuh"

namespace lull::bm3d::filter_detail {

/// Minimum weight of a group. Weights are multiples of 1 / weight_scale.
inline constexpr float min_weight = 4 / weight_scale;

template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging>
class ColouredGroup;

struct ColouredArgs : KernelArgs {
  template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging>
  using Group = ColouredGroup<second_phase, M, Transform2d, GroupTransform, staging>;

  CovarianceViews covariances;
};

/// Filters a group with coloured noise, with the interface of class WhiteGroup.
template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging>
class ColouredGroup {
 public:
  static constexpr bool pairs_rows = false;
  static constexpr int S = M / 16;  // number of sets of 16 patches

  __device__ __forceinline__ ColouredGroup(const float* window, int lane)
      : operands_(window, lane), noise_(lane), lane_(lane) {}

  __device__ __forceinline__ float shrink(const ColouredArgs& a, const Work& work,
                                          const GroupHead& head, PatchOffset<staging> offset,
                                          int pitch) {
    const CovarianceView& shared = a.covariances[work.plane];
    const int log2_repeats = log2_slots(M) - head.log2_count;
    group_ratios<second_phase, S, GroupTransform>(shared, head.displacement, head.log2_count, lane_,
                                                  spectrum_);
    Slots patches[S];
    PatchOffset<staging> offsets[S][2];
    distribute_offsets<S>(offset, lane_, offsets);
    const auto transform = [&](const std::uint32_t* tile, const float* plane) {
      const int column = 2 * (lane_ & 3);
      const SlotSamples<staging> samples{
          staging == Staging::shared ? static_cast<const void*>(tile + column)
                                     : static_cast<const void*>(plane + work.start + column),
          pitch, work.level};
#pragma unroll
      for (int s = 0; s < S; ++s)
        transform_slots<Transform2d>(samples, offsets[s], operands_.rows, patches[s]);
    };
    const FilterArgs& f = a.filter;
    const float sigma = f.sigma[work.plane], repeats = static_cast<float>(1 << log2_repeats);
    float energy;
    if constexpr (!second_phase) {
      transform(work.noisy_tile, f.noisy[work.plane]);
      energy = coloured_threshold<S, Transform2d>(
          patches, operands_.group, a.strength.value * sigma * exp2f(0.5f * log2_repeats),
          a.strength.mean_factor, shared.own, noise_, lane_, spectrum_);
    } else {
      transform(work.basic_tile, f.basic[work.plane]);
      energy = coloured_factors<S, Transform2d>(patches, operands_.group,
                                                a.strength.value * sigma * sigma * repeats,
                                                shared.own, noise_, lane_, spectrum_);
      transform(work.noisy_tile, f.noisy[work.plane]);
      apply_factors<S, GroupTransform>(patches, operands_.group, spectrum_);
    }
    // The weight is at most 1, because the fixed-point sums have a limited range.
    return fminf(fmaxf(shared.unit * reciprocal(energy * repeats), min_weight), 1.0f);
  }

  template <class Offset, class Sum>
  __device__ __forceinline__ void aggregate(const FilterArgs& f, Offset offset, float weight,
                                            float level_offset, Sum* sums, int pitch) {
    Offset offsets[S][2];
    distribute_offsets<S>(offset, lane_, offsets);
    aggregate_group<S, Transform2d, GroupTransform, staging>(
        spectrum_, offsets, operands_, weight, Target<Sum>{sums, f.window, pitch, level_offset},
        lane_);
  }

 private:
  const SlotOperands<Transform2d, GroupTransform> operands_;
  const NoiseScale<S, GroupTransform> noise_;
  const int lane_;
  Spectrum<S> spectrum_;
};

template <bool second_phase, class Transform2d>
void dispatch_coloured(const FilterArgs& filter, const CovarianceViews& covariances,
                       const PhaseParams& phase, const Strength& strength, cudaStream_t stream,
                       const cuda::DeviceLimits& device) {
  const Launch launch(work_of(filter, second_phase, true), filter, phase, strength, device);
  const ColouredArgs args{launch.args, covariances};
  const auto start = [&](void (*kernel)(ColouredArgs)) { launch.start(kernel, args, stream); };
  dispatch(phase, true, [&]<int M, class Across>(std::integral_constant<int, M>, Across) {
    if constexpr (M >= 16) {
      if (launch.plan.staging == Staging::direct)
        return start(
            filter_kernel<second_phase, M, Transform2d, Across, Staging::direct, ColouredArgs>);
      if constexpr (std::is_same_v<Across, Haar>) {  // as in plan_filter()
        if (launch.plan.staging == Staging::shared)
          start(filter_kernel<second_phase, M, Transform2d, Across, Staging::shared, ColouredArgs>);
        else
          start(filter_kernel<second_phase, M, Transform2d, Across, Staging::sums, ColouredArgs>);
      }
    }
  });
}

}  // namespace lull::bm3d::filter_detail
