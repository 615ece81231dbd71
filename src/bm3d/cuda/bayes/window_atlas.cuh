#pragma once
// The search windows and the aggregation sums of a thread block. A window atlas is an array of all
// search windows of a thread block (match/window_plan.h). The atlases are in shared memory. If
// shared memory is too small, the kernel reads samples and adds estimates in device memory.

// Samples are half-precision differences from the middle sample of the first reference patch of the
// thread block, in units of sigma, or of half_scale() for weak noise (bayes_precision.h).

// A word of an atlas contains a sample and its right neighbour. Sums of estimates are integers, so
// the order of additions does not change the result.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <cstdint>

#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/bayes/windows.cuh"
#include "bm3d/cuda/filter/filter.cuh"
#include "cuda/warp.cuh"
#include "match/window_plan.h"

namespace lull::bm3d {

/// Two adjacent samples of a patch. `offset` is the offset of the pair from the top-left sample or,
/// for the second frame in device memory, the bitwise complement of this offset. `mask` selects the
/// samples that belong to the patch.
struct SamplePair {
  int offset = 0;
  std::uint32_t mask = 0;
};
constexpr int max_sample_pairs = 2 * max_wide_side * ((max_wide_side + 1) / 2);
/// Maximum number of sample pairs of a patch, rounded up to a multiple of 8. A matrix product
/// processes 8 pairs.
constexpr int sample_pair_slots = (max_sample_pairs + 7) / 8 * 8;

__device__ inline int sample_pairs(const BayesArgs& a) {
  return a.depth * a.side * ((a.side + 1) / 2);
}

/// The reference patches of a thread block. The first reference patch is in column i and row j of
/// the grid.
struct BlockPosition {
  int i, j, x, y;          // position of the first reference patch
  int extent_x, extent_y;  // distance from the first to the last reference patch

  __device__ BlockPosition(const BayesArgs& a, const WindowAtlas& atlas) {
    const int across = (a.columns + atlas.across - 1) / atlas.across;
    const int rows = reference_count(a.margins.height, a.grid.step, a.side);
    i = static_cast<int>(blockIdx.x) % across * atlas.across;
    j = (a.first_row / atlas.down + static_cast<int>(blockIdx.x) / across) * atlas.down;
    const int last_i = min(i + atlas.across, a.columns) - 1, last_j = min(j + atlas.down, rows) - 1;
    x = reference_position(i, a.margins.width, a.grid.step, a.side);
    y = reference_position(j, a.margins.height, a.grid.step, a.side);
    extent_x = reference_position(last_i, a.margins.width, a.grid.step, a.side) - x;
    extent_y = reference_position(last_j, a.margins.height, a.grid.step, a.side) - y;
  }
};

/// The union of the search windows of a thread block, in one frame pair.
struct AtlasWindow {
  int left, top, width, height;
  int second_x, second_y;  // displacement of patches in the second frame
  int first;               // index of the first sample in the atlas
};

__device__ inline AtlasWindow atlas_window(const BayesArgs& a, const WindowWork& work,
                                           const WindowAtlas& atlas, const BlockPosition& block,
                                           int k) {
  const SearchWindow at =
      window_of(a, work.window, work.temporal_window, k, block.x, block.y, block.i, block.j);
  const int more = at.side + a.side - 1;
  return {at.left,     at.top,      more + block.extent_x, more + block.extent_y,
          at.second_x, at.second_y, atlas.first[k]};
}

/// Calls use(sample of the plane, index in the atlas) for each sample of all search windows.
/// Outside the plane, border samples repeat. `plane` must be a plane of the reference frame.
template <class T, class Use>
__device__ __forceinline__ void for_samples(const BayesArgs& a, const WindowAtlas& atlas,
                                            const AtlasWindow* windows, T* plane, Use use) {
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  for (int frame = 0; frame < a.depth; ++frame)
    for (int k = 0; k < a.pairs; ++k) {
      const AtlasWindow at = windows[k];
      const int left = at.left + frame * at.second_x, top = at.top + frame * at.second_y;
      for (int column = lane; column < at.width; column += 32) {
        const int x = min(max(left + column, 0), a.margins.width - 1);
        T* const from = kept_global(plane + a.pair[k].distance[frame] + a.margins.at(x, 0));
        const int first = frame * atlas.words + at.first + column;
#pragma unroll 4
        for (int row = warp; row < at.height; row += warps)
          use(from + min(max(top + row, 0), a.margins.height - 1) * a.margins.pitch,
              first + row * atlas.pitch);
      }
    }
}

/// Converts samples to half-precision differences from `level`.
struct SampleScale {
  float level, unit;  // `unit`: factor by which differences are multiplied
  __device__ std::uint32_t pair(const float* plane) const {
    return pack_halves((plane[0] - level) * unit, (plane[1] - level) * unit);
  }
  /// Returns two samples at `a` minus two samples at `b`, multiplied by `unit`.
  __device__ std::uint32_t difference(const float* a, const float* b) const {
    return pack_halves((a[0] - b[0]) * unit, (a[1] - b[1]) * unit);
  }
};

/// Fixed-point scale of sums in shared memory. A sum contains up to 512 estimates: 8 groups of 64
/// patches. With this scale, the sum fits into 32 bits if each estimate differs from mid_level by
/// at most 4095. With value_scale, the sum could overflow.
constexpr float atlas_scale = 1024;

/// Loads the samples of all search windows as floats.
__device__ inline void load_samples(const BayesArgs& a, const WindowAtlas& atlas,
                                    const AtlasWindow* windows, const float* plane, float* to) {
  for_samples(a, atlas, windows, plane, [&](const float* sample, int place) {
    __pipeline_memcpy_async(to + place, sample, 4);
  });
}

/// Replaces `count` + 1 floats by `count` words, in place. Word n contains two half-precision
/// values: for sample n and for sample n + 1. In `samples`, the value for a sample s is (s -
/// SampleScale::level) * SampleScale::unit. If `uses_basic` is true, `samples` contains the basic
/// estimate, and the function also converts `noisy`. The value for a noisy sample v with the basic
/// estimate s is (v - s) * SampleScale::unit.
template <bool uses_basic>
__device__ void make_words(const SampleScale& sample_scale, int count, float* samples,
                           float* noisy) {
  constexpr int own = 8;
  for (int first = 0; first < count; first += own * blockDim.x) {
    std::uint32_t word[own], difference[own];
#pragma unroll
    for (int k = 0; k < own; ++k) {
      const int n = first + k * blockDim.x + threadIdx.x;
      if (n >= count) continue;
      word[k] = sample_scale.pair(samples + n);
      if constexpr (uses_basic) difference[k] = sample_scale.difference(noisy + n, samples + n);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < own; ++k) {
      const int n = first + k * blockDim.x + threadIdx.x;
      if (n >= count) continue;
      reinterpret_cast<std::uint32_t*>(samples)[n] = word[k];
      if constexpr (uses_basic) reinterpret_cast<std::uint32_t*>(noisy)[n] = difference[k];
    }
  }
}

/// Adds the sums of all search windows to device memory. Sums outside the plane are zero.
__device__ inline void flush_sums(const BayesArgs& a, const WindowAtlas& atlas,
                                  const AtlasWindow* windows, const int* values,
                                  unsigned long long* numerator) {
  constexpr auto units = static_cast<long long>(value_scale / atlas_scale);
  for_samples(a, atlas, windows, numerator, [&](unsigned long long* sum, int place) {
    const int value = values[place];
    if (value != 0) atomicAdd(sum, static_cast<unsigned long long>(value * units));
  });
}

/// Samples and sums in shared memory. The position of a patch is the index of its top-left sample
/// in the atlas.
struct InSharedMemory {
  using Patch = int;
  static constexpr bool shared = true;

