#include "noise/grain/statistics.h"

#include <algorithm>
#include <cmath>

namespace lull {
namespace {

constexpr int full = 256 * grain_unit;
constexpr std::size_t max_per_class = 192;  // maximum number of blocks of a frame
// Maximum mean squared gradient of flat blocks. A gradient is the difference of two samples with a
// distance of 2.
constexpr std::int64_t flat_gradient = 2 * grain_unit * 2 * grain_unit;

int to_units(const FrameFormat& format, float sample) {
  const double scaled = static_cast<double>(sample) / format.full_scale() * 255 * grain_unit;
  return scaled > 0 ? static_cast<int>(std::lround(std::min(scaled, full - 1.0))) : 0;
}

/// Loads w x h samples with the origin (x0, y0), and converts them to sixteenths of an 8-bit step.
/// Samples above the maximum of the bit depth, which damaged files contain, count as the maximum.
void load(const Frame& frame, int plane, int x0, int y0, int w, int h, int* to) {
  const FrameFormat& format = frame.format;
  for (int y = 0; y < h; ++y, to += w) {
    switch (format.sample) {
      case SampleType::u8: {
        const auto* row = frame.plane<std::uint8_t>(plane).row(y0 + y) + x0;
        for (int x = 0; x < w; ++x) to[x] = row[x] * grain_unit;
        break;
      }
      case SampleType::u16: {
        const auto* row = frame.plane<std::uint16_t>(plane).row(y0 + y) + x0;
        const int up = std::max(12 - format.bits, 0), down = std::max(format.bits - 12, 0);
        const int most = format.max_value();
        for (int x = 0; x < w; ++x) to[x] = std::min<int>(row[x], most) << up >> down;
        break;
      }
      case SampleType::f32: {
        const auto* row = frame.plane<float>(plane).row(y0 + y) + x0;
        for (int x = 0; x < w; ++x) to[x] = to_units(format, row[x]);
        break;
      }
    }
  }
}

constexpr int max_samples = GrainStatistics::side * GrainStatistics::side;
using Samples = std::array<int, max_samples>;

struct Block {
  int x = 0, y = 0;           // position of the first luma sample of the block
  std::int64_t gradient = 0;  // mean squared gradient
  int brightness = 0;         // class
};

/// Returns whether a block is suitable for noise measurement: it is not constant (letterbox), and
/// few of its samples are clipped.
bool is_usable(const Samples& noisy, int count) {
  int clipped = 0;
  bool constant = true;
  const int top = *std::max_element(noisy.begin(), noisy.begin() + count);
  for (int i = 0; i < count; ++i) {
    constant &= noisy[i] == noisy[0];
    clipped += noisy[i] == 0 || (noisy[i] == top && top >= 255 * grain_unit);
  }
  return !constant && clipped * 50 <= count;
}

std::int64_t mean_gradient(const Samples& s, int w, int h) {
  std::int64_t sum = 0, count = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const int* at = s.data() + y * w + x;
      if (x > 0 && x + 1 < w) sum += std::int64_t{at[1] - at[-1]} * (at[1] - at[-1]), ++count;
      if (y > 0 && y + 1 < h) sum += std::int64_t{at[w] - at[-w]} * (at[w] - at[-w]), ++count;
    }
  return count > 0 ? sum / count : 0;
}

/// Returns the flattest quarter of the blocks of each class of brightness. The function omits
/// blocks with a much larger gradient than the flattest blocks of the frame.
std::vector<Block> flat_blocks(const Frame& noisy, const Frame& denoised, int w, int h) {
  std::vector<Block> all;
  Samples samples;
  for (int y = 0; y + h <= noisy.format.height; y += h)
    for (int x = 0; x + w <= noisy.format.width; x += w) {
      load(noisy, 0, x, y, w, h, samples.data());
      if (!is_usable(samples, w * h)) continue;
      load(denoised, 0, x, y, w, h, samples.data());
      std::int64_t sum = 0;
      for (int i = 0; i < w * h; ++i) sum += samples[i];
      const auto brightness = static_cast<int>(sum / (w * h) * GrainStatistics::classes / full);
      all.push_back({x, y, mean_gradient(samples, w, h), brightness});
    }
  if (all.empty()) return all;
  std::ranges::stable_sort(all, {}, &Block::gradient);
  const std::int64_t limit = std::max(4 * all[all.size() / 10].gradient, flat_gradient);
  std::array<std::size_t, GrainStatistics::classes> count{}, removed{};
  for (const Block& block : all) ++count[block.brightness];
  std::vector<Block> flat;
  for (const Block& block : all) {
    const std::size_t maximum = std::min((count[block.brightness] + 3) / 4, max_per_class);
    if (block.gradient > limit || removed[block.brightness] == maximum) continue;
    ++removed[block.brightness];
    flat.push_back(block);
  }
  return flat;
}

void add_pairs(const Samples& s, int w, int h, std::array<std::int64_t, pair_lags>& pairs) {
  for (int dy = 0; dy <= std::min(grain_lag, h - 1); ++dy)
    for (int dx = dy == 0 ? 0 : -pair_reach; dx <= pair_reach; ++dx) {
      std::int64_t sum = 0;
      const int from = std::max(0, -dx), to = w - std::max(0, dx);
      for (int y = 0; y + dy < h; ++y) {
        const int *a = s.data() + y * w, *b = a + dy * w + dx;
        for (int x = from; x < to; ++x) sum += std::int64_t{a[x]} * b[x];
      }
      pairs[pair_index(dx, dy)] += sum;
    }
}

void add_with_luma(const Samples& chroma, const Samples& luma, int w, int h,
                   GrainStatistics::Products& products) {
  for (int i = 0; i < w * h; ++i) {
    products.with_luma += std::int64_t{chroma[i]} * luma[i];
    products.luma_squares += std::int64_t{luma[i]} * luma[i];
  }
  for (int tap = 0; tap < grain_taps; ++tap) {
    const int dx = tap_dx(tap), dy = tap_dy(tap);
    std::int64_t sum = 0;
    for (int y = -dy; y < h; ++y)
      for (int x = std::max(0, -dx); x < w - std::max(0, dx); ++x)
        sum += std::int64_t{chroma[(y + dy) * w + x + dx]} * luma[y * w + x];
    products.taps_with_luma[tap] += sum;
  }
}

/// Downsamples a block of luma to the size of the block in a subsampled plane. Each result is the
/// mean of the luma samples at its position.
Samples shrunk(const Samples& from, int w, int shift_x, int shift_y, int to_w, int to_h) {
  Samples to{};
  const int area = 1 << (shift_x + shift_y);
  for (int y = 0; y < to_h; ++y)
    for (int x = 0; x < to_w; ++x) {
      int sum = 0;
      for (int j = 0; j < 1 << shift_y; ++j)
        for (int i = 0; i < 1 << shift_x; ++i)
          sum += from[((y << shift_y) + j) * w + (x << shift_x) + i];
      to[y * to_w + x] = (sum + (sum < 0 ? -area : area) / 2) / area;
    }
  return to;
}

}  // namespace

