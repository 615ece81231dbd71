#include "pipeline/part_denoiser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "pipeline/fakes.h"
#include "pipeline/sharded_denoiser.h"

namespace lull::pipeline {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();

/// Records which frames each session received.
struct Sessions {
  explicit Sessions(int frames_late) : delay(frames_late) {}
  std::unique_ptr<Denoiser> open() {
    seen.emplace_back();
    auto session = std::make_unique<Seeing>(*this, seen.size() - 1);
    return session;
  }

  struct Seeing final : Denoiser {
    Seeing(Sessions& all, std::size_t which) : sessions(all), index(which), inner(all.delay) {
      EXPECT_EQ(++all.open_now, 1) << "two sessions may be too much for a GPU's memory";
    }
    ~Seeing() override { --sessions.open_now; }
    int latency() const noexcept override { return inner.latency(); }
    std::optional<Frame> push(Frame frame) override {
      EXPECT_FALSE(drained);
      sessions.seen[index].push_back(frame.side_data->number);
      return inner.push(std::move(frame));
    }
    std::optional<Frame> drain() override {
      drained = true;
      return inner.drain();
    }
    Sessions& sessions;
    std::size_t index;
    FakeDenoiser inner;
    bool drained = false;
  };

  int delay, open_now = 0;
  std::vector<std::vector<std::int64_t>> seen;
};

/// Runs `frames` frames. All frames must be returned in order, and those in `wanted` must be
/// denoised.
void expect_parts(const SessionOpener& open, const std::vector<FrameSpan>& wanted, int margin,
                  int frames) {
  const auto denoiser = by_parts(open(), open, wanted, {.margin = {margin, margin}});
  std::int64_t out = 0, most_inside = 0;
  const auto check = [&](const Frame& frame) {
    bool is_wanted = false;
    for (const FrameSpan& span : wanted) is_wanted |= out >= span.first && out <= span.last;
    if (is_wanted) {
      expect_frame(frame, out);
    } else {
      EXPECT_EQ(frame.side_data->number, out);
      EXPECT_EQ(frame.pts, make_frame(out).pts);
    }
    ++out;
  };
  for (int i = 0; i < frames; ++i) {
    if (const auto frame = denoiser->push(make_frame(i))) check(*frame);
    most_inside = std::max(most_inside, i + 1 - out);
  }
  while (const auto frame = denoiser->drain()) check(*frame);
  EXPECT_EQ(out, frames);
  EXPECT_LE(most_inside, 2 * denoiser->latency() + 1);
}

TEST(PartDenoiser, ReturnsAllFramesAndDenoisesTheWantedOnes) {
  for (const int delay : {0, 1, 3, 9})
    for (const int margin : {0, 1, 4}) {
      SCOPED_TRACE(testing::Message() << delay << " late, margin " << margin);
      for (const std::vector<FrameSpan>& wanted : {std::vector<FrameSpan>{{0, end}},
                                                   {},
                                                   {{5, 9}},
                                                   {{0, 3}, {20, end}},
                                                   {{4, 4}, {6, 6}, {30, 39}},
                                                   {{50, 60}},
                                                   {{0, 0}, {2, 2}, {10, 12}, {39, end}}}) {
        Sessions sessions(delay);
        expect_parts([&] { return sessions.open(); }, wanted, margin, 40);
      }
    }
}

TEST(PartDenoiser, SessionsGetTheMargin) {
  Sessions sessions(3);
  expect_parts([&] { return sessions.open(); }, {{1, 2}, {12, 13}, {17, 18}, {29, end}}, 3, 32);
  // The second and the third span are less than two margins apart.
  ASSERT_EQ(sessions.seen.size(), 3u);
  EXPECT_THAT(sessions.seen[0], ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(sessions.seen[1], ElementsAre(9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21));
  EXPECT_THAT(sessions.seen[2], ElementsAre(26, 27, 28, 29, 30, 31));
}

// Context frames have no numbers, and the number of context frames that follow is unknown.
TEST(PartDenoiser, ContextFramesServeAsMargin) {
  Sessions sessions(3);
  std::vector<std::int64_t> idle;
  const auto denoiser =
      by_parts(sessions.open(), [&] { return sessions.open(); }, {{0, 2}, {4, end}},
               {.margin = {3, 2}, .idle = [&](std::int64_t number) { idle.push_back(number); }});
  // The selected frames are 5, 6 and 20 to 24; the fourth of these is not wanted.
  const auto is_outside = [](int i) { return !(i == 5 || i == 6 || (i >= 20 && i <= 24)); };
  std::vector<std::int64_t> out, with_samples;
  const auto note = [&](const Frame& frame) {
    out.push_back(frame.side_data->number);
    EXPECT_EQ(frame.context_only, is_outside(static_cast<int>(frame.side_data->number)));
    if (frame.pixels) with_samples.push_back(frame.side_data->number);
  };
  for (int i = 0; i < 32; ++i) {
    Frame frame = make_frame(i);
    frame.context_only = is_outside(i);
    for (auto result = denoiser->push(std::move(frame)); result; result = denoiser->next())
      note(*result);
  }
  while (const auto frame = denoiser->drain()) note(*frame);
  ASSERT_EQ(out.size(), 32u);
  EXPECT_TRUE(std::ranges::is_sorted(out));
  EXPECT_THAT(with_samples, ElementsAre(5, 6, 20, 22, 23, 24));
  ASSERT_EQ(sessions.seen.size(), 2u);
  EXPECT_THAT(sessions.seen[0], ElementsAre(2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(sessions.seen[1], ElementsAre(17, 18, 19, 20, 21, 22, 23, 24, 25, 26));
  EXPECT_THAT(idle, ElementsAre(0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 26, 27,
                                28, 29, 30, 31));
}

/// Two of three frames repeat the previous one.
class OneOfThree final : public RepeatFinder {
 public:
  RepeatState find(const Frame&) override {
    return next_++ % 3 == 0 ? RepeatState::independent : RepeatState::repeats;
  }
  void clear() override { next_ = 0; }

 private:
  int next_ = 0;
};

TEST(PartDenoiser, RepeatedFramesDoNotCountForTheMargin) {
  Sessions sessions(3);
  const auto denoiser = by_parts(sessions.open(), [&] { return sessions.open(); }, {{31, 33}},
                                 {{3, 2}, std::make_unique<OneOfThree>()});
  std::vector<std::int64_t> out, with_samples;
  std::vector<std::weak_ptr<std::byte[]>> pixels;
  const auto note = [&](const Frame& frame) {
    out.push_back(frame.side_data->number);
    if (frame.pixels) with_samples.push_back(frame.side_data->number);
  };
  for (int i = 0; i < 50; ++i) {
    Frame frame = make_frame(i);
    pixels.push_back(frame.pixels);
    if (const auto result = denoiser->push(std::move(frame))) note(*result);
    const auto kept = std::ranges::count_if(pixels, [](const auto& p) { return !p.expired(); });
    EXPECT_LE(kept, 3 + 1 + 3 + 1) << "the margin, the frame, and what a session holds";
  }
  while (const auto frame = denoiser->drain()) note(*frame);
  ASSERT_EQ(sessions.seen.size(), 1u);
  // Frame 31 repeats 30, which needs 21, 24 and 27.
  EXPECT_THAT(sessions.seen[0], ElementsAre(21, 24, 27, 30, 31, 32, 33, 34, 35, 36));
  ASSERT_EQ(out.size(), 50u);
  EXPECT_TRUE(std::ranges::is_sorted(out));
  EXPECT_THAT(with_samples, ElementsAre(31, 32, 33));
}

// A session with a large latency is drained as soon as it has received the frames that count.
TEST(PartDenoiser, SessionsGetNoMoreThanTheMarginAfterASpan) {
  Sessions sessions(50);
  expect_parts([&] { return sessions.open(); }, {{0, 0}, {60, 61}}, 2, 100);
  ASSERT_EQ(sessions.seen.size(), 2u);
  EXPECT_THAT(sessions.seen[0], ElementsAre(0, 1, 2));
  EXPECT_THAT(sessions.seen[1], ElementsAre(58, 59, 60, 61, 62, 63));
}

TEST(PartDenoiser, SessionsWithAMarginGetAllFramesInGpuMemory) {
  Sessions sessions(2);
  const auto denoiser = by_parts(sessions.open(), [&] { return sessions.open(); },
                                 {{9, 9}, {20, 20}}, {.margin = {2, 2}});
  for (int i = 0; i < 30; ++i) {
    Frame frame = make_frame(i);
    frame.on_device = std::make_shared<DevicePicture>();
    (void)denoiser->push(std::move(frame));
  }
  ASSERT_EQ(sessions.seen.size(), 1u);
  EXPECT_EQ(sessions.seen[0].front(), 0);
  EXPECT_EQ(sessions.seen[0].back(), 22);
}

TEST(PartDenoiser, AcceptsSeveralDevicesAsASession) {
  const auto open = [] {
    std::vector<std::unique_ptr<Denoiser>> devices;
    for (const int delay : {2, 0, 3}) devices.push_back(std::make_unique<FakeDenoiser>(delay));
    return shard(std::move(devices));
  };
  expect_parts(open, {{0, 9}, {25, 31}, {60, end}}, 2, 90);
}

TEST(PartDenoiser, ReleasesTheSamplesOfUnwantedFrames) {
  Sessions sessions(4);
  const auto denoiser = by_parts(sessions.open(), [&] { return sessions.open(); }, {{9, 9}});
  Frame frame = make_frame(0);
  frame.on_device = std::make_shared<DevicePicture>();
  const std::weak_ptr<std::byte[]> pixels = frame.pixels;
  const std::weak_ptr<const DevicePicture> picture = frame.on_device;
  const std::optional<Frame> out = denoiser->push(std::move(frame));
  ASSERT_TRUE(out);
  EXPECT_TRUE(pixels.expired());
  EXPECT_TRUE(picture.expired());
  EXPECT_EQ(out->planes[0].data, nullptr);
  EXPECT_EQ(out->format, tiny);
}

}  // namespace
}  // namespace lull::pipeline
