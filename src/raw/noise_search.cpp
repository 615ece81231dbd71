#include "raw/noise_search.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace lull::raw {
namespace {

constexpr int side = 8;  // side of a block, in samples of one site

struct Block {
  float mean = 0, texture = 0, noise = 0;  // energies: mean squares of DCT coefficients
};

using DctRows = std::array<std::array<float, side>, side>;

DctRows dct_rows() {
  DctRows rows;
  for (int k = 0; k < side; ++k)
    for (int i = 0; i < side; ++i)
      rows[k][i] = static_cast<float>((k == 0 ? std::sqrt(0.125) : 0.5) *
                                      std::cos(std::numbers::pi * k * (2 * i + 1) / (2 * side)));
  return rows;
}

/// Returns the mean DCT energies of a block: `texture` for coefficients (u, v) with u + v = 1..5,
/// `noise` for u + v >= 8.
Block statistics(const std::array<std::array<float, side>, side>& samples, const DctRows& rows) {
  std::array<std::array<float, side>, side> half{};
  for (int y = 0; y < side; ++y)
    for (int u = 0; u < side; ++u) {
      float sum = 0;
      for (int x = 0; x < side; ++x) sum += rows[u][x] * samples[y][x];
      half[y][u] = sum;
    }
  Block block;
  int low = 0, high = 0;
  for (int v = 0; v < side; ++v)
    for (int u = 0; u < side; ++u) {
      float sum = 0;
      for (int y = 0; y < side; ++y) sum += rows[v][y] * half[y][u];
      if (u + v == 0) {
        block.mean = sum / side;
      } else if (u + v <= 5) {
        block.texture += sum * sum;
        ++low;
      } else if (u + v >= 8) {
        block.noise += sum * sum;
        ++high;
      }
    }
  block.texture /= static_cast<float>(low);
  block.noise /= static_cast<float>(high);
  return block;
}

/// Returns the stride of the blocks, in periods of the Bayer pattern. The stride is larger in large
/// pictures, to limit the number of blocks.
int block_step(int columns, int rows) {
  constexpr std::int64_t most = 600'000;
  int step = 2;
  while (std::int64_t{columns} * rows / (step * step) > most) ++step;
  return step;
}

/// Returns blocks of the samples of one site (0..3) of the Bayer pattern, without blocks that
/// contain clipped samples.
std::vector<Block> blocks_of_site(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor,
                                  int site, const DctRows& rows) {
  const int left = site & 1, top = site >> 1;
  const int width = (mosaic.width - left + 1) / 2, height = (mosaic.height - top + 1) / 2;
  if (width < side || height < side) return {};
  const int step = block_step(width, height);
  const int columns = (width - side) / step + 1, count = (height - side) / step + 1;
  const float black = sensor.black[site], scale = 1 / (sensor.white - black);
  std::vector<Block> all(static_cast<std::size_t>(columns) * count);
  std::vector<char> is_valid(all.size());
  tbb::parallel_for(0, count, [&](int row) {
    for (int column = 0; column < columns; ++column) {
      std::array<std::array<float, side>, side> samples;
      bool clipped = false;
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          const std::uint16_t v =
              mosaic(left + 2 * (column * step + x), top + 2 * (row * step + y));
          clipped |= static_cast<float>(v) >= sensor.white || v == 0;
          samples[y][x] = (static_cast<float>(v) - black) * scale;
        }
      const std::size_t index = static_cast<std::size_t>(row) * columns + column;
      is_valid[index] = !clipped;
      if (!clipped) all[index] = statistics(samples, rows);
    }
  });
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_valid[i]) blocks.push_back(all[i]);
  return blocks;
}

/// Mean and noise variance of the smoothest blocks in a group of blocks with similar means.
struct Point {
  double mean, variance;
};

constexpr std::size_t blocks_per_point = 2000, most_points = 40, least_blocks = 100;
constexpr double smooth_share = 0.03;  // share of a group that is measured

void add_points(std::vector<Block> blocks, std::vector<Point>& points) {
  std::ranges::sort(blocks, {}, &Block::mean);
  const std::size_t groups =
      std::max<std::size_t>(1, std::min<std::size_t>(blocks.size() / blocks_per_point, 48));
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<Block> group(
        blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() * g / groups),
        blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() * (g + 1) / groups));
    if (group.size() < least_blocks) continue;
    const auto smooth = std::max<std::size_t>(
        static_cast<std::size_t>(smooth_share * static_cast<double>(group.size())), 12);
    std::ranges::nth_element(group, group.begin() + static_cast<std::ptrdiff_t>(smooth), {},
                             &Block::texture);
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < smooth; ++i) {
      mean += static_cast<double>(group[i].mean);
      variance += static_cast<double>(group[i].noise);
    }
    points.push_back({mean / static_cast<double>(smooth), variance / static_cast<double>(smooth)});
  }
}

/// Fits variance = gain * mean + offset. Points above the line get lower weights, because texture
/// increases the variance.
SensorNoise fit(const std::vector<Point>& points) {
  constexpr double tolerance = 0.03;  // relative; about the random error of a point without texture
  SensorNoise line;
  double typical = 0;
  for (const Point& p : points) typical += p.variance / static_cast<double>(points.size());
  line.offset = typical;
  for (int round = 0; round < 25; ++round) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (const Point& p : points) {
      const double expected = std::max(line.variance(p.mean), 1e-3 * typical);
      const double excess = std::max(p.variance / expected - 1, 0.0) / tolerance;
      const double w = (round == 0 ? 1 : 1 / (1 + excess * excess)) / (expected * expected);
      n += w;
      sx += w * p.mean;
      sy += w * p.variance;
      sxx += w * p.mean * p.mean;
      sxy += w * p.mean * p.variance;
    }
    const double spread = n * sxx - sx * sx;
    line.gain = spread > 1e-12 * n * sxx ? (n * sxy - sx * sy) / spread : 0;
    line.offset = (sy - line.gain * sx) / n;
    if (line.offset < 0 && sxx > 0) line = {sxy / sxx, 0};
    if (line.gain < 0) line = {0, sy / n};
  }
  return line;
}

}  // namespace

std::optional<SensorNoise> find_noise(PlaneView<const std::uint16_t> mosaic, const Sensor& sensor) {
  const DctRows rows = dct_rows();
  std::vector<Point> points;
  for (int site = 0; site < 4; ++site)
    add_points(blocks_of_site(mosaic, sensor, site, rows), points);
  if (points.empty()) return std::nullopt;
  const SensorNoise noise = fit(points);
  // A variance near 1/12, the variance of rounding, means that the mosaic has no noise.
  const double rounding = 1.0 / 12 / std::pow(static_cast<double>(sensor.white), 2);
  double largest = 0;
  for (const Point& p : points) largest = std::max(largest, noise.variance(p.mean));
  if (!(largest > 1.5 * rounding)) return std::nullopt;
  return noise;
}

}  // namespace lull::raw
