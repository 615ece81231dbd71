#include "noise/volume/volume_levels.h"

#include <gtest/gtest.h>

#include <bit>
#include <deque>

#include "core/error.h"
#include "noise/volume/phantom.h"
#include "support/sessions.h"

namespace lull {
namespace {

using test_support::Phantom;

constexpr int slices = 5, volumes = 3;
const Phantom phantom{.width = 12, .height = 10, .slices = slices * volumes};

/// Slices with a number; the volumes have the values 10, 20 and 30, and one sample of -5.
std::vector<Frame> numbered_slices() {
  std::vector<Frame> all = phantom.slices_of(
      [](int x, int y, int z) { return x == 3 && y == 4 ? -5 : 10 * (z / slices + 1) + 0.1 * x; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].pts = static_cast<std::int64_t>(i);
    all[i].slice = static_cast<int>(i % slices);
  }
  return all;
}

/// Keeps what it gets, and returns it plus 1, after two further slices.
class AddOne final : public Denoiser {
 public:
  explicit AddOne(std::vector<float>& seen) : seen_(seen) {}
  int latency() const noexcept override { return 2; }
  std::optional<Frame> push(Frame slice) override {
    seen_.push_back(slice.plane<float>(0)(0, 0));
    inside_.push_back(std::move(slice));
    return inside_.size() > 2 ? drain() : std::nullopt;
  }
  std::optional<Frame> drain() override {
    if (inside_.empty()) return std::nullopt;
    FramePool pool(inside_.front().format);
    Frame out = pool.acquire();
    out.copy_info(inside_.front());
    for (int y = 0; y < out.format.height; ++y)
      for (int x = 0; x < out.format.width; ++x) {
        const float from = inside_.front().plane<float>(0)(x, y);
        out.plane<float>(0)(x, y) = x == 7 ? from : from + 1;
      }
    inside_.pop_front();
    return out;
  }

 private:
  std::vector<float>& seen_;
  std::deque<Frame> inside_;
};

TEST(VolumeLevels, FilterGetsOneLevelAndResultsAreScaledBack) {
  std::vector<float> seen;
  const VolumeLevels levels{.levels = {4, 2, 8}, .slices = slices, .zero = 10};
  EXPECT_EQ(levels.common_level(), 2);
  const auto noisy = numbered_slices();
  const auto session = with_volume_levels(levels, phantom.format(), std::make_unique<AddOne>(seen));
  EXPECT_EQ(session->latency(), 2);
  const std::vector<Frame> clean = test_support::run_clip(*session, noisy);
  ASSERT_EQ(clean.size(), noisy.size());
  // Distances from `zero` are multiplied by 2 / level.
  EXPECT_FLOAT_EQ(seen[0], 10);
  EXPECT_FLOAT_EQ(seen[slices], 20);
  EXPECT_FLOAT_EQ(seen[2 * slices], 15);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const float level = levels.levels[i / slices], from = noisy[i].plane<float>(0)(2, 3);
    EXPECT_NEAR(clean[i].plane<float>(0)(2, 3), from + level / 2, 1e-4) << i;
    // Unchanged samples keep their bits.
    EXPECT_EQ(std::bit_cast<std::uint32_t>(clean[i].plane<float>(0)(7, 3)),
              std::bit_cast<std::uint32_t>(noisy[i].plane<float>(0)(7, 3)));
  }
}

TEST(VolumeLevels, VolumeWithoutNoiseIsPreserved) {
  std::vector<float> seen;
  const VolumeLevels levels{.levels = {4, 0, 8}, .slices = slices};
  EXPECT_EQ(levels.common_level(), 4);
  const auto noisy = numbered_slices();
  const auto session = with_volume_levels(levels, phantom.format(), std::make_unique<AddOne>(seen));
  const std::vector<Frame> clean = test_support::run_clip(*session, noisy);
  for (int z = slices; z < 2 * slices; ++z)
    EXPECT_EQ(clean[z].plane<float>(0)(2, 3), noisy[z].plane<float>(0)(2, 3));
  EXPECT_NE(clean[0].plane<float>(0)(2, 3), noisy[0].plane<float>(0)(2, 3));
  const VolumeLevels none{.levels = {0, 0}};
  EXPECT_EQ(none.common_level(), 0);
}

TEST(VolumeLevels, RejectsUnsupportedInput) {
  std::vector<float> seen;
  const VolumeLevels levels{.levels = {4}, .slices = slices};
  FrameFormat colour = phantom.format();
  colour.layout = Layout::rgb;
  EXPECT_THROW((void)with_volume_levels(levels, colour, std::make_unique<AddOne>(seen)),
               InvalidArgument);
  const auto session = with_volume_levels(levels, phantom.format(), std::make_unique<AddOne>(seen));
  Frame late = numbered_slices()[slices];
  EXPECT_THROW((void)session->push(late), InternalError);
}

}  // namespace
}  // namespace lull
