#include "noise/estimate/clip_motion.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/samples.h"

namespace lull {
namespace {

// `coarse_step` is the downsampling factor: each sample of a downsampled plane is the mean of a
// square of this side. `coarse_side` is the side of a matched block, in downsampled samples.
constexpr int coarse_step = 4, coarse_side = 16;
constexpr int coarse_reach = 8;
constexpr int refinements = 4;  // number of steps of the local search for a block

/// Sums of the differences of two frames, and of the squared differences, over a rectangle.
struct Sums {
  std::int32_t count = 0, sum = 0, squares = 0;
  Sums operator-(const Sums& other) const {
    return {count - other.count, sum - other.sum, squares - other.squares};
  }
  /// Returns a measure of how much the differences vary: `count` times the sum of their squared
  /// deviations from the mean difference. Fades and flashes change the mean difference, and
  /// therefore do not count.
  std::int64_t spread() const {
    return static_cast<std::int64_t>(count) * squares - static_cast<std::int64_t>(sum) * sum;
  }
};

template <int Width, int Height = Width>
Sums differences(PlaneView<const std::uint8_t> a, int ax, int ay, PlaneView<const std::uint8_t> b,
                 int bx, int by) {
  static_assert(Height <= 64, "sums of columns have 16 bits");
  std::array<std::int16_t, Width> columns{};
  std::int32_t sum = 0, squares = 0;
  for (int y = 0; y < Height; ++y) {
    const std::uint8_t* const p = a.row(ay + y) + ax;
    const std::uint8_t* const q = b.row(by + y) + bx;
    for (int x = 0; x < Width; ++x) {
      const auto d = static_cast<std::int16_t>(p[x] - q[x]);
      columns[x] = static_cast<std::int16_t>(columns[x] + d);
      squares += d * d;
    }
  }
  for (const std::int16_t column : columns) sum += column;
  return {Width * Height, sum, squares};
}

/// Returns the best motion vector for the square at (x, y), up to `reach` steps of `step` samples
/// from `centre`. In a tie with `centre`, the result is `centre`.
template <int Side>
ClipVector best_around(PlaneView<const std::uint8_t> a, int x, int y,
                       PlaneView<const std::uint8_t> b, ClipVector centre, int reach, int step) {
  const auto inside = [](int at, int length) { return at >= 0 && at <= length - Side; };
  ClipVector best = centre;
  std::int64_t min_cost = differences<Side>(a, x, y, b, x + centre.x, y + centre.y).spread();
  for (int j = -reach; j <= reach; ++j)
    for (int i = -reach; i <= reach; ++i) {
      const int bx = x + centre.x + step * i, by = y + centre.y + step * j;
      if ((i == 0 && j == 0) || !inside(bx, b.width) || !inside(by, b.height)) continue;
      const auto cost = differences<Side>(a, x, y, b, bx, by).spread();
      if (cost < min_cost) min_cost = cost, best = {bx - x, by - y};
    }
  return best;
}

template <class T>
void narrow(const Frame& frame, PlaneView<std::uint8_t> to) {
  const int channels = frame.format.layout == Layout::rgb ? 3 : 1;
  const float scale = to_unit_255(frame.format) / static_cast<float>(channels);
  std::array<PlaneView<const T>, 3> from;
  for (int c = 0; c < channels; ++c) from[c] = frame.plane<T>(c);
  for (int y = 0; y < to.height; ++y) {
    std::uint8_t* const out = to.row(y);
    for (int x = 0; x < to.width; ++x) {
      float v = static_cast<float>(from[0].row(y)[x]);
      for (int c = 1; c < channels; ++c) v += static_cast<float>(from[c].row(y)[x]);
      v *= scale;
      v = v > 0.0f ? v : 0.0f;  // NaN becomes 0
      out[x] = static_cast<std::uint8_t>((v < 255.0f ? v : 255.0f) + 0.5f);
    }
  }
}

}  // namespace

ClipLuma::ClipLuma(const Frame& frame)
    : coarse_(frame.format.width / coarse_step, frame.format.height / coarse_step) {
  const FrameFormat& format = frame.format;
  if (format.sample == SampleType::u8 && format.layout != Layout::rgb) {
    fine_ = frame.plane<const std::uint8_t>(0);
  } else {
    own_ = Plane<std::uint8_t>(format.width, format.height);
    switch (format.sample) {
      case SampleType::u8:
        narrow<std::uint8_t>(frame, own_.view());
        break;
      case SampleType::u16:
        narrow<std::uint16_t>(frame, own_.view());
        break;
      case SampleType::f32:
        narrow<float>(frame, own_.view());
        break;
    }
    fine_ = own_.view();
  }
  std::vector<std::uint16_t> sums(static_cast<std::size_t>(coarse_.width()) * coarse_step);
  for (int y = 0; y < coarse_.height(); ++y) {
    const std::uint8_t* const row[coarse_step] = {fine_.row(4 * y), fine_.row(4 * y + 1),
                                                  fine_.row(4 * y + 2), fine_.row(4 * y + 3)};
    for (std::size_t x = 0; x < sums.size(); ++x)
      sums[x] = static_cast<std::uint16_t>(row[0][x] + row[1][x] + row[2][x] + row[3][x]);
    std::uint8_t* const out = coarse_.view().row(y);
    for (int x = 0; x < coarse_.width(); ++x)
      out[x] = static_cast<std::uint8_t>(
          (sums[4 * x] + sums[4 * x + 1] + sums[4 * x + 2] + sums[4 * x + 3] + 8) >> 4);
  }
}

ClipMotion::ClipMotion(const ClipLuma& from, const ClipLuma& to, int cell)
    : from_(from), to_(to), cell_(cell) {
  const auto a = from.coarse(), b = to.coarse();
  columns_ = (from.fine().width + cell - 1) / cell;
  rows_ = (from.fine().height + cell - 1) / cell;
  cells_.resize(static_cast<std::size_t>(columns_) * rows_);
  if (a.width < coarse_side || a.height < coarse_side) return;
  for (int cy = 0; cy < rows_; ++cy)
    for (int cx = 0; cx < columns_; ++cx) {
      const int x = std::clamp((cx * cell + cell / 2) / coarse_step - coarse_side / 2, 0,
                               a.width - coarse_side);
      const int y = std::clamp((cy * cell + cell / 2) / coarse_step - coarse_side / 2, 0,
                               a.height - coarse_side);
      ClipVector& best = cells_[static_cast<std::size_t>(cy) * columns_ + cx];
      best = best_around<coarse_side>(a, x, y, b, {0, 0}, coarse_reach, 1);
      best = {coarse_step * best.x, coarse_step * best.y};
      for (const int step : {2, 1})
        best = best_around<coarse_step * coarse_side>(from.fine(), coarse_step * x, coarse_step * y,
                                                      to.fine(), best, 1, step);
    }
}

ClipVector ClipMotion::of_block(int x, int y) const {
  constexpr int side = clip_block + 2 * clip_ring;
  constexpr int wide = clip_block + 2 * clip_gap_x, high = clip_block + 2 * clip_gap_y;
  const auto a = from_.fine(), b = to_.fine();
  const int left = x - clip_ring, top = y - clip_ring;
  const int inner_x = x - clip_gap_x, inner_y = y - clip_gap_y;
  std::int64_t min_cost = std::numeric_limits<std::int64_t>::max();
  ClipVector best;
  const auto judge = [&](ClipVector v) {
    const int bx = x + v.x, by = y + v.y;
    if (bx < clip_margin || by < clip_margin || bx + clip_block + clip_margin > b.width ||
        by + clip_block + clip_margin > b.height)
      return;
    const Sums around =
        differences<side>(a, left, top, b, left + v.x, top + v.y) -
        differences<wide, high>(a, inner_x, inner_y, b, inner_x + v.x, inner_y + v.y);
    if (const auto cost = around.spread(); cost < min_cost) min_cost = cost, best = v;
  };
  const int cx = std::min((x + clip_block / 2) / cell_, columns_ - 1);
  const int cy = std::min((y + clip_block / 2) / cell_, rows_ - 1);
  const ClipVector start = cells_[static_cast<std::size_t>(cy) * columns_ + cx];
  judge(start);
  judge({0, 0});
  if (min_cost == 0) return best;
  // A new vector must reduce the sum of squares by at least a quarter. A smaller reduction may be
  // chance, because noise alone changes the sum by 7 %.
  if (min_cost < std::numeric_limits<std::int64_t>::max()) min_cost -= min_cost / 4;
  // The local search starts from the better of two vectors, 0 and the vector of the large block.
  for (int i = 0; i < refinements; ++i) {
    const ClipVector centre = best;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dx != 0 || dy != 0) judge({centre.x + dx, centre.y + dy});
    if (best.x == centre.x && best.y == centre.y) break;
  }
  return best;
}

}  // namespace lull
