#pragma once
// The transforms of the filter kernels for coloured noise, step by step, and the data of each lane
// after each step. A warp transforms 16 patches at a time, which have the indices 0 to 15.

// In the steps below, g is lane / 4, and t is lane % 4.

// Step 1: Lane 4g + t loads columns 2t and 2t + 1 of the patches g and g + 8 from shared memory.

// Step 2, horizontal transform: A matrix product transforms two rows of 8 patches, and performs the
// first butterfly of the vertical transform. After all products, lane 4g + t has data of four
// patches: 2t, 2t + 1, 2t + 8 and 2t + 9. From each row of these patches, the lane has the
// coefficient with the horizontal frequency g.

// Step 3, vertical transform: Each lane computes the remaining butterflies in its own registers.

// Step 4, transform across the group: A matrix product transforms each patch coefficient across the
// group. Lane 4g + t then has coefficients with the horizontal frequency g: 8 patch coefficients,
// each for the group coefficients 2t, 2t + 1, 2t + 8 and 2t + 9.

// Step 5, inverse transform across the group: After a matrix product, lane 4g + t has coefficients
// of the patches g and g + 8. Their horizontal frequencies are 2t and 2t + 1.

// Step 6, inverse transforms of the patches: Each lane computes the butterflies of the vertical
// transform. A matrix product performs the last butterfly, the horizontal transform and the
// aggregation window.

// Groups of 32 members: The warp processes the 16 members with even indices and the 16 members with
// odd indices separately. The transform across the group begins with the sums and differences of
// members 2i and 2i + 1.

// Scales: The transforms scale patches by 8 (sqrt(8) along each axis). Haar coefficients are
// differences of means.

#include "bm3d/cuda/filter/coloured_matrices.cuh"

namespace lull::bm3d::filter_detail {

/// Access of one lane to the samples of one plane, in a tile in shared memory (load_tile()) or in
/// the plane in device memory. The lane reads the samples as half-precision differences from
/// `level`.
template <Staging staging>
struct SlotSamples {
  const void* at;
  int pitch;
  float level;
  /// Returns the two samples of this lane in row `y` of the patch at `offset`.
  __device__ __forceinline__ std::uint32_t pair(PatchOffset<staging> offset, int y) const {
    if constexpr (staging == Staging::shared)
      return static_cast<const std::uint32_t*>(at)[offset + y * tile_pitch];
    const float* sample = static_cast<const float*>(at) + offset + y * pitch;
    return pack_halves(sample[0] - level, sample[1] - level);
  }
};

/// Values of 16 patches in one lane, as [row][pair of patches]. With t = lane % 4, pair 0 contains
/// the patches 2t and 2t + 1, and pair 1 contains the patches 2t + 8 and 2t + 9. After the
/// transforms, the indices count coefficients instead of rows, and group coefficients instead of
/// patches.
using Slots = __half2[8][2];

/// Exchanges the offsets of patches within a warp. `own` is the offset of one patch, which the lane
/// passes to the other lanes. `offset` receives the offsets of the patches whose samples the lane
/// loads.
template <int S, class Offset>
__device__ __forceinline__ void distribute_offsets(Offset own, int lane, Offset (&offset)[S][2]) {
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int b = 0; b < 2; ++b) offset[s][b] = __shfl_sync(~0u, own, S * ((lane >> 2) + 8 * b) + s);
}

/// The operands of one lane for the products with the transform matrices, equal for all groups of a
/// thread block.
template <class Transform2d, class GroupTransform>
struct SlotOperands {
  std::uint32_t rows[4];     // converts two rows to coefficients of their sum and difference
  std::uint32_t columns[4];  // inverse transform with the window, for rows y and 7 - y
  float window[2];           // aggregation window in columns 2t and 2t + 1
  GroupOperands group;

  __device__ __forceinline__ SlotOperands(const float* w, int lane)
      : window{w[2 * (lane & 3)], w[2 * (lane & 3) + 1]},
        group(group_operands<GroupTransform>.lane[lane]) {
    const int g = lane >> 2, t2 = 2 * (lane & 3);
    const Matrix8<float>& forward = matrices<Transform2d>[0];
    const Matrix8<float>& inverse = matrices<Transform2d>[1];
    rows[0] = rows[1] = rows[2] =
        pack_halves(forward.at[g][t2] * root_8, forward.at[g][t2 + 1] * root_8);
    rows[3] = word_of(-halves_of(rows[0]));
#pragma unroll
    for (int y = 0; y < 4; ++y) {
      // The factor 1 / 8 compensates for the factor 8 of the vertical transform.
      const float scale = value_scale / (8 * root_8) * w[y] * w[g];
      columns[y] = pack_halves(inverse.at[g][t2] * scale, inverse.at[g][t2 + 1] * scale);
    }
  }
};

