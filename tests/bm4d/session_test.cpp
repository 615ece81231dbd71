// Sessions over the slices of volumes: results, limits, and parts of volumes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "bm4d/open/volume_session.h"
#include "bm4d/volumes.h"
#include "core/error.h"
#include "pipeline/part_denoiser.h"
#include "pipeline/part_scheduler.h"

namespace lull::bm4d {
namespace {

using namespace test_support;

constexpr Backend reference_backend{.kind = BackendKind::reference};

void expect_same_bytes(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t z = 0; z < a.size(); ++z) ASSERT_TRUE(same_samples(a[z], b[z])) << "slice " << z;
}

TEST(Bm4dCpuSession, FirstPhaseMatchesTheReference) {
  for (const int cube : {3, 4})
    for (const Size& size : {Size{17, 15, 13}, Size{31, 9, 5}}) {
      Params params = small_params();
      params.hard.cube = cube;
      params.phases = 1;
      const auto noisy = noisy_volume(size, 20, 8);  // whole levels, so that the groups are equal
      EXPECT_LT(max_difference(denoise(params, noisy, reference_backend), denoise(params, noisy)),
                0.002);
    }
}

TEST(Bm4dCpuSession, BothPhasesMatchTheReferenceExceptForAFewGroups) {
  const Size size{18, 16, 14};
  for (const auto& [cube, searches] : {std::pair{3, false}, {4, false}, {4, true}}) {
    Params params = small_params();
    params.wiener.cube = cube;
    params.second_search = searches;
    const auto noisy = noisy_volume(size, 20);
    const auto expected = denoise(params, noisy, reference_backend);
    const auto result = denoise(params, noisy);
    EXPECT_GT(psnr(expected, result), 50);
    const auto clean = clean_volume(size);
    EXPECT_GT(psnr(clean, expected), psnr(clean, noisy) + 4);
    EXPECT_NEAR(psnr(clean, expected), psnr(clean, result), 0.05);
  }
}

TEST(Bm4dCpuSession, SlowerProfilesHaveBetterQuality) {
  const Size size{40, 40, 24};
  const auto clean = clean_volume(size), noisy = noisy_volume(size, 15);
  const double fast = psnr(clean, denoise(make_params(Profile::fast, {15, 15, 15}), noisy));
  const double balanced = psnr(clean, denoise(make_params(Profile::balanced, {15, 15, 15}), noisy));
  EXPECT_GT(fast, psnr(clean, noisy) + 7);
  EXPECT_GT(balanced, fast);
}

TEST(Bm4dCpuSession, ThreadCountDoesNotChangeResult) {
  const auto noisy = noisy_volume({70, 61, 20}, 20);
  const Params params = make_params(Profile::fast, {20, 20, 20});
  const auto one = denoise(params, noisy, {.threads = 1});
  for (const int threads : {2, 5})
    expect_same_bytes(one, denoise(params, noisy, {.threads = threads}));
}

TEST(Bm4dSession, ResultsArriveInOrderWithinTheLatency) {
  const Params params = small_params();
  const auto noisy = noisy_volume({12, 12, 40}, 20);
  const auto session = open(params, noisy[0].format, {});
  EXPECT_EQ(session->latency(), margin(params).after);
  int in = 0, out = 0;
  for (const Frame& frame : noisy) {
    ++in;
    for (auto result = session->push(frame); result; result = session->next())
      EXPECT_EQ(result->pts, out++);
    EXPECT_GE(out, in - session->latency());
  }
  while (const auto result = session->drain()) EXPECT_EQ(result->pts, out++);
  EXPECT_EQ(out, 40);
  // After the end of a volume, the session accepts another volume, whose result does not depend on
  // the first one.
  expect_same_bytes(denoise(params, noisy), run_clip(*session, noisy));
}

/// Filters nothing. States whether all loaded slices existed at the end of the worker.
class SliceWatcher final : public VolumeWorker {
 public:
  explicit SliceWatcher(bool& slices_existed) : slices_existed_(slices_existed) {}
  ~SliceWatcher() override {
    slices_existed_ =
        std::ranges::none_of(loaded_, [](const auto& slice) { return slice.expired(); });
  }
  void begin(int) override {}
  void load(int, const Frame& slice) override { loaded_.push_back(slice.pixels); }
  void filter(const Layers&) override {}
  void finish_basic(SliceSpan) override {}
  Frame acquire() override { return {}; }
  void finish(int, std::span<const Frame>, std::span<const Frame>) override {}
  int in_flight() const noexcept override { return 100; }

