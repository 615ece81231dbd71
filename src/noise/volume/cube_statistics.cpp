#include "noise/volume/cube_statistics.h"

#include <algorithm>
#include <cmath>

#include "core/bases.h"
#include "core/float_range.h"
#include "core/samples.h"

namespace lull {
namespace {

constexpr int side = CubeCollector::side, voxels = side * side * side;
constexpr double max_cubes = 400'000;
/// The collector counts constant cubes for at most this number of different values.
constexpr std::size_t max_constant_values = 256;

using Cube = std::array<float, voxels>;  // voxels of a cube: x fastest, then y

/// Transforms the cube along one axis. `stride` is the distance between neighbouring elements along
/// this axis.
void transform(Cube& cube, int stride, const std::array<std::array<float, side>, side>& rows) {
  for (int i = 0; i < voxels; ++i) {
    if (i / stride % side != 0) continue;
    const Cube::value_type v[side] = {cube[i], cube[i + stride], cube[i + 2 * stride],
                                      cube[i + 3 * stride]};
    for (int k = 0; k < side; ++k)
      cube[i + k * stride] =
          rows[k][0] * v[0] + rows[k][1] * v[1] + rows[k][2] * v[2] + rows[k][3] * v[3];
  }
}

void find_energies(Cube cube, CubeStatistics& statistics) {
  for (const int stride : {1, side, side * side}) transform(cube, stride, float_dct_rows<side>());
  float low = 0, high = 0, total = 0;
  int lows = 0, highs = 0;
  for (int i = 1; i < voxels; ++i) {
    const int u = i % side, v = i / side % side, w = i / (side * side);
    const float energy = cube[i] * cube[i];
    total += energy;
    if (u + v + w <= 3) low += energy, ++lows;
    if (std::min({u, v, w}) >= 2) high += energy, ++highs;
  }
  statistics.low = low / static_cast<float>(lows);
  statistics.high = high / static_cast<float>(highs);
  statistics.variance = total / (voxels - 1);
}

void find_moments(const Cube& cube, CubeStatistics& statistics) {
  float sum = 0, third = 0;
  for (const float v : cube) sum += v;
  statistics.mean = sum / voxels;
  for (const float v : cube) {
    const float d = v - statistics.mean;
    third += d * d * d;
  }
  statistics.third = third / voxels;
}

void find_common(Cube cube, CubeStatistics& statistics) {
  std::ranges::sort(cube);
  for (int i = 0; i < voxels;) {
    int end = i + 1;
    while (end < voxels && cube[end] == cube[i]) ++end;
    if (end - i > statistics.common_count) {
      statistics.common_count = static_cast<std::uint8_t>(end - i);
      statistics.common = cube[i];
    }
    i = end;
  }
}

}  // namespace

CubeCollector::CubeCollector(const FrameFormat& format, std::int64_t slices) : format_(format) {
  const double cubes = static_cast<double>(format.width / side) * (format.height / side) *
                       static_cast<double>(std::max<std::int64_t>(slices, side)) / side;
  while (cubes / std::pow(step_, 3) > max_cubes) ++step_;
  for (Plane<float>& slice : slices_) slice = {format.width, format.height};
}

void CubeCollector::add(const Frame& slice) {
  const int z = slice.slice >= 0 ? slice.slice : next_;
  if (z != next_ || z == 0) first_slice_ = z;
  next_ = z + 1;
  depth_ = std::max(depth_, next_);
  const int layer = z / side;
  if (layer % step_ != 0) return;
  load_plane(slice, 0, slices_[z % side].view());
  if (z % side == side - 1 && layer * side >= first_slice_) process_layer(layer);
}

void CubeCollector::process_layer(int layer) {
  for (int row = 0; row < format_.height / side; row += step_)
    for (int column = 0; column < format_.width / side; column += step_)
      examine(layer, row, column);
}

void CubeCollector::examine(int layer, int row, int column) {
  ++examined_;
  Cube cube;
  bool numbers = true;
  for (int z = 0, i = 0; z < side; ++z)
    for (int y = 0; y < side; ++y) {
      const float* from = slices_[z].view().row(row * side + y) + column * side;
      for (int x = 0; x < side; ++x, ++i) {
        cube[i] = from[x];
        numbers &= cube[i] >= filter_range_min && cube[i] <= filter_range_max;
      }
    }
  if (!numbers) return;
  const auto [minimum, maximum] = std::ranges::minmax(cube);
  min_value_ = std::min(min_value_, minimum);
  max_value_ = std::max(max_value_, maximum);
  if (minimum == maximum) {
    const auto known = constant_values_.find(cube[0]);
    if (known != constant_values_.end())
      ++known->second;
    else if (constant_values_.size() < max_constant_values)
      constant_values_.emplace(cube[0], 1);
    return;
  }
  CubeStatistics statistics;
  find_moments(cube, statistics);
  find_energies(cube, statistics);
  find_common(cube, statistics);
  statistics.position = {static_cast<std::int16_t>(column), static_cast<std::int16_t>(row),
                         static_cast<std::int16_t>(layer)};
  cubes_.push_back(statistics);
}

}  // namespace lull
