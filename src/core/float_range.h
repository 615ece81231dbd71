#pragma once
// What filters see of float samples, which may be anything: highlights of a render, negative
// colours, hot pixels, infinities, what is not a number. Three kinds, on the 0..255 scale:
//
// 1. Within least_seen..greatest_seen: seen as they are.
// 2. Beyond by no more than noise explains (noise_reach sigma): seen as the bound; by how much they
//    lie beyond is added to the result.
// 3. All others are outsiders: they come out as they came, bit by bit. In their place filters see
//    what the samples around suggest, so that these come out as if outsiders were not there: the
//    mean of the nearest ones, or of those of the cells around, with noise like theirs (without it
//    such an area would be an ideal match for every patch of its level, and pull them all to its
//    own); where none is near enough to share a patch with, the bound, which is like no content.
//
// Everything is decided sample by sample and in integers, so that all backends see the same. These
// are constexpr, for hosts and devices.

#include <cstdint>

#include "core/frame.h"

namespace lull {

/// The cuda backend ends here. It filters in half precision, up to 65504: sums of 2 x 64
/// differences between samples, so that none may be over 511. It adds up in 32-bit fixed point:
/// 1024 estimates in units of 1/8192, as differences from 128, so that none of those may be over
/// 255.
inline constexpr float least_seen = -127, greatest_seen = 383;
inline constexpr float noise_reach = 4;

/// Side of the cells whose means stand in for outsiders, in samples: that of a patch.
inline constexpr int guard_cell = 8;
constexpr int guard_cells(int length) { return (length + guard_cell - 1) / guard_cell; }

/// Of the samples of a cell that are no outsiders, as FloatGuard::level() has them.
struct CellSum {
  std::int32_t sum = 0, count = 0;
};

/// Of the planes of a frame with noise of `sigma` (on the 0..255 scale).
class FloatGuard {
 public:
  constexpr FloatGuard(const FrameFormat& format, float sigma)
      : scale_(static_cast<float>(255.0 / format.full_scale())),
        least_(least_seen - noise_reach * sigma),
        greatest_(greatest_seen + noise_reach * sigma),
        noise_(static_cast<int>((sigma < 255 ? sigma : 255.0f) * levels)) {}

  constexpr float scale() const { return scale_; }
  // Of samples on the 0..255 scale:
  static constexpr bool is_seen(float v) { return v >= least_seen && v <= greatest_seen; }
  constexpr bool is_outsider(float v) const { return !(v >= least_ && v <= greatest_); }
  static constexpr float bounded(float v) {
    if (v < least_seen) return least_seen;
    if (v > greatest_seen) return greatest_seen;
    return v;
  }

  /// A sample as a whole number, at least 0, for sums that are equal in any order.
  static constexpr std::int32_t level(float v) {
    return static_cast<std::int32_t>((bounded(v) - least_seen) * levels);
  }
  static constexpr float value(std::int32_t level) {
    return static_cast<float>(level) / levels + least_seen;
  }

  /// The result for a sample of the frame, where filters made `filtered` of what they saw of it.
  constexpr float result(float sample, float filtered) const {
    const float v = sample * scale_;
    if (is_seen(v)) return filtered;
    return is_outsider(v) ? sample : filtered + (v - bounded(v)) / scale_;
  }

  /// What is seen in place of the outsider `v` at (x, y). `sample(x, y)`: the plane's samples,
  /// `cell(i, j)`: CellSum of its cells.
  template <class Sample, class Cell>
  constexpr float stand_in(float v, int x, int y, int width, int height, Sample sample,
                           Cell cell) const {
    for (int radius = 1; radius <= 2; ++radius) {
      const CellSum near = around(x, y, radius, width, height, sample);
      if (near.count > 2 * radius) return bounded(value(near.sum / near.count));
    }
    const CellSum far = cells_around(x, y, guard_cells(width), guard_cells(height), cell);
    if (far.count > 0) return noisy(far, x, y);
    return v > 0 ? greatest_seen : least_seen;
  }

 private:
  static constexpr int levels = 8;  // of value 1

  template <class Sample>
  constexpr CellSum around(int x, int y, int radius, int width, int height, Sample sample) const {
    CellSum sum;
    for (int v = y - radius < 0 ? 0 : y - radius; v <= y + radius && v < height; ++v)
      for (int u = x - radius < 0 ? 0 : x - radius; u <= x + radius && u < width; ++u)
        if (const float s = sample(u, v); !is_outsider(s)) sum.sum += level(s), ++sum.count;
    return sum;
  }

  /// Of the cell and its eight neighbours, weighted by how near they are, so that nothing jumps
  /// from cell to cell. (At most 64 samples, 4080 levels, and weights of 32 x 32: below 2^29.)
  template <class Cell>
  static constexpr CellSum cells_around(int x, int y, int columns, int rows, Cell cell) {
    CellSum sum;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        const int p = x / guard_cell + i, q = y / guard_cell + j;
        if (p < 0 || q < 0 || p >= columns || q >= rows) continue;
        const int weight = nearness(x % guard_cell, i) * nearness(y % guard_cell, j);
        const CellSum c = cell(p, q);
        sum.sum += weight * c.sum, sum.count += weight * c.count;
      }
    return sum;
  }
  static constexpr int nearness(int place, int side) {
    return side == 0 ? 2 * guard_cell : side > 0 ? 2 * place + 1 : 2 * (guard_cell - place) - 1;
  }

  /// The mean with noise: a sum of four bytes, nearly Gaussian, whose standard deviation is 148.
  /// The sum has the noise of the samples in it, so that no two frames have the same here.
  constexpr float noisy(const CellSum& near, int x, int y) const {
    // The last step of MurmurHash3 (Austin Appleby, public domain).
    auto h = static_cast<std::uint32_t>(near.sum) * 0x9e3779b1u ^
             static_cast<std::uint32_t>(x) * 0x85ebca77u ^
             static_cast<std::uint32_t>(y) * 0xc2b2ae3du;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    h ^= h >> 16;
    const int bytes =
        static_cast<int>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)) - 510;
    return bounded(value(near.sum / near.count + bytes * noise_ / 148));
  }

  float scale_, least_, greatest_;
  int noise_;  // in levels
};

}  // namespace lull