 private:
  std::vector<std::weak_ptr<std::byte[]>> loaded_;
  bool& slices_existed_;
};

TEST(Bm4dSession, WorkerEndsBeforeItsSlicesAreReleased) {
  const Params params = small_params();
  std::vector<Frame> noisy = noisy_volume({12, 12, 40}, 20);
  const FrameFormat format = noisy.front().format;
  bool slices_existed = false;
  auto session = open_volumes(params, format, std::make_unique<SliceWatcher>(slices_existed), {});
  // Results of the first slices are in flight, and the last slices are not finished.
  for (Frame& frame : noisy) EXPECT_FALSE(session->push(std::move(frame)));
  session.reset();
  EXPECT_TRUE(slices_existed);
}

TEST(Bm4dSession, AxesOfAnyLengthGiveEachVoxelAResult) {
  for (const Size& size :
       {Size{1, 1, 1}, Size{1, 7, 9}, Size{2, 3, 8}, Size{3, 2, 1}, Size{9, 8, 2}, Size{8, 9, 3},
        Size{5, 5, 4}, Size{6, 4, 5}, Size{4, 11, 7}})
    for (const Backend& backend : {Backend{.threads = 1}, reference_backend}) {
      SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << "x" << size.slices);
      Params params = small_params();
      params.wiener.cube = 3;
      params.wiener.step = 2;
      const auto noisy = noisy_volume(size, 20);
      const auto result = denoise(params, noisy, backend);
      ASSERT_EQ(result.size(), noisy.size());
      for (const Frame& slice : result)
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            const float v = slice.plane<float>(0)(x, y);
            EXPECT_TRUE(v > 0 && v < 300) << v;
          }
      // A flat volume is unchanged.
      const auto flat = volume_of(size, [](int, int, int) { return 100; });
      EXPECT_LT(max_difference(flat, denoise(params, flat, backend)), 0.001);
    }
}

// ---- Volumes and their parts -----------------------------------------------------------------

TEST(Bm4dSession, CubesDoNotReachIntoAnotherVolume) {
  const Params params = small_params();
  const auto first = noisy_volume({13, 12, 9}, 20, 0, 1),
             second = noisy_volume({13, 12, 9}, 20, 0, 2);
  std::vector<Frame> series = first;
  series.insert(series.end(), second.begin(), second.end());
  const auto results = denoise(params, series);
  ASSERT_EQ(results.size(), 18);
  expect_same_bytes(denoise(params, first), {results.begin(), results.begin() + 9});
  expect_same_bytes(denoise(params, second), {results.begin() + 9, results.end()});
  // Without slice numbers all slices belong to one volume.
  for (Frame& frame : series) frame.slice = -1;
  EXPECT_FALSE(same_samples(denoise(params, series)[8], results[8]));
}

Params params_with_small_margin() {
  Params params = small_params();
  params.hard.window = params.wiener.window = 3;
  params.wiener.cube = 3;
  return params;
}

TEST(Bm4dSession, PartsMatchTheCompleteVolume) {
  Params wide = params_with_small_margin();
  wide.hard = {.cube = 4, .window = 9, .group = 8, .step = 4};
  wide.wiener = {.cube = 3, .window = 5, .group = 8, .step = 2};
  Params one_phase = wide;
  one_phase.phases = 1;
  for (const Params& params : {params_with_small_margin(), wide, one_phase}) {
    const auto noisy = noisy_volume({12, 11, 71}, 20);
    const auto whole = denoise(params, noisy);
    const auto open_one = [&] { return open(params, noisy[0].format, {.threads = 1}); };
    const auto parts = pipeline::by_parts(open_one(), open_one, {{3, 4}, {29, 31}, {69, 70}},
                                          {.margin = margin(params)});
    const auto results = run_clip(*parts, noisy);
    ASSERT_EQ(results.size(), whole.size());
    for (const int z : {3, 4, 29, 30, 31, 69, 70})
      EXPECT_TRUE(same_samples(results[z], whole[z])) << z;
    EXPECT_FALSE(results[10].pixels && results[55].pixels);
  }
}

TEST(Bm4dSession, SlicesWithinTheMarginAffectTheResult) {
  const Params params = params_with_small_margin();
  const auto noisy = noisy_volume({12, 11, 60}, 20);
  const auto whole = denoise(params, noisy);
  Margin less = margin(params);
  less.before -= 4, less.after -= 4;
  const auto open_one = [&] { return open(params, noisy[0].format, {.threads = 1}); };
  bool differs = false;
  for (const int z : {29, 30, 31}) {
    const auto parts = pipeline::by_parts(open_one(), open_one, {{z, z}}, {.margin = less});
    differs |= !same_samples(run_clip(*parts, noisy)[z], whole[z]);
  }
  EXPECT_TRUE(differs);
}

TEST(Bm4dSession, SharedVolumeMatchesSingleSession) {
  const Params params = params_with_small_margin();
  // Two volumes; the first one ends within a part.
  auto noisy = noisy_volume({12, 11, 37}, 20);
  const auto more = noisy_volume({12, 11, 20}, 20, 0, 2);
  noisy.insert(noisy.end(), more.begin(), more.end());
  const auto whole = denoise(params, noisy);
  for (const int frames : {4, 11}) {
    std::vector<std::unique_ptr<Denoiser>> sessions;
    for (int i = 0; i < 2; ++i) sessions.push_back(open(params, noisy[0].format, {.threads = 1}));
    const auto shared =
        pipeline::shard_parts(std::move(sessions), {.margin = margin(params), .frames = frames});
    expect_same_bytes(whole, run_clip(*shared, noisy));
  }
}

