#include "noise/volume/cube_statistics.h"

#include <algorithm>
#include <cmath>

#include "core/bases.h"
#include "core/float_range.h"
#include "core/samples.h"

namespace lull {
namespace {

constexpr int samples = 64;  // per cube or square
constexpr double max_cubes = 400'000;
/// Maximum number of different voxel values for which the collector counts constant cubes
/// separately.
constexpr std::size_t max_constant_values = 256;

using Cube = std::array<float, samples>;  // samples of a cube or square: x fastest, then y

/// Transforms the cube along one axis. `stride` is the distance between neighbouring elements along
/// this axis.
template <int side>
void transform(Cube& cube, int stride) {
  const auto& rows = float_dct_rows<side>();
  for (int i = 0; i < samples; ++i) {
    if (i / stride % side != 0) continue;
    std::array<float, side> v;
    for (int j = 0; j < side; ++j) v[j] = cube[i + j * stride];
    for (int k = 0; k < side; ++k) {
      float sum = rows[k][0] * v[0];
      for (int j = 1; j < side; ++j) sum += rows[k][j] * v[j];
      cube[i + k * stride] = sum;
    }
  }
}

/// Computes the energies from the DCT coefficients of a cube (side = 4) or square (side = 8).
template <int side>
void sum_energies(const Cube& coefficients, CubeStatistics& statistics) {
  float low = 0, high = 0, total = 0;
  int lows = 0, highs = 0;
  for (int i = 1; i < samples; ++i) {
    const int u = i % side, v = i / side % side, w = i / (side * side);
    const float energy = coefficients[i] * coefficients[i];
    total += energy;
    if (u + v + w <= 3) low += energy, ++lows;
    const bool is_high = side == 4 ? std::min({u, v, w}) >= 2 : std::min(u, v) >= 5 && u + v >= 11;
    if (is_high) high += energy, ++highs;
  }
  statistics.low = low / static_cast<float>(lows);
  statistics.high = high / static_cast<float>(highs);
  statistics.variance = total / (samples - 1);
}

void find_energies(Cube cube, CubeShape shape, CubeStatistics& statistics) {
  if (shape == CubeShape::cube) {
    for (const int stride : {1, 4, 16}) transform<4>(cube, stride);
    sum_energies<4>(cube, statistics);
  } else {
    for (const int stride : {1, 8}) transform<8>(cube, stride);
    sum_energies<8>(cube, statistics);
  }
}

void find_moments(const Cube& cube, CubeStatistics& statistics) {
  float sum = 0, third = 0;
  for (const float v : cube) sum += v;
  statistics.mean = sum / samples;
  for (const float v : cube) {
    const float d = v - statistics.mean;
    third += d * d * d;
  }
  statistics.third = third / samples;
}

void find_common(Cube cube, CubeStatistics& statistics) {
  std::ranges::sort(cube);
  for (int i = 0; i < samples;) {
    int end = i + 1;
    while (end < samples && cube[end] == cube[i]) ++end;
    if (end - i > statistics.common_count) {
      statistics.common_count = static_cast<std::uint8_t>(end - i);
      statistics.common = cube[i];
    }
    i = end;
  }
}

}  // namespace

CubeCollector::CubeCollector(const FrameFormat& format, std::int64_t slices, CubeShape shape)
    : format_(format),
      shape_(shape),
      width_(shape == CubeShape::cube ? side : 2 * side),
      depth_of_cube_(shape == CubeShape::cube ? side : 1) {
  const double cubes = static_cast<double>(format.width / width_) * (format.height / width_) *
                       static_cast<double>(std::max<std::int64_t>(slices, depth_of_cube_)) /
                       depth_of_cube_;
  while (cubes / std::pow(step_, 3) > max_cubes) ++step_;
  for (int z = 0; z < depth_of_cube_; ++z) slices_[z] = {format.width, format.height};
}

void CubeCollector::add(const Frame& slice) {
  const int z = slice.slice >= 0 ? slice.slice : next_;
  if (z != next_ || z == 0) first_slice_ = z;
  next_ = z + 1;
  depth_ = std::max(depth_, next_);
  const int layer = z / depth_of_cube_, within = z % depth_of_cube_;
  if (layer % step_ != 0) return;
  load_plane(slice, 0, slices_[within].view());
  if (within == depth_of_cube_ - 1 && layer * depth_of_cube_ >= first_slice_) process_layer(layer);
}

void CubeCollector::process_layer(int layer) {
  for (int row = 0; row < format_.height / width_; row += step_)
    for (int column = 0; column < format_.width / width_; column += step_)
      examine(layer, row, column);
}

void CubeCollector::examine(int layer, int row, int column) {
  ++examined_;
  Cube cube;
  bool numbers = true;
  for (int z = 0, i = 0; z < depth_of_cube_; ++z)
    for (int y = 0; y < width_; ++y) {
      const float* from = slices_[z].view().row(row * width_ + y) + column * width_;
      for (int x = 0; x < width_; ++x, ++i) {
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
  find_energies(cube, shape_, statistics);
  find_common(cube, statistics);
  statistics.position = {static_cast<std::int16_t>(column), static_cast<std::int16_t>(row),
                         static_cast<std::int16_t>(layer)};
  cubes_.push_back(statistics);
}

}  // namespace lull
