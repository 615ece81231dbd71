// Tests the 8-bit guide, its norms and the cleared sums: they must equal those computed on the
// host, bit for bit.

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "match/cuda/kernels.h"
#include "support/device.h"
#include "support/gpu.h"

namespace lull {
namespace {

using test_support::on_device;
using test_support::on_host;

constexpr float scale = 0.75f, offset = -3.25f;

/// Some samples are outside 0..255. The margins contain values that must not affect the result.
std::vector<float> make_plane(const Margins& margins, unsigned seed) {
  std::mt19937 rng{seed};
  std::vector<float> plane(margins.size(), 1000);
  for (int y = 0; y < margins.height; ++y)
    for (int x = 0; x < margins.width; ++x)
      plane[margins.at(x, y)] = static_cast<float>(rng() % 1400) / 4 - 50;
  return plane;
}

struct HostGuide {
  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> half_norms;
};

HostGuide make_guide(const std::vector<float>& estimate, const std::vector<float>& noisy,
                     float share, const Margins& margins) {
  HostGuide guide{std::vector<std::uint8_t>(margins.size(), 0),
                  std::vector<std::int32_t>(margins.size(), no_patch)};
  for (int y = 0; y < margins.height; ++y)
    for (int x = 0; x < margins.width; ++x) {
      const int at = margins.at(x, y);
      const float mixed = estimate[at] + share * (noisy[at] - estimate[at]);
      guide.samples[at] =
          static_cast<std::uint8_t>(std::clamp(std::rint((mixed - offset) * scale), 0.0f, 255.0f));
    }
  for (int y = 0; y + patch <= margins.height; ++y)
    for (int x = 0; x + patch <= margins.width; ++x) {
      int sum = 0;
      for (int j = 0; j < patch; ++j)
        for (int i = 0; i < patch; ++i) {
          const int sample = guide.samples[margins.at(x + i, y + j)];
          sum += sample * sample;
        }
      guide.half_norms[margins.at(x, y)] = sum / 2;
    }
  return guide;
}

void expect_same_guide(int width, int height, float share, int planes) {
  const Margins margins(width, height, 21, patch);
  const std::vector<float> estimate = make_plane(margins, 1), noisy = make_plane(margins, 2);
  const auto device_estimate = on_device(estimate), device_noisy = on_device(noisy);
  const auto samples = on_device(std::vector<std::uint8_t>(margins.size(), 77));
  const auto norms = on_device(std::vector<std::int32_t>(margins.size(), -1));
  std::array<cuda::DeviceBuffer<unsigned long long>, max_planes> numerators;
  std::array<cuda::DeviceBuffer<std::uint32_t>, max_planes> denominators;
  ClearedSums sums{planes};
  for (int k = 0; k < max_planes; ++k) {
    numerators[k] = on_device(std::vector<unsigned long long>(margins.size(), 5));
    denominators[k] = on_device(std::vector<std::uint32_t>(margins.size(), 5));
    sums.of[k] = {numerators[k].get(), denominators[k].get()};
  }
  make_guide_and_clear_sums(MixedPlane{device_estimate.get(), device_noisy.get(), share}, margins,
                            scale, offset, samples.get(), norms.get(), sums, nullptr);

  const HostGuide expected = make_guide(estimate, noisy, share, margins);
  EXPECT_EQ(on_host(samples), expected.samples) << width << "x" << height;
  EXPECT_EQ(on_host(norms), expected.half_norms) << width << "x" << height;
  for (int k = 0; k < max_planes; ++k) {
    const auto values = on_host(numerators[k]);
    const auto weights = on_host(denominators[k]);
    const unsigned left = k < planes ? 0 : 5;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        ASSERT_EQ(values[margins.at(x, y)], left) << x << ", " << y << " of plane " << k;
        ASSERT_EQ(weights[margins.at(x, y)], left) << x << ", " << y << " of plane " << k;
      }
  }
}

/// Returns the guide of a colour format: luma scaled to the size of chroma, and both chroma planes.
std::vector<float> mix(const std::array<std::vector<float>, 3>& estimates,
                       const std::array<std::vector<float>, 3>& noisy, const ColourGuide& of,
                       const Margins& margins) {
  std::vector<float> mixed(margins.size(), 1000);
  const auto sample = [&](int plane, float share, int at) {
    return estimates[plane][at] + share * (noisy[plane][at] - estimates[plane][at]);
  };
  for (int y = 0; y < margins.height; ++y)
    for (int x = 0; x < margins.width; ++x) {
      float value = 0, count = 0;
      if (of.luma.estimate != nullptr) {
        const Margins& luma = of.luma_margins;
        for (int v = y << of.shift_y; v < std::min((y + 1) << of.shift_y, luma.height); ++v)
          for (int u = x << of.shift_x; u < std::min((x + 1) << of.shift_x, luma.width);
               ++u, ++count)
            value += sample(0, of.luma.share, luma.at(u, v));
        value /= count;
      }
      for (int k = 0; k < 2; ++k)
        if (of.weight[k] != 0)
          value += of.weight[k] * sample(k + 1, of.chroma[k].share, margins.at(x, y));
      mixed[margins.at(x, y)] = value;
    }
  return mixed;
}

/// Compares the combined guide with that of the host. `luma` gives the size of the luma plane. The
/// shares and weights are chosen such that the host's sums are exact.
void expect_same_mix(const Margins& luma, int shift_x, int shift_y, bool has_luma, float share,
                     std::array<float, 2> weights) {
  const Margins margins((luma.width + (1 << shift_x) - 1) >> shift_x,
                        (luma.height + (1 << shift_y) - 1) >> shift_y, 21, patch);
  std::array<std::vector<float>, 3> estimates, noisy;
  std::array<cuda::DeviceBuffer<float>, 3> on_gpu, noisy_on_gpu;
  for (int i = 0; i < 3; ++i) {
    estimates[i] = make_plane(i == 0 ? luma : margins, 1 + i);
    noisy[i] = make_plane(i == 0 ? luma : margins, 4 + i);
    on_gpu[i] = on_device(estimates[i]), noisy_on_gpu[i] = on_device(noisy[i]);
  }
  const auto plane = [&](int i) {
    return MixedPlane{on_gpu[i].get(), noisy_on_gpu[i].get(), share};
  };
  ColourGuide of{has_luma ? plane(0) : MixedPlane{}, luma, shift_x, shift_y};
  for (int k = 0; k < 2; ++k) of.chroma[k] = plane(k + 1), of.weight[k] = weights[k];
  const std::vector<float> expected = mix(estimates, noisy, of, margins);
  const auto samples = on_device(std::vector<std::uint8_t>(margins.size(), 77));
  const auto norms = on_device(std::vector<std::int32_t>(margins.size(), -1));
  make_guide_and_clear_sums(of, margins, scale, offset, samples.get(), norms.get(), {}, nullptr);
  const auto mixed = on_device(std::vector<float>(margins.size(), 1000));
  mix_guide(of, margins, mixed.get(), nullptr);

  const HostGuide guide = make_guide(expected, expected, 0, margins);
  const std::string of_what = std::to_string(luma.width) + "x" + std::to_string(luma.height) +
                              " by " + std::to_string(shift_x) + ", " + std::to_string(shift_y);
  EXPECT_EQ(on_host(samples), guide.samples) << of_what;
  EXPECT_EQ(on_host(norms), guide.half_norms) << of_what;
  EXPECT_EQ(on_host(mixed), expected) << of_what;
}

using CudaGuide = test_support::GpuTest;

// The values are halves and quarters, so that the host's sums are exact and rounding encounters
// ties.
TEST_F(CudaGuide, EqualsTheHostForAllSizes) {
  for (const auto& [width, height] :
       {std::pair{8, 8}, {9, 11}, {37, 23}, {61, 43}, {119, 33}, {122, 64}, {241, 97}, {363, 40}})
    for (const float share : {0.0f, 0.25f}) expect_same_guide(width, height, share, 1);
}

TEST_F(CudaGuide, ColourGuideEqualsTheHostForAllLayouts) {
  for (const auto& [width, height] : {std::pair{33, 35}, {61, 43}, {242, 97}, {363, 40}})
    for (const auto& [x, y] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}, {2, 0}, {2, 2}})
      for (const float share : {0.0f, 0.25f}) {
        const Margins luma(width, height, 21, patch);
        expect_same_mix(luma, x, y, true, share, {0.5f, -0.5f});
        expect_same_mix(luma, x, y, true, share, {0, 0});
        expect_same_mix(luma, x, y, false, share, {0.5f, -0.5f});
        expect_same_mix(luma, x, y, false, share, {0, 1});
      }
}

TEST_F(CudaGuide, ClearsOnlyTheSumsOfItsPlanes) {
  for (int planes = 0; planes <= max_planes; ++planes) expect_same_guide(61, 43, 0, planes);
}

}  // namespace
}  // namespace lull