  struct Samples {
    const std::uint32_t* words;
    __device__ std::uint32_t at(int patch, SamplePair pair) const {
      return words[patch + pair.offset];
    }
  };

  /// Adds estimates to the sums. An estimate is the difference between a filtered sample and the
  /// mean of the group (`level`), divided by `unit`.
  struct Estimates {
    int* values;
    // The number to add to a sum is estimate * gain + offset, rounded to an integer. `offset`
    // includes rounding_offset: the addition of this large number rounds a float to an integer.
    float gain, offset;
    static constexpr float rounding_offset = 12582912;  // 1.5 * 2^23

    __device__ Estimates(int* sums, unsigned long long*, float unit, float level)
        : values(sums),
          gain(unit * atlas_scale),
          offset((level - mid_level) * atlas_scale + rounding_offset) {}
    __device__ void add(int patch, SamplePair pair, int column, float estimate) const {
      const int value =
          __float_as_int(fmaf(estimate, gain, offset)) - __float_as_int(rounding_offset);
      atomicAdd(values + patch + pair.offset + column, value);
    }
  };
};

/// Samples and sums in device memory. The position of a patch is the pair of its offsets, in
/// samples, in the two frames (centre_planes()).
struct InDeviceMemory {
  using Patch = int2;
  static constexpr bool shared = false;

  static __device__ int place(int2 patch, SamplePair pair) {
    return pair.offset < 0 ? patch.y + ~pair.offset : patch.x + pair.offset;
  }
  struct Samples {
    // The filter subtracts the samples of the plane `subtracted` from those of `plane`. If
    // `subtracted` is null, the filter subtracts the common offset of the thread block instead.
    const float *plane, *subtracted;
    SampleScale sample_scale;
    __device__ std::uint32_t at(int2 patch, SamplePair pair) const {
      const int first = place(patch, pair);
      return subtracted == nullptr ? sample_scale.pair(plane + first)
                                   : sample_scale.difference(plane + first, subtracted + first);
    }
  };
  struct Estimates {
    unsigned long long* values;
    float gain, offset;
    __device__ Estimates(int*, unsigned long long* sums, float unit, float level)
        : values(sums), gain(unit * value_scale), offset((level - mid_level) * value_scale) {}
    __device__ void add(int2 patch, SamplePair pair, int column, float estimate) const {
      atomicAdd(values + place(patch, pair) + column,
                static_cast<unsigned long long>(__float2ll_rn(fmaf(estimate, gain, offset))));
    }
  };
};

}  // namespace lull::bm3d
