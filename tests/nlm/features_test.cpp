// Tests renders: the backends of feature-guided filtering are compared with the reference, and the
// treatment of light by sessions is checked.

#include "nlm/features/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/error.h"
#include "core/frame_pool.h"
#include "nlm/features/engine.h"
#include "noise/render/vst_render.h"
#include "support/gpu.h"
#include "support/pictures.h"

namespace lull::nlm {
namespace {

constexpr FrameFormat rgb(int width, int height) {
  return {.width = width,
          .height = height,
          .layout = Layout::rgb,
          .sample = SampleType::f32,
          .bits = 32};
}
constexpr FrameFormat of_one_channel(FrameFormat format) {
  format.layout = Layout::gray;
  return format;
}
constexpr Backend on_cpu{.kind = BackendKind::cpu, .threads = 2};
constexpr Backend on_reference{.kind = BackendKind::reference};

/// A wall and a floor that meet at an edge; the albedo has stripes, and the light falls off.
struct SmallScene {
  explicit SmallScene(FrameFormat f, float noise_level = 0.3f, unsigned seed = 7) : format(f) {
    clean = lull::test_support::make_frame(f);
    noisy = lull::test_support::make_frame(f);
    auto features = std::make_shared<Features>();
    Frame albedo = FramePool(f).acquire(), variance = FramePool(f).acquire();
    Frame depth = FramePool(of_one_channel(f)).acquire();
    FrameFormat three = f;
    three.layout = Layout::rgb;
    Frame normal = FramePool(three).acquire();
    std::mt19937 random(seed);
    std::normal_distribution<float> gauss;
    const int edge = f.height / 2;
    for (int y = 0; y < f.height; ++y)
      for (int x = 0; x < f.width; ++x) {
        const bool floor = y >= edge;
        const float fall = 1 / (1 + 0.02f * static_cast<float>(x + std::abs(y - edge)));
        const float light = (floor ? 2.0f : 0.8f) * fall;
        depth.plane<float>(0)(x, y) = floor ? 5 - 0.05f * static_cast<float>(y - edge) : 5;
        for (int i = 0; i < 3; ++i)
          normal.plane<float>(i)(x, y) = i == (floor ? 1 : 2) ? 1.0f : 0.0f;
        for (int i = 0; i < f.planes(); ++i) {
          const float a = (x / 3 + y / 5) % 2 == 0 ? 0.8f - 0.1f * static_cast<float>(i) : 0.2f;
          const float s = noise_level * light * a;
          albedo.plane<float>(i)(x, y) = a;
          variance.plane<float>(i)(x, y) = s * s;
          clean.plane<float>(i)(x, y) = light * a;
          noisy.plane<float>(i)(x, y) = light * a + s * gauss(random);
        }
      }
    (*features)[Feature::albedo] = std::make_shared<const Frame>(albedo);
    (*features)[Feature::normal] = std::make_shared<const Frame>(normal);
    (*features)[Feature::depth] = std::make_shared<const Frame>(depth);
    (*features)[Feature::variance] = std::make_shared<const Frame>(variance);
    noisy.features = features;
  }
  /// Returns the frame with only the features in `wanted`.
  Frame with_only(std::initializer_list<Feature> wanted) const {
    auto some = std::make_shared<Features>();
    for (const Feature f : wanted) (*some)[f] = (*noisy.features)[f];
    Frame frame = noisy;
    frame.features = some;
    return frame;
  }