GrainStatistics::GrainStatistics(const FrameFormat& format) : format_(format) {}

int GrainStatistics::block_width(int plane) const {
  const int unit = 1 << format_.chroma_shift_x;
  const int luma = std::max(std::min(side, format_.width) / unit * unit, 1);
  return plane == 0 ? luma : std::max(luma >> format_.chroma_shift_x, 1);
}
int GrainStatistics::block_height(int plane) const {
  const int unit = 1 << format_.chroma_shift_y;
  const int luma = std::max(std::min(side, format_.height) / unit * unit, 1);
  return plane == 0 ? luma : std::max(luma >> format_.chroma_shift_y, 1);
}

void GrainStatistics::add(const Frame& noisy, const Frame& denoised) {
  const int w = block_width(0), h = block_height(0);
  const int shift_x = format_.chroma_shift_x, shift_y = format_.chroma_shift_y;
  // If a frame has a width or height of 1, a block can be smaller than a chroma sample. The
  // function then does not measure chroma.
  const bool chroma = format_.planes() == 3 && w >> shift_x > 0 && h >> shift_y > 0;
  Samples before, clean, removed, luma_removed;
  for (const Block& block : flat_blocks(noisy, denoised, w, h)) {
    ++blocks_[block.brightness];
    load(denoised, 0, block.x, block.y, w, h, clean.data());
    for (int i = 0; i < (chroma ? 3 : 1); ++i) {
      const int pw = block_width(i), ph = block_height(i);
      const int sx = i == 0 ? 0 : shift_x, sy = i == 0 ? 0 : shift_y;
      Samples after;
      load(noisy, i, block.x >> sx, block.y >> sy, pw, ph, before.data());
      load(denoised, i, block.x >> sx, block.y >> sy, pw, ph, after.data());
      for (int k = 0; k < pw * ph; ++k) removed[k] = before[k] - after[k];
      const Samples luma = i == 0 ? clean : shrunk(clean, w, sx, sy, pw, ph);
      for (int k = 0; k < pw * ph; ++k) {
        Bin& bin = planes_[i].by_luma[luma[k] * bins / full];
        ++bin.count;
        bin.sum += removed[k];
        bin.squares += std::int64_t{removed[k]} * removed[k];
      }
      Products& products = planes_[i].products[block.brightness];
      add_pairs(removed, pw, ph, products.pairs);
      if (i == 0)
        luma_removed = removed;
      else
        add_with_luma(removed, shrunk(luma_removed, w, sx, sy, pw, ph), pw, ph, products);
    }
  }
}

GrainStatistics& GrainStatistics::operator+=(const GrainStatistics& other) {
  const auto add = [](auto& to, const auto& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < bins; ++k) {
      Bin& to = planes_[i].by_luma[k];
      const Bin& from = other.planes_[i].by_luma[k];
      to.count += from.count;
      to.sum += from.sum;
      to.squares += from.squares;
    }
    for (int k = 0; k < classes; ++k) {
      Products& to = planes_[i].products[k];
      const Products& from = other.planes_[i].products[k];
      add(to.pairs, from.pairs);
      add(to.taps_with_luma, from.taps_with_luma);
      to.with_luma += from.with_luma;
      to.luma_squares += from.luma_squares;
    }
  }
  add(blocks_, other.blocks_);
  return *this;
}

}  // namespace lull
