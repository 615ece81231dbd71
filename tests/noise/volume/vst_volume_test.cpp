#include "noise/volume/vst_volume.h"

#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <limits>

#include "core/error.h"
#include "noise/volume/phantom.h"
#include "support/sessions.h"

namespace lull {
namespace {

using test_support::Draw;
using test_support::Phantom;

/// Returns slices that `change` has modified, with a latency of `late` slices.
class Filter final : public Denoiser {
 public:
  using Change = std::function<void(const Frame& slice)>;
  explicit Filter(Change change = {}, int late = 3) : change_(std::move(change)), late_(late) {}
  int latency() const noexcept override { return late_; }
  std::optional<Frame> push(Frame slice) override {
    inside_.push_back(std::move(slice));
    return static_cast<int>(inside_.size()) > late_ ? drain() : std::nullopt;
  }
  std::optional<Frame> drain() override {
    if (inside_.empty()) return std::nullopt;
    FramePool pool(inside_.front().format);
    Frame out = pool.acquire();
    out.copy_info(inside_.front());
    copy(inside_.front(), out);
    inside_.pop_front();
    if (change_) change_(out);
    return out;
  }

 private:
  static void copy(const Frame& from, const Frame& to) {
    for (int y = 0; y < from.format.height; ++y)
      std::copy_n(from.plane<float>(0).row(y), from.format.width, to.plane<float>(0).row(y));
  }
  Change change_;
  int late_;
  std::deque<Frame> inside_;
};

std::vector<Frame> filtered(const VolumeNoise& noise, const std::vector<Frame>& slices,
                            Filter::Change change) {
  const auto session =
      with_vst(noise, slices.front().format, std::make_unique<Filter>(std::move(change)));
  EXPECT_EQ(session->latency(), 3);
  return test_support::run_clip(*session, slices);
}

std::shared_ptr<const NoiseMap> ramp_map(const Phantom& size, float low, float high) {
  auto map = std::make_shared<NoiseMap>();
  map->voxels = {size.width, size.height, size.slices};
  map->nodes = {2, 1, 3};
  map->values = {low, high, low, high, low, high};
  return map;
}

/// Sets every voxel of a slice to the mean of the slice, like an ideal filter for constant content.
void take_mean(const Frame& slice) {
  const PlaneView<float> plane = slice.plane<float>(0);
  double sum = 0;
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) sum += static_cast<double>(plane(x, y));
  const auto mean = static_cast<float>(sum / (1.0 * plane.width * plane.height));
  for (int y = 0; y < plane.height; ++y) std::fill_n(plane.row(y), plane.width, mean);
}

TEST(VolumeVstSession, UnchangedSamplesKeepTheirBits) {
  const Phantom size{.width = 9, .height = 7, .slices = 6};
  Draw draw;
  auto slices = size.slices_of([&](int, int, int) { return draw.rician(20, 30); });
  slices[2].plane<float>(0)(4, 3) = std::numeric_limits<float>::quiet_NaN();
  slices[3].plane<float>(0)(0, 0) = -std::numeric_limits<float>::infinity();
  slices[3].plane<float>(0)(1, 0) = -40;
  for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::rician}) {
    const VolumeNoise noise{kind, 3, 0, ramp_map(size, 3, 7)};
    const auto results = filtered(noise, slices, {});
    ASSERT_EQ(results.size(), slices.size());
    for (std::size_t z = 0; z < slices.size(); ++z) {
      EXPECT_EQ(results[z].slice, slices[z].slice);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          ASSERT_EQ(std::bit_cast<std::uint32_t>(results[z].plane<float>(0)(x, y)),
                    std::bit_cast<std::uint32_t>(slices[z].plane<float>(0)(x, y)));
    }
  }
}

TEST(VolumeVstSession, RicianMeansAreRecovered) {
  const Phantom size{.width = 128, .height = 128, .slices = 2};
  for (const float zero : {0.0f, -40.0f}) {
    for (const double v : {0.0, 10.0, 25.0, 120.0}) {
      Draw draw;
      const auto slices = size.slices_of(
          [&](int, int, int) { return static_cast<double>(zero) + draw.rician(v, 10); });
      const auto results = filtered({NoiseKind::rician, 10, zero, {}}, slices, take_mean);
      EXPECT_NEAR(static_cast<double>(results[1].plane<float>(0)(5, 5) - zero), v,
                  v < 5 ? 2.0 : 0.4)
          << zero;
    }
  }
}