  FrameFormat format;
  Frame clean, noisy;
};

/// Returns the mean squared difference over all planes.
double error(const Frame& a, const Frame& b) {
  double sum = 0;
  for (int i = 0; i < a.format.planes(); ++i)
    for (int y = 0; y < a.format.height; ++y)
      for (int x = 0; x < a.format.width; ++x) {
        const double d = static_cast<double>(a.plane<float>(i)(x, y) - b.plane<float>(i)(x, y));
        sum += d * d;
      }
  return sum / (a.format.planes() * a.format.width * a.format.height);
}

Frame filtered(const FeatureParams& params, const Frame& frame, const Backend& backend = on_cpu) {
  const auto session = open_features(params, frame.format, backend);
  return *session->push(frame);
}

std::vector<Frame> filter_clip(const FeatureParams& params, const std::vector<Frame>& frames,
                               const Backend& backend = on_cpu) {
  const auto session = open_features(params, frames.front().format, backend);
  std::vector<Frame> results;
  for (const Frame& frame : frames) {
    for (auto r = session->push(frame); r; r = session->next()) results.push_back(*std::move(r));
  }
  while (auto r = session->drain()) results.push_back(*std::move(r));
  return results;
}

double difference_of_frames(const Frame& a, const Frame& b) {
  double most = 0;
  for (int i = 0; i < a.format.planes(); ++i)
    for (int y = 0; y < a.format.height; ++y)
      for (int x = 0; x < a.format.width; ++x)
        most = std::max(
            most, static_cast<double>(std::abs(a.plane<float>(i)(x, y) - b.plane<float>(i)(x, y))));
  return most;
}

/// The tolerance covers float sums in another order and a linear fit that a decomposition solves,
/// for samples around 1.
constexpr double line_tolerance = 2e-3;

TEST(Features, MatchTheReference) {
  for (const FrameFormat& format :
       {rgb(41, 19), of_one_channel(rgb(33, 9)), rgb(5, 3), rgb(1, 1), rgb(64, 1)}) {
    const SmallScene scene(format);
    const FeatureParams params{.search_radius = 3};
    EXPECT_LT(difference_of_frames(filtered(params, scene.noisy, on_reference),
                                   filtered(params, scene.noisy)),
              line_tolerance)
        << format.width << "x" << format.height;
  }
}

TEST(Features, MatchTheReferenceOverTime) {
  std::vector<Frame> frames;
  for (unsigned n = 0; n < 4; ++n) frames.push_back(SmallScene(rgb(40, 34), 0.3f, n).noisy);
  const FeatureParams params{.search_radius = 2, .temporal = 1};
  const auto expected = filter_clip(params, frames, on_reference),
             results = filter_clip(params, frames);
  ASSERT_EQ(results.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_LT(difference_of_frames(expected[i], results[i]), line_tolerance) << i;
  const SmallScene scene(rgb(40, 34));
  EXPECT_LT(error(results[1], scene.clean),
            0.7 * error(filtered({.search_radius = 2}, frames[1]), scene.clean));
}

TEST(Features, EachFeatureImprovesTheResult) {
  const SmallScene scene(rgb(96, 64));
  const auto left = [&](std::initializer_list<Feature> known) {
    return error(filtered({}, scene.with_only(known)), scene.clean);
  };
  const double noisy = error(scene.noisy, scene.clean), alone = left({Feature::variance});
  const double divided = left({Feature::variance, Feature::albedo});
  const double all = error(filtered({}, scene.noisy), scene.clean);
  EXPECT_LT(alone, 0.5 * noisy);
  EXPECT_LT(divided, 0.5 * alone);
  EXPECT_LT(all, divided);
  // If no variance is given, the session estimates the noise.
  EXPECT_LT(left({Feature::albedo}), 0.5 * alone);
}

TEST(Features, NoisyFeaturesCostLittleQuality) {
  const SmallScene scene(rgb(96, 64));
  auto features = std::make_shared<Features>(*scene.noisy.features);
  Frame noise = FramePool(rgb(96, 64)).acquire();
  std::mt19937 random(3);
  std::normal_distribution<float> gauss;
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 96; ++x) noise.plane<float>(i)(x, y) = gauss(random);
  (*features)[Feature::normal] = std::make_shared<const Frame>(noise);
  (*features)[Feature::depth] = nullptr;
  Frame misled = scene.noisy;
  misled.features = features;
  const double without =
      error(filtered({}, scene.with_only({Feature::variance, Feature::albedo})), scene.clean);
  EXPECT_LT(error(filtered({}, misled), scene.clean), 1.05 * without);
}

TEST(Features, ResultDoesNotDependOnTheScaleOfLight) {
  const SmallScene scene(rgb(40, 24));
  const Frame expected = filtered({}, scene.noisy);
  for (const float scale : {1e-4f, 1e4f}) {
    Frame other = lull::test_support::make_frame(scene.format);
    auto features = std::make_shared<Features>(*scene.noisy.features);
    Frame variance = FramePool(scene.format).acquire();
    for (int i = 0; i < 3; ++i)
      for (int y = 0; y < 24; ++y)
        for (int x = 0; x < 40; ++x) {
          other.plane<float>(i)(x, y) = scene.noisy.plane<float>(i)(x, y) * scale;
          variance.plane<float>(i)(x, y) =
              (*scene.noisy.features)[Feature::variance]->plane<float>(i)(x, y) * scale * scale;
        }
    (*features)[Feature::variance] = std::make_shared<const Frame>(variance);
    other.features = features;
    const Frame result = filtered({}, other);
    for (int x = 0; x < 40; ++x)
      EXPECT_NEAR(result.plane<float>(0)(x, 12) / scale, expected.plane<float>(0)(x, 12), 1e-3);
  }
}

TEST(Features, NanAndInfinityPassAndDoNotSpread) {
  const SmallScene scene(rgb(48, 32));
  Frame broken = lull::test_support::make_frame(scene.format);
  for (int i = 0; i < 3; ++i) copy_plane(scene.noisy, i, broken);
  broken.features = scene.noisy.features;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  broken.plane<float>(0)(10, 10) = NAN;
  broken.plane<float>(1)(11, 10) = infinity;
  broken.plane<float>(2)(30, 20) = -infinity;
  for (const bool even : {false, true}) {
    Frame result;
    if (even) {
      struct Same final : Denoiser {
        int latency() const noexcept override { return 0; }
        std::optional<Frame> push(Frame f) override { return f; }
        std::optional<Frame> drain() override { return std::nullopt; }
      };
      result = *with_render_vst({}, scene.format, std::make_unique<Same>())->push(broken);
    } else {
      result = filtered({}, broken);
      EXPECT_LT(error(filtered({}, scene.noisy), scene.clean), 1e-2);
    }
    EXPECT_TRUE(std::isnan(result.plane<float>(0)(10, 10)));
    EXPECT_EQ(result.plane<float>(1)(11, 10), infinity);
    EXPECT_EQ(result.plane<float>(2)(30, 20), -infinity);
    int numbers = 0;
    for (int i = 0; i < 3; ++i)
      for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 48; ++x) numbers += std::isfinite(result.plane<float>(i)(x, y));
    EXPECT_EQ(numbers, 3 * 32 * 48 - 3);
    if (even) {
      EXPECT_NEAR(result.plane<float>(0)(5, 5), scene.noisy.plane<float>(0)(5, 5), 1e-5);
    }
  }
}

TEST(Features, HugeSamplesPassAndDoNotSpread) {
  const SmallScene scene(rgb(48, 32));
  Frame broken = lull::test_support::make_frame(scene.format);
  Frame huge = lull::test_support::make_frame(scene.format);
  for (const Frame* frame : {&broken, &huge})
    for (int i = 0; i < 3; ++i) copy_plane(scene.noisy, i, *frame);
  broken.features = huge.features = scene.noisy.features;
  broken.plane<float>(1)(12, 10) = broken.plane<float>(2)(30, 20) = NAN;
  huge.plane<float>(1)(12, 10) = 1e25f;
  huge.plane<float>(2)(30, 20) = -std::numeric_limits<float>::max();
  for (const Backend& backend : {on_cpu, on_reference}) {
    const Frame expected = filtered({.search_radius = 3}, broken, backend);
    const Frame result = filtered({.search_radius = 3}, huge, backend);
    EXPECT_EQ(result.plane<float>(1)(12, 10), 1e25f);
    EXPECT_EQ(result.plane<float>(2)(30, 20), -std::numeric_limits<float>::max());
    for (int i = 0; i < 3; ++i)
      for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 48; ++x) {
          if (std::isnan(expected.plane<float>(i)(x, y))) continue;
          ASSERT_EQ(result.plane<float>(i)(x, y), expected.plane<float>(i)(x, y))
              << i << ": " << x << ", " << y;
        }
  }
}

