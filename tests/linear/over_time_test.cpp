// Compares the steps over time of the cpu backend with those of the reference, and tests how the
// search over time is planned.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "linear/pictures.h"
#include "linear/search.h"

namespace lull::linear {
namespace {

constexpr int width = 84, height = 52, frame_count = 4;
constexpr float sigma = 20;

/// A frame of a pan: frame t is moved by 2 t samples.
Plane<float> clean_frame(int t) {
  const auto all = texture_picture(width + 16, height);
  Plane<float> frame(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) frame.view()(x, y) = all.view()(x + 2 * t, y);
  return frame;
}

/// Frames of a pan with their sums. Frame 0 is that of the reference patches; the others are later.
struct Clip {
  std::vector<PlanePictures> frames;
  std::vector<std::unique_ptr<Sums>> sums;
  std::vector<FramePlane> planes;
  std::vector<PlaneView<const float>> guides;

  Clip(const Engine& engine, const PlaneNoise& noise) {
    for (int t = 0; t < frame_count; ++t) {
      const auto clean = clean_frame(t);
      const auto noisy = with_noise(clean.view(), static_cast<double>(sigma), 10 + t);
      const auto estimate = with_noise(clean.view(), 4, 20 + t);
      const auto partial = with_noise(clean.view(), 9, 30 + t);
      frames.emplace_back(noisy.view(), estimate.view(), partial.view(), noise);
      sums.push_back(engine.make_sums());
      engine.clear(*sums.back(), width, height);
    }
    for (int t = 0; t < frame_count; ++t) {
      planes.push_back({frames[t].state(), sums[t].get()});
      guides.push_back(planes[t].plane.x);
    }
  }
};

/// The search in the frames of a Clip. The vectors of the first column of bundles point out of the
/// picture, and every second bundle has pairs.
Search search_of(const GroupSizes& sizes, bool pairs) {
  const ReferenceGrid grid(width, height, sizes.step, sizes.side);
  const int columns = bundle_columns(grid), rows = (grid.count_y + motion_rows - 1) / motion_rows;
  Search search{.bonus = 40};
  search.frames.resize(frame_count);
  for (int t = 0; t < frame_count; ++t) {
    search.frames[t].partner = t + 1 < frame_count ? t + 1 : no_frame;
    for (int b = 0; t > 0 && b < columns * rows; ++b)
      search.frames[t].motion.push_back({static_cast<std::int16_t>(b % columns == 0 ? -12 : -2 * t),
                                         static_cast<std::int16_t>(b % 3 == 0 ? 1 : 0)});
  }
  for (int b = 0; pairs && b < columns * rows; ++b) search.has_pairs.push_back(b % 2);
  return search;
}

const GroupSizes all_sizes[] = {{.side = 6, .group = 40, .step = 4, .window = 15},
                                {.side = 10, .group = 24, .step = 4, .window = 15},
                                {.side = 7, .group = 33, .step = 3, .window = 9},
                                {.side = 10, .group = 64, .step = 6, .window = 5}};

TEST(CpuMatcherOverTime, FindsTheGroupsOfTheReference) {
  const auto cpu = make_cpu_engine(2), reference = make_reference_engine();
  const Clip clip(*cpu, white(sigma));
  for (const GroupSizes& sizes : all_sizes)
    for (const bool pairs : {false, true}) {
      Groups a, b;
      for (Groups* groups : {&a, &b}) groups->reset(width, height, sizes, search_of(sizes, pairs));
      cpu->match(clip.guides, any_range, nullptr, a);
      reference->match(clip.guides, any_range, nullptr, b);
      for (int j = 0; j < a.grid().count_y; ++j)
        for (int i = 0; i < a.grid().count_x; ++i) {
          const auto of_cpu = a.at(i, j), of_reference = b.at(i, j);
          ASSERT_EQ(of_cpu[0], 0);
          ASSERT_EQ(std::set(of_cpu.begin(), of_cpu.end()),
                    std::set(of_reference.begin(), of_reference.end()))
              << "side " << sizes.side << ", pairs " << pairs << ": " << i << ", " << j;
        }
    }
}

TEST(ReferenceMatcherOverTime, FindsThePatchThatMotionPredicts) {
  const auto reference = make_reference_engine();
  std::vector<Plane<float>> clean;
  std::vector<PlaneView<const float>> guides;
  for (int t = 0; t < frame_count; ++t) clean.push_back(clean_frame(t));
  for (auto& frame : clean) guides.push_back(frame.view());
  Groups groups;
  const GroupSizes sizes{.side = 8, .group = frame_count, .step = 4, .window = 3};
  Search search = search_of(sizes, false);
  for (int t = 1; t < frame_count; ++t)
    std::ranges::fill(search.frames[t].motion, Motion{static_cast<std::int16_t>(-2 * t), 0});
  groups.reset(width, height, sizes, search);
  reference->match(guides, any_range, nullptr, groups);
  std::set<int> frames;
  for (const std::uint16_t member : groups.at(6, 5)) {
    const Place place = groups.place(6, 5, member);
    frames.insert(place.frame);
    EXPECT_EQ(place.x, -2 * place.frame);
    EXPECT_EQ(place.y, 0);
  }
  EXPECT_EQ(frames.size(), frame_count);  // the same patch in each frame
}

struct Result {
  std::vector<Plane<float>> x, z;
};

Result run(Engine& engine, const Step& step, const PlaneNoise& noise, const GroupSizes& sizes,
           bool pairs) {
  Clip clip(engine, noise);
  Groups groups;
  groups.reset(width, height, sizes, search_of(sizes, pairs));
  engine.match(clip.guides, any_range, nullptr, groups);
  engine.combine(step, groups, clip.planes);
  Result result;
  for (const FramePlane& frame : clip.planes) {
    engine.finish(step, sizes.side, *frame.sums, frame.plane);
    for (const auto& [from, to] :
         {std::pair{frame.plane.x, &result.x}, {frame.plane.z, &result.z}}) {
      to->emplace_back(width, height);
      for (int y = 0; y < height; ++y) std::copy_n(from.row(y), width, to->back().view().row(y));
    }
  }
  return result;
}

/// Returns the largest difference of samples; samples that no patch covers are NaN in both.
double difference(PlaneView<const float> a, PlaneView<const float> b) {
  double largest = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      EXPECT_EQ(std::isnan(a(x, y)), std::isnan(b(x, y)));
      if (!std::isnan(a(x, y)))
        largest = std::max(largest, static_cast<double>(std::abs(a(x, y) - b(x, y))));
    }
  return largest;
}

TEST(CpuCombinationOverTime, AgreesWithTheReference) {
  for (const GroupSizes& sizes : all_sizes)
    for (const PlaneNoise& noise : {white(sigma), averaged(sigma)})
      for (const Step& step : {Step{.is_pilot = true}, Step{.tau = 0.4f, .excess = 1.1f}, Step{}}) {
        const auto cpu = make_cpu_engine(2), reference = make_reference_engine();
        Result a = run(*cpu, step, noise, sizes, true);
        Result b = run(*reference, step, noise, sizes, true);
        for (int t = 0; t < frame_count; ++t) {
          EXPECT_LT(difference(a.x[t].view(), b.x[t].view()), 0.05) << t << ", side " << sizes.side;
          EXPECT_LT(difference(a.z[t].view(), b.z[t].view()), 0.05) << t << ", side " << sizes.side;
        }
      }
}

TEST(CpuCombinationOverTime, IsEqualForAnyNumberOfThreads) {
  const auto one = make_cpu_engine(1);
  Result first = run(*one, {.tau = 0.4f}, white(sigma), all_sizes[0], true);
  for (const int threads : {2, 5}) {
    const auto engine = make_cpu_engine(threads);
    Result result = run(*engine, {.tau = 0.4f}, white(sigma), all_sizes[0], true);
    for (int t = 0; t < frame_count; ++t) {
      EXPECT_EQ(difference(result.x[t].view(), first.x[t].view()), 0) << threads;
      EXPECT_EQ(difference(result.z[t].view(), first.z[t].view()), 0) << threads;
    }
  }
}

Search plan(std::span<const FrameMotion> frames) {
  const GroupSizes sizes{.side = 8, .group = 24, .step = 4, .window = 15, .pairs = true};
  return plan_search({.width = 64, .height = 64, .step = 4}, sizes, 10, frames);
}

TEST(SearchOverTime, HasPairsWhereMotionIsEven) {
  const std::vector<Motion> before(4, {3, 0}), after(4, {-3, 0}), later(4, {-6, 0}),
      far(4, {-9, 4});
  const FrameMotion even[] = {{0, nullptr}, {-1, &before}, {1, &after}, {2, &later}};
  for (const std::uint8_t pairs : plan(even).has_pairs) EXPECT_EQ(pairs, 1);
  EXPECT_FALSE(plan(even).has_pairs.empty());
  EXPECT_EQ(plan(even).frames[0].partner, 2);
  // From frame 1 to frame 2, content moves by (-6, 4) samples; from frame 0 to 1 by (-3, 0).
  const FrameMotion uneven[] = {{0, nullptr}, {1, &after}, {2, &far}};
  for (const std::uint8_t pairs : plan(uneven).has_pairs) EXPECT_EQ(pairs, 0);
}

TEST(SearchOverTime, HasNoPairsInAFrameThatIsAlone) {
  const FrameMotion alone[] = {{0, nullptr}};
  EXPECT_TRUE(plan(alone).has_pairs.empty());
  EXPECT_FLOAT_EQ(plan(alone).bonus, bonus_share * 10 * 10);
}

}  // namespace
}  // namespace lull::linear
