// Tests sessions over the slices of volumes.

#include "core/slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "nlm/clips.h"
#include "nlm/open/sessions.h"
#include "pipeline/part_denoiser.h"
#include "pipeline/part_scheduler.h"

namespace lull::nlm {
namespace {

using namespace test_support;

constexpr Backend reference_backend{.kind = BackendKind::reference};

TEST(NlmSlices, MatchTheReference) {
  for (const int slices : {1, 2, 7})
    EXPECT_LT(max_difference(denoise(quick_volume_params(), volume(slices), reference_backend),
                             denoise(quick_volume_params(), volume(slices))),
              0.01);
}

TEST(NlmSlices, NeighbouringSlicesImproveQuality) {
  const std::vector<Frame> noisy = volume(11);
  EXPECT_GT(clip_psnr(denoise(quick_volume_params(), noisy)), clip_psnr(noisy) + 6);
}

TEST(NlmSlices, ResultsArriveInOrderWithinTheLatency) {
  const Params params = quick_volume_params();
  const std::vector<Frame> noisy = volume(20);
  const auto session = open(params, noisy[0].format, {});
  int in = 0, out = 0;
  for (const Frame& frame : noisy) {
    ++in;
    for (auto result = session->push(frame); result; result = session->next())
      EXPECT_EQ(result->pts, 10 * out++);
    EXPECT_GE(out, in - session->latency());
  }
  while (const auto result = session->drain()) EXPECT_EQ(result->pts, 10 * out++);
  EXPECT_EQ(out, 20);
  EXPECT_TRUE(same_clips(denoise(params, noisy), run_clip(*session, noisy)));  // like a new session
}

/// Filters nothing. States whether all loaded slices existed at the end of the worker.
class SliceWatcher final : public SlicesWorker {
 public:
  explicit SliceWatcher(bool& slices_existed) : slices_existed_(slices_existed) {}
  ~SliceWatcher() override {
    slices_existed_ =
        std::ranges::none_of(loaded_, [](const auto& slice) { return slice.expired(); });
  }
  int slices_at_a_time() const override { return 2; }
  void begin(int) override {}
  void load(int, PendingSlice& slice) override { loaded_.push_back(slice.noisy.pixels); }
  void finish(SliceSpan, SliceSpan, std::span<PendingSlice>) override {}
  int in_flight() const noexcept override { return 100; }

 private:
  std::vector<std::weak_ptr<std::byte[]>> loaded_;
  bool& slices_existed_;
};

TEST(NlmSlices, WorkerEndsBeforeItsSlicesAreReleased) {
  std::vector<Frame> noisy = volume(20);
  const FrameFormat format = noisy.front().format;
  bool slices_existed = false;
  auto session = open_slices(quick_volume_params(), format,
                             std::make_unique<SliceWatcher>(slices_existed), {});
  // Results of the first slices are in flight, and the last slices are not finished.
  for (Frame& frame : noisy) EXPECT_FALSE(session->push(std::move(frame)));
  session.reset();
  EXPECT_TRUE(slices_existed);
}

TEST(NlmSlices, VolumesAreFilteredIndependently) {
  const Params params = quick_volume_params();
  std::vector<Frame> first = volume(6), second = volume(8);
  std::rotate(second.begin(), second.begin() + 3, second.end());
  for (std::size_t z = 0; z < second.size(); ++z) second[z].slice = static_cast<int>(z);
  std::vector<Frame> series = first;
  series.insert(series.end(), second.begin(), second.end());
  const std::vector<Frame> results = denoise(params, series);
  EXPECT_TRUE(same_clips({results.begin(), results.begin() + 6}, denoise(params, first)));
  EXPECT_TRUE(same_clips({results.begin() + 6, results.end()}, denoise(params, second)));
}

TEST(NlmSlices, PartsMatchTheCompleteVolume) {
  const Params params = quick_volume_params();
  const std::vector<Frame> noisy = volume(29), whole = denoise(params, noisy);
  const auto open_one = [&] { return open(params, noisy[0].format, {.threads = 1}); };
  const auto parts = pipeline::by_parts(open_one(), open_one, {{2, 3}, {14, 16}, {28, 28}},
                                        {.margin = margin(params)});
  const std::vector<Frame> results = run_clip(*parts, noisy);
  for (const int z : {2, 3, 14, 15, 16, 28}) EXPECT_TRUE(same_samples(results[z], whole[z])) << z;
  for (const int frames : {3, 10}) {
    std::vector<std::unique_ptr<Denoiser>> sessions;
    for (int i = 0; i < 2; ++i) sessions.push_back(open_one());
    const auto shared =
        pipeline::shard_parts(std::move(sessions), {.margin = margin(params), .frames = frames});
    EXPECT_TRUE(same_clips(run_clip(*shared, noisy), whole));
  }
  // One slice less on either side must change the result.
  Margin less = margin(params);
  --less.before, --less.after;
  const auto short_of = pipeline::by_parts(open_one(), open_one, {{15, 15}}, {.margin = less});
  EXPECT_FALSE(same_samples(run_clip(*short_of, noisy)[15], whole[15]));
}

TEST(NlmSlices, MaskedOutSlicesDoNotChangeOthers) {
  const Params params = quick_volume_params();
  std::vector<Frame> noisy = volume(12);
  const std::vector<Frame> whole = denoise(params, noisy);
  const FrameFormat& format = noisy[0].format;
  std::vector<bool> none(format.width * format.height), some = none;
  some[50] = true;
  for (int z = 0; z < 12; ++z)
    noisy[z].mask = std::make_shared<SliceMask>(format.width, format.height,
                                                z >= 4 && z < 9 ? some : none, false);
  const std::vector<Frame> results = denoise(params, noisy);
  for (int z = 4; z < 9; ++z) EXPECT_TRUE(same_samples(results[z], whole[z])) << z;
}

TEST(NlmSlices, GuideImprovesQuality) {
  std::vector<Frame> noisy = volume(7);
  const std::vector<Frame> alone = denoise(quick_volume_params(), noisy);
  for (std::size_t z = 0; z < noisy.size(); ++z)
    noisy[z].guide = std::make_shared<Frame>(frame_of(noisy[z].format, static_cast<int>(z), 0));
  Params params = quick_volume_params();
  params.guided = true;
  params.h = 0.4f;
  EXPECT_GT(clip_psnr(denoise(params, noisy)), clip_psnr(alone) + 0.5);
  EXPECT_LT(max_difference(denoise(params, noisy), denoise(params, noisy, reference_backend)),
            0.01);
}

}  // namespace
}  // namespace lull::nlm