TEST(Features, RepeatsAreDetectedInTheOriginalRenders) {
  struct Seen final : Denoiser {
    explicit Seen(std::vector<RepeatState>& all) : all_(all) {}
    int latency() const noexcept override { return 0; }
    std::optional<Frame> push(Frame f) override {
      all_.push_back(f.repeat_state);
      return f;
    }
    std::optional<Frame> drain() override { return std::nullopt; }
    std::vector<RepeatState>& all_;
  };
  const SmallScene scene(rgb(48, 32));
  Frame other = lull::test_support::make_frame(scene.format);
  for (int i = 0; i < 3; ++i) copy_plane(scene.clean, i, other);
  const FeatureParams params{.noise = {}, .temporal = 1};
  std::vector<RepeatState> seen, expected;
  const auto filter = with_render_vst({}, scene.format, std::make_unique<Seen>(seen),
                                      open_repeat_finder(params, scene.format), 1);
  const auto finder = open_repeat_finder(params, scene.format);
  for (Frame frame : {scene.noisy, scene.noisy, other, scene.noisy}) {
    expected.push_back(finder->find(frame));
    (void)filter->push(frame);
    frame.repeat_state = RepeatState::shares_noise;  // known in advance
    expected.push_back(frame.repeat_state);
    (void)filter->push(frame);
  }
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(seen[2], RepeatState::repeats);
  EXPECT_EQ(seen[4], RepeatState::independent);
  // The next clip begins with the last frame of this clip.
  EXPECT_FALSE(filter->drain());
  (void)filter->push(scene.noisy);
  EXPECT_EQ(seen.back(), RepeatState::independent);
}

