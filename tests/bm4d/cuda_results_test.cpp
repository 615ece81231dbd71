// Tests slices in GPU memory and results that stay in GPU memory: the samples must equal those of
// slices and results in host memory.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "bm4d/volumes.h"
#include "noise/volume/cuda/vst_volume.h"
#include "noise/volume/vst_volume.h"
#include "support/device_frames.h"
#include "support/gpu.h"
#include "support/precise_results.h"

namespace lull::bm4d {
namespace {

using namespace test_support;

class Bm4dCudaResults : public lull::test_support::GpuTest {};

constexpr Backend to_host{.kind = BackendKind::cuda};
constexpr Backend to_gpu{.kind = BackendKind::cuda, .results_on_device = true};

std::vector<Frame> slices_of(const FrameFormat& format, int count) {
  std::vector<Frame> slices;
  for (int z = 0; z < count; ++z) {
    Frame slice = make_frame(format);
    for (int i = 0; i < format.planes(); ++i)
      store_plane(
          with_noise(texture_picture(format.plane_width(i), format.plane_height(i), i).view(), 20,
                     static_cast<unsigned>(10 + 3 * z + i))
              .view(),
          slice, i);
    slice.slice = z;
    slice.pts = z;
    slices.push_back(std::move(slice));
  }
  return slices;
}

void expect_host_results(const std::vector<Frame>& slices, const std::array<float, 3>& sigma) {
  const Params params = make_params(Profile::fast, sigma);
  const std::vector<Frame> there = uploaded(slices);
  const std::vector<Frame> expected = denoise(params, slices, to_host);
  ASSERT_EQ(expected.size(), slices.size());
  const std::vector<std::vector<Frame>> others{denoise(params, there, to_gpu),
                                               denoise(params, slices, to_gpu),
                                               denoise(params, there, to_host)};
  for (std::size_t k = 0; k < others.size(); ++k) {
    ASSERT_EQ(others[k].size(), slices.size());
    for (std::size_t z = 0; z < slices.size(); ++z) {
      const Frame result = k < 2 ? downloaded(others[k][z]) : others[k][z];
      EXPECT_EQ(others[k][z].slice, expected[z].slice);
      EXPECT_TRUE(same_samples(expected[z], result))
          << "slice " << z << ", way " << k << ", sigma " << sigma[0] << " " << sigma[1];
    }
  }
}

TEST_F(Bm4dCudaResults, DeviceResultsEqualHostResults) {
  for (const Layout layout : {Layout::gray, Layout::yuv, Layout::rgb})
    for (const auto& [sample, bits] : {std::pair{SampleType::u8, 8}, std::pair{SampleType::u16, 10},
                                       std::pair{SampleType::f32, 32}})
      for (const auto& sigma : {std::array<float, 3>{20, 20, 20}, std::array<float, 3>{20, 0, 0},
                                std::array<float, 3>{0, 0, 0}})
        expect_host_results(
            slices_of({.width = 61, .height = 45, .layout = layout, .sample = sample, .bits = bits},
                      23),
            sigma);
}

TEST_F(Bm4dCudaResults, VolumesThinnerThanACubeEqualHostResults) {
  for (const int slices : {1, 2, 3})
    expect_host_results(slices_of({.width = 30, .height = 3}, slices), {20, 20, 20});
}

TEST_F(Bm4dCudaResults, KeepNanAndOutOfRangeSamples) {
  std::vector<Frame> slices = noisy_volume({.width = 40, .height = 30, .slices = 20}, 20);
  slices[4].plane<float>(0)(9, 9) = std::numeric_limits<float>::quiet_NaN();
  slices[11].plane<float>(0)(30, 9) = 77777;
  expect_host_results(slices, {20, 20, 20});
}

// Rician noise and noise that varies in space are variance-stabilised before the filter.
TEST_F(Bm4dCudaResults, StabilisedNoiseEqualsHostResults) {
  NoiseMap map{.voxels = {61, 45, 20}, .nodes = {3, 2, 2}, .values = {}};
  for (int i = 0; i < 12; ++i) map.values.push_back(14.0f + static_cast<float>(i));
  const auto varying = std::make_shared<const NoiseMap>(map);
  const Params params = make_params(Profile::fast, {14, 14, 14});
  for (const auto& [sample, bits] : {std::pair{SampleType::u8, 8}, std::pair{SampleType::u16, 10},
                                     std::pair{SampleType::f32, 32}})
    for (const auto kind : {NoiseKind::gaussian, NoiseKind::rician})
      for (const auto& levels : {std::shared_ptr<const NoiseMap>(), varying}) {
        const FrameFormat format{.width = 61, .height = 45, .sample = sample, .bits = bits};
        const VolumeNoise noise{.kind = kind, .sigma = 14, .zero = 3, .map = levels};
        const std::vector<Frame> slices = slices_of(format, 20);
        const auto filter = [&](const Backend& backend) {
          return open(params, stabilised_format(format), backend);
        };
        const std::vector<Frame> expected =
            run_clip(*with_vst(noise, format, filter(to_host)), slices);
        const auto session = lull::cuda::with_vst_on_device(noise, format, 0, filter(to_gpu));
        for (int volume = 0; volume < 2; ++volume) {
          const std::vector<Frame> results = run_clip(*session, uploaded(slices));
          ASSERT_EQ(results.size(), expected.size());
          for (std::size_t z = 0; z < results.size(); ++z)
            EXPECT_TRUE(same_samples(expected[z], downloaded(results[z])))
                << "slice " << z << ", bits " << bits << ", rician " << (kind == NoiseKind::rician);
        }
      }
}

// The session must not overwrite the memory of a result that the caller still holds.
TEST_F(Bm4dCudaResults, StayValidAfterTheSession) {
  const std::vector<Frame> slices = slices_of({.width = 61, .height = 45}, 60);
  const Params params = make_params(Profile::fast, {20, 20, 20});
  const std::vector<Frame> expected = denoise(params, slices, to_host);
  const std::vector<Frame> results = denoise(params, slices, to_gpu);  // the session is destroyed
  for (std::size_t z = 0; z < results.size(); ++z)
    EXPECT_TRUE(same_samples(expected[z], downloaded(results[z]))) << z;
}

TEST_F(Bm4dCudaResults, AreRoundedOnceToTheirBitDepth) {
  const auto opener = [](const Params& params) -> PreciseOpener {
    return [=](const FrameFormat& format, const ResultSamples& samples) {
      return open(params, format, {.kind = BackendKind::cuda, .results = samples});
    };
  };
  for (const Layout layout : {Layout::gray, Layout::rgb}) {
    const std::vector<Frame> noisy = slices_of({.width = 47, .height = 35, .layout = layout}, 9);
    expect_rounded_once(opener(small_params(20)), noisy);
    expect_equal_to_16_bits(opener(small_params(20)), noisy);
    expect_unfiltered(opener(small_params(0)), noisy);
  }
}

}  // namespace
}  // namespace lull::bm4d
