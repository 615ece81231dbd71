// Compares the division at the end of a phase with the quotients that the host computes.

#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/kaiser.h"
#include "support/device.h"
#include "support/gpu.h"

namespace lull::bm3d {
namespace {

using test_support::on_device;
using test_support::on_host;

constexpr float fresh = -1;  // marks samples that no kernel wrote

/// Random sums: positive weights at positions that hold patches, zero at others. The margins
/// contain values that must not affect the result.
struct HostSums {
  std::vector<unsigned long long> numerator;
  std::vector<std::uint32_t> denominator;
};

HostSums make_sums(const Margins& margins, unsigned seed) {
  std::mt19937 rng{seed};
  HostSums sums{std::vector<unsigned long long>(margins.size(), 123456789),
                std::vector<std::uint32_t>(margins.size(), 123456789)};
  for (int y = 0; y < margins.height; ++y)
    for (int x = 0; x < margins.width; ++x) {
      const bool holds = x + patch <= margins.width && y + patch <= margins.height;
      const bool empty = (x / 13 + y / 11) % 2 == 0;
      const int value = static_cast<int>(rng() % 2000000) - 1000000;
      sums.numerator[margins.at(x, y)] = static_cast<unsigned long long>(value * 4096LL);
      sums.denominator[margins.at(x, y)] = holds && !empty ? 32 + rng() % 4000000 : 0;
    }
  return sums;
}

double weight_at(const HostSums& sums, const Margins& margins,
                 const std::array<float, patch>& window, int x, int y) {
  double weight = 0;
  for (int j = 0; j < patch && j <= y; ++j)
    for (int i = 0; i < patch && i <= x; ++i)
      weight +=
          static_cast<double>(window[j]) * window[i] * sums.denominator[margins.at(x - i, y - j)];
  return weight;
}

/// A plane at the end of a phase, on the host and on the device.
struct Plane {
  HostSums sums;
  std::vector<float> noisy;
  cuda::DeviceBuffer<unsigned long long> numerator;
  cuda::DeviceBuffer<std::uint32_t> denominator;
  cuda::DeviceBuffer<float> device_noisy, estimate;

  Plane(const Margins& margins, unsigned seed) : sums(make_sums(margins, seed)) {
    for (std::size_t i = 0; i < margins.size(); ++i)
      noisy.push_back(static_cast<float>((i + seed) % 251));
    numerator = on_device(sums.numerator);
    denominator = on_device(sums.denominator);
    device_noisy = on_device(noisy);
    estimate = on_device(std::vector<float>(margins.size(), fresh));
  }
};

void expect_quotients(const Plane& plane, const Margins& margins,
                      const std::array<float, patch>& window) {
  const int width = margins.width, height = margins.height;
  const HostSums& sums = plane.sums;
  const std::vector<float>& noisy = plane.noisy;
  const std::vector<float> found = on_host(plane.estimate);
  std::vector<bool> written(margins.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int at = margins.at(x, y);
      written[at] = true;
      const double weight = weight_at(sums, margins, window, x, y);
      const auto value = static_cast<double>(static_cast<long long>(sums.numerator[at]));
      const double expected = weight > 0 ? value * 8 / weight + 128 : noisy[at];
      ASSERT_NEAR(found[at], expected, 4e-6 * (std::abs(expected) + 256))
          << x << ", " << y << " of " << width << "x" << height;
    }
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!written[i]) {
      ASSERT_EQ(found[i], fresh) << "margin, " << i;
    }
}

/// All planes are divided in one launch.
void expect_quotients(int width, int height, float kaiser, int planes) {
  const Margins margins(width, height, 21, patch);
  const std::array<float, patch> window = kaiser_window(kaiser);
  std::vector<Plane> all;
  Quotients of{planes};
  for (int k = 0; k < planes; ++k) {
    const Plane& plane = all.emplace_back(margins, 7u + k);
    of.sums[k] = {plane.numerator.get(), plane.denominator.get()};
    of.noisy[k] = plane.device_noisy.get();
    of.estimate[k] = plane.estimate.get();
  }
  normalise(of, margins, window, nullptr);
  for (const Plane& plane : all) expect_quotients(plane, margins, window);
}

using CudaNormalise = test_support::GpuTest;

TEST_F(CudaNormalise, DividesSumsForAllSizes) {
  for (const auto& [width, height] :
       {std::pair{8, 8}, {9, 11}, {37, 23}, {61, 43}, {119, 33}, {122, 64}, {241, 97}, {363, 40}})
    for (const float kaiser : {0.0f, 2.5f, 4.0f}) expect_quotients(width, height, kaiser, 1);
}

TEST_F(CudaNormalise, DividesSumsOfSeveralPlanes) {
  for (int planes = 2; planes <= max_planes; ++planes) expect_quotients(61, 43, 2.5f, planes);
}

}  // namespace
}  // namespace lull::bm3d