// A session compares each frame with the previous one. A program may push a refused frame again,
// with other features, which must not count as a repetition of the refused frame.
TEST(Features, RefusedFrameIsNotComparedWithLaterFrames) {
  const FrameFormat format = rgb(48, 32);
  const SmallScene first(format), second(format, 0.3f, 8), larger(rgb(64, 32));
  const FeatureParams params{.noise = {}, .temporal = 1};
  const auto session = open_features(params, format, on_cpu);
  std::vector<Frame> results;
  for (const SmallScene* scene : {&first, &second}) {
    Frame refused = scene->noisy;
    refused.features = larger.noisy.features;
    EXPECT_THROW((void)session->push(refused), InvalidArgument);
    for (auto r = session->push(scene->noisy); r; r = session->next())
      results.push_back(*std::move(r));
  }
  while (auto r = session->drain()) results.push_back(*std::move(r));
  const std::vector<Frame> expected = filter_clip(params, {first.noisy, second.noisy});
  ASSERT_EQ(results.size(), 2u);
  for (std::size_t n = 0; n < results.size(); ++n)
    EXPECT_EQ(difference_of_frames(results[n], expected[n]), 0) << n;
}

TEST(Features, RejectsUnsuitableFormatsAndParameters) {
  FrameFormat bytes = rgb(16, 16);
  bytes.sample = SampleType::u8;
  bytes.bits = 8;
  EXPECT_THROW(open_features({}, bytes, on_cpu), InvalidArgument);
  FrameFormat yuv = rgb(16, 16);
  yuv.layout = Layout::yuv;
  EXPECT_THROW(open_features({}, yuv, on_cpu), InvalidArgument);
  EXPECT_THROW(open_features({.search_radius = 0}, rgb(16, 16), on_cpu), InvalidArgument);
  const SmallScene scene(rgb(16, 16)), other(rgb(16, 12));
  Frame mixed = scene.noisy;
  mixed.features = other.noisy.features;
  EXPECT_THROW(filtered({}, mixed), InvalidArgument);
}

class FeaturesCuda : public lull::test_support::GpuTest {};

TEST_F(FeaturesCuda, MatchTheReference) {
  constexpr Backend on_gpu{.kind = BackendKind::cuda};
  for (const FrameFormat& format :
       {rgb(41, 19), of_one_channel(rgb(33, 9)), rgb(5, 3), rgb(1, 1), rgb(64, 1)}) {
    const SmallScene scene(format);
    const FeatureParams params{.search_radius = 3};
    for (const Frame& frame :
         {scene.noisy, scene.with_only({Feature::variance}),
          scene.with_only({Feature::variance, Feature::normal, Feature::depth}),
          scene.with_only({Feature::depth})})
      EXPECT_LT(difference_of_frames(filtered(params, frame, on_reference),
                                     filtered(params, frame, on_gpu)),
                line_tolerance)
          << format.width << "x" << format.height;
  }
  std::vector<Frame> frames;
  for (unsigned n = 0; n < 4; ++n) frames.push_back(SmallScene(rgb(40, 34), 0.3f, n).noisy);
  const FeatureParams params{.search_radius = 2, .temporal = 1};
  const auto expected = filter_clip(params, frames, on_reference),
             results = filter_clip(params, frames, on_gpu);
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_LT(difference_of_frames(expected[i], results[i]), line_tolerance) << i;
}

}  // namespace
}  // namespace lull::nlm
