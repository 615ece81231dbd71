// Tests the interfaces inside BM3D, each with a second, small implementation: matchers, patch
// shapes, noise models and engines can be exchanged without a change elsewhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm3d/open/host_session.h"
#include "bm3d/phase_engine.h"
#include "bm3d/transforms.h"
#include "core/error.h"
#include "support/coloured_noise.h"
#include "support/pictures.h"
#include "support/sessions.h"
#include "support/textured_clip.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

FrameFormat gray(int width, int height) {
  return {.width = width, .height = height, .sample = SampleType::f32, .bits = 32};
}

Frame frame_of(PlaneView<const float> plane) {
  Frame frame = make_frame(gray(plane.width, plane.height));
  store_plane(plane, frame, 0);
  return frame;
}

Plane<float> denoise(Denoiser& session, PlaneView<const float> noisy) {
  return plane_of(run_clip(session, {frame_of(noisy)}).at(0), 0);
}

Params small_params(float sigma = 20) {
  Params params = make_params(Profile::fast, {sigma, sigma, sigma});
  params.hard.step = params.wiener.step = 4;
  params.hard.window = params.wiener.window = 13;
  return params;
}

// ---- Matchers ------------------------------------------------------------------------------

/// Known groups: the reference patch and those of the patches next to it that are in the picture.
Group row_of_patches(int x, int width, int side) {
  Group group;
  group.count = 1;
  group.members[0] = pack_displacement(0, 0);
  for (const int dx : {-3, 3, 6})
    if (x + dx >= 0 && x + dx + side <= width)
      group.members[group.count++] = pack_displacement(dx, 0);
  if (group.count == 3) group.count = 2;
  return group;
}

class RowMatcherOfReference final : public reference::Matcher {
 public:
  Group find(std::span<const FramePlane> guides, int x, int, const MatchParams&,
             PatchShape shape) const override {
    return row_of_patches(x, guides[0].frame.samples.width, shape.side);
  }
};

class RowMatcherOfCpu final : public cpu::Matcher {
 public:
  cpu::BlockSize block_size(const MatchParams&, int columns) const override {
    return {std::min(columns, 5), 2};
  }
  void begin(const cpu::MatchInput& input) override {
    width_ = input.frames[0].frame.samples.width;
    step_ = input.params.step;
  }
  void begin_block(const cpu::Block&, int) override {}
  void find(const cpu::Block& block, int, int, std::span<Group> groups) override {
    for (int column = 0; column < block.columns; ++column)
      groups[column] = row_of_patches(block.x + column * step_, width_, patch);
  }

 private:
  int width_ = 0, step_ = 1;
};

std::unique_ptr<cpu::Matcher> make_row_matcher(int, const std::shared_ptr<cpu::GuideMemory>&) {
  return std::make_unique<RowMatcherOfCpu>();
}

TEST(MatcherInterface, BothHostBackendsUseAnInjectedMatcher) {
  const Plane<float> clean = texture_picture(85, 61);
  const Plane<float> noisy = with_noise(clean.view(), 20);
  const Params params = small_params();
  const FrameFormat format = gray(85, 61);
  const auto by_cpu = open_host(params, format, make_cpu_engine(2, make_row_matcher));
  const auto by_reference =
      open_host(params, format, make_reference_engine(std::make_unique<RowMatcherOfReference>()));
  const Plane<float> actual = denoise(*by_cpu, noisy.view());
  // Rounding affects only decisions at the threshold.
  EXPECT_GT(psnr(actual.view(), denoise(*by_reference, noisy.view()).view()), 70);
  const auto exhaustive = open(params, format, {.kind = BackendKind::cpu, .threads = 2});
  EXPECT_LT(psnr(actual.view(), denoise(*exhaustive, noisy.view()).view()), 45);
}

// ---- Patch shapes --------------------------------------------------------------------------

TEST(PatchShapes, ReferenceFiltersSmallerPatches) {
  const Plane<float> clean = texture_picture(47, 38);
  const Plane<float> noisy = with_noise(clean.view(), 20);
  const FrameFormat format = gray(47, 38);
  Params params = small_params();
  params.hard.transform = Transform::dct;
  params.hard.kaiser = params.wiener.kaiser = 1.5f;
  const auto session = [&](const Params& p) {
    return open_host(p, format,
                     make_reference_engine(reference::make_exhaustive_matcher(), {.side = 4}));
  };
  const Plane<float> result = denoise(*session(params), noisy.view());
  EXPECT_GT(psnr(result.view(), clean.view()), psnr(noisy.view(), clean.view()) + 3);
  // With a threshold of zero every estimate is the noisy patch, so the result must equal the noisy
  // picture for all positions of patches.
  params.phases = 1;
  params.lambda = 0;
  EXPECT_GT(psnr(denoise(*session(params), noisy.view()).view(), noisy.view()), 100);
}

