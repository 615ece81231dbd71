#include "series/covariance.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>

namespace lull::series {
namespace {

constexpr int lanes = 8;  // volumes are padded to a multiple of this number

/// Samples of some voxels in all volumes, voxel by voxel: the samples of one voxel are contiguous.
struct Chunk {
  int volumes;  // number of volumes, with padding
  int voxels = 0;
  std::vector<double> values;
  const double* of(int voxel) const {
    return values.data() + static_cast<std::size_t>(voxel) * volumes;
  }
};

/// Adds a tile of `lanes` x `lanes` inner products to `sums`. The first row of the tile is volume
/// `i`, and its first column is volume `j`.
void add_products(const Chunk& chunk, int i, int j, double* sums) {
  double tile[lanes][lanes] = {};
  for (int k = 0; k < chunk.voxels; ++k) {
    const double *a = chunk.of(k) + i, *b = chunk.of(k) + j;
    for (int p = 0; p < lanes; ++p)
      for (int q = 0; q < lanes; ++q) tile[p][q] += a[p] * b[q];
  }
  for (int p = 0; p < lanes; ++p)
    for (int q = 0; q < lanes; ++q)
      sums[static_cast<std::size_t>(i + p) * chunk.volumes + j + q] += tile[p][q];
}

/// Returns the number of voxels of a chunk. A chunk has about 2 MB, so that it fits in the cache of
/// a CPU core.
int chunk_voxels(int volumes) { return std::clamp((1 << 18) / volumes, 64, 4096); }

}  // namespace

Moments moments_of(const Samples& samples, const Stabiliser& stabiliser,
                   std::span<const int> volumes, std::span<const std::uint32_t> voxels) {
  const int count = static_cast<int>(volumes.size());
  const int padded = (count + lanes - 1) / lanes * lanes, tiles = padded / lanes;
  const std::size_t most = chunk_voxels(padded);
  Chunk chunk{.volumes = padded, .values = std::vector<double>(most * padded)};
  std::vector<double> sums(static_cast<std::size_t>(padded) * padded), totals(count);
  for (std::size_t begin = 0; begin < voxels.size(); begin += most) {
    const auto part = voxels.subspan(begin, std::min(most, voxels.size() - begin));
    chunk.voxels = static_cast<int>(part.size());
    tbb::parallel_for(0, count, [&](int i) {
      const float* from = samples.volume(volumes[i]);
      for (std::size_t k = 0; k < part.size(); ++k) {
        const double value = stabiliser.forward(volumes[i], part[k], from[part[k]]);
        chunk.values[k * padded + i] = value;
        totals[i] += value;
      }
    });
    // Each task adds the chunks of its own tile in order, so that the result is deterministic.
    tbb::parallel_for(0, tiles * tiles, [&](int tile) {
      const int i = tile / tiles, j = tile % tiles;
      if (j <= i) add_products(chunk, i * lanes, j * lanes, sums.data());
    });
  }
  Moments moments{.count = static_cast<double>(voxels.size()), .means = std::move(totals)};
  for (double& mean : moments.means) mean /= moments.count;
  moments.covariance.resize(static_cast<std::size_t>(count) * count);
  for (int i = 0; i < count; ++i)
    for (int j = 0; j <= i; ++j)
      moments.covariance[static_cast<std::size_t>(i) * count + j] =
          moments.covariance[static_cast<std::size_t>(j) * count + i] =
              sums[static_cast<std::size_t>(i) * padded + j] / moments.count -
              moments.means[i] * moments.means[j];
  return moments;
}

Moments part_of(const Moments& moments, std::span<const std::size_t> places) {
  Moments result{.count = moments.count, .means = {}, .covariance = {}};
  for (const std::size_t row : places) {
    result.means.push_back(moments.means[row]);
    for (const std::size_t column : places)
      result.covariance.push_back(moments.covariance[row * moments.means.size() + column]);
  }
  return result;
}

}  // namespace lull::series
