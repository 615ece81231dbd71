#pragma once
// What the filter reads patches from and adds estimates to: sheets of windows in shared memory
// (window_plan.h), or planes in device memory where those have no room.
//
// Samples are halves, less a level and in units of sigma; noisy ones by a basic estimate are what
// they differ from it. Patches are read two samples at a time,
// which lie beside each other in a row: a word of a sheet holds a sample and the one to its right.
// Sums of estimates are integers, so that their order does not matter.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <cstdint>

#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/bayes/window_plan.h"
#include "bm3d/cuda/bayes/windows.cuh"
#include "bm3d/cuda/filter/filter.cuh"
#include "cuda/warp.cuh"

namespace lull::bm3d {

/// Two samples beside each other in every patch: where they lie from the patch's first sample, in
/// planes complemented if they are in the second frame; and which of them it has, as a mask.
struct SamplePair {
  int offset = 0;
  std::uint32_t mask = 0;
};
constexpr int max_sample_pairs = 2 * max_wide_side * ((max_wide_side + 1) / 2);
/// Filled up to steps of the products.
constexpr int sample_pair_places = (max_sample_pairs + 7) / 8 * 8;

__device__ inline int sample_pairs(const BayesArgs& a) {
  return a.depth * a.side * ((a.side + 1) / 2);
}

/// The reference patches of a thread block, columns i .. and rows j .. of the grid.
struct BlockPlace {
  int i, j, x, y;      // the first of them
  int more_x, more_y;  // from there to the last one

  __device__ BlockPlace(const BayesArgs& a, const WindowSheet& sheet) {
    const int across = (a.columns + sheet.across - 1) / sheet.across;
    const int rows = reference_count(a.margins.height, a.grid.step, a.side);
    i = static_cast<int>(blockIdx.x) % across * sheet.across;
    j = (a.first_row / sheet.down + static_cast<int>(blockIdx.x) / across) * sheet.down;
    const int last_i = min(i + sheet.across, a.columns) - 1, last_j = min(j + sheet.down, rows) - 1;
    x = reference_position(i, a.margins.width, a.grid.step, a.side);
    y = reference_position(j, a.margins.height, a.grid.step, a.side);
    more_x = reference_position(last_i, a.margins.width, a.grid.step, a.side) - x;
    more_y = reference_position(last_j, a.margins.height, a.grid.step, a.side) - y;
  }
};

/// The union of the windows of a thread block's reference patches, in a pair of frames.
struct SheetWindow {
  int left, top, width, height;
  int second_x, second_y;  // from there to where second halves lie
  int first;               // on the sheet
};

__device__ inline SheetWindow sheet_window(const BayesArgs& a, const WindowWork& work,
                                           const WindowSheet& sheet, const BlockPlace& block,
                                           int k) {
  const SearchWindow at =
      window_of(a, work.window, work.temporal_window, k, block.x, block.y, block.i, block.j);
  const int more = at.side + a.side - 1;
  return {at.left,     at.top,      more + block.more_x, more + block.more_y,
          at.second_x, at.second_y, sheet.first[k]};
}

/// use(sample, in the planes of the reference patches' frame, and on the sheet) for all samples of
/// all windows. Beyond the plane: use(its last one, ..).
template <class Use>
__device__ __forceinline__ void for_samples(const BayesArgs& a, const WindowSheet& sheet,
                                            const SheetWindow* windows, Use use) {
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  for (int frame = 0; frame < a.depth; ++frame)
    for (int k = 0; k < a.pairs; ++k) {
      const SheetWindow at = windows[k];
      const int left = at.left + frame * at.second_x, top = at.top + frame * at.second_y;
      for (int column = lane; column < at.width; column += 32) {
        const int x = min(max(left + column, 0), a.margins.width - 1);
        const int from = a.pair[k].distance[frame] + a.margins.at(x, 0);
        const int first = frame * sheet.words + at.first + column;
#pragma unroll 4
        for (int row = warp; row < at.height; row += warps)
          use(from + min(max(top + row, 0), a.margins.height - 1) * a.margins.pitch,
              first + row * sheet.pitch);
      }
    }
}

/// What patches have to tell of: samples less a level, in units of sigma.
struct Measure {
  float level, unit;
  __device__ std::uint32_t pair(const float* plane) const {
    return pack_halves((plane[0] - level) * unit, (plane[1] - level) * unit);
  }
  /// By how much the first plane's differ from the second's.
  __device__ std::uint32_t difference(const float* a, const float* b) const {
    return pack_halves((a[0] - b[0]) * unit, (a[1] - b[1]) * unit);
  }
};

/// Sums in shared memory have a coarser unit, in which 256 estimates of 8191 levels fit.
constexpr float sheet_scale = 1024;

/// The samples of all windows, as floats.
__device__ inline void load_samples(const BayesArgs& a, const WindowSheet& sheet,
                                    const SheetWindow* windows, const float* plane, float* to) {
  for_samples(a, sheet, windows,
              [&](int from, int place) { __pipeline_memcpy_async(to + place, plane + from, 4); });
}

/// Floats become words in their place: a sample and the one behind it; where there is a basic
/// estimate those of it, and how the noisy samples differ from it. There is one float more than
/// there are words.
template <bool by_basic>
__device__ void make_words(const Measure& measure, int count, float* samples, float* noisy) {
  constexpr int own = 8;
  for (int first = 0; first < count; first += own * blockDim.x) {
    std::uint32_t word[own], difference[own];
#pragma unroll
    for (int k = 0; k < own; ++k) {
      const int n = first + k * blockDim.x + threadIdx.x;
      if (n >= count) continue;
      word[k] = measure.pair(samples + n);
      if constexpr (by_basic) difference[k] = measure.difference(noisy + n, samples + n);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < own; ++k) {
      const int n = first + k * blockDim.x + threadIdx.x;
      if (n >= count) continue;
      reinterpret_cast<std::uint32_t*>(samples)[n] = word[k];
      if constexpr (by_basic) reinterpret_cast<std::uint32_t*>(noisy)[n] = difference[k];
    }
  }
}

/// The sums of all windows, to those in device memory. They are zero beyond the plane.
__device__ inline void give_sums(const BayesArgs& a, const WindowSheet& sheet,
                                 const SheetWindow* windows, const int* values,
                                 unsigned long long* numerator) {
  constexpr auto units = static_cast<long long>(value_scale / sheet_scale);
  for_samples(a, sheet, windows, [&](int to, int place) {
    const int value = values[place];
    if (value != 0) atomicAdd(numerator + to, static_cast<unsigned long long>(value * units));
  });
}

/// Patches and sums in shared memory. A patch is where its first sample lies on the sheet.
struct OnSheet {
  using Patch = int;
  static constexpr bool shared = true;

