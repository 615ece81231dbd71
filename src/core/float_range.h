#pragma once
// Handling of out-of-range float samples: highlights of a render, negative colours, hot pixels,
// infinities and NaN. All backends replace such a sample by the same value, because they compute
// the replacements from integer sums.

// There are three cases on the 0..255 scale: 1. A sample within filter_range_min..filter_range_max
// enters the filter unchanged. 2. Noise may move a sample beyond a bound by up to noise_tolerance *
// sigma. The session then filters the bound instead of the sample, and adds the difference to the
// result. 3. Every other sample is out of range. Its result is the unchanged sample.

// The replacement of an out-of-range sample is the mean of the in-range samples near it. If too few
// in-range samples are near, the replacement is the mean of the surrounding cells (8x8 samples)
// plus pseudo-random noise. If these cells contain no in-range samples, a bound of the filter range
// replaces the sample: the upper bound for a positive sample, and otherwise the lower bound.

// The replacements of out-of-range samples contain pseudo-random noise. Without this noise, a
// replaced area would match every patch of similar brightness.

#include <cstdint>

#include "core/frame.h"

namespace lull {

/// Range of the samples that filters accept, chosen so that no sum in the cuda backend overflows:
/// - Sums of 128 differences in half precision allow differences up to 511.
/// - Sums of 1024 estimates in 32-bit fixed point (units of 1/8192) allow estimates that differ by
///   up to 255 from 128.
inline constexpr float filter_range_min = -127, filter_range_max = 383;
inline constexpr float noise_tolerance = 4;

/// Side, in samples, of the cells whose means replace out-of-range samples. The value is the side
/// of a patch.
inline constexpr int guard_cell = 8;
constexpr int guard_cells(int length) { return (length + guard_cell - 1) / guard_cell; }

/// Statistics of a cell: the number of its in-range samples, and the sum of these samples after
/// conversion to integers (FloatGuard::level()).
struct CellSum {
  std::int32_t sum = 0, count = 0;
};

/// Handles out-of-range samples in the planes of one frame. `sigma` is the standard deviation of
/// the noise, on the 0..255 scale.
class FloatGuard {
 public:
  constexpr FloatGuard(const FrameFormat& format, float sigma)
      : scale_(static_cast<float>(255.0 / format.full_scale())),
        least_(filter_range_min - noise_tolerance * sigma),
        greatest_(filter_range_max + noise_tolerance * sigma),
        noise_(static_cast<int>((sigma < 255 ? sigma : 255.0f) * levels)) {}

  constexpr float scale() const { return scale_; }
  // is_in_filter_range(), is_out_of_range() and clamped() take samples on the 0..255 scale.
  static constexpr bool is_in_filter_range(float v) {
    return v >= filter_range_min && v <= filter_range_max;
  }
  constexpr bool is_out_of_range(float v) const { return !(v >= least_ && v <= greatest_); }
  static constexpr float clamped(float v) {
    if (v < filter_range_min) return filter_range_min;
    if (v > filter_range_max) return filter_range_max;
    return v;
  }

  /// Converts a sample to an integer >= 0. The backends sum integers instead of floats, because
  /// sums of integers do not depend on the order of additions.
  static constexpr std::int32_t level(float v) {
    return static_cast<std::int32_t>((clamped(v) - filter_range_min) * levels);
  }
  static constexpr float value(std::int32_t level) {
    return static_cast<float>(level) / levels + filter_range_min;
  }

  /// Returns the final result for the input sample `sample`. `filtered` is the output of the filter
  /// at the same position.
  constexpr float result(float sample, float filtered) const {
    const float v = sample * scale_;
    if (is_in_filter_range(v)) return filtered;
    return is_out_of_range(v) ? sample : filtered + (v - clamped(v)) / scale_;
  }

  /// Returns the replacement of the out-of-range sample `v` at (x, y).
  /// @param sample  a function sample(x, y) that returns a sample of the plane
  /// @param cell  a function that returns the CellSum of a cell
  template <class Sample, class Cell>
  constexpr float replacement(float v, int x, int y, int width, int height, Sample sample,
                              Cell cell) const {
    for (int radius = 1; radius <= 2; ++radius) {
      const CellSum near = around(x, y, radius, width, height, sample);
      if (near.count > 2 * radius) return clamped(value(near.sum / near.count));
    }
    const CellSum far = cells_around(x, y, guard_cells(width), guard_cells(height), cell);
    if (far.count > 0) return noisy(far, x, y);
    return v > 0 ? filter_range_max : filter_range_min;
  }

 private:
  static constexpr int levels = 8;  // levels per unit of the 0..255 scale

  template <class Sample>
  constexpr CellSum around(int x, int y, int radius, int width, int height, Sample sample) const {
    CellSum sum;
    for (int v = y - radius < 0 ? 0 : y - radius; v <= y + radius && v < height; ++v)
      for (int u = x - radius < 0 ? 0 : x - radius; u <= x + radius && u < width; ++u)
        if (const float s = sample(u, v); !is_out_of_range(s)) sum.sum += level(s), ++sum.count;
    return sum;
  }

  /// Returns a weighted sum of the CellSum of the cell that contains (x, y), and of its eight
  /// neighbours. The weights change continuously with (x, y), also across the borders of cells.
  /// Their sum is 1024. The result is below 2^28, because a cell has 64 samples, and level() is at
  /// most 4080.
  template <class Cell>
  static constexpr CellSum cells_around(int x, int y, int columns, int rows, Cell cell) {
    CellSum sum;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        const int p = x / guard_cell + i, q = y / guard_cell + j;
        if (p < 0 || q < 0 || p >= columns || q >= rows) continue;
        const int weight = cell_weight(x % guard_cell, i) * cell_weight(y % guard_cell, j);
        const CellSum c = cell(p, q);
        sum.sum += weight * c.sum, sum.count += weight * c.count;
      }
    return sum;
  }
  static constexpr int cell_weight(int place, int side) {
    return side == 0 ? 2 * guard_cell : side > 0 ? 2 * place + 1 : 2 * (guard_cell - place) - 1;
  }

  /// Returns the mean of the cells `near` plus pseudo-random noise with the standard deviation of
  /// the frame's noise. The noise is the sum of the four bytes of a hash of the position and
  /// `near`. This sum is nearly Gaussian. The division by 148 compensates for its standard
  /// deviation sqrt(4 * (256^2 - 1) / 12) = 148.
  constexpr float noisy(const CellSum& near, int x, int y) const {
    // The hash ends with the final mixing step of MurmurHash3 (Austin Appleby, public domain).
    auto h = static_cast<std::uint32_t>(near.sum) * 0x9e3779b1u ^
             static_cast<std::uint32_t>(x) * 0x85ebca77u ^
             static_cast<std::uint32_t>(y) * 0xc2b2ae3du;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    h ^= h >> 16;
    const int bytes =
        static_cast<int>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)) - 510;
    return clamped(value(near.sum / near.count + bytes * noise_ / 148));
  }

  float scale_, least_, greatest_;
  int noise_;  // standard deviation of the noise, in levels
};

}  // namespace lull