// With smaller patches, some reference patches are at positions at which there are no 8x8 patches.
// Groups are also kept for these reference patches, and they move like the last 8x8 patches.
TEST(PatchShapes, SmallerPatchesReuseKeptGroups) {
  const FrameFormat format = gray(65, 41);  // 16 columns of 8x8, two bundles wide; 17 of 4x4
  for (const int search_step : {0, 11})
    for (const int temporal : {0, 1}) {
      Params params = make_params(Profile::fast, {20, 20, 20}, temporal);
      for (PhaseParams* phase : {&params.hard, &params.wiener}) {
        phase->transform = Transform::dct;
        phase->step = 4;
        phase->window = 9;
        phase->temporal_window = 5;
        phase->group = 4;
      }
      params.search_step = search_step;
      const bool same = temporal == 0 && search_step == 0;
      params.same_groups = same ? SameGroups::all : SameGroups::none;
      ASSERT_GT(params.kept, 0);
      const auto session = open_host(
          params, format, make_reference_engine(reference::make_exhaustive_matcher(), {.side = 4}));
      const TexturedClip clip(format, 1 + 2 * temporal);
      const std::vector<Frame> results = run_clip(*session, clip.noisy);
      ASSERT_EQ(results.size(), clip.noisy.size());
      for (std::size_t n = 0; n < results.size(); ++n)
        EXPECT_GT(clip.quality(results[n], n, 0), clip.quality(clip.noisy[n], n, 0) + 1)
            << n << ", R = " << temporal << ", search step " << search_step;
    }
}

TEST(PatchShapes, UnsupportedShapesAreRejected) {
  for (const PatchShape shape : {PatchShape{9}, PatchShape{0}})
    EXPECT_THROW((void)make_reference_engine(reference::make_exhaustive_matcher(), shape),
                 InvalidArgument);
}

TEST(PatchShapes, SmallerPatchesHaveInvertibleTransforms) {
  for (const int side : {2, 4, 8}) {
    PatchValues<double> values{}, back;
    for (int i = 0; i < side * side; ++i) values[i] = (i * 7) % 11;
    const PatchTransform<double> transform = real_transform(Transform::dct, side);
    back = values;
    transform_patch(transform.forward, back, side);
    double mean = 0;
    for (int i = 0; i < side * side; ++i) mean += values[i] / side;
    EXPECT_NEAR(back[0], mean, 1e-9) << side;
    transform_patch(transform.inverse, back, side);
    for (int i = 0; i < side * side; ++i) EXPECT_NEAR(back[i], values[i], 1e-9) << side;
  }
  EXPECT_THROW((void)real_transform(Transform::bior, 4), InvalidArgument);
}

// ---- Noise models --------------------------------------------------------------------------

Params coloured_params(const PlaneNoise& noise) {
  Params params = small_params(noise.sigma);
  params.hard.transform = Transform::dct;
  params.noise.plane(0) = noise;
  return params;
}

TEST(NoiseModels, KnownSpectrumBeatsASingleLevel) {
  const Plane<float> clean = texture_picture(128, 96);
  for (const bool along_x : {true, false}) {
    const ColouredNoise coloured = blurred_noise(128, 96, 15, along_x, !along_x);
    const Plane<float> noisy = sum_of(clean.view(), coloured.samples.view());
    const Params params = coloured_params({coloured.sigma, coloured.correlation});
    double best_white = 0;
    for (const float factor : {0.8f, 1.0f, 1.3f}) {
      const auto white = open(coloured_params({coloured.sigma * factor, nullptr}), gray(128, 96),
                              {.kind = BackendKind::cpu, .threads = 2});
      best_white = std::max(best_white, psnr(denoise(*white, noisy.view()).view(), clean.view()));
    }
    const auto session = open(params, gray(128, 96), {.kind = BackendKind::cpu, .threads = 2});
    const Plane<float> result = denoise(*session, noisy.view());
    EXPECT_GT(psnr(result.view(), clean.view()), best_white + 0.3) << along_x;
  }
}

