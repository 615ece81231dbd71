// Compares the stages of the cpu backend with those of the reference, one by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "bm4d/cpu/kernels.h"
#include "bm4d/reference/stages.h"
#include "bm4d/volumes.h"
#include "core/plane.h"

namespace lull::bm4d {
namespace {

using namespace test_support;

constexpr int padding = cpu::row_padding;

/// The slices of a volume in the memory layout of the cpu backend.
class SliceRows {
 public:
  SliceRows(const std::vector<Frame>& slices, int cube) {
    const int width = slices[0].format.width, height = slices[0].format.height;
    for (const Frame& slice : slices) {
      samples_.emplace_back(width + padding, height);
      pairs_.emplace_back(width + padding, height);
      faces_.emplace_back(width + padding, height);
      squares_.emplace_back(width + padding, height);
      for (auto* planes : {&pairs_, &faces_, &squares_})
        for (int y = 0; y < height; ++y)
          std::fill_n(planes->back().view().row(y), width + padding, 0);
      for (int y = 0; y < height; ++y) {
        std::fill_n(samples_.back().view().row(y), width + padding, 0.0f);
        std::copy_n(slice.plane<float>(0).row(y), width, samples_.back().view().row(y));
      }
      PlaneView<const float> view = samples_.back().view();
      view.width = width;
      cpu::make_pairs(view, {0, height}, pairs_.back().view());
      PlaneView<const std::int32_t> pairs = pairs_.back().view();
      pairs.width = width;
      cpu::make_faces(pairs, cube, {0, height}, faces_.back().view());
    }
    for (std::size_t z = 0; z + cube <= slices.size(); ++z) {
      std::vector<PlaneView<const std::int32_t>> faces;
      for (int c = 0; c < cube; ++c) faces.push_back(faces_[z + c].view());
      cpu::add_faces(faces, {0, height}, squares_[z].view());
    }
    match_ = {.stride = pairs_[0].view().stride, .width = width, .height = height};
  }

  /// Returns the slices around the layer at z, limited to `available`.
  cpu::MatchSlices match(int z, const PhaseParams& params, SliceSpan available) {
    cpu::MatchSlices slices = match_;
    const int base = z - params.radius();
    slices.first = std::max(0, available.first - base);
    slices.end = std::min(params.window + params.cube - 1, available.end - base);
    for (int k = slices.first; k < slices.end; ++k) {
      slices.pairs[k] = pairs_[base + k].view().data;
      slices.squares[k] = squares_[base + k].view().data;
    }
    return slices;
  }
  const float* samples(int z) { return samples_[z].view().data; }
  std::ptrdiff_t stride() { return samples_[0].view().stride; }

