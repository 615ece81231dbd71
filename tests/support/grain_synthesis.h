#pragma once
// The grain that a decoder synthesises from grain parameters: the film grain synthesis process of
// the AV1 bitstream specification, section 7.18.3, step by step. Its table of Gaussian numbers is
// replaced by another one with the same distribution.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/frame.h"
#include "noise/grain/grain_table.h"

namespace lull::test_support {

class GrainSynthesis {
 public:
  GrainSynthesis(const GrainParams& grain, const FrameFormat& format, int seed)
      : grain_(grain), format_(format), seed_(seed) {
    std::mt19937 rng{99};
    std::normal_distribution<double> normal{0, 512};
    for (int& number : gaussian_)
      number = std::clamp(4 * static_cast<int>(std::lround(normal(rng) / 4)), -2048, 2047);
    make_luma();
    for (int i = 1; i < format.planes(); ++i) make_chroma(i);
  }

  /// Returns the values that are added to plane `i`; `luma` is the frame's luma in stored values.
  template <class T>
  std::vector<int> noise(int plane, PlaneView<const T> luma) {
    const int w = format_.plane_width(plane), h = format_.plane_height(plane);
    const int sx = plane ? format_.chroma_shift_x : 0, sy = plane ? format_.chroma_shift_y : 0;
    const std::vector<int> image = image_of(plane, sx, sy);
    std::vector<int> out(static_cast<std::size_t>(w) * h);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const int lx = std::min(x << sx, luma.width - 1), ly = std::min(y << sy, luma.height - 1);
        int at = luma(lx, ly);
        if (sx) at = (at + luma(std::min(lx + 1, luma.width - 1), ly) + 1) >> 1;
        out[static_cast<std::size_t>(y) * w + x] = round2(
            scale(plane, at) * image[static_cast<std::size_t>(y) * w + x], grain_.scaling_shift);
      }
    return out;
  }

 private:
  static int round2(int value, int shift) {
    return shift ? (value + (1 << shift >> 1)) >> shift : value;
  }
  int random(int bits) {
    const int bit = (reg_ ^ reg_ >> 1 ^ reg_ >> 3 ^ reg_ >> 12) & 1;
    reg_ = reg_ >> 1 | bit << 15;
    return reg_ >> (16 - bits) & ((1 << bits) - 1);
  }
  int clip(int value) const {
    const int half = 128 << (format_.bits - 8);
    return std::clamp(value, -half, half - 1);
  }
  int width(int plane) const { return plane && format_.chroma_shift_x ? 44 : 82; }
  int height(int plane) const { return plane && format_.chroma_shift_y ? 38 : 73; }
  int& cell(int plane, int y, int x) { return template_[plane][y * width(plane) + x]; }

  void make_white(int plane, int seed) {
    reg_ = seed;
    template_[plane].assign(static_cast<std::size_t>(width(plane)) * height(plane), 0);
    if (grain_.points[plane].empty()) return;
    const int shift = 12 - format_.bits + grain_.grain_scale_shift;
    for (int& value : template_[plane]) value = round2(gaussian_[random(11)], shift);
  }
  int filtered(int plane, int y, int x) {
    int sum = 0;
    for (int tap = 0; tap < grain_taps; ++tap)
      sum += grain_.ar_coeffs[plane][tap] * cell(plane, y + tap_dy(tap), x + tap_dx(tap));
    return sum;
  }
  void make_luma() {
    make_white(0, seed_);
    for (int y = 3; y < height(0); ++y)
      for (int x = 3; x < width(0) - 3; ++x)
        cell(0, y, x) = clip(cell(0, y, x) + round2(filtered(0, y, x), grain_.ar_coeff_shift));
  }
  void make_chroma(int plane) {
    const int sx = format_.chroma_shift_x, sy = format_.chroma_shift_y;
    make_white(plane, seed_ ^ (plane == 1 ? 0xb524 : 0x49d8));
    for (int y = 3; y < height(plane); ++y)
      for (int x = 3; x < width(plane) - 3; ++x) {
        int luma = 0;
        for (int j = 0; j <= sy; ++j)
          for (int i = 0; i <= sx; ++i)
            luma += cell(0, ((y - 3) << sy) + 3 + j, ((x - 3) << sx) + 3 + i);
        const int sum = filtered(plane, y, x) + grain_.luma_coeff[plane] * round2(luma, sx + sy);
        cell(plane, y, x) = clip(cell(plane, y, x) + round2(sum, grain_.ar_coeff_shift));
      }
  }

  /// Returns a plane of overlapping blocks that are cut from the template.
  std::vector<int> image_of(int plane, int sx, int sy) {
    const int w = format_.plane_width(plane), h = format_.plane_height(plane);
    std::vector<int> image(static_cast<std::size_t>(w) * h);
    for (int stripe = 0; stripe * 32 < format_.height; ++stripe) {
      const std::vector<int> rows = stripe_of(plane, stripe, sx, sy);
      for (int i = 0; i < 34 >> sy; ++i) {
        const int y = (stripe * 32 >> sy) + i;
        for (int x = 0; y < h && x < w; ++x) {
          int& to = image[static_cast<std::size_t>(y) * w + x];
          const int value = rows[static_cast<std::size_t>(i) * w + x];
          to = i < 2 >> sy && stripe > 0 ? blend(to, value, i, sy) : value;
        }
      }
    }
    return image;
  }
  std::vector<int> stripe_of(int plane, int stripe, int sx, int sy) {
    const int w = format_.plane_width(plane);
    std::vector<int> rows(static_cast<std::size_t>(w) * (34 >> sy));
    reg_ = seed_;
    reg_ ^= ((stripe * 37 + 178) & 255) << 8;
    reg_ ^= (stripe * 173 + 105) & 255;
    for (int block = 0; block * 32 < format_.width; ++block) {
      const int offset = random(8), ox = offset >> 4, oy = offset & 15;
      for (int i = 0; i < 34 >> sy; ++i)
        for (int j = 0; j < 34 >> sx; ++j) {
          const int x = (block * 32 >> sx) + j;
          if (x >= w) continue;
          const int value =
              cell(plane, (sy ? 6 + oy : 9 + 2 * oy) + i, (sx ? 6 + ox : 9 + 2 * ox) + j);
          int& to = rows[static_cast<std::size_t>(i) * w + x];
          to = j < 2 >> sx && block > 0 ? blend(to, value, j, sx) : value;
        }
    }
    return rows;
  }
  int blend(int before, int after, int at, int shift) const {
    const int a = shift ? 23 : at == 0 ? 27 : 17, b = shift ? 22 : at == 0 ? 17 : 27;
    return clip(round2(before * a + after * b, 5));
  }
  int scale(int plane, int luma) const {
    const auto& points = grain_.points[plane];
    const double at = std::ldexp(luma, 8 - format_.bits);
    if (points.empty()) return 0;
    if (at <= points.front().at) return points.front().scale;
    for (std::size_t i = 1; i < points.size(); ++i)
      if (at <= points[i].at)
        return static_cast<int>(
            std::lround(points[i - 1].scale + (at - points[i - 1].at) *
                                                  (points[i].scale - points[i - 1].scale) /
                                                  (points[i].at - points[i - 1].at)));
    return points.back().scale;
  }

  GrainParams grain_;
  FrameFormat format_;
  int seed_, reg_ = 0;
  std::array<int, 2048> gaussian_{};
  std::array<std::vector<int>, 3> template_;
};

}  // namespace lull::test_support