// The variances of horizontal and vertical frequencies differ, so this test detects if they are
// swapped.
TEST(NoiseModels, HostBackendsAgreeOnColouredNoise) {
  const Plane<float> clean = texture_picture(64, 56);
  for (const Transform transform : {Transform::dct, Transform::bior}) {
    const ColouredNoise coloured = blurred_noise(64, 56, 20, true, false);
    const Plane<float> noisy = sum_of(clean.view(), coloured.samples.view());
    Params params = coloured_params({coloured.sigma, coloured.correlation});
    params.hard.transform = params.wiener.transform = transform;
    const auto by_cpu = open_host(params, gray(64, 56), make_cpu_engine(1, make_row_matcher));
    const auto by_reference = open_host(
        params, gray(64, 56), make_reference_engine(std::make_unique<RowMatcherOfReference>()));
    const Plane<float> actual = denoise(*by_cpu, noisy.view());
    const Plane<float> expected = denoise(*by_reference, noisy.view());
    EXPECT_GT(psnr(actual.view(), expected.view()), 65);
  }
}

TEST(NoiseModels, UnsupportedTransformIsRejected) {
  const ColouredNoise coloured = blurred_noise(16, 16, 10, true, true);
  Params params = coloured_params({coloured.sigma, coloured.correlation});
  params.wiener.transform = Transform::dft;
  const Backend cpu{.kind = BackendKind::cpu};
  EXPECT_THROW((void)open(params, gray(16, 16), cpu), InvalidArgument);
}

// ---- phase plans ---------------------------------------------------------------------------

/// An engine that returns its input as the estimate and records the plans of its calls.
class EchoEngine final : public PhaseEngine {
 public:
  struct Asked {
    Phase phase;
    std::vector<int> planes;
    float tau, guide_sigma;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  explicit EchoEngine(std::vector<Asked>& asked) : asked_(asked) {}

  std::unique_ptr<PhaseSums> make_sums(int, int) override { return std::make_unique<Echo>(); }
  void search(const PhaseInput&) override {}
  void run(const PhaseInput& input) override {
    asked_.push_back({input.plan.phase, input.set.planes, input.plan.matching(input.set).tau,
                      input.guide_sigma});
    for (std::size_t p = 0; p < input.planes(); ++p)
      static_cast<Echo&>(*input.frames[0].frame.sums[p]).noisy = input.frames[0].frame.noisy[p];
  }
  void finish(const PhasePlan&, PhaseSums& sums, PlaneView<float> estimate) override {
    const PlaneView<const float> noisy = static_cast<Echo&>(sums).noisy;
    for (int y = 0; y < noisy.height; ++y) std::copy_n(noisy.row(y), noisy.width, estimate.row(y));
  }

 private:
  struct Echo : PhaseSums {
    PlaneView<const float> noisy;
  };
  std::vector<Asked>& asked_;
};

TEST(PhasePlans, SessionPassesThePlannedPhasesToItsEngine) {
  const FrameFormat format{
      .width = 20, .height = 18, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
  Params params = make_params(Profile::balanced, {12, 6, 6});
  params.guide_noise = 0.25f;
  params.wiener.tau = 100;
  std::vector<EchoEngine::Asked> asked;
  const auto session = open_host(params, format, std::make_unique<EchoEngine>(asked));
  Frame frame = make_frame(format);
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < format.plane_height(i); ++y)
      std::fill_n(frame.planes[i].row(y), frame.planes[i].width, std::byte(40 + 20 * i));
  const std::vector<Frame> results = run_clip(*session, {frame});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(same_samples(results[0], frame));

  const float tau = params.hard.tau;
  const std::vector<EchoEngine::Asked> expected{
      {Phase::first, {0}, tau, 12},
      {Phase::first, {1, 2}, tau, 6},
      {Phase::second, {0}, 100, 0.25f * 12},
      {Phase::second, {1, 2}, 100 * colour_tau, 0.25f * 6}};
  ASSERT_EQ(asked.size(), expected.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(asked[i].phase, expected[i].phase) << i;
    EXPECT_EQ(asked[i].planes, expected[i].planes) << i;
    EXPECT_FLOAT_EQ(asked[i].tau, expected[i].tau) << i;
    EXPECT_NEAR(asked[i].guide_sigma, expected[i].guide_sigma, 1e-4) << i;
  }
}

}  // namespace
}  // namespace lull::bm3d