  struct Samples {
    const std::uint32_t* words;
    __device__ std::uint32_t at(int patch, SamplePair pair) const {
      return words[patch + pair.offset];
    }
  };

  /// Estimates come in units of sigma, from a level.
  struct Estimates {
    int* values;
    float gain, offset;  // to the unit of the sums, rounded by adding what leaves no fraction
    static constexpr float no_fraction = 12582912;  // 1.5 * 2^23

    __device__ Estimates(int* sums, unsigned long long*, float sigma, float level)
        : values(sums),
          gain(sigma * sheet_scale),
          offset((level - mid_level) * sheet_scale + no_fraction) {}
    __device__ void add(int patch, SamplePair pair, int column, float estimate) const {
      const int value = __float_as_int(fmaf(estimate, gain, offset)) - __float_as_int(no_fraction);
      atomicAdd(values + patch + pair.offset + column, value);
    }
  };
};

/// The same in device memory. A patch is where its first sample lies in either frame.
struct InPlanes {
  using Patch = int2;
  static constexpr bool shared = false;

  static __device__ int place(int2 patch, SamplePair pair) {
    return pair.offset < 0 ? patch.y + ~pair.offset : patch.x + pair.offset;
  }
  struct Samples {
    const float *plane, *less;  // `less`: null, or what is taken off
    Measure measure;
    __device__ std::uint32_t at(int2 patch, SamplePair pair) const {
      const int first = place(patch, pair);
      return less == nullptr ? measure.pair(plane + first)
                             : measure.difference(plane + first, less + first);
    }
  };
  struct Estimates {
    unsigned long long* values;
    float gain, offset;
    __device__ Estimates(int*, unsigned long long* sums, float sigma, float level)
        : values(sums), gain(sigma * value_scale), offset((level - mid_level) * value_scale) {}
    __device__ void add(int2 patch, SamplePair pair, int column, float estimate) const {
      atomicAdd(values + place(patch, pair) + column,
                static_cast<unsigned long long>(__float2ll_rn(fmaf(estimate, gain, offset))));
    }
  };
};

}  // namespace lull::bm3d
