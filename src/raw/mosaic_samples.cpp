#include "raw/mosaic_samples.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace lull::raw {
namespace {

/// Returns whether the green site (x, y) is in a row with blue sites.
bool is_in_blue_row(const BayerPattern& pattern, int x, int y) {
  return pattern.at(x, y) == 1 && pattern.at(x + 1, y) == 2;
}

float scaled_value(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor, int x, int y) {
  const float black = sensor.black_at(x, y);
  return (static_cast<float>(mosaic(x, y)) - black) / (sensor.white - black);
}

/// Limits for a defective site, in standard deviations of the noise: the minimum deviation of its
/// sample from the neighbours, and the maximum difference between the neighbours. If the neighbours
/// differ more, the sample may belong to a detail of the picture.
constexpr float defect_deviations = 8, flat_deviations = 6;

/// Minimum and maximum of the samples passed to add().
struct Range {
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();
  void add(float v) {
    least = std::min(least, v);
    most = std::max(most, v);
  }
};

/// Returns the sample at the site (x, y). If the site is defective, returns the repaired value.
float checked_value(PlaneView<const float> plane, int x, int y, float sigma) {
  const float v = plane(x, y), tolerance = defect_deviations * sigma,
              flat = flat_deviations * sigma;
  Range beside, diagonal;  // sites of other colours, or of green
  for (int d = -1; d <= 1; d += 2) {
    beside.add(plane(x + d, y));
    beside.add(plane(x, y + d));
    diagonal.add(plane(x + d, y + 1));
    diagonal.add(plane(x + d, y - 1));
  }
  const float most = std::max(beside.most, diagonal.most);
  const float least = std::min(beside.least, diagonal.least);
  if (v <= most + tolerance && v >= least - tolerance) return v;
  if (beside.most - beside.least > flat || diagonal.most - diagonal.least > flat) return v;
  std::array<float, 8> same;
  int count = 0;
  for (int dy = -2; dy <= 2; dy += 2)
    for (int dx = -2; dx <= 2; dx += 2)
      if (dx != 0 || dy != 0) same[count++] = plane(x + dx, y + dy);
  std::ranges::sort(same);
  if (same.back() - same.front() > flat) return v;
  if (v <= same.back() + tolerance && v >= same.front() - tolerance) return v;
  return (same[3] + same[4]) / 2;
}

}  // namespace

float green_ratio(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor) {
  double with_red = 0, with_blue = 0;
  for (int y = 0; y + 1 < mosaic.height; y += 2)
    for (int x = 0; x + 1 < mosaic.width; x += 2) {
      double red_row = 0, blue_row = 0;
      bool clipped = false;
      for (int site = 0; site < 4; ++site) {
        const int sx = x + (site & 1), sy = y + (site >> 1);
        clipped |= static_cast<float>(mosaic(sx, sy)) >= sensor.white;
        if (sensor.pattern.at(sx, sy) != 1) continue;
        const auto v = static_cast<double>(scaled_value(mosaic, sensor, sx, sy));
        (is_in_blue_row(sensor.pattern, sx, sy) ? blue_row : red_row) = v;
      }
      if (clipped) continue;
      with_red += red_row;
      with_blue += blue_row;
    }
  const double ratio = with_blue > 0 ? with_red / with_blue : 1;
  return ratio > 0.9 && ratio < 1.1 ? static_cast<float>(ratio) : 1.0f;
}

std::int64_t stabilise(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor,
                       const SensorVst& vst, float ratio, PlaneView<float> stabilised) {
  const int width = mosaic.width, height = mosaic.height;
  tbb::parallel_for(0, height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      const float factor = is_in_blue_row(sensor.pattern, x, y) ? ratio : 1.0f;
      stabilised(x, y) =
          vst.forward(sensor.pattern.at(x, y), factor * scaled_value(mosaic, sensor, x, y));
    }
  });
  const float sigma = *std::ranges::max_element(vst.sigma());
  // This function writes no repaired sample before it has checked all sites, so the order of the
  // sites has no effect.
  std::vector<std::vector<std::pair<int, float>>> repaired(static_cast<std::size_t>(height));
  tbb::parallel_for(2, std::max(height - 2, 2), [&](int y) {
    for (int x = 2; x < width - 2; ++x) {
      const float v = checked_value(stabilised, x, y, sigma);
      if (v != stabilised(x, y)) repaired[y].emplace_back(x, v);
    }
  });
  std::int64_t count = 0;
  for (int y = 0; y < height; ++y)
    for (const auto& [x, v] : repaired[y]) {
      stabilised(x, y) = v;
      ++count;
    }
  return count;
}

ResultLevels result_levels(const Sensor& sensor) {
  float factor = 1;
  while (sensor.white * factor * 2 <= 65535) factor *= 2;
  ResultLevels levels{.white = sensor.white * factor};
  for (int site = 0; site < 4; ++site) levels.black[site] = sensor.black[site] * factor;
  return levels;
}

}  // namespace lull::raw
