#include "raw/demosaic.h"

#include <tbb/parallel_for.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/colour.h"
#include "raw/mirrored_rows.h"

namespace lull::raw {
namespace {

constexpr int reach = 2, taps = 2 * reach + 1;
using Kernel = std::array<std::array<float, taps>, taps>;  // [y][x]

constexpr Kernel identity = {{{}, {}, {0, 0, 1, 0, 0}, {}, {}}};

Kernel eighths(const Kernel& weights) {
  Kernel kernel = weights;
  for (auto& row : kernel)
    for (float& weight : row) weight /= 8;
  return kernel;
}

Kernel transposed(const Kernel& kernel) {
  Kernel result{};
  for (int y = 0; y < taps; ++y)
    for (int x = 0; x < taps; ++x) result[x][y] = kernel[y][x];
  return result;
}

/// Convolution kernels that interpolate a colour at the sites of the Bayer pattern without this
/// colour.
struct Kernels {
  Kernel green;   // at red and blue sites
  Kernel beside;  // at green sites in a row with sites of the colour (red or blue)
  Kernel across;  // at blue sites for red, at red sites for blue
};

Kernels kernels_of(LinearFilters filters) {
  if (filters == LinearFilters::bilinear)
    return {eighths({{{}, {0, 0, 2, 0, 0}, {0, 2, 0, 2, 0}, {0, 0, 2, 0, 0}, {}}}),
            eighths({{{}, {}, {0, 4, 0, 4, 0}, {}, {}}}),
            eighths({{{}, {0, 2, 0, 2, 0}, {}, {0, 2, 0, 2, 0}, {}}})};
  return {eighths({{{0, 0, -1, 0, 0},
                    {0, 0, 2, 0, 0},
                    {-1, 2, 4, 2, -1},
                    {0, 0, 2, 0, 0},
                    {0, 0, -1, 0, 0}}}),
          eighths({{{0, 0, 0.5f, 0, 0},
                    {0, -1, 0, -1, 0},
                    {-1, 4, 5, 4, -1},
                    {0, -1, 0, -1, 0},
                    {0, 0, 0.5f, 0, 0}}}),
          eighths({{{0, 0, -1.5f, 0, 0},
                    {0, 2, 0, 2, 0},
                    {-1.5f, 0, 6, 0, -1.5f},
                    {0, 2, 0, 2, 0},
                    {0, 0, -1.5f, 0, 0}}})};
}

/// Returns the convolution kernel that computes `colour` at the site (x, y).
Kernel kernel_at(const Kernels& kernels, const BayerPattern& pattern, int colour, int x, int y) {
  const int own = pattern.at(x, y);
  if (own == colour) return identity;
  if (colour == 1) return kernels.green;
  if (own != 1) return kernels.across;
  return pattern.at(x + 1, y) == colour ? kernels.beside : transposed(kernels.beside);
}

/// A nonzero element of a kernel: its offset and its weight.
struct Tap {
  int dx, dy;
  float weight;
};
std::vector<Tap> taps_of(const Kernel& kernel) {
  std::vector<Tap> result;
  for (int y = 0; y < taps; ++y)
    for (int x = 0; x < taps; ++x)
      if (kernel[y][x] != 0) result.push_back({x - reach, y - reach, kernel[y][x]});
  return result;
}

}  // namespace

void demosaic(PlaneView<const float> mosaic, const BayerPattern& pattern, LinearFilters filters,
              const std::array<PlaneView<float>, 3>& rgb) {
  const Kernels kernels = kernels_of(filters);
  std::array<std::array<std::vector<Tap>, 3>, 4> by_site;
  for (int site = 0; site < 4; ++site)
    for (int c = 0; c < 3; ++c)
      by_site[site][c] = taps_of(kernel_at(kernels, pattern, c, site & 1, site >> 1));
  tbb::parallel_for(tbb::blocked_range<int>(0, mosaic.height, 16),
                    [&](const tbb::blocked_range<int>& range) {
                      MirroredRows<reach> rows(mosaic);
                      for (int y = range.begin(); y < range.end(); ++y) {
                        const auto row = rows.around(y);
                        for (int c = 0; c < 3; ++c)
                          for (int left = 0; left < 2; ++left) {
                            const std::vector<Tap>& site_taps = by_site[(y & 1) * 2 + left][c];
                            float* to = rgb[c].row(y);
                            for (int x = left; x < mosaic.width; x += 2) {
                              float sum = 0;
                              for (const Tap& tap : site_taps)
                                sum += tap.weight * row[tap.dy + reach][x + tap.dx];
                              to[x] = sum;
                            }
                          }
                      }
                    });
}

NoiseModel demosaiced_noise(const BayerPattern& pattern, LinearFilters filters,
                            const std::array<float, 3>& sigma) {
  const Kernels kernels = kernels_of(filters);
  std::array<PlaneNoise, 3> opponents;
  for (int o = 0; o < 3; ++o) {
    // For each of the four sites of the Bayer pattern, `combined` contains the convolution kernel
    // that computes the opponent colour `o` at this site from the samples of the mosaic.
    std::array<Kernel, 4> combined{};
    for (int site = 0; site < 4; ++site)
      for (int c = 0; c < 3; ++c) {
        const Kernel kernel = kernel_at(kernels, pattern, c, site & 1, site >> 1);
        for (int y = 0; y < taps; ++y)
          for (int x = 0; x < taps; ++x)
            combined[site][y][x] += opponent_forward[o][c] * kernel[y][x];
      }
    const auto covariance = [&](int site, int dx, int dy) {
      const int sx = site & 1, sy = site >> 1;
      const Kernel &a = combined[site], &b = combined[((sy + dy) & 1) * 2 + ((sx + dx) & 1)];
      double sum = 0;
      for (int y = std::max(0, dy); y < std::min(taps, taps + dy); ++y)
        for (int x = std::max(0, dx); x < std::min(taps, taps + dx); ++x) {
          const auto s = static_cast<double>(sigma[pattern.at(sx + x - reach, sy + y - reach)]);
          sum += static_cast<double>(a[y][x]) * static_cast<double>(b[y - dy][x - dx]) * s * s;
        }
      return sum;
    };
    const auto mean_covariance = [&](int dx, int dy) {
      double sum = 0;
      for (int site = 0; site < 4; ++site) sum += covariance(site, dx, dy);
      return sum / 4;
    };
    const double variance = mean_covariance(0, 0);
    opponents[o].sigma = static_cast<float>(std::sqrt(variance));
    if (variance == 0) continue;
    auto lags = std::make_shared<Autocorrelation>();
    for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
      for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
        (*lags)[lag_index(dx, dy)] = static_cast<float>(mean_covariance(dx, dy) / variance);
    (*lags)[lag_index(0, 0)] = 1;
    opponents[o].correlation = std::move(lags);
  }
  return NoiseModel::of_opponents(opponents);
}

}  // namespace lull::raw
