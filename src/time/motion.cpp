// The motion search of motion.h in host memory.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "time/motion.cpp"
#include "time/motion.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace lull {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::CappedTag<std::int16_t, 32>;
using Sums = hn::RepartitionToWide<Words>;

struct Region {
  Interval x, y;
  int width() const { return x.end - x.first; }
  int samples() const { return width() * (y.end - y.first); }
};

/// Returns the sum of squared differences between a region of `a` and the region of `b` shifted by
/// (dx, dy). The planes need a padding of one SIMD vector.
HWY_INLINE std::uint32_t squared_difference(PlaneView<const std::uint8_t> a,
                                            PlaneView<const std::uint8_t> b, const Region& region,
                                            int dx, int dy) {
  const Words d;
  const Sums d_sums;
  const hn::Rebind<std::uint8_t, Words> bytes;
  const int lanes = static_cast<int>(hn::Lanes(d)), width = region.width();
  const int whole = width / lanes * lanes;
  const auto rest = hn::FirstN(d, width - whole);
  auto even = hn::Zero(d_sums), odd = even;
  for (int y = region.y.first; y < region.y.end; ++y) {
    const std::uint8_t* const p = a.row(y) + region.x.first;
    const std::uint8_t* const q = b.row(y + dy) + region.x.first + dx;
    const auto difference = [&](int i) HWY_ATTR {
      return hn::Sub(hn::PromoteTo(d, hn::LoadU(bytes, p + i)),
                     hn::PromoteTo(d, hn::LoadU(bytes, q + i)));
    };
    for (int i = 0; i < whole; i += lanes) {
      const auto v = difference(i);
      even = hn::ReorderWidenMulAccumulate(d_sums, v, v, even, odd);
    }
    if (whole < width) {
      const auto v = hn::IfThenElseZero(rest, difference(whole));
      even = hn::ReorderWidenMulAccumulate(d_sums, v, v, even, odd);
    }
  }
  return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d_sums, hn::Add(even, odd))));
}

struct Found {
  Motion vector;
  std::uint32_t cost;
};

/// Returns the motion vector with the minimum cost. Each component of the vector differs from
/// `centre` by at most `reach`, and the region shifted by the vector is inside the picture.
Found search(PlaneView<const std::uint8_t> a, PlaneView<const std::uint8_t> b, const Region& region,
             Motion centre, int reach) {
  Found best{centre, squared_difference(a, b, region, centre.x, centre.y)};
  const int top = std::max(centre.y - reach, -region.y.first);
  const int bottom = std::min(centre.y + reach, b.height - region.y.end);
  const int left = std::max(centre.x - reach, -region.x.first);
  const int right = std::min(centre.x + reach, b.width - region.x.end);
  for (int y = top; y <= bottom; ++y)
    for (int x = left; x <= right; ++x) {
      const std::uint32_t cost = squared_difference(a, b, region, x, y);
      if (cost < best.cost)
        best = {{static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)}, cost};
    }
  return best;
}

Motion motion_of(const MainPlane& frame, const MainPlane& other, const Region& region,
                 const Region& coarse_region, float sigma) {
  const Motion rough =
      search(frame.coarse, other.coarse, coarse_region, {}, prediction_reach).vector;
  // The function clamps the centre of the search, so that the shifted region remains inside the
  // picture.
  const auto inside = [](int v, const Interval& i, int length) {
    return static_cast<std::int16_t>(std::clamp(v, -i.first, length - i.end));
  };
  const Motion centre{inside(rough.x * coarse, region.x, frame.fine.width),
                      inside(rough.y * coarse, region.y, frame.fine.height)};
  const Found best = search(frame.fine, other.fine, region, centre, motion_refinement);
  const std::uint32_t still = squared_difference(frame.fine, other.fine, region, 0, 0);
  return still <= best.cost + zero_motion_bonus(sigma, region.samples()) ? Motion{} : best.vector;
}

}  // namespace

/// Finds the motion vectors of one row of motion blocks. `row` is the index of this row.
void find_row(const MainPlane& frame, const MainPlane& other, float sigma, int row,
              Motion* vectors) {
  const int width = frame.fine.width, height = frame.fine.height;
  for (int column = 0; column < motion_cells(width); ++column) {
    const Region region{cell_region(column, width), cell_region(row, height)};
    const Region coarse_region{coarse_interval(region.x, frame.coarse.width),
                               coarse_interval(region.y, frame.coarse.height)};
    vectors[column] = motion_of(frame, other, region, coarse_region, sigma);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull {
HWY_EXPORT(find_row);

void find_motion(const MainPlane& frame, const MainPlane& other, float sigma,
                 std::vector<Motion>& cells) {
  const int columns = motion_cells(frame.fine.width), rows = motion_cells(frame.fine.height);
  cells.assign(static_cast<std::size_t>(columns) * rows, {});
  if (frame.coarse.empty()) return;
  tbb::parallel_for(0, rows, [&](int row) {
    HWY_DYNAMIC_DISPATCH(find_row)(frame, other, sigma, row, cells.data() + row * columns);
  });
}

}  // namespace lull
#endif
