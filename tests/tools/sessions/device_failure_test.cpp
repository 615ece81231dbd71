// Tests GPUs that fail during a job: the other GPUs or, on request, the CPU process their frames.
// Otherwise the job ends with code 75, and no file has the output's name. Simulated GPUs filter on
// the CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "io/media.h"
#include "pipeline/run.h"
#include "tools/report/exit_code.h"
#include "tools/sessions/open_denoiser.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int never = -1;

/// Returns the results of the CPU until it fails. A session that does not fail waits until another
/// session has failed. Otherwise the failing session might not get its frames.
class FailingDenoiser final : public Denoiser {
 public:
  FailingDenoiser(std::unique_ptr<Denoiser> inner, std::string name, int pushes,
                  std::atomic<int>& to_fail)
      : inner_(std::move(inner)), name_(std::move(name)), left_(pushes), to_fail_(to_fail) {
    if (left_ != never) ++to_fail_;
  }
  int latency() const noexcept override { return inner_->latency(); }
  std::optional<Frame> push(Frame noisy) override {
    for (int ms = 0; left_ == never && to_fail_ > 0 && ms < 120'000; ++ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (left_ != never && left_-- == 0) {
      --to_fail_;
      throw DeviceFailure(name_ + " failed (CUDA: unspecified launch failure); run the job again");
    }
    return inner_->push(std::move(noisy));
  }
  std::optional<Frame> drain() override { return inner_->drain(); }

 private:
  std::unique_ptr<Denoiser> inner_;
  std::string name_;
  int left_;
  std::atomic<int>& to_fail_;
};

std::string luma_of(const Frame& frame) {
  std::string samples;
  for (int y = 0; y < frame.planes[0].height; ++y)
    samples.append(reinterpret_cast<const char*>(frame.planes[0].row(y)),
                   static_cast<std::size_t>(frame.planes[0].width));
  return samples;
}

class DeviceFailures : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<Frame> frames;
    for (int i = 0; i < 24; ++i)
      frames.push_back(
          noisy_picture(clean_picture({.width = 32, .height = 24}), 20, static_cast<unsigned>(i)));
    write_y4m(in_, frames);
  }
  /// Returns the exit code of a job on GPUs that fail at these pushes.
  int denoise(const std::string& output, const std::vector<int>& fail_at,
              Fallback fallback = Fallback::none) {
    std::vector<bm3d::Backend> backends;
    for (std::size_t i = 0; i < fail_at.size(); ++i)
      backends.push_back({.kind = bm3d::BackendKind::cuda, .device = static_cast<int>(i)});
    const Notify notify = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      messages_.push_back(text);
    };
    std::atomic<int> to_fail = 0;
    const Opener open = [&](const bm3d::Params& params, const FrameFormat& format,
                            const bm3d::Backend& backend) -> std::unique_ptr<Denoiser> {
      auto cpu = bm3d::open(params, format, {.kind = bm3d::BackendKind::cpu, .threads = 1});
      if (backend.kind == bm3d::BackendKind::cpu) return cpu;
      return std::make_unique<FailingDenoiser>(std::move(cpu), name_of(backend),
                                               fail_at[backend.device], to_fail);
    };
    try {
      const auto source = io::open_source(in_);
      const auto opened = open_denoiser(bm3d::make_params(bm3d::Profile::fast, {20, 20, 20}),
                                        source->format(), backends, fallback, notify, open);
      const auto sink = io::open_sink(output, *source, {.lossless = true, .overwrite = true});
      (void)pipeline::run(*source, *opened.denoiser, *sink);
      return 0;
    } catch (...) {
      const Failure failure = current_failure();
      text_ = failure.text;
      return failure.code;
    }
  }
  Folder folder_;
  const std::string in_ = folder_ / "in.y4m", out_ = folder_ / "out.y4m";
  std::mutex mutex_;
  std::vector<std::string> messages_;
  std::string text_;
};

TEST_F(DeviceFailures, FailureOfTheLastDeviceEndsTheJob) {
  for (const std::vector<int>& fail_at : {std::vector{0}, {5}, {3, 3}, {0, 7, 2}}) {
    EXPECT_EQ(denoise(out_, fail_at), 75);
    EXPECT_THAT(text_, testing::MatchesRegex("cuda:[0-2] failed \\(.*\\); run the job again"));
    EXPECT_THAT(folder_.names(), ElementsAre("in.y4m"));
  }
}

TEST_F(DeviceFailures, KeepTheOldFile) {
  write_bytes(out_, "precious");
  EXPECT_EQ(denoise(out_, {5}), 75);
  EXPECT_EQ(bytes_of(out_), "precious");
  EXPECT_THAT(folder_.names(), ElementsAre("in.y4m", "out.y4m"));
}

