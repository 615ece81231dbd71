// Compares the input that the session of the host backends passes to its engine with values
// computed in the test. The cpu and reference backends share that session, so comparing them with
// each other cannot detect its faults.

#include "bm3d/open/host_session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/samples.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr int width = 192, height = 144;

/// Input of one call of the engine.
struct Call {
  Phase phase;
  std::vector<float> sigma;
  Plane<float> guide;                       // in the frame of the reference patches
  std::vector<Plane<float>> noisy;          // planes of that frame
  std::vector<int> offsets;                 // of the other frames
  std::vector<std::vector<Motion>> motion;  // to those frames
};

Plane<float> copy(PlaneView<const float> from) {
  Plane<float> to(from.width, from.height);
  for (int y = 0; y < from.height; ++y) std::copy_n(from.row(y), from.width, to.view().row(y));
  return to;
}

/// An engine that records its input. Its estimate for the n-th plane is 10 (n + 1), where n counts
/// the planes whose sums the engine has computed.
class RecordingEngine : public PhaseEngine {
 public:
  explicit RecordingEngine(std::vector<Call>& calls) : calls_(calls) {}

  std::unique_ptr<PhaseSums> make_sums(int, int) override {
    auto sums = std::make_unique<Numbered>();
    sums->number = made_++ % 3;
    return sums;
  }
  void search(const PhaseInput&) override {}
  void run(const PhaseInput& input) override {
    const PhasePlanes& own = input.frames[0].frame;
    Call call{input.plan.phase, {}, copy(own.guide.samples)};
    for (std::size_t p = 0; p < input.planes(); ++p) {
      call.sigma.push_back(input.noise(p).sigma);
      call.noisy.push_back(copy(own.noisy[p]));
    }
    for (const auto& [offset, frame] : input.frames.subspan(1)) {
      call.offsets.push_back(offset);
      call.motion.emplace_back(frame.guide.motion.begin(), frame.guide.motion.end());
    }
    calls_.push_back(std::move(call));
  }
  void finish(const PhasePlan&, PhaseSums& sums, PlaneView<float> estimate) override {
    const int number = static_cast<Numbered&>(sums).number;
    for (int y = 0; y < estimate.height; ++y)
      std::fill_n(estimate.row(y), estimate.width, static_cast<float>(10 * (number + 1)));
  }

 private:
  struct Numbered : PhaseSums {
    int number = 0;
  };
  std::vector<Call>& calls_;
  int made_ = 0;
};

FrameFormat format_of(Layout layout, int shift_x = 0, int shift_y = 0) {
  return {.width = width,
          .height = height,
          .layout = layout,
          .sample = SampleType::f32,
          .bits = 32,
          .chroma_shift_x = shift_x,
          .chroma_shift_y = shift_y};
}

/// Returns a section of a picture that is displaced by `n` times (8, 4) samples of the main plane.
Frame moved_frame(const FrameFormat& format, int n) {
  Frame frame = make_frame(format);
  for (int i = 0; i < format.planes(); ++i) {
    const int w = format.plane_width(i), h = format.plane_height(i);
    const Plane<float> whole = with_noise(texture_picture(w + 80, h + 80, i).view(), 25, i + 1);
    Plane<float> part(w, h);
    const int x0 = 8 * n >> (i > 0 ? format.chroma_shift_x : 0);
    const int y0 = 4 * n >> (i > 0 ? format.chroma_shift_y : 0);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) part.view()(x, y) = whole.view()(x + x0, y + y0);
    store_plane(part.view(), frame, i);
  }
  return frame;
}

TEST(HostSession, ScalesMotionToSubsampledChroma) {
  for (const auto& [shift_x, shift_y] : {std::pair{1, 1}, {1, 0}, {0, 1}, {2, 0}}) {
    const FrameFormat format = format_of(Layout::yuv, shift_x, shift_y);
    Params params = make_params(Profile::balanced, {5, 5, 5}, 1);
    params.scene_cut = 0;
    std::vector<Call> calls;
    const auto session = open_host(params, format, std::make_unique<RecordingEngine>(calls));
    run_clip(*session, {moved_frame(format, 0), moved_frame(format, 1), moved_frame(format, 2)});
    int seen = 0;
    for (const Call& call : calls) {
      const bool luma = call.guide.width() == width && call.guide.height() == height;
      for (std::size_t k = 0; k < call.offsets.size(); ++k) {
        const int x = -8 * call.offsets[k] >> (luma ? 0 : shift_x);
        const int y = -4 * call.offsets[k] >> (luma ? 0 : shift_y);
        const auto& motion = call.motion[k];
        const auto right =
            std::ranges::count_if(motion, [&](const Motion& v) { return v.x == x && v.y == y; });
        // Motion cannot be estimated at the borders where new content enters.
        EXPECT_GT(4 * right, static_cast<std::ptrdiff_t>(motion.size()))
            << shift_x << ", " << shift_y << ", offset " << call.offsets[k]
            << (luma ? "" : " chroma");
        ++seen;
      }
    }
    EXPECT_GE(seen, 8);  // both phases, luma and chroma
  }
}

