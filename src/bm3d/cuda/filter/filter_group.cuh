#pragma once
// One group in the registers of a warp, from samples to weighted estimates (steps 1 to 6 of
// filter.cuh). M is the number of patches that the kernel transforms across the group: 8, 16 or 32.

#include <type_traits>

#include "bm3d/cuda/filter/filter.cuh"
#include "cuda/warp.cuh"

namespace lull::bm3d::filter_detail {

/// The registers of a lane for one group, with one register for each patch or group coefficient.
template <int M>
using LaneGroup = __half2[M];

enum class Memory { shared, device };

/// The offsets of the patches of a group: lane m has the offset of patch m. Offsets are in bytes,
/// with one exception: 32-bit offsets in device memory are in elements, because they then cover a
/// larger range.
template <Memory memory, class Element, class Offset>
class PatchPlaces {
 public:
  __device__ __forceinline__ explicit PatchPlaces(Offset elements)
      : offset_(counts_bytes ? elements * static_cast<Offset>(sizeof(Element)) : elements) {}
  /// Hides the computation of an offset from the compiler, which would otherwise keep the offsets
  /// of all patches in registers.
  __device__ __forceinline__ void forget() {
    if constexpr (sizeof(Offset) == 8)
      asm("" : "+l"(offset_));
    else
      asm("" : "+r"(offset_));
  }
  /// Returns a pointer to an element of patch m. `first` points to the same element of a patch at
  /// offset 0.
  __device__ __forceinline__ Element* of(int m, Element* first) const {
    const Offset offset = __shfl_sync(~0u, offset_, m);
    if constexpr (!counts_bytes) return first + offset;
    using Byte = std::conditional_t<std::is_const_v<Element>, const char, char>;
    return reinterpret_cast<Element*>(reinterpret_cast<Byte*>(first) + offset);
  }

 private:
  static constexpr bool counts_bytes = memory == Memory::shared || sizeof(Offset) == 8;
  Offset offset_;
};

/// Access of one lane to the samples of one plane, in a tile in shared memory (load_tile()) or in
/// the plane in device memory. The lane reads the samples as half-precision differences from
/// `level`.
template <Staging staging>
struct PatchSamples {
  static constexpr Memory memory = staging == Staging::shared ? Memory::shared : Memory::device;
  using Element = std::conditional_t<staging == Staging::shared, const std::uint32_t, const float>;
  using Places = PatchPlaces<memory, Element, PatchOffset<staging>>;
  Element* at;  // the first sample of the lane in a patch at offset 0
  int pitch;
  float level;

  __device__ __forceinline__ PatchSamples(Element* first, int pitch_of_first, float level_of_block,
                                          int lane)
      : at(first + 2 * (lane & 3) * pitch_of_first + (lane >> 2)),
        pitch(pitch_of_first),
        level(level_of_block) {
    if constexpr (memory == Memory::device) at = kept_global(at);
  }
  /// Returns the samples of this lane in two rows of patch m.
  __device__ __forceinline__ std::uint32_t pair(const Places& places, int m) const {
    Element* const sample = places.of(m, at);
    if constexpr (staging == Staging::shared)
      return *sample;
    else
      return pack_halves(sample[0] - level, sample[pitch] - level);
  }
};

/// The parts of the transform matrices that one lane passes to the tensor cores. One product
/// transforms two patches, so its left operand contains the transform matrix twice.
template <class Transform2d, int M>
struct PatchOperands {
  std::uint32_t vertical[4], horizontal_back[4];  // left operands
  std::uint32_t horizontal, vertical_back;        // right operands
  float window[2];                                // aggregation window at the samples of the lane

