#include "series/cube_levels.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "noise/volume/flat_cubes.h"
#include "noise/volume/rician.h"
#include "series/samples/cubes.h"
#include "series/spectrum/symmetric_eigen.h"

namespace lull::series {
namespace {

/// The function examines at most about `max_level_cubes` cubes in each volume, and `max_all` cubes
/// in all volumes, but at least `min_level_cubes` in each volume. With `min_level_cubes`, the
/// relative standard deviation of a level is 3 %.
constexpr std::size_t max_level_cubes = 4000, max_all = 100'000, min_level_cubes = 128;
/// Share of the cubes in which the function measures the noise. These cubes have the least
/// structure of all cubes.
constexpr double flat_share = 0.5;
/// Maximum number of volumes in a group. The function predicts each volume from the other volumes
/// of its group.
constexpr std::size_t max_predicted = 64;
/// Maximum ratio of the energies of middle and high frequencies in noise. Above this ratio, the
/// energy contains structure. `deviations` is an allowance for the accuracy of the ratio, in
/// standard deviations.
constexpr double white = 1.1, deviations = 2;
/// Maximum ratio of the energies of high and middle frequencies in structure.
constexpr double max_slope = 0.6;
/// The function requires at least this number of volumes without structure.
constexpr std::size_t min_white = 3;
constexpr int rician_rounds = 12;

/// DCT coefficients of one cube in one volume. High frequencies are at least 2 along each of the
/// three axes. Middle frequencies are all other frequencies whose sum over the axes is at least 4.
struct CubeOfVolume {
  static constexpr std::size_t highs = 8, middles = 36;
  double mean = 0;
  double low = 0;  // energy of the lower frequencies
  std::array<float, highs> high{};
  std::array<float, middles> middle{};
};

CubeOfVolume examine(const Samples& samples, int volume, std::size_t first) {
  Cube cube;
  for (int i = 0; i < cube_voxels; ++i)
    cube[i] = samples.volume(volume)[voxel_of_cube(samples.shape, first, i)];
  transform(cube);
  CubeOfVolume result{.mean = static_cast<double>(cube[0]) / std::sqrt(1.0 * cube_voxels)};
  auto high = result.high.begin(), middle = result.middle.begin();
  for (int i = 1; i < cube_voxels; ++i) {
    const int u = i % cube_side, v = i / cube_side % cube_side, w = i / (cube_side * cube_side);
    if (u + v + w < cube_side)
      result.low += static_cast<double>(cube[i]) * static_cast<double>(cube[i]);
    else
      *(std::min({u, v, w}) >= cube_side / 2 ? high : middle)++ = cube[i];
  }
  return result;
}

using CubesOfVolume = std::vector<CubeOfVolume>;

/// Erases the cubes with most structure, at the same places in all volumes. The low frequencies
/// show the structure. White noise in low frequencies is independent of noise in high frequencies,
/// so the selection does not change the noise in the high frequencies.
void keep_flat(std::vector<CubesOfVolume>& cubes) {
  std::vector<double> structure(cubes.front().size());
  for (const CubesOfVolume& volume : cubes) {
    std::vector<double> low;
    for (const CubeOfVolume& cube : volume) low.push_back(cube.low);
    const double middle = median(low);
    for (std::size_t i = 0; i < low.size(); ++i) structure[i] += middle > 0 ? low[i] / middle : 0;
  }
  std::vector<double> sorted = structure;
  std::ranges::sort(sorted);
  const double most =
      sorted[static_cast<std::size_t>(flat_share * static_cast<double>(sorted.size()))];
  for (CubesOfVolume& volume : cubes) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < structure.size(); ++i)
      if (structure[i] <= most) volume[kept++] = volume[i];
    volume.resize(kept);
  }
}

/// Returns sigma for samples with Rician noise, by bisection.
/// @param variance  mean variance of the samples. The variance is sigma^2 for a strong signal, and
///     0.43 * sigma^2 without a signal.
double rician_sigma(const CubesOfVolume& cubes, double zero, double variance) {
  double low = std::sqrt(variance), high = std::sqrt(variance / rician_variance_at_mean(0));
  for (int round = 0; round < rician_rounds; ++round) {
    const double sigma = (low + high) / 2;
    double sum = 0;
    for (const CubeOfVolume& cube : cubes)
      sum += rician_variance_at_mean((cube.mean - zero) / sigma);
    const double expected = sigma * sigma * sum / static_cast<double>(cubes.size());
    (expected < variance ? low : high) = sigma;
  }
  return (low + high) / 2;
}