// ---- Samples ---------------------------------------------------------------------------------

TEST(Bm4dSession, NanAndInfinityStayAndDoNotSpread) {
  const Size size{20, 18, 12};
  const Params params = small_params();
  auto noisy = noisy_volume(size, 20);
  const auto whole = denoise(params, noisy);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  noisy[6].plane<float>(0)(9, 9) = nan;
  noisy[3].plane<float>(0)(2, 3) = std::numeric_limits<float>::infinity();
  noisy[0].plane<float>(0)(0, 0) = -1e30f;
  for (int z = 0; z < 3; ++z)
    for (int x = 10; x < 20; ++x) noisy[z].plane<float>(0)(x, 17) = nan;
  for (const Backend& backend : {Backend{.threads = 1}, reference_backend}) {
    const auto result = denoise(params, noisy, backend);
    EXPECT_TRUE(std::isnan(result[6].plane<float>(0)(9, 9)));
    EXPECT_EQ(result[3].plane<float>(0)(2, 3), std::numeric_limits<float>::infinity());
    EXPECT_EQ(result[0].plane<float>(0)(0, 0), -1e30f);
    for (int z = 0; z < size.slices; ++z)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          if (const float in = noisy[z].plane<float>(0)(x, y); in > -1e29f && in < 1e29f) {
            ASSERT_NEAR(result[z].plane<float>(0)(x, y), whole[z].plane<float>(0)(x, y), 60);
          }
  }
}

TEST(Bm4dSession, NegativeAndVeryBrightValuesAreFilteredLikeOthers) {
  const Size size{20, 18, 12};
  const Params params = small_params();
  const auto shifted = [&](double by) {
    std::mt19937 rng{1};
    std::normal_distribution<double> noise{0, 20};
    return volume_of(size, [&](int x, int y, int z) {
      return std::round(8 * (clean_voxel(size, x, y, z) / 2 + noise(rng))) / 8 + by;
    });
  };
  const auto middle = denoise(params, shifted(30));
  for (const double by : {-60.0, 200.0}) {
    auto result = denoise(params, shifted(30 + by));
    for (Frame& slice : result)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) slice.plane<float>(0)(x, y) -= static_cast<float>(by);
    EXPECT_GT(psnr(middle, result), 60);
  }
}

TEST(Bm4dSession, PlanesAreSeparateVolumesAndPassWithoutNoise) {
  FrameFormat format{.width = 20, .height = 16, .layout = Layout::yuv, .chroma_shift_x = 1};
  FramePool pool(format);
  std::mt19937 rng{5};
  std::vector<Frame> slices;
  for (int z = 0; z < 8; ++z) {
    Frame slice = pool.acquire();
    for (int i = 0; i < 3; ++i)
      for (int y = 0; y < format.plane_height(i); ++y)
        for (int x = 0; x < format.plane_width(i); ++x)
          slice.plane<std::uint8_t>(i)(x, y) = static_cast<std::uint8_t>(90 + rng() % 40);
    slices.push_back(slice);
  }
  Params params = small_params();
  params.noise = NoiseModel({12, 0, 12});
  const auto result = denoise(params, slices);
  const auto spread = [&](const Frame& frame, int i) {
    double sum = 0;
    for (int y = 0; y < format.plane_height(i); ++y)
      for (int x = 0; x < format.plane_width(i); ++x)
        sum += std::abs(frame.plane<std::uint8_t>(i)(x, y) - 109.5);
    return sum;
  };
  EXPECT_LT(spread(result[4], 0), spread(slices[4], 0) / 2);
  EXPECT_LT(spread(result[4], 2), spread(slices[4], 2) / 2);
  EXPECT_EQ(spread(result[4], 1), spread(slices[4], 1));
  // Without noise there is nothing to filter, so there is no latency.
  params.noise = NoiseModel({0, 0, 0});
  const auto session = open(params, format, {});
  EXPECT_EQ(session->latency(), 0);
  EXPECT_TRUE(same_samples(*session->push(slices[0]), slices[0]));
}

TEST(Bm4dSession, RejectsInvalidInput) {
  const FrameFormat format = format_of({8, 8, 1});
  Params params = small_params();
  EXPECT_THROW((void)open(params, format, {.threads = -1}), InvalidArgument);
  EXPECT_THROW((void)open(params, {.width = 0, .height = 4}, {}), InvalidArgument);
  params.hard.step = 5;
  EXPECT_THROW((void)open(params, format, {}), InvalidArgument);
  const auto session = open(small_params(), format, {});
  EXPECT_THROW((void)session->push(noisy_volume({9, 8, 1}, 20)[0]), InvalidArgument);
}

}  // namespace
}  // namespace lull::bm4d
