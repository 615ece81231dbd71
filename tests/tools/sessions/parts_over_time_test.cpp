// Tests parts of a clip with temporal filtering, filtered as in a resumed job: each frame must have
// the same bytes as in the complete clip, for all repeated frames, scene cuts and preceding stills.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bm3d/bm3d.h"
#include "pipeline/field_denoiser.h"
#include "pipeline/part_denoiser.h"
#include "support/pictures.h"
#include "support/sessions.h"
#include "tools/sessions/job.h"
#include "tools/sessions/open_denoiser.h"
#include "tools/support/clips.h"

namespace lull::tools {
namespace {

constexpr FrameFormat format{.width = 40, .height = 32};
constexpr float sigma = 20;
constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();

/// Returns a repeated frame with the small changes that an encoder makes.
Frame near_repeat(const Frame& frame, int how) {
  Frame copy = lull::test_support::make_frame(format);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x) {
      const int v = std::to_integer<int>(frame.planes[0](x, y));
      copy.planes[0](x, y) =
          static_cast<std::byte>((x + y + how) % 7 == 0 ? std::min(v + 1, 255) : v);
    }
  return copy;
}

struct Clip {
  std::vector<Frame> frames;
  void fresh(int count, double phase = 0) {
    for (int n = 0; n < count; ++n)
      frames.push_back(noisy_picture(clean_picture(format, phase + 0.05 * n), sigma,
                                     static_cast<unsigned>(frames.size()) + 1));
  }
  void identical(int count) {
    for (int n = 0; n < count; ++n) frames.push_back(frames.back());
  }
  void near(int count) {
    for (int n = 0; n < count; ++n) frames.push_back(near_repeat(frames.back(), n));
  }
};

bm3d::Params params() {
  bm3d::Params p = bm3d::make_params(bm3d::Profile::fast, {sigma, sigma, sigma}, 1);
  p.phases = 1;
  p.hard.window = 9;
  p.hard.temporal_window = 5;
  p.hard.step = 6;
  return p;
}

std::unique_ptr<Denoiser> open() {
  return bm3d::open(params(), format, {.kind = bm3d::BackendKind::cpu, .threads = 1});
}

/// Returns a denoiser with two devices that share the frames, as in `lull denoise`.
std::unique_ptr<Denoiser> open_two() {
  const bm3d::Backend gpu{.kind = bm3d::BackendKind::cuda};
  return open_denoiser(
             params(), format, {gpu, gpu}, Fallback::none, [](const std::string&) {},
             [](const auto&, const auto&, const auto&) { return open(); })
      .denoiser;
}

void expect_parts_equal(const std::vector<Frame>& frames) {
  const std::vector<Frame> whole = lull::test_support::run_clip(*open(), frames);
  ASSERT_EQ(whole.size(), frames.size());
  const std::vector<Frame> shared = lull::test_support::run_clip(*open_two(), frames);
  ASSERT_EQ(shared.size(), frames.size());
  for (std::size_t n = 0; n < whole.size(); ++n)
    ASSERT_TRUE(lull::test_support::same_samples(shared[n], whole[n])) << "frame " << n;
  const auto count = static_cast<std::int64_t>(frames.size());
  for (std::int64_t first = 0; first < count; first += 5) {
    const pipeline::FrameSpan later{first + 20, first % 2 == 0 ? end : first + 23};
    for (const auto& opener : {open, open_two}) {
      const auto parts = pipeline::by_parts(opener(), opener, {{first, first + 1}, later},
                                            part_context_of(params(), format));
      const std::vector<Frame> some = lull::test_support::run_clip(*parts, frames);
      ASSERT_EQ(some.size(), frames.size());
      for (std::int64_t n = 0; n < count; ++n) {
        const bool wanted = (n >= first && n <= first + 1) || (n >= later.first && n <= later.last);
        ASSERT_EQ(some[n].pixels != nullptr, wanted) << n;
        ASSERT_TRUE(!wanted || lull::test_support::same_samples(some[n], whole[n]))
            << "frame " << n << " of the part from " << first;
      }
    }
  }
}

TEST(PartsOfTemporalClips, DistinctFramesMatchTheCompleteClip) {
  Clip clip;
  clip.fresh(40);
  expect_parts_equal(clip.frames);
}

TEST(PartsOfTemporalClips, RepeatedFramesMatchTheCompleteClip) {
  Clip clip;
  for (int n = 0; n < 12; ++n) {
    clip.fresh(1, 0.05 * n);
    clip.identical(n % 3);
    clip.near(n % 4);
    clip.identical(n % 2);
  }
  clip.fresh(10, 3);
  expect_parts_equal(clip.frames);
}

TEST(PartsOfTemporalClips, StillsMatchTheCompleteClip) {
  Clip clip;
  clip.fresh(3);
  clip.identical(70);
  clip.fresh(4, 1);
  clip.near(1);
  clip.identical(40);
  clip.near(1);
  clip.identical(3);
  clip.near(2);
  clip.identical(33);
  clip.fresh(3, 2);
  expect_parts_equal(clip.frames);
}

TEST(PartsOfTemporalClips, NearlyRepeatedFramesMatchTheCompleteClip) {
  Clip clip;
  clip.fresh(2);
  clip.near(60);
  clip.fresh(2, 1);
  clip.near(5);
  clip.identical(31);
  clip.near(20);
  expect_parts_equal(clip.frames);
}

/// Interleaves the rows of two clips.
std::vector<Frame> weave(const std::vector<Frame>& even, const std::vector<Frame>& odd) {
  FrameFormat whole = format;
  whole.height *= 2;
  std::vector<Frame> frames;
  for (std::size_t n = 0; n < std::min(even.size(), odd.size()); ++n) {
    frames.push_back(lull::test_support::make_frame(whole));
    for (int y = 0; y < whole.height; ++y)
      std::copy_n((y % 2 == 0 ? even : odd)[n].planes[0].row(y / 2), whole.width,
                  frames.back().planes[0].row(y));
  }
  return frames;
}

// The sessions of the two parities have different repeated frames and parts of different lengths.
TEST(PartsOfTemporalClips, FieldsOfEitherParityMatchTheCompleteClip) {
  Clip even, odd;
  for (int n = 0; n < 12; ++n) {
    even.fresh(1, 0.05 * n);
    even.identical(n % 3);
    even.near(n % 2);
    odd.fresh(2 + n % 2, 0.1 * n);
    odd.identical(n == 5 ? 8 : 0);
  }
  const std::vector<Frame> frames = weave(even.frames, odd.frames);
  const std::vector<Frame> expected =
      weave(lull::test_support::run_clip(
                *open(), {even.frames.begin(), even.frames.begin() + frames.size()}),
            lull::test_support::run_clip(*open(),
                                         {odd.frames.begin(), odd.frames.begin() + frames.size()}));
  for (const auto& opener : {open, open_two}) {
    const auto fields = pipeline::by_fields(frames.front().format, opener(), opener());
    for (int clip = 0; clip < 2; ++clip) {
      const std::vector<Frame> out = lull::test_support::run_clip(*fields, frames);
      ASSERT_EQ(out.size(), frames.size());
      for (std::size_t n = 0; n < out.size(); ++n)
        EXPECT_TRUE(lull::test_support::same_samples(out[n], expected[n])) << n;
    }
  }
}

}  // namespace
}  // namespace lull::tools
