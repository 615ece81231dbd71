#include "pipeline/field_denoiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/slices.h"
#include "noise/holes.h"
#include "noise/render/features.h"
#include "pipeline/fakes.h"
#include "pipeline/part_denoiser.h"

namespace lull::pipeline {
namespace {

using Numbers = std::set<std::int64_t>;

/// Adds 100 to fields of one row, which come from frames of 2 by 2 samples. Results have a latency
/// of `delay` fields. Fields in `repeats` do not count for the latency. They are returned together
/// with the previous field, as by a session with temporal filtering.
class OffsetDenoiser final : public Denoiser {
 public:
  explicit OffsetDenoiser(int delay, Numbers repeats = {})
      : delay_(delay), repeats_(std::move(repeats)) {}
  int latency() const noexcept override { return delay_; }
  std::optional<Frame> push(Frame noisy) override {
    EXPECT_EQ(noisy.format, field_format(tiny));
    EXPECT_EQ(noisy.planes[0].height, 1);
    EXPECT_EQ(noisy.repeat_state, RepeatState::unknown);
    counted_ += counts(noisy);
    waiting_.push_back(std::move(noisy));
    for (; counted_ > delay_; --counted_) {
      ++ready_;
      while (ready_ < waiting_.size() && !counts(waiting_[ready_])) ++ready_;
    }
    return ready_ > 0 ? oldest() : std::nullopt;
  }
  std::optional<Frame> drain() override {
    if (!waiting_.empty()) return oldest();
    counted_ = 0;
    return std::nullopt;
  }