/// Transforms 16 patches horizontally and vertically.
template <class Transform2d, Staging staging>
__device__ __forceinline__ void transform_slots(const SlotSamples<staging>& samples,
                                                const PatchOffset<staging> (&offset)[2],
                                                const std::uint32_t (&operand)[4], Slots& c) {
#pragma unroll
  for (int b = 0; b < 2; ++b) {
    __half2 sum[4], difference[4], x[8];
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const int y = Butterflies<Transform2d>::first(pair);
      const HalfSums product =
          multiply(operand, samples.pair(offset[b], y),
                   samples.pair(offset[b], Butterflies<Transform2d>::partner(y)), HalfSums{});
      sum[pair] = halves_of(product.at[0]);
      difference[pair] = halves_of(product.at[1]);
    }
    Butterflies<Transform2d>::forward(sum, difference, x);
#pragma unroll
    for (int k = 0; k < 8; ++k) c[k][b] = x[k];
  }
}

/// Transforms the patches `c` across the group, for the patch coefficients with the vertical
/// frequencies k and k + 1. Returns `sums` plus the group coefficients. `operand` selects the
/// group coefficients 0..7 or 8..15.
template <class Sums>
__device__ __forceinline__ Sums transform_slots_across(const Slots& c, int k,
                                                       const std::uint32_t (&operand)[2],
                                                       const Sums& sums) {
  const std::uint32_t a[4] = {word_of(c[k][0]), word_of(c[k + 1][0]), word_of(c[k][1]),
                              word_of(c[k + 1][1])};
  return multiply(a, operand[0], operand[1], sums);
}

/// The transform of a group across its members, as S sets of 16 values. For 32 members (S = 2), set
/// 0 contains the transform of the sums of adjacent members. Set 1 contains the transform of the
/// differences of adjacent members.
template <int S>
struct Spectrum {
  Slots set[S];
};

__device__ __forceinline__ void set(HalfSums& sums, __half2 a, __half2 b) {
  sums.at[0] = word_of(a), sums.at[1] = word_of(b);
}
__device__ __forceinline__ void set(FloatSums& sums, __half2 a, __half2 b) {
  const float2 low = __half22float2(a), high = __half22float2(b);
  sums.at[0] = low.x, sums.at[1] = low.y, sums.at[2] = high.x, sums.at[3] = high.y;
}

/// Computes the spectrum piece by piece, and passes each piece to the function `use` for the
/// shrinkage. The calls are use(set, k, b, sums) for each `set` of class Spectrum, for k = 0, 2, 4,
/// 6, and for b = 0, 1. `sums` contains the vertical frequencies k and k + 1 of the group
/// coefficients 2t + 8b and 2t + 8b + 1, where t is lane % 4.
template <class Sums, class GroupTransform, int S, class Use>
__device__ __forceinline__ void for_spectrum(const Slots (&patches)[S],
                                             const GroupOperands& operands, Use use) {
#pragma unroll
  for (int k = 0; k < 8; k += 2) {
    Slots difference;
    if constexpr (S == 2) {
#pragma unroll
      for (int i = k; i < k + 2; ++i)
#pragma unroll
        for (int b = 0; b < 2; ++b) difference[i][b] = patches[0][i][b] - patches[1][i][b];
    }
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      Sums sums;
#pragma unroll
      for (int s = 0; s < S; ++s)
        sums = transform_slots_across(patches[s], k, operands.forward[b], sums);
      use(0, k, b, sums);
      if constexpr (S == 2) {
        if constexpr (GroupMatrix<GroupTransform>::transforms_differences)
          sums = transform_slots_across(difference, k, operands.forward[b], Sums{});
        else
          set(sums, difference[k][b], difference[k + 1][b]);
        use(1, k, b, sums);
      }
    }
  }
}

/// Variance and standard deviation of the noise in the coefficients of one lane, if the samples
/// have white noise of variance 1.
template <int S, class GroupTransform>
struct NoiseScale {
  // With t = lane % 4, element 0 is for the group coefficients 2t and 2t + 1. Element 1 is for 2t +
  // 8 and 2t + 9.
  float variance[2], deviation[2];
  static constexpr float patch_scale = 64.0f * S;  // 8^2, and a factor because of the sums of pairs
  static constexpr float of_differences =
      GroupMatrix<GroupTransform>::transforms_differences ? patch_scale / 16 : patch_scale;

  __device__ explicit NoiseScale(int lane) {
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      variance[b] = patch_scale / static_cast<float>(
                                      GroupMatrix<GroupTransform>::support(2 * (lane & 3) + 8 * b));
      deviation[b] = sqrtf(variance[b]);
    }
  }
};

