// Tests motion estimation and the candidates around the motion, compared with plain code that
// follows the text of motion.h and group.h.

#include <gtest/gtest.h>

#include <random>

#include "match/cpu/kernels.h"
#include "match/motion_grid.h"
#include "match/reference/matcher.h"
#include "time/frame_statistics.h"

namespace lull {
namespace {

/// A plane of bytes that may be read beyond its end.
struct Bytes {
  Bytes(int w, int h) : plane(w, h + 1), view(plane.view().data, w, h, plane.view().stride) {}
  Plane<std::uint8_t> plane;
  PlaneView<std::uint8_t> view;
};

/// Blurred noise, so that every position is distinct. The picture is displaced by (dx, dy) and has
/// additional noise.
Bytes moved_picture(int width, int height, int dx, int dy, unsigned seed, int noise) {
  std::mt19937 texture{5}, rng{seed};
  constexpr int margin = 64;
  Bytes fine(width + 2 * margin, height + 2 * margin);
  for (int y = 0; y < fine.view.height; ++y)
    for (int x = 0; x < fine.view.width; ++x)
      fine.view(x, y) = static_cast<std::uint8_t>(texture() % 256);
  Bytes result(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int sum = 0;
      for (int v = -2; v <= 2; ++v)
        for (int u = -2; u <= 2; ++u) sum += fine.view(x - dx + u + margin, y - dy + v + margin);
      const int value =
          (sum / 25 - 128) * 3 + 128 + static_cast<int>(rng() % (2 * noise + 1)) - noise;
      result.view(x, y) = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    }
  return result;
}

Bytes coarse_of(const Bytes& fine) {
  Bytes result(fine.view.width / coarse, fine.view.height / coarse);
  make_coarse(fine.view, result.view);
  return result;
}

std::uint32_t cost(const Bytes& a, const Bytes& b, Interval x, Interval y, int dx, int dy) {
  std::uint32_t sum = 0;
  for (int v = y.first; v < y.end; ++v)
    for (int u = x.first; u < x.end; ++u) {
      const int d = a.view(u, v) - b.view(u + dx, v + dy);
      sum += static_cast<std::uint32_t>(d * d);
    }
  return sum;
}

Motion search(const Bytes& a, const Bytes& b, Interval x, Interval y, Motion centre, int reach) {
  Motion best = centre;
  std::uint32_t least = cost(a, b, x, y, centre.x, centre.y);
  for (int dy = centre.y - reach; dy <= centre.y + reach; ++dy)
    for (int dx = centre.x - reach; dx <= centre.x + reach; ++dx) {
      if (x.first + dx < 0 || x.end + dx > a.view.width) continue;
      if (y.first + dy < 0 || y.end + dy > a.view.height) continue;
      const std::uint32_t c = cost(a, b, x, y, dx, dy);
      if (c < least) {
        least = c;
        best = {static_cast<std::int16_t>(dx), static_cast<std::int16_t>(dy)};
      }
    }
  return best;
}

TEST(Motion, RegionsContainTheirCellsAndStayInThePicture) {
  for (const int length : {8, 31, 32, 33, 47, 49, 100, 321})
    for (int i = 0; i < motion_cells(length); ++i) {
      const Interval region = cell_region(i, length);
      EXPECT_GE(region.first, 0);
      EXPECT_LE(region.end, length);
      EXPECT_EQ(region.end - region.first, std::min(length, motion_region));
      EXPECT_LE(region.first, i * motion_cell);
      EXPECT_GE(region.end, std::min(length, (i + 1) * motion_cell));
    }
}

TEST(Motion, BundlesUseTheCellOfTheirCentre) {
  for (const int length : {8, 33, 100, 321})
    for (const int step : {1, 3, 5, 8})
      for (const int shift : {0, 1}) {
        const int plane = (length + (1 << shift) - 1) >> shift;
        if (plane < patch) continue;
        const MotionGrid grid{plane, plane, step, shift, shift, length, length};
        const int columns = motion_cells(length), count = reference_count(plane, step);
        std::vector<Motion> cells;
        for (int k = 0; k < columns * columns; ++k)
          cells.push_back({static_cast<std::int16_t>(4 * (k % columns)),
                           static_cast<std::int16_t>(4 * (k / columns))});
        for (int i = 0; i < count; ++i) {
          const Motion v = grid.vector(cells.data(), i, 0);
          const Interval cell = cell_region((v.x << shift) / 4, length);
          const int first = i / motion_columns * motion_columns;
          const int last = std::min(first + motion_columns, count) - 1;
          EXPECT_LE(cell.first, (reference_position(last, plane, step) + patch) << shift);
          EXPECT_GE(cell.end, reference_position(first, plane, step) << shift);
        }
      }
}

TEST(Motion, EqualsPlainSearch) {
  const Bytes a = moved_picture(107, 90, 0, 0, 1, 30), b = moved_picture(107, 90, 9, -5, 2, 30);
  const Bytes ca = coarse_of(a), cb = coarse_of(b);
  std::vector<Motion> cells;
  find_motion({a.view, ca.view}, {b.view, cb.view}, 10, cells);
  const int columns = motion_cells(107), rows = motion_cells(90);
  ASSERT_EQ(cells.size(), static_cast<std::size_t>(columns) * rows);
  int right = 0;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const Interval x = cell_region(i, 107), y = cell_region(j, 90);
      const Interval cx = coarse_interval(x, 26), cy = coarse_interval(y, 22);
      const Motion rough = search(ca, cb, cx, cy, {}, prediction_reach);
      const Motion centre{
          static_cast<std::int16_t>(std::clamp(rough.x * coarse, -x.first, 107 - x.end)),
          static_cast<std::int16_t>(std::clamp(rough.y * coarse, -y.first, 90 - y.end))};
      Motion best = search(a, b, x, y, centre, motion_refinement);
      const int samples = (x.end - x.first) * (y.end - y.first);
      if (cost(a, b, x, y, 0, 0) <=
          cost(a, b, x, y, best.x, best.y) + zero_motion_bonus(10, samples))
        best = {};
      const Motion found = cells[j * columns + i];
      EXPECT_EQ(found.x, best.x) << i << ", " << j;
      EXPECT_EQ(found.y, best.y) << i << ", " << j;
      right += found.x == 9 && found.y == -5;
    }
  // Cells that leave the picture with this motion cannot detect it.
  EXPECT_GE(right, 4);
}

TEST(Motion, IsScaledToChromaSamples) {
  const Bytes a = moved_picture(128, 96, 0, 0, 1, 5), b = moved_picture(128, 96, -6, 4, 2, 5);
  const Bytes ca = coarse_of(a), cb = coarse_of(b);
  std::vector<Motion> cells, bundles;
  find_motion({a.view, ca.view}, {b.view, cb.view}, 5, cells);
  const MotionGrid grid{64, 48, 4, 1, 1, 128, 96};
  bundle_motion(cells, grid, bundles);
  ASSERT_EQ(bundles.size(), static_cast<std::size_t>(grid.columns()) * grid.rows());
  const Motion middle = bundles[grid.bundle(8, 4)];
  EXPECT_EQ(middle.x, -3);
  EXPECT_EQ(middle.y, 2);
}

TEST(Motion, IsZeroForStillOrTinyPictures) {
  const Bytes a = moved_picture(64, 64, 0, 0, 1, 35), b = moved_picture(64, 64, 0, 0, 2, 35);
  const Bytes ca = coarse_of(a), cb = coarse_of(b);
  std::vector<Motion> cells;
  find_motion({a.view, ca.view}, {b.view, cb.view}, 20, cells);
  for (const Motion& m : cells) EXPECT_TRUE(m.x == 0 && m.y == 0) << m.x << ", " << m.y;
  find_motion({a.view, {}}, {b.view, {}}, 20, cells);
  EXPECT_EQ(cells.size(), 4u);
}

/// A guide for step 1, which the test prepares as the engine does.
struct StepOne {
  explicit StepOne(PlaneView<const float> plane) {
    const int elements = plane.width + cpu::temporal_padding;
    const std::ptrdiff_t stride = elements + 32;
    std::vector<std::int8_t> bytes(elements + 1);
    std::uint16_t* const rows = pairs.reserve(stride * plane.height);
    for (int y = 0; y < plane.height; ++y)
      cpu::pair_row({plane.row(y), static_cast<std::size_t>(plane.width)}, {100, 1},
                    {rows + y * stride, stride, 0, elements, 1, bytes.data()});
    guide = {rows, stride, stride, 1};
  }
  cpu::Buffer<std::uint16_t> pairs;
  cpu::PairedGuide guide;
};

TEST(RankAround, AgreesWithTheReference) {
  std::mt19937 rng{17};
  std::vector<Plane<float>> planes;
  for (int n = 0; n < 3; ++n) {
    Plane<float> plane(53, 41);
    for (int y = 0; y < 41; ++y)
      for (int x = 0; x < 53; ++x) plane.view()(x, y) = static_cast<float>(90 + rng() % 4 * 6);
    planes.push_back(std::move(plane));
  }
  const StepOne own(planes[0].view()), before(planes[1].view()), after(planes[2].view());
  for (const auto& [x, y] : {std::pair{0, 0}, {45, 33}, {20, 15}, {3, 30}})
    for (const int window : {1, 5, 9, 33})
      for (const Motion motion : {Motion{}, Motion{5, -3}, Motion{-40, 7}})
        for (const float motion_bias : {0.0f, 30.0f}) {
          // With a window of 1 the reference frame has no candidates.
          const MatchParams phase{.window = 1,
                                  .group = 16,
                                  .tau = 110,
                                  .temporal_window = window,
                                  .motion_bias = motion_bias};
          const std::array<FramePlane, 3> guides{{{0, planes[0].view()},
                                                  {-1, planes[1].view(), motion},
                                                  {1, planes[2].view(), motion}}};
          const Group expected = match(guides, x, y, phase);
          cpu::Ranking ranking;
          const cpu::MatchGeometry geometry{53, 41, window};
          const auto limit = static_cast<std::uint16_t>(110 * 64);
          const auto less = static_cast<std::uint16_t>(motion_bias * 64);
          cpu::rank_temporal_candidates({16, limit, less, -1}, own.guide, before.guide, geometry, x,
                                        y, motion, ranking);
          cpu::rank_temporal_candidates({16, limit, less, 1}, own.guide, after.guide, geometry, x,
                                        y, motion, ranking);
          const Group actual = cpu::group_of(ranking);
          ASSERT_EQ(actual.count, expected.count) << x << ", " << y << ", window " << window;
          for (int m = 0; m < actual.count; ++m)
            ASSERT_EQ(actual.members[m], expected.members[m]) << m << ", window " << window;
        }
}

}  // namespace
}  // namespace lull
