// Tests the reaction to too little memory: first fewer streams, then smaller batches, then the CPU.
// A simulated GPU counts the memory.

#include "tools/sessions/open_denoiser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "tools/sessions/device_choice.h"
#include "tools/sessions/memory_need.h"

namespace lull::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr FrameFormat picture{.width = 1920, .height = 1080};

/// Occupies memory during its lifetime.
class MemoryUser final : public Denoiser {
 public:
  MemoryUser(long long& used, long long room) : used_(used), room_(room) { used_ += room_; }
  ~MemoryUser() override { used_ -= room_; }
  int latency() const noexcept override { return 0; }
  std::optional<Frame> push(Frame frame) override { return frame; }
  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  long long& used_;
  long long room_;
};

/// Devices with memory for a limited number of samples, over the batches of all streams. The CPU
/// has enough memory for everything.
class ShortMemory : public testing::Test {
 protected:
  std::unique_ptr<Denoiser> open(const bm3d::Params& params, const FrameFormat& format,
                                 const bm3d::Backend& backend) {
    opened_.push_back(name_of(backend) + "/" + std::to_string(backend.streams));
    const long long area = static_cast<long long>(std::min(params.batch.width, format.width)) *
                           std::min(params.batch.height, format.height);
    const bool on_cpu = backend.kind == bm3d::BackendKind::cpu;
    const long long needed = on_cpu ? 0 : area * backend.streams;
    if (used_[backend.device] + needed > room_[backend.device])
      throw OutOfDeviceMemory("CUDA: out of memory");
    return std::make_unique<MemoryUser>(used_[backend.device], needed);
  }
  OpenedDenoiser open_all(const std::vector<bm3d::Backend>& backends,
                          Fallback fallback = Fallback::none) {
    OpenedDenoisers opened = open_several(1, backends, fallback);
    return {std::move(opened.denoisers.front()), opened.backends};
  }
  OpenedDenoisers open_several(int count, const std::vector<bm3d::Backend>& backends,
                               Fallback fallback = Fallback::none) {
    bm3d::Params params;
    params.temporal = temporal_;
    return open_denoisers(
        count, params, picture, backends, fallback,
        [this](const std::string& text) { messages_.push_back(text); },
        [this](const auto& params, const auto& format, const auto& backend) {
          return open(params, format, backend);
        });
  }
  static bm3d::Backend gpu(int device, int streams) {
    return {.kind = bm3d::BackendKind::cuda, .device = device, .streams = streams};
  }
  int temporal_ = 0;
  std::array<long long, 2> room_{1LL << 40, 1LL << 40}, used_{};
  std::vector<std::string> opened_, messages_;
};

TEST_F(ShortMemory, SufficientMemoryKeepsTheOptions) {
  const OpenedDenoiser opened = open_all({gpu(0, 4)}, Fallback::cpu);
  EXPECT_NE(opened.denoiser, nullptr);
  EXPECT_THAT(opened_, ElementsAre("cuda:0/4"));
  EXPECT_THAT(messages_, IsEmpty());
}

TEST_F(ShortMemory, ReducesStreamsFirst) {
  room_[0] = 1920 * 1080;
  const OpenedDenoiser opened = open_all({gpu(0, 5)});
  EXPECT_THAT(opened_, ElementsAre("cuda:0/5", "cuda:0/2", "cuda:0/1"));
  EXPECT_EQ(opened.backends.front().streams, 1);
  EXPECT_THAT(messages_, ElementsAre("cuda:0 has too little memory; using --streams 2",
                                     "cuda:0 has too little memory; using --streams 1"));
}

// With temporal filtering all frames share one ring buffer, whatever the number of streams.
TEST_F(ShortMemory, ReducesBatchesFirstWithTemporalFiltering) {
  temporal_ = 2;
  room_[0] = 4 * 960 * 1080;
  const OpenedDenoiser opened = open_all({gpu(0, 4)});
  EXPECT_EQ(opened.backends.front().streams, 4);
  EXPECT_THAT(messages_, ElementsAre("cuda:0 has too little memory; using --batch 960x1080"));
}

TEST_F(ShortMemory, ReducesBatchesNext) {
  room_[0] = 960 * 540;
  const OpenedDenoiser opened = open_all({gpu(0, 2)});
  EXPECT_EQ(opened.backends.front().kind, bm3d::BackendKind::cuda);
  EXPECT_THAT(messages_, ElementsAre("cuda:0 has too little memory; using --streams 1",
                                     "cuda:0 has too little memory; using --batch 960x1080",
                                     "cuda:0 has too little memory; using --batch 960x540"));
}