 private:
  bool counts(const Frame& frame) const { return !repeats_.contains(frame.side_data->number); }
  std::optional<Frame> oldest() {
    Frame from = std::move(waiting_.front());
    waiting_.pop_front();
    if (ready_ > 0) --ready_;
    Frame to = from;
    to.pixels = std::shared_ptr<std::byte[]>(new std::byte[2]);
    to.planes[0] = {to.pixels.get(), 2, 1, 2};
    for (int x = 0; x < 2; ++x)
      to.pixels[x] = static_cast<std::byte>(std::to_integer<int>(from.planes[0].row(0)[x]) + 100);
    return to;
  }
  int delay_;
  Numbers repeats_;
  int counted_ = 0;        // distinct fields that are not ready
  std::size_t ready_ = 0;  // number of waiting fields that are ready
  std::deque<Frame> waiting_;
};

std::unique_ptr<Denoiser> make_offset_denoiser(int delay, Numbers repeats = {}) {
  return std::make_unique<OffsetDenoiser>(delay, std::move(repeats));
}

/// Runs a clip. The denoiser must return woven frames in order, except for those in `missing`.
/// Returns the maximum number of frames in flight.
std::int64_t run_clip(Denoiser& denoiser, std::int64_t frames, const Numbers& missing = {}) {
  std::int64_t out = 0, most = 0;
  const auto check = [&](const Frame& frame) {
    EXPECT_EQ(frame.format, tiny);
    EXPECT_EQ(frame.pts, 1000 + 7 * out);
    ASSERT_TRUE(frame.side_data);
    EXPECT_EQ(frame.side_data->number, out);
    if (missing.contains(out)) {
      EXPECT_FALSE(frame.pixels) << out;
      EXPECT_TRUE(frame.planes[0].empty()) << out;
    } else {
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(frame.planes[0].row(i / 2)[i % 2], static_cast<std::byte>(out + i + 100));
    }
    ++out;
  };
  for (std::int64_t in = 0; in < frames; ++in) {
    Frame noisy = make_frame(in);
    // The repeat state is known for the frame, but unknown for its fields.
    noisy.repeat_state = RepeatState::independent;
    if (const auto frame = denoiser.push(std::move(noisy))) check(*frame);
    most = std::max(most, in + 1 - out);
  }
  while (const auto frame = denoiser.drain()) check(*frame);
  EXPECT_EQ(out, frames);
  return most;
}

TEST(FieldDenoiser, ReweavesFieldsForAllLatencies) {
  for (int even = 0; even <= 4; ++even)
    for (int odd = 0; odd <= 4; ++odd) {
      SCOPED_TRACE(std::to_string(even) + " " + std::to_string(odd));
      const auto denoiser = by_fields(tiny, make_offset_denoiser(even), make_offset_denoiser(odd));
      EXPECT_EQ(denoiser->latency(), std::max(even, odd));
      for (const std::int64_t frames : {9, 1, 0, 5})
        EXPECT_LE(run_clip(*denoiser, frames), denoiser->latency());
    }
}

// In telecined film and in stills, fields of one parity repeat, and their results come before those
// of the other parity.
TEST(FieldDenoiser, FieldsOfEitherParityMayRepeat) {
  const Numbers telecine_even{3, 8, 13, 18}, telecine_odd{1, 6, 11, 16}, still{4, 5, 6, 7, 8, 9};
  for (const Numbers& even : {Numbers{}, telecine_even, still})
    for (const Numbers& odd : {Numbers{}, telecine_odd, still})
      for (const int delay : {0, 1, 4}) {
        const auto denoiser =
            by_fields(tiny, make_offset_denoiser(delay, even), make_offset_denoiser(delay, odd));
        const Numbers& longest = even.size() > odd.size() ? even : odd;
        for (const std::int64_t frames : {20, 7, 6})
          EXPECT_LE(run_clip(*denoiser, frames), delay + static_cast<std::int64_t>(longest.size()));
      }
}

// In a resumed job, frames of an earlier run have no samples.
TEST(FieldDenoiser, FramesWithoutSamplesPassThrough) {
  const std::vector<FrameSpan> wanted{
      {2, 4}, {9, 9}, {12, std::numeric_limits<std::int64_t>::max()}};
  for (int even = 0; even <= 3; ++even)
    for (int odd = 0; odd <= 3; ++odd) {
      const auto part = [&](int delay) {
        return by_parts(
            make_offset_denoiser(delay), [=] { return make_offset_denoiser(delay); }, wanted);
      };
      const auto denoiser = by_fields(tiny, part(even), part(odd));
      run_clip(*denoiser, 15, {0, 1, 5, 6, 7, 8, 10, 11});
    }
}

/// A denoiser that returns wrong frames.
struct Faulty final : Denoiser {
  enum class Fault { keeps, forgets_samples, throws } fault;
  explicit Faulty(Fault what) : fault(what) {}
  int latency() const noexcept override { return 0; }
  std::optional<Frame> push(Frame frame) override {
    if (fault == Fault::throws) throw TestError("the field is muddy");
    if (fault == Fault::keeps) return std::nullopt;
    frame.pixels.reset();
    frame.planes = {};
    return frame;
  }
  std::optional<Frame> drain() override { return std::nullopt; }
};

TEST(FieldDenoiser, FaultySessionsAreDetected) {
  const auto faulty = [](Faulty::Fault fault) { return std::make_unique<Faulty>(fault); };
  for (const bool odd : {false, true}) {
    const auto with = [&](Faulty::Fault fault) {
      return odd ? by_fields(tiny, make_offset_denoiser(0), faulty(fault))
                 : by_fields(tiny, faulty(fault), make_offset_denoiser(0));
    };
    EXPECT_THROW((void)with(Faulty::Fault::throws)->push(make_frame(0)), TestError);
    EXPECT_THROW((void)with(Faulty::Fault::forgets_samples)->push(make_frame(0)), InternalError);
    const auto keeping = with(Faulty::Fault::keeps);
    EXPECT_FALSE(keeping->push(make_frame(0)));
    EXPECT_THROW((void)keeping->drain(), InternalError);
  }
}

TEST(FieldDenoiser, FieldsMustHaveEqualHeight) {
  FrameFormat format{.width = 4, .height = 6, .layout = Layout::yuv};
  EXPECT_EQ(field_format(format).height, 3);
  format.chroma_shift_y = 1;
  EXPECT_THROW((void)field_format(format), InvalidArgument);
  format.height = 8;
  EXPECT_EQ(field_format(format).height, 4);
  format.layout = Layout::gray;
  format.chroma_shift_y = 0;
  format.height = 7;
  EXPECT_THROW((void)field_format(format), InvalidArgument);
}

/// Returns a grey frame of 4x6 samples, whose rows are numbered.
Frame numbered_rows(int first = 0) {
  Frame frame;
  frame.format = {.width = 4, .height = 6};
  frame.pixels = std::shared_ptr<std::byte[]>(new std::byte[24]);
  frame.planes[0] = {frame.pixels.get(), 4, 6, 4};
  for (int i = 0; i < 24; ++i) frame.pixels[i] = static_cast<std::byte>(first + i / 4);
  return frame;
}

/// Returns a mask that is true in these rows.
std::vector<bool> rows_of(const std::set<int>& rows) {
  std::vector<bool> samples(24);
  for (const int y : rows) std::fill_n(samples.begin() + y * std::ptrdiff_t{4}, 4, true);
  return samples;
}

TEST(FieldOf, HasTheRowsOfGuideMaskHolesAndFeatures) {
  Frame frame = numbered_rows();
  frame.guide = std::make_shared<const Frame>(numbered_rows(10));
  frame.mask = std::make_shared<const SliceMask>(4, 6, rows_of({1, 2, 5}), true);
  frame.holes = std::make_shared<const Holes>(4, 6, rows_of({0, 3}));
  Features features;
  features[Feature::normal] = std::make_shared<const Frame>(numbered_rows(20));
  frame.features = std::make_shared<const Features>(features);
  for (const int parity : {0, 1}) {
    const Frame field = field_of(frame, parity);
    EXPECT_EQ(field.format.height, 3);
    ASSERT_TRUE(field.guide && field.mask && field.holes && field.features);
    EXPECT_EQ(holes_of(field), field.holes);  // the holes have the size of the field
    EXPECT_EQ(field.mask->height(), 3);
    EXPECT_EQ(field.mask->width(), 4);
    EXPECT_TRUE(field.mask->zero());
    const Frame& normal = *(*field.features)[Feature::normal];
    EXPECT_FALSE((*field.features)[Feature::albedo]);
    EXPECT_EQ(normal.format, field.format);
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) {
        const int row = 2 * y + parity;
        EXPECT_EQ(field.plane<std::uint8_t>(0)(x, y), row);
        EXPECT_EQ(field.guide->plane<std::uint8_t>(0)(x, y), 10 + row);
        EXPECT_EQ(normal.plane<std::uint8_t>(0)(x, y), 20 + row);
        EXPECT_EQ(field.mask->inside(x, y), frame.mask->inside(x, row));
        EXPECT_EQ(field.holes->at(x, y), frame.holes->at(x, row));
      }
  }
}

TEST(FieldOf, AddsNoDataThatTheFrameLacks) {
  const Frame field = field_of(numbered_rows(), 1);
  EXPECT_FALSE(field.guide || field.mask || field.holes || field.features);
}

TEST(FieldDenoiser, ResultsHaveTheMasksOfTheirFrames) {
  for (const int odd : {0, 2}) {
    const auto denoiser = by_fields(tiny, make_offset_denoiser(1), make_offset_denoiser(odd));
    std::vector<std::shared_ptr<const SliceMask>> masks, found;
    const auto take = [&](const std::optional<Frame>& result) {
      if (result) found.push_back(result->mask);
      return result.has_value();
    };
    for (int k = 0; k < 5; ++k) {
      Frame frame = make_frame(k);
      if (k != 2)
        frame.mask = std::make_shared<const SliceMask>(2, 2, std::vector<bool>(4, true), false);
      masks.push_back(frame.mask);
      for (bool more = take(denoiser->push(std::move(frame))); more;) more = take(denoiser->next());
    }
    while (take(denoiser->drain())) continue;
    EXPECT_EQ(found, masks);
  }
}

TEST(FieldDenoiser, RejectsInvalidFormats) {
  for (const int shift : {-1, 32})
    EXPECT_THROW((void)field_format({.width = 4,
                                     .height = 64,
                                     .layout = Layout::yuv,
                                     .chroma_shift_x = 1,
                                     .chroma_shift_y = shift}),
                 InvalidArgument);
}

TEST(FieldDenoiser, RejectsFramesInGpuMemory) {
  const auto denoiser = by_fields(tiny, make_offset_denoiser(0), make_offset_denoiser(0));
  Frame frame = make_frame(0);
  frame.on_device = std::make_shared<DevicePicture>();
  EXPECT_THROW((void)denoiser->push(std::move(frame)), InvalidArgument);
}

}  // namespace
}  // namespace lull::pipeline