// Interpolation of volumes makes some samples beside bright edges negative.
TEST(VolumeVstSession, RicianSamplesBelowZeroStayDark) {
  const Phantom size{.width = 8, .height = 8, .slices = 4};
  for (const float zero : {0.0f, 40.0f}) {
    const auto slices = size.slices_of([&](int x, int y, int) {
      return static_cast<double>(zero) + (x == 3 && y == 4 ? -30.0 : 50.0);
    });
    const auto results =
        filtered({NoiseKind::rician, 5, zero, {}}, slices, [&](const Frame& stabilised) {
          const PlaneView<float> plane = stabilised.plane<float>(0);
          EXPECT_LT(plane(3, 4), zero);
          for (int y = 0; y < plane.height; ++y)
            for (int x = 0; x < plane.width; ++x) plane(x, y) += 0.01f;
        });
    for (const Frame& result : results) {
      EXPECT_EQ(result.plane<float>(0)(3, 4), zero);
      EXPECT_NEAR(result.plane<float>(0)(2, 4), zero + 50, 0.5f);
    }
  }
}

TEST(VolumeVstSession, FilterGetsAConstantLevel) {
  const Phantom size{.width = 160, .height = 40, .slices = 12};
  const VolumeNoise noise{NoiseKind::gaussian, 4, 0, ramp_map(size, 4, 12)};
  Plane<float> level(size.width, size.height);
  noise.map->slice(6, level.view());
  EXPECT_EQ(level.view()(0, 0), 4);
  EXPECT_NEAR(level.view()(80, 20), 8, 0.1);
  EXPECT_EQ(level.view()(159, 39), 12);
  for (const double v : {0.0, 90.0}) {
    Draw draw;
    const auto slices = size.slices_of(
        [&](int x, int, int) { return draw.gaussian(v, static_cast<double>(level.view()(x, 0))); });
    double left = 0, right = 0;
    const auto spread = [&](const Frame& slice) {
      for (auto [sum, first] : {std::pair{&left, 0}, {&right, 130}})
        for (int y = 0; y < size.height; ++y)
          for (int x = first; x < first + 30; ++x) {
            const double even = v * 4 / static_cast<double>(level.view()(x, 0));
            *sum += std::pow(static_cast<double>(slice.plane<float>(0)(x, y)) - even, 2);
          }
    };
    (void)filtered(noise, slices, spread);
    const double count = 30.0 * size.height * size.slices;
    EXPECT_NEAR(std::sqrt(left / count), 4, 0.15);
    EXPECT_NEAR(std::sqrt(right / count), 4, 0.15);
  }
}

TEST(VolumeVstSession, PositionsComeFromSliceNumbersOrAreCounted) {
  const Phantom size{.width = 8, .height = 8, .slices = 9};
  auto map = std::make_shared<NoiseMap>();
  map->voxels = {8, 8, 9};
  map->nodes = {1, 1, 9};
  for (int z = 0; z < 9; ++z) map->values.push_back(1.0f + static_cast<float>(z));
  const VolumeNoise noise{NoiseKind::gaussian, 1, 0, map};
  auto slices = size.slices_of([](int, int, int) { return 50.0; });
  std::vector<float> seen;
  const auto look = [&](const Frame& slice) { seen.push_back(slice.plane<float>(0)(0, 0)); };
  (void)filtered(noise, {slices[4], slices[5]}, look);
  for (Frame& slice : slices) slice.slice = -1;
  (void)filtered(noise, {slices[0], slices[1]}, look);
  EXPECT_EQ(seen, (std::vector<float>{10, 50.0f * (1.0f / 6), 50, 25}));
}

TEST(VolumeVstSession, RejectsUnsupportedInput) {
  FrameFormat colours{.width = 8, .height = 8, .layout = Layout::rgb};
  EXPECT_THROW((void)with_vst({NoiseKind::rician, 3, 0, {}}, colours, nullptr), InvalidArgument);
  const FrameFormat grey{.width = 8, .height = 8};
  EXPECT_THROW((void)with_vst({NoiseKind::rician, 0, 0, {}}, grey, nullptr), InvalidArgument);
  auto map = std::make_shared<NoiseMap>();
  map->nodes = {2, 2, 1};
  map->values = {1, 2, 3};
  EXPECT_THROW((void)with_vst({NoiseKind::rician, 3, 0, map}, grey, nullptr), InvalidArgument);
  map->values = {1, 2, 3, -1};
  EXPECT_THROW((void)with_vst({NoiseKind::rician, 3, 0, map}, grey, nullptr), InvalidArgument);
  map->nodes = {2, 2, 0};
  EXPECT_THROW((void)with_vst({NoiseKind::rician, 3, 0, map}, grey, nullptr), InvalidArgument);
}

}  // namespace
}  // namespace lull