/// Returns true for the mean of all samples of the group (the first coefficient of lane 0), which
/// the filter always retains.
__device__ __forceinline__ bool is_mean(int lane, int set, int k) {
  return set == 0 && k == 0 && lane == 0;
}

template <int S, class GroupTransform>
__device__ __forceinline__ void apply_factors(const Slots (&patches)[S],
                                              const GroupOperands& operands, Spectrum<S>& factors) {
  for_spectrum<HalfSums, GroupTransform>(
      patches, operands, [&](int set, int k, int b, const HalfSums& sums) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
          factors.set[set][k + i][b] = factors.set[set][k + i][b] * halves_of(sums.at[i]);
      });
}

/// The destination of the estimates of a group. The kernel adds weight * window * (estimate -
/// mid_level) to the sums in fixed point.
template <class Sum>
struct Target {
  Sum* sums;
  // The aggregation window is a kernel argument, because instructions can use kernel arguments as
  // operands.
  const std::array<float, patch>& window;
  int pitch;
  float offset;  // weight * (level - mid_level) * value_scale
};

/// Performs the last steps of the inverse transform for 16 patches, and adds their rows to the
/// sums.
template <Staging staging, class Transform2d, class GroupTransform, class Sum, class Offset>
__device__ __forceinline__ void aggregate_slots(
    const Slots& c, const Offset (&offset)[2],
    const SlotOperands<Transform2d, GroupTransform>& operands, const Target<Sum>& target) {
  __half2 e[2][4], o[2][4];
#pragma unroll
  for (int b = 0; b < 2; ++b) {
    __half2 x[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = c[k][b];
    Butterflies<Transform2d>::inverse(x, e[b], o[b]);
  }
  const int column = 2 * (threadIdx.x & 3);
  const float w[2] = {target.offset * operands.window[0], target.offset * operands.window[1]};
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const std::uint32_t a[4] = {word_of(e[0][pair]), word_of(e[1][pair]), word_of(o[0][pair]),
                                word_of(o[1][pair])};
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const int first = Butterflies<Transform2d>::first(pair),
                y = side == 0 ? first : Butterflies<Transform2d>::partner(first);
      const std::uint32_t b = operands.columns[y < 4 ? y : 7 - y];
      const float wy = target.window[y];
      const FloatSums row = multiply(a, b, side == 0 ? b : word_of(-halves_of(b)),
                                     FloatSums{w[0] * wy, w[1] * wy, w[0] * wy, w[1] * wy});
      const int at = y * (staging == Staging::shared ? tile_pitch : target.pitch) + column;
#pragma unroll
      for (int q = 0; q < 4; ++q)
        add(target.sums + offset[q / 2] + at + (q & 1), __float2int_rn(row.at[q]));
    }
  }
}

/// Transforms the group back, first across its members and then each patch, and adds the estimates
/// to the sums.
template <int S, class Transform2d, class GroupTransform, Staging staging, class Sum, class Offset>
__device__ __forceinline__ void aggregate_group(
    const Spectrum<S>& spectrum, const Offset (&offset)[S][2],
    const SlotOperands<Transform2d, GroupTransform>& operands, float weight,
    const Target<Sum>& target, int lane) {
  const __half2 scale = broadcast(weight / S);
  std::uint32_t back[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) back[i] = word_of(halves_of(operands.group.inverse[i]) * scale);
  Slots sums;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const HalfSums product =
        multiply(back, word_of(spectrum.set[0][k][0]), word_of(spectrum.set[0][k][1]), HalfSums{});
    sums[k][0] = halves_of(product.at[0]);
    sums[k][1] = halves_of(product.at[1]);
  }
  if constexpr (S == 1) {
    aggregate_slots<staging>(sums, offset[0], operands, target);
  } else {
    // Only the diagonal elements.
    if constexpr (!GroupMatrix<GroupTransform>::transforms_differences) {
      const int g = lane >> 2, t2 = 2 * (lane & 3);
      back[0] = back[3] = g == t2       ? word_of(scale) & 0xffffu
                          : g == t2 + 1 ? word_of(scale) & 0xffff0000u
                                        : 0u;
      back[1] = back[2] = 0;
    }
#pragma unroll
    for (int s = 0; s < 2; ++s) {  // first sum plus difference, then sum minus difference
      Slots own;
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const HalfSums product =
            multiply(back, word_of(spectrum.set[1][k][0]), word_of(spectrum.set[1][k][1]),
                     HalfSums{{word_of(sums[k][0]), word_of(sums[k][1])}});
        own[k][0] = halves_of(product.at[0]);
        own[k][1] = halves_of(product.at[1]);
      }
      aggregate_slots<staging>(own, offset[s], operands, target);
#pragma unroll
      for (int i = 0; i < 4; ++i) back[i] = word_of(-halves_of(back[i]));
    }
  }
}

}  // namespace lull::bm3d::filter_detail
