#include "tools/search/quick_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "noise/estimate/clip_checks.h"

namespace lull::tools {
namespace {

/// The sums are integers, so they do not depend on the order of summation or on the machine.
constexpr int unit = 16;  // integer units per 8-bit level
constexpr int cell = 16, row_step = 4;
/// Side of the blocks in samples, approximate number of blocks, and share of the blocks that count
/// as flat.
constexpr int side = 8, wanted_blocks = 600;
constexpr double flat_share = 0.2;
/// The search for copies examines a grid of `copy_blocks` x `copy_blocks` blocks of 8x8 samples,
/// with displacements of up to `copy_range` samples along each axis.
constexpr int copy_blocks = 8, copy_range = 12;

template <class T>
class Luma {
 public:
  explicit Luma(const Frame& frame)
      : view(frame.plane<T>(frame.format.layout == Layout::rgb ? 1 : 0)),
        scale_(static_cast<float>(255 * unit / frame.format.full_scale())) {}
  const PlaneView<const T> view;

  std::int32_t operator()(T sample) const {
    if constexpr (sizeof(T) == 1) return unit * sample;
    float v = static_cast<float>(sample) * scale_;
    v = v > 0.0f ? v : 0.0f;  // NaN becomes 0
    return static_cast<std::int32_t>((v < 255.0f * unit ? v : 255.0f * unit) + 0.5f);
  }

 private:
  float scale_;
};

template <class T>
Plane<std::uint8_t> cells_of(const Luma<T>& luma) {
  constexpr int samples = cell * (cell / row_step);
  Plane<std::uint8_t> cells(luma.view.width / cell, luma.view.height / cell);
  for (int y = 0; y < cells.height(); ++y)
    for (int x = 0; x < cells.width(); ++x) {
      std::int32_t sum = 0;
      for (int j = row_step / 2; j < cell; j += row_step) {
        const T* const row = luma.view.row(y * cell + j) + static_cast<std::ptrdiff_t>(x) * cell;
        for (int i = 0; i < cell; ++i) sum += luma(row[i]);
      }
      cells.view()(x, y) = static_cast<std::uint8_t>((sum / samples + unit / 2) / unit);
    }
  return cells;
}

/// Returns the sum of absolute second differences along the rows of a block. Differences along
/// columns are unsuitable, because adjacent rows of interlaced frames belong to different fields.
template <class T>
std::int32_t second_differences_at(const Luma<T>& luma, int x, int y) {
  std::int32_t sum = 0;
  for (int j = y; j < y + side; ++j) {
    const T* const row = luma.view.row(j) + x;
    for (int i = 0; i < side; ++i)
      sum += std::abs(2 * luma(row[i]) - luma(row[i - 1]) - luma(row[i + 1]));
  }
  return sum;
}

template <class T>
float measure_flat_noise(const Luma<T>& luma) {
  const int width = luma.view.width, height = luma.view.height;
  const double area = static_cast<double>(width) * height;
  const int step = std::max(side, static_cast<int>(std::sqrt(area / wanted_blocks)));
  std::vector<std::int32_t> sums;
  for (int y = 0; y + side <= height; y += step)
    for (int x = 1; x + side < width; x += step)
      if (const std::int32_t bend = second_differences_at(luma, x, y); bend > 0)
        sums.push_back(bend);
  if (sums.empty()) return 0;
  const auto position =
      sums.begin() + static_cast<std::ptrdiff_t>(flat_share * static_cast<double>(sums.size()));
  std::ranges::nth_element(sums, position);
  return static_cast<float>(*position) / (2 * unit * side * side);
}

/// Position of an exact copy of an 8x8 block in another frame. find_copy() skips constant blocks.
enum class CopyPosition { nowhere, in_place, moved };

template <class T>
CopyPosition find_copy(PlaneView<const T> a, PlaneView<const T> b, int x, int y) {
  const auto is_at = [&](int dx, int dy) {
    for (int j = 0; j < side; ++j)
      if (!std::equal(a.row(y + j) + x, a.row(y + j) + x + side, b.row(y + dy + j) + x + dx))
        return false;
    return true;
  };
  if (is_at(0, 0)) return CopyPosition::in_place;
  for (int dy = -copy_range; dy <= copy_range; ++dy)
    for (int dx = -copy_range; dx <= copy_range; ++dx)
      if (is_at(dx, dy)) return CopyPosition::moved;
  return CopyPosition::nowhere;
}

template <class T>
bool is_moved_copy(PlaneView<const T> a, PlaneView<const T> b) {
  const auto is_constant = [&](int x, int y) {
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i)
        if (a(x + i, y + j) != a(x, y)) return false;
    return true;
  };
  const int step_x = std::max(side, a.width / copy_blocks);
  const int step_y = std::max(side, a.height / copy_blocks);
  int moved = 0, nowhere = 0;
  for (int y = copy_range; y + side + copy_range <= a.height; y += step_y)
    for (int x = copy_range; x + side + copy_range <= a.width; x += step_x) {
      if (is_constant(x, y)) continue;
      const CopyPosition found = find_copy(a, b, x, y);
      moved += found == CopyPosition::moved, nowhere += found == CopyPosition::nowhere;
    }
  return moved > nowhere;
}

template <class T>
QuickCheck check_frame(const Frame& frame) {
  const Luma<T> luma(frame);
  return {cells_of(luma), measure_flat_noise(luma)};
}

bool are_apart(float a, float b, float factor, float slack) {
  return std::max(a, b) > factor * std::min(a, b) + slack;
}

}  // namespace

QuickCheck quick_check(const Frame& frame) {
  switch (frame.format.sample) {
    case SampleType::u16:
      return check_frame<std::uint16_t>(frame);
    case SampleType::f32:
      return check_frame<float>(frame);
    case SampleType::u8:
      break;
  }
  return check_frame<std::uint8_t>(frame);
}

bool is_same_scene(const QuickCheck& a, const QuickCheck& b) {
  return lull::is_same_scene(a.cells.view(), b.cells.view());
}

bool may_repeat(const QuickCheck& a, const QuickCheck& b) {
  if (a.flat_noise != b.flat_noise) return false;
  const auto p = a.cells.view(), q = b.cells.view();
  for (int y = 0; y < p.height; ++y)
    if (!std::equal(p.row(y), p.row(y) + p.width, q.row(y))) return false;
  return true;
}

bool is_moved_copy(const Frame& a, const Frame& b) {
  const int plane = a.format.layout == Layout::rgb ? 1 : 0;
  switch (a.format.sample) {
    case SampleType::u16:
      return is_moved_copy<std::uint16_t>(a.plane<std::uint16_t>(plane),
                                          b.plane<std::uint16_t>(plane));
    case SampleType::f32:
      return is_moved_copy<float>(a.plane<float>(plane), b.plane<float>(plane));
    case SampleType::u8:
      break;
  }
  return is_moved_copy<std::uint8_t>(a.plane<std::uint8_t>(plane), b.plane<std::uint8_t>(plane));
}

bool may_differ_in_noise(float a, float b) { return are_apart(a, b, 1.1f, 0.1f); }

bool noise_jumps(float a, float b) { return are_apart(a, b, 1.2f, 0.25f); }

}  // namespace lull::tools