/// Returns the variance of the part of each volume that a linear combination of the other volumes
/// does not predict. All variances are 0 if the volumes are linearly dependent.
/// @param coefficients  the member of CubeOfVolume with the coefficients of some frequencies
template <std::size_t Count>
std::vector<double> unpredicted(const std::vector<const CubesOfVolume*>& volumes,
                                std::array<float, Count> CubeOfVolume::*coefficients) {
  const std::size_t count = volumes.size(), cubes = volumes.front()->size();
  std::vector<double> covariance(count * count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < cubes; ++i) {
        const auto &x = (*volumes[a])[i].*coefficients, &y = (*volumes[b])[i].*coefficients;
        for (std::size_t k = 0; k < Count; ++k)
          sum += static_cast<double>(x[k]) * static_cast<double>(y[k]);
      }
      covariance[a * count + b] = sum / static_cast<double>(cubes * Count);
    }
  });
  std::vector<double> deviations(count);
  for (std::size_t a = 0; a < count; ++a) deviations[a] = std::sqrt(covariance[a * count + a]);
  if (!std::ranges::all_of(deviations, [](double value) { return value > 0; }))
    return std::vector<double>(count);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b <= a; ++b)
      covariance[b * count + a] = covariance[a * count + b] /= deviations[a] * deviations[b];
  const EigenSystem eigen = eigen_of_symmetric(std::move(covariance), static_cast<int>(count));
  // The variance is the reciprocal of a diagonal element of the inverse of the covariance.
  std::vector<double> result(count);
  // A very small eigenvalue shows that a volume is nearly a linear combination of other volumes,
  // for example a copy. The other volumes then predict the noise of this volume, too.
  constexpr double least_share = 1e-3;
  if (!(eigen.values.back() > least_share * eigen.values[count / 2])) return result;
  // The prediction has `count` - 1 parameters, which also fit the noise. The number of degrees of
  // freedom is therefore lower than the number of observations.
  const auto observations = static_cast<double>(cubes * Count);
  const double free = observations - static_cast<double>(count) + 1;
  for (std::size_t v = 0; v < count; ++v) {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k)
      sum += eigen.vector(k)[v] * eigen.vector(k)[v] / eigen.values[k];
    result[v] = deviations[v] * deviations[v] / sum * observations / free;
  }
  return result;
}

/// The lower and the upper bound of the noise level of a volume. If the spectrum is white, both
/// bounds are equal.
struct Level {
  double least = 0, most = 0;
  bool is_white() const { return least == most; }
};

/// Returns the limits of the noise level for the energies of middle and high frequencies.
/// @param limit  maximum ratio of the energies in noise
Level level_of(double middle, double high, double limit) {
  const double most = std::sqrt(high);
  if (middle <= limit * high) return {most, most};
  const double least = (high - max_slope * middle) / (1 - max_slope);
  return {std::sqrt(std::max(least, 0.0)), most};
}

std::vector<Level> levels_of(const std::vector<CubesOfVolume>& cubes, const SeriesNoise& noise) {
  std::vector<Level> levels(cubes.size());
  const std::size_t groups = (cubes.size() + max_predicted - 1) / max_predicted;
  const auto measured = static_cast<double>(cubes.front().size() * CubeOfVolume::highs);
  const double limit = white + deviations * std::sqrt(2 / measured);
  for (std::size_t group = 0; group < groups; ++group) {
    std::vector<const CubesOfVolume*> volumes;
    for (std::size_t v = group; v < cubes.size(); v += groups) volumes.push_back(&cubes[v]);
    const std::vector<double> high = unpredicted(volumes, &CubeOfVolume::high);
    const std::vector<double> middle = unpredicted(volumes, &CubeOfVolume::middle);
    for (std::size_t i = 0; i < volumes.size(); ++i) {
      Level& level = levels[group + i * groups] = level_of(middle[i], high[i], limit);
      if (noise.kind != NoiseKind::rician || !(high[i] > 0)) continue;
      const double factor =
          rician_sigma(*volumes[i], static_cast<double>(noise.zero), high[i]) / std::sqrt(high[i]);
      level = {level.least * factor, level.most * factor};
    }
  }
  return levels;
}

}  // namespace

std::vector<double> levels_by_cubes(const Samples& samples, const SeriesNoise& noise,
                                    std::span<const int> volumes,
                                    std::span<const std::uint32_t> voxels) {
  const std::vector<std::uint32_t> all = cubes_inside(samples.shape, voxels);
  if (all.size() < min_level_cubes || volumes.size() < min_white) return {};
  const std::size_t most = std::clamp(max_all / volumes.size(), min_level_cubes, max_level_cubes);
  const std::size_t step = std::max<std::size_t>(1, all.size() / most);
  const std::size_t used = (all.size() + step - 1) / step;
  std::vector<CubesOfVolume> cubes(volumes.size(), CubesOfVolume(used));
  tbb::parallel_for(std::size_t{0}, volumes.size(), [&](std::size_t v) {
    for (std::size_t i = 0; i < used; ++i)
      cubes[v][i] = examine(samples, volumes[v], all[i * step]);
  });
  keep_flat(cubes);
  const std::vector<Level> levels = levels_of(cubes, noise);
  std::vector<double> of_white;
  for (const Level& level : levels) {
    if (!(level.most > 0)) return {};
    if (level.is_white()) of_white.push_back(level.most);
  }
  if (of_white.size() < min_white) return {};
  const double reference = median(std::move(of_white));
  std::vector<double> result;
  for (const Level& level : levels)
    result.push_back(std::clamp(reference, level.least, level.most));
  return result;
}

}  // namespace lull::series