TEST_F(DeviceFailures, OtherDevicesContinue) {
  const std::string whole = folder_ / "whole.y4m";
  ASSERT_EQ(denoise(whole, {never}), 0);
  EXPECT_EQ(denoise(out_, {never, 3}), 0);
  EXPECT_EQ(bytes_of(out_), bytes_of(whole));
  EXPECT_THAT(messages_,
              ElementsAre("cuda:1 failed (CUDA: unspecified launch failure); its frames are "
                          "processed by the other GPU"));
  messages_.clear();
  EXPECT_EQ(denoise(out_, {2, never, never}, Fallback::cpu), 0);
  EXPECT_EQ(bytes_of(out_), bytes_of(whole));
  EXPECT_THAT(messages_,
              ElementsAre("cuda:0 failed (CUDA: unspecified launch failure); its frames are "
                          "processed by the other 2 GPUs"));
}

TEST_F(DeviceFailures, CpuContinuesIfAllowed) {
  const std::string whole = folder_ / "whole.y4m";
  ASSERT_EQ(denoise(whole, {never}), 0);
  for (const int at : {0, 4, 23}) {
    messages_.clear();
    EXPECT_EQ(denoise(out_, {at}, Fallback::cpu), 0);
    EXPECT_EQ(bytes_of(out_), bytes_of(whole));
    EXPECT_THAT(messages_,
                ElementsAre("cuda:0 failed (CUDA: unspecified launch failure); the CPU "
                            "processes the remaining frames; its results differ from a GPU's"));
  }
  messages_.clear();
  EXPECT_EQ(denoise(out_, {never}, Fallback::cpu), 0);
  EXPECT_THAT(messages_, IsEmpty());
}

// Each of two clips detects the failure independently, as for the fields of the two parities.
TEST_F(DeviceFailures, AreReportedOnceForSeveralClips) {
  const bm3d::Params params = bm3d::make_params(bm3d::Profile::fast, {20, 20, 20});
  const std::vector<Frame> frames = frames_of(in_);
  const FrameFormat format = frames.front().format;
  const auto expected = bm3d::open(params, format, {.kind = bm3d::BackendKind::cpu, .threads = 1});
  for (const std::vector<int>& fail_at : {std::vector{never, 3}, {3}}) {
    messages_.clear();
    std::vector<bm3d::Backend> gpus;
    for (std::size_t i = 0; i < fail_at.size(); ++i)
      gpus.push_back({.kind = bm3d::BackendKind::cuda, .device = static_cast<int>(i)});
    std::array<std::atomic<int>, 2> to_fail{};
    std::array<int, 2> opened{};
    const Opener open = [&](const bm3d::Params& p, const FrameFormat& f,
                            const bm3d::Backend& backend) -> std::unique_ptr<Denoiser> {
      auto cpu = bm3d::open(p, f, {.kind = bm3d::BackendKind::cpu, .threads = 1});
      if (backend.kind == bm3d::BackendKind::cpu) return cpu;
      return std::make_unique<FailingDenoiser>(std::move(cpu), name_of(backend),
                                               fail_at[backend.device],
                                               to_fail[opened[backend.device]++]);
    };
    const OpenedDenoisers clips = open_denoisers(
        2, params, format, gpus, Fallback::cpu,
        [this](const std::string& text) {
          const std::lock_guard lock(mutex_);
          messages_.push_back(text);
        },
        open);
    for (const auto& denoiser : clips.denoisers) {
      std::vector<Frame> out;
      for (const Frame& frame : frames)
        if (auto ready = denoiser->push(frame)) out.push_back(*std::move(ready));
      while (auto ready = denoiser->drain()) out.push_back(*std::move(ready));
      ASSERT_EQ(out.size(), frames.size());
      for (std::size_t n = 0; n < out.size(); ++n)
        EXPECT_EQ(luma_of(out[n]), luma_of(*expected->push(frames[n]))) << n;
    }
    EXPECT_EQ(messages_.size(), 1u);
  }
}

TEST_F(DeviceFailures, FallbackAtTheStartDoesNotApplyLater) {
  EXPECT_EQ(denoise(out_, {4}, Fallback::cpu_at_start), 75);
  EXPECT_THAT(folder_.names(), ElementsAre("in.y4m"));
}

TEST_F(DeviceFailures, FailureWhileOpeningFallsBackToTheCpu) {
  const Opener broken = [](const auto&, const auto&,
                           const bm3d::Backend& backend) -> std::unique_ptr<Denoiser> {
    if (backend.kind == bm3d::BackendKind::cuda) throw DeviceFailure("cuda:0 failed (it is ill)");
    return bm3d::open({}, {.width = 16, .height = 16}, backend);
  };
  const auto open = [&](Fallback fallback) {
    return open_denoiser(
        {}, {.width = 16, .height = 16}, {{.kind = bm3d::BackendKind::cuda}}, fallback,
        [this](const std::string& text) { messages_.push_back(text); }, broken);
  };
  EXPECT_THROW((void)open(Fallback::none), DeviceFailure);
  EXPECT_EQ(open(Fallback::cpu).backends.front().kind, bm3d::BackendKind::cpu);
  EXPECT_THAT(messages_, ElementsAre("denoising on the CPU (cuda:0 failed (it is ill))"));
}

}  // namespace
}  // namespace lull::tools