  __device__ __forceinline__ PatchOperands(const float* w, int lane) {
    constexpr float root_8 = 2.8284271f;
    const int g = lane >> 2, t2 = 2 * (lane & 3);
    const auto two = [&](const Matrix8<float>& matrix, float scale) {
      return pack_halves(matrix.at[g][t2] * scale, matrix.at[g][t2 + 1] * scale);
    };
    const Matrix8<float>& forward = matrices<Transform2d>[0];
    const Matrix8<float>& inverse = matrices<Transform2d>[1];
    const std::uint32_t first = two(forward, root_8 / 4), back = two(inverse, w[g]);
    vertical[0] = vertical[3] = first;
    horizontal_back[0] = horizontal_back[3] = back;
    vertical[1] = vertical[2] = horizontal_back[1] = horizontal_back[2] = 0;
    horizontal = two(forward, root_8 * 4 / M);
    // The forward transform multiplies the coefficients of patches by 8 / M (filter.cuh), and the
    // inverse transform across the group multiplies them by M. The division by 8 removes both
    // factors.
    vertical_back = two(inverse, w[g] * value_scale / 8);
    window[0] = w[g] * w[t2], window[1] = w[g] * w[t2 + 1];
  }
};

/// Loads the patches of a group and transforms them (steps 1 to 3 of filter.cuh). In lane m,
/// `offset` is the offset of patch m.
template <int M, class Transform2d, Staging staging>
__device__ __forceinline__ void transform_patches(const PatchSamples<staging>& samples,
                                                  PatchOffset<staging> offset,
                                                  const PatchOperands<Transform2d, M>& operands,
                                                  LaneGroup<M>& group) {
  const typename PatchSamples<staging>::Places places(offset);
#pragma unroll
  for (int m = 0; m < M; m += 2) {
    const std::uint32_t first = samples.pair(places, m);
    const std::uint32_t second = samples.pair(places, m + 1);
    const HalfSums columns = multiply(operands.vertical, first, second, HalfSums{});
    const HalfSums both = multiply(columns.at[0], columns.at[1], operands.horizontal, HalfSums{});
    group[m] = halves_of(both.at[0]);
    group[m + 1] = halves_of(both.at[1]);
  }
}

/// Returns the number of patches on which group coefficient `k` depends.
template <int M, class GroupTransform>
constexpr int support_of(int k) {
  if (k == 0 || std::is_same_v<GroupTransform, WalshHadamard>) return M;
  int support = 2;
  for (; k % 2 == 0; k /= 2) support *= 2;
  return support;
}

/// Applies the Haar or Walsh-Hadamard transform across the group in place, as plain sums and
/// differences.
template <int M, class GroupTransform>
__device__ __forceinline__ void transform_across(LaneGroup<M>& c) {
  constexpr bool is_haar = std::is_same_v<GroupTransform, Haar>;
#pragma unroll
  for (int apart = 1; apart < M; apart *= 2)
#pragma unroll
    for (int i = 0; i < M; ++i) {
      if (is_haar ? i % (2 * apart) != 0 : (i & apart) != 0) continue;
      const __half2 a = c[i], b = c[i + apart];
      c[i] = a + b;
      c[i + apart] = a - b;
    }
}

/// Applies the inverse transform across the group. The results are the patches, multiplied by M.
template <int M, class GroupTransform>
__device__ __forceinline__ void transform_back_across(LaneGroup<M>& c) {
  constexpr bool is_haar = std::is_same_v<GroupTransform, Haar>;
#pragma unroll
  for (int apart = M / 2; apart > 0; apart /= 2)
#pragma unroll
    for (int i = 0; i < M; ++i) {
      if (is_haar ? i % (2 * apart) != 0 : (i & apart) != 0) continue;
      // In the Haar transform, the previous iterations have multiplied the sum c[i] by M / 2 /
      // apart. Therefore, this iteration multiplies the difference c[i + apart] by the same factor.
      const auto scale = is_haar ? static_cast<float>(M / 2 / apart) : 1.0f;
      const __half2 a = c[i], b = c[i + apart];
      c[i] = __hfma2(__float2half2_rn(scale), b, a);
      c[i + apart] = __hfma2(__float2half2_rn(-scale), b, a);
    }
}

/// Returns the noise variance of group coefficient `k`, relative to the noise variance of a sample.
template <int M, class GroupTransform>
constexpr float noise_variance(int k) {
  constexpr float scale = 8.0f / M;  // scale of the coefficients of patches
  return scale * scale * static_cast<float>(support_of<M, GroupTransform>(k));
}
template <int M, class GroupTransform>
constexpr float noise_deviation(int k) {
  return static_cast<float>(table_detail::square_root(noise_variance<M, GroupTransform>(k)));
}

/// Applies the hard threshold of the first phase, and returns the number of retained coefficients.
/// The function always retains the mean of the group (the first value of lane 0).
template <int M, class GroupTransform>
__device__ __forceinline__ int threshold(float limit, float mean_factor, int lane,
                                         LaneGroup<M>& group) {
  __half2 kept = __float2half2_rn(0);
#pragma unroll
  for (int k = 0; k < M; ++k) {
    const float bound = limit * noise_deviation<M, GroupTransform>(k) * (k == 0 ? mean_factor : 1);
    const __half2 bounds = __floats2half2_rn(k == 0 && lane == 0 ? -1.0f : bound, bound);
    const __half2 mask = __hgt2(__habs2(group[k]), bounds);
    kept = kept + mask;
    group[k] = group[k] * mask;
  }
  return warp_sum(static_cast<int>(__low2float(kept) + __high2float(kept)));
}

__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Replaces the spectrum of a basic estimate by the Wiener factors of the second phase. Returns the
/// sum of the squared factors.
template <int M, class GroupTransform>
__device__ __forceinline__ float wiener_factors(float variance, int lane, LaneGroup<M>& group) {
  float energy = 0;
#pragma unroll
  for (int k = 0; k < M; ++k) {
    const float own = variance * noise_variance<M, GroupTransform>(k);
    const auto factor = [&](float c) { return fmaf(-own, reciprocal(fmaf(c, c, own)), 1.0f); };
    const float2 c = __half22float2(group[k]);
    float2 f = make_float2(factor(c.x), factor(c.y));
    if (k == 0 && lane == 0) f.x = 1;
    energy = fmaf(f.x, f.x, fmaf(f.y, f.y, energy));
    group[k] = __floats2half2_rn(f.x, f.y);
  }
  // The sum is in fixed point, because a warp sums integers with one instruction.
  constexpr float scale = 1 << 18;  // is sufficient for at most 2048 coefficients
  return static_cast<float>(warp_sum(__float2int_rn(energy * scale))) / scale;
}

// Sums have 32 bits in shared memory, and 64 bits in device memory.
template <class Sum>
constexpr Memory memory_of = std::is_same_v<Sum, int> ? Memory::shared : Memory::device;
__device__ __forceinline__ void add(int* sum, int value) { atomicAdd(sum, value); }
__device__ __forceinline__ void add(unsigned long long* sum, int value) {
  atomicAdd(sum, static_cast<unsigned long long>(static_cast<long long>(value)));
}

/// Transforms the patches back, and adds weight * window * (estimate - mid_level) to `sums` in
/// fixed point.
/// @param offset  in lane m, the offset of patch m in `sums`
/// @param level_offset  weight * (level - mid_level) * value_scale
template <int M, class Transform2d, class Sum, class Offset>
__device__ __forceinline__ void aggregate(const LaneGroup<M>& group, Offset offset,
                                          const PatchOperands<Transform2d, M>& operands,
                                          float weight, float level_offset, Sum* sums, int pitch,
                                          int lane) {
  const std::uint32_t vertical_back =
      word_of(halves_of(operands.vertical_back) * __float2half2_rn(weight));
  const float first = level_offset * operands.window[0], second = level_offset * operands.window[1];
  const FloatSums levels{first, second, first, second};
  Sum* const own = sums + 2 * (lane & 3) * pitch + (lane >> 2);
  PatchPlaces<memory_of<Sum>, Sum, Offset> places(offset);
  places.forget();
#pragma unroll
  for (int m = 0; m < M; m += 2) {
    const HalfSums columns =
        multiply(operands.horizontal_back, word_of(group[m]), word_of(group[m + 1]), HalfSums{});
    const FloatSums both = multiply(columns.at[0], columns.at[1], vertical_back, levels);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      Sum* const to = places.of(m + i, own);
      add(to, __float2int_rn(both.at[2 * i]));
      add(to + pitch, __float2int_rn(both.at[2 * i + 1]));
    }
  }
}

}  // namespace lull::bm3d::filter_detail