TEST_F(ShortMemory, FallsBackToTheCpuIfAllowed) {
  room_[0] = 1000;
  EXPECT_THROW(open_all({gpu(0, 2)}), OutOfDeviceMemory);
  messages_.clear();
  const OpenedDenoiser opened = open_all({gpu(0, 2)}, Fallback::cpu);
  ASSERT_EQ(opened.backends.size(), 1u);
  EXPECT_EQ(opened.backends.front().kind, bm3d::BackendKind::cpu);
  EXPECT_THAT(messages_.back(), "denoising on the CPU (CUDA: out of memory)");
  for (const std::string& line : messages_) EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST_F(ShortMemory, FallbackAtTheStartUsesTheCpu) {
  room_[0] = 1000;
  const OpenedDenoiser opened = open_all({gpu(0, 2)}, Fallback::cpu_at_start);
  EXPECT_EQ(opened.backends.front().kind, bm3d::BackendKind::cpu);
}

// Without temporal filtering, frames are distributed one by one; with temporal filtering, parts of
// a clip are distributed. Each session has received several parts when it returns the first frames.
TEST_F(ShortMemory, SeveralDevicesShareAClipInParts) {
  Method method(bm3d::make_params(bm3d::Profile::balanced, {20, 20, 20}, 2));
  method.memory = std::int64_t{4} << 30;
  const auto open_with = [&](std::vector<bm3d::Backend> backends) {
    return open_denoiser(
        method, picture, backends, Fallback::none, [](const std::string&) {},
        [this](const auto& p, const auto& format, const auto& backend) {
          return open(p, format, backend);
        });
  };
  const int part = part_frames(method, picture, 2, 1);
  EXPECT_EQ(open_with({gpu(0, 2), gpu(1, 2)}).denoiser->latency(), 3 * part);
  EXPECT_EQ(open_with({gpu(0, 2)}).denoiser->latency(), 0) << "one is enough";
  method.disable_temporal();
  EXPECT_LT(open_with({gpu(0, 2), gpu(1, 2)}).denoiser->latency(), part);
}

TEST_F(ShortMemory, OnlyTheDeviceWithLittleMemoryIsReduced) {
  room_[1] = 1920 * 1080;
  const OpenedDenoiser opened = open_all({gpu(0, 2), gpu(1, 2)});
  EXPECT_EQ(opened.backends[0].streams, 2);
  EXPECT_EQ(opened.backends[1].streams, 1);
  EXPECT_THAT(messages_, ElementsAre("cuda:1 has too little memory; using --streams 1"));
}

// The results of the CPU and a GPU differ, and the distribution of the frames between them would be
// random.
TEST_F(ShortMemory, CpuReplacesAllDevicesOrNone) {
  room_[1] = 0;
  const OpenedDenoiser opened = open_all({gpu(0, 2), gpu(1, 2)}, Fallback::cpu);
  ASSERT_EQ(opened.backends.size(), 1u);
  EXPECT_EQ(opened.backends.front().kind, bm3d::BackendKind::cpu);
}

// If the fields of each parity are filtered as separate clips, several clips are filtered at the
// same time.
TEST_F(ShortMemory, SeveralClipsShareADeviceEqually) {
  room_[0] = 3 * 1920 * 1080;
  const OpenedDenoisers opened = open_several(2, {gpu(0, 2), gpu(1, 2)});
  ASSERT_EQ(opened.denoisers.size(), 2u);
  EXPECT_EQ(opened.backends[0].streams, 1);
  EXPECT_EQ(opened.backends[1].streams, 2);
  EXPECT_THAT(opened_,
              ElementsAre("cuda:0/2", "cuda:0/2", "cuda:0/1", "cuda:0/1", "cuda:1/2", "cuda:1/2"));
  EXPECT_THAT(messages_, ElementsAre("cuda:0 has too little memory; using --streams 1"));
  EXPECT_EQ(used_[0], 2 * 1920 * 1080);
}

TEST_F(ShortMemory, SeveralClipsUseOneKindOfDevice) {
  temporal_ = 2;
  room_[0] = 2 * 1920 * 1080;
  room_[1] = 128 * 256 + 1000;  // enough for one of them
  EXPECT_THROW(open_several(2, {gpu(0, 1), gpu(1, 1)}), OutOfDeviceMemory);
  messages_.clear();
  const OpenedDenoisers opened = open_several(2, {gpu(0, 1), gpu(1, 1)}, Fallback::cpu_at_start);
  ASSERT_EQ(opened.denoisers.size(), 2u);
  ASSERT_EQ(opened.backends.size(), 1u);
  EXPECT_EQ(opened.backends.front().kind, bm3d::BackendKind::cpu);
  EXPECT_THAT(messages_.back(), "denoising on the CPU (CUDA: out of memory)");
  EXPECT_EQ(std::ranges::count(messages_, messages_.back()), 1);
  EXPECT_EQ(used_[0] + used_[1], 0);
}

TEST_F(ShortMemory, OtherErrorsAreNotHandled) {
  const Opener broken = [](const auto&, const auto&, const auto&) -> std::unique_ptr<Denoiser> {
    throw DeviceUnavailable("the device fell off the bus");
  };
  EXPECT_THROW(open_denoiser(
                   {}, picture, {gpu(0, 2)}, Fallback::cpu, [](const auto&) {}, broken),
               DeviceUnavailable);
}

}  // namespace
}  // namespace lull::tools