TEST(HostSession, FiltersRgbInTheOpponentSpace) {
  const FrameFormat format = format_of(Layout::rgb);
  const Params params = make_params(Profile::balanced, {9, 9, 9});
  std::vector<Call> calls;
  const auto session = open_host(params, format, std::make_unique<RecordingEngine>(calls));
  const Frame noisy = moved_frame(format, 0);
  const Frame clean = run_clip(*session, {noisy}).at(0);

  ASSERT_EQ(calls.size(), 3u);  // luma, chroma, then all planes
  EXPECT_EQ(calls[0].noisy.size(), 1u);
  EXPECT_EQ(calls[1].noisy.size(), 2u);
  EXPECT_EQ(calls[2].noisy.size(), 3u);
  std::array<Plane<float>, 3> rgb;
  for (int i = 0; i < 3; ++i) {
    rgb[i] = Plane<float>(width, height);
    load_plane(noisy, i, rgb[i].view());
  }
  for (int y = 0; y < height; y += 5)
    for (int x = 0; x < width; x += 3) {
      const double r = rgb[0].view()(x, y), g = rgb[1].view()(x, y), b = rgb[2].view()(x, y);
      const double luma = (r + g + b) / 3, first = (r - b) / std::sqrt(2.0),
                   second = (r - 2 * g + b) / std::sqrt(6.0);
      ASSERT_NEAR(calls[0].noisy[0].view()(x, y), luma, 1e-3);
      ASSERT_NEAR(calls[0].guide.view()(x, y), luma, 1e-3);
      ASSERT_NEAR(calls[1].noisy[0].view()(x, y), first, 1e-3);
      ASSERT_NEAR(calls[1].noisy[1].view()(x, y), second, 1e-3);
      ASSERT_NEAR(calls[1].guide.view()(x, y), (first - second) / std::sqrt(2.0), 1e-3);
      ASSERT_NEAR(calls[2].noisy[2].view()(x, y), second, 1e-3);
    }
  EXPECT_FLOAT_EQ(calls[1].sigma[0], 9);
  EXPECT_FLOAT_EQ(calls[1].sigma[1], 9);

  // The estimates are 10, 20 and 30, and these values solve the equations above.
  const double expected[3] = {10 + 20 / std::sqrt(2.0) + 30 / std::sqrt(6.0),
                              10 - 30 * 2 / std::sqrt(6.0),
                              10 - 20 / std::sqrt(2.0) + 30 / std::sqrt(6.0)};
  for (int i = 0; i < 3; ++i) {
    Plane<float> plane(width, height);
    load_plane(clean, i, plane.view());
    EXPECT_NEAR(plane.view()(40, 30), expected[i], 1e-3) << "plane " << i;
  }
}

TEST(HostSession, MatchesChromaInACompositeGuide) {
  const FrameFormat format = format_of(Layout::yuv, 1, 1);
  Params params = make_params(Profile::balanced, {9, 9, 9});
  params.guide_noise = 0;
  std::vector<Call> calls;
  const auto session = open_host(params, format, std::make_unique<RecordingEngine>(calls));
  run_clip(*session, {moved_frame(format, 0)});
  ASSERT_EQ(calls.size(), 4u);  // luma and chroma in each phase
  // The basic estimates are 10, 20 and 30: the guide combines the averaged luma and the difference
  // of the chroma planes.
  EXPECT_NEAR(calls[3].guide.view()(20, 10), 10 + (20 - 30) / std::sqrt(2.0), 1e-3);
  EXPECT_NEAR(calls[2].guide.view()(20, 10), 10, 1e-3);
}

}  // namespace
}  // namespace lull::bm3d
