#pragma once
// The kernel of filter_kernel.cuh for noise that is not white, and its launch.

#include "bm3d/cuda/filter/coloured_group.cuh"
#include "bm3d/cuda/filter/filter_kernel.cuh"

namespace lull::bm3d::filter_detail {

/// Weights are told from each other in steps of 1 / weight_scale.
inline constexpr float least_weight = 4 / weight_scale;

struct ColouredArgs : KernelArgs {
  CovarianceViews covariances;

  /// Transforms, shrinks and weighs a group: its weight.
  template <bool second_phase, int S, class Transform2d, class GroupTransform, Staging staging>
  __device__ __forceinline__ float shrink(const Work& work,
                                          const Operands<Transform2d, GroupTransform>& operands,
                                          const NoiseScale<S, GroupTransform>& noise,
                                          const int (&offset)[S][2], int pitch,
                                          const GroupHead& head, int lane,
                                          Spectrum<S>& spectrum) const {
    const CovarianceView& shared = covariances[work.plane];
    const int log2_repeats = (S == 1 ? 4 : 5) - head.log2_count;
    group_ratios<second_phase, S, GroupTransform>(shared, head.displacement, head.log2_count, lane,
                                                  spectrum);
    Slots patches[S];
    const auto transform = [&](const std::uint32_t* tile, const float* plane) {
      const int column = 2 * (lane & 3);
      const Samples<staging> samples{staging == Staging::shared
                                         ? static_cast<const void*>(tile + column)
                                         : static_cast<const void*>(plane + work.start + column),
                                     pitch, work.level};
#pragma unroll
      for (int s = 0; s < S; ++s)
        transform_patches<Transform2d>(samples, offset[s], operands.rows, patches[s]);
    };
    const float sigma = filter.sigma[work.plane], repeats = static_cast<float>(1 << log2_repeats);
    float energy;
    if constexpr (!second_phase) {
      transform(work.noisy_tile, filter.noisy[work.plane]);
      energy = coloured_threshold<S, Transform2d>(
          patches, operands.group, strength.value * sigma * exp2f(0.5f * log2_repeats),
          strength.mean_factor, shared.own, noise, lane, spectrum);
    } else {
      transform(work.basic_tile, filter.basic[work.plane]);
      energy = coloured_factors<S, Transform2d>(patches, operands.group,
                                                strength.value * sigma * sigma * repeats,
                                                shared.own, noise, lane, spectrum);
      transform(work.noisy_tile, filter.noisy[work.plane]);
      apply_factors<S, GroupTransform>(patches, operands.group, spectrum);
    }
    // Sums have room for weights of 1 at most; hence the unit.
    return fminf(fmaxf(shared.unit * reciprocal(energy * repeats), least_weight), 1.0f);
  }
};

template <bool second_phase, class Transform2d>
void dispatch_coloured(const FilterArgs& filter, const CovarianceViews& covariances,
                       const PhaseParams& phase, const Strength& strength, cudaStream_t stream,
                       const cuda::DeviceLimits& device) {
  const Launch launch(work_of(filter, second_phase, true), filter, phase, strength, device);
  const ColouredArgs args{launch.args, covariances};
  const auto start = [&](void (*kernel)(ColouredArgs)) { launch.start(kernel, args, stream); };
  dispatch(phase, [&]<int S, class Across>(std::integral_constant<int, S>, Across) {
    if (launch.plan.staging == Staging::direct)
      return start(
          filter_kernel<second_phase, S, Transform2d, Across, Staging::direct, ColouredArgs>);
    if constexpr (std::is_same_v<Across, Haar>) {  // see plan_filter()
      if (launch.plan.staging == Staging::shared)
        start(filter_kernel<second_phase, S, Transform2d, Across, Staging::shared, ColouredArgs>);
      else
        start(filter_kernel<second_phase, S, Transform2d, Across, Staging::sums, ColouredArgs>);
    }
  });
}

}  // namespace lull::bm3d::filter_detail