 private:
  std::vector<Plane<float>> samples_;
  std::vector<Plane<std::int32_t>> pairs_, faces_, squares_;
  cpu::MatchSlices match_;
};

reference::Slices slices_of(const std::vector<Frame>& volume) {
  const FrameFormat& format = volume[0].format;
  reference::Slices slices(format.width, format.height);
  for (std::size_t z = 0; z < volume.size(); ++z)
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        slices.at(x, y, static_cast<int>(z)) = static_cast<double>(volume[z].plane<float>(0)(x, y));
  return slices;
}

void expect_equal_groups(const std::vector<Frame>& volume, const PhaseParams& params) {
  const FrameFormat& format = volume[0].format;
  const reference::Slices guide = slices_of(volume);
  SliceRows rows(volume, params.cube);
  const SliceSpan available{0, static_cast<int>(volume.size())};
  int members = 0;
  for (int z = 0; z + params.cube <= available.end; z += 3)
    for (int y = 0; y + params.cube <= format.height; y += 3)
      for (int x = 0; x + params.cube <= format.width; x += 2) {
        const Group expected = reference::find_group(guide, available, {x, y, z}, params);
        Group group;
        cpu::find_group(rows.match(z, params, available), params, x, y, group);
        ASSERT_EQ(group.count, expected.count) << x << " " << y << " " << z;
        for (int m = 0; m < group.count; ++m)
          ASSERT_EQ(group.members[m], expected.members[m])
              << x << " " << y << " " << z << ", member " << m;
        members += group.count;
      }
  EXPECT_GT(members, 0);
}

// The volume consists of integer levels, which the cpu backend matches without rounding, so the cpu
// backend must find exactly the groups of the reference, also at borders.
TEST(Bm4dCpuMatcher, FindsTheGroupsOfTheReference) {
  for (const int window : {3, 7, 11, 15})
    for (const int cube : {3, 4})
      for (const int group : {1, 16, 32}) {
        SCOPED_TRACE(::testing::Message() << window << " " << cube << " " << group);
        expect_equal_groups(noisy_volume({17, 13, 9}, 30, 8),
                            {.cube = cube, .window = window, .group = group});
      }
}

TEST(Bm4dCpuMatcher, TiesAreOrderedByPosition) {
  const Size size{15, 11, 10};
  // With few levels many cubes have the same distance; with one level all of them have.
  expect_equal_groups(volume_of(size, [](int x, int y, int z) { return (x / 3 + y / 4 + z) % 3; }),
                      {.window = 9});
  expect_equal_groups(volume_of(size, [](int, int, int) { return 7; }), {.window = 11});
}

TEST(Bm4dCpuMatcher, ValuesAtTheRangeLimitsDoNotOverflow) {
  std::mt19937 rng{3};
  const auto either = [&](int, int, int) { return rng() % 2 == 0 ? -127.0 : 383.0; };
  expect_equal_groups(volume_of({12, 12, 8}, either), {.window = 7});
}

TEST(Bm4dCpuMatcher, SmallVolumesHaveSmallGroups) {
  expect_equal_groups(noisy_volume({4, 4, 4}, 30, 8), {.window = 7});
  expect_equal_groups(noisy_volume({5, 4, 4}, 30, 8), {.window = 7});
  expect_equal_groups(noisy_volume({6, 5, 4}, 30, 8), {.window = 3});
}

// Only some displacements are candidates.
TEST(Bm4dCpuMatcher, RanksListedCandidatesLikeTheReference) {
  const Size size{17, 13, 9};
  const auto ranked = [&](const std::vector<Frame>& volume, const PhaseParams& params) {
    const reference::Slices guide = slices_of(volume);
    SliceRows rows(volume, params.cube);
    const SliceSpan available{0, size.slices};
    std::mt19937 rng{5};
    for (int z = 0; z + params.cube <= available.end; ++z)
      for (const int y : {0, 4, 13 - params.cube})
        for (const int x : {0, 7, 17 - params.cube}) {
          std::vector<std::uint32_t> candidates;
          const int r = params.radius();
          for (int dz = -r; dz <= r; ++dz)
            for (int dy = -r; dy <= r; ++dy)
              for (int dx = -r; dx <= r; ++dx)
                if ((dx | dy | dz) != 0 && rng() % 9 == 0 && x + dx >= 0 && y + dy >= 0 &&
                    z + dz >= 0 && x + dx + params.cube <= size.width &&
                    y + dy + params.cube <= size.height && z + dz + params.cube <= size.slices)
                  candidates.push_back(pack_offset(dx, dy, dz));
          std::shuffle(candidates.begin(), candidates.end(), rng);
          const Group expected = reference::rank_group(guide, {x, y, z}, params, candidates);
          Group group;
          cpu::rank_group(rows.match(z, params, available), params, x, y, candidates, group);
          ASSERT_EQ(group.count, expected.count);
          for (int m = 0; m < group.count; ++m)
            ASSERT_EQ(group.members[m], expected.members[m])
                << x << " " << y << " " << z << " " << m;
        }
  };
  for (const int cube : {3, 4})
    for (const int group : {1, 16, 32})
      ranked(noisy_volume(size, 30, 8), {.cube = cube, .window = 9, .group = group});
  ranked(volume_of(size, [](int, int, int) { return 7; }), {.window = 7});
}

class Bm4dCpuFilter : public ::testing::TestWithParam<std::tuple<int, int>> {};

// Filters one group of each size and compares the accumulated estimates and weights.
TEST_P(Bm4dCpuFilter, AddsTheEstimatesOfTheReference) {
  const auto [cube, count] = GetParam();
  const Size size{14, 12, 10};
  const auto noisy = noisy_volume(size, 20), basic = noisy_volume(size, 4, 0, 2);
  const reference::Place at{5, 4, 3};
  for (const Phase phase : {Phase::first, Phase::second}) {
    Params params = small_params();
    params.lambda_mean = 0.8f;
    PhaseParams& own = phase == Phase::first ? params.hard : params.wiener;
    own.cube = cube;
    own.group = count;
    const SliceSpan available{0, size.slices};
    const Group group = reference::find_group(slices_of(basic), available, at, own);
    ASSERT_EQ(group.count, count);
    auto stack = reference::gather(slices_of(noisy), at, group, cube);
    const double weight =
        phase == Phase::first
            ? reference::hard_threshold(stack, cube, 2.9 * 20, 0.8)
            : reference::wiener(stack, reference::gather(slices_of(basic), at, group, cube), cube,
                                400, 0.5);

    SliceRows arranged_noisy(noisy, cube), arranged_basic(basic, cube);
    std::vector<Plane<float>> numerator, weights;
    cpu::FilterSlices slices{.stride = arranged_noisy.stride()};
    for (int z = 0; z < size.slices; ++z)
      for (auto* planes : {&numerator, &weights}) {
        planes->emplace_back(size.width + padding, size.height);
        for (int y = 0; y < size.height; ++y)
          std::fill_n(planes->back().view().row(y), size.width + padding, 0.0f);
      }
    const int base = at.z - own.radius();
    for (int k = 0; k < own.window + cube - 1; ++k) {
      slices.noisy[k] = arranged_noisy.samples(base + k);
      slices.basic[k] = arranged_basic.samples(base + k);
      slices.numerator[k] = numerator[base + k].view().data;
      slices.weights[k] = weights[base + k].view().data;
    }
    const cpu::FilterTables tables = cpu::make_tables(params, phase, 20);
    cpu::filter_group(tables, slices, at.x, at.y, group);

    const auto window = kaiser_window(own.kaiser, cube);
    for (int m = 0; m < count; ++m) {
      const int x = at.x + offset_x(group.members[m]), y = at.y + offset_y(group.members[m]);
      const int z = at.z + offset_z(group.members[m]);
      EXPECT_NEAR(weights[z].view()(x, y), weight, 1e-5 * weight);
      weights[z].view()(x, y) = 0;
      for (int i = 0; i < cube * cube * cube; ++i) {
        const int a = i % cube, b = i / cube % cube, c = i / (cube * cube);
        numerator[z + c].view()(x + a, y + b) -= static_cast<float>(
            weight * static_cast<double>(window[a] * window[b] * window[c]) * stack[m][i]);
      }
    }
    for (int z = 0; z < size.slices; ++z)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          ASSERT_NEAR(numerator[z].view()(x, y), 0, 0.02 * weight * count) << x << y << z;
          ASSERT_EQ(weights[z].view()(x, y), 0);
        }
  }
}

INSTANTIATE_TEST_SUITE_P(, Bm4dCpuFilter,
                         ::testing::Combine(::testing::Values(3, 4),
                                            ::testing::Values(1, 2, 4, 8, 16, 32)));

}  // namespace
}  // namespace lull::bm4d
