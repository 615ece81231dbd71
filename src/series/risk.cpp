#include "series/risk.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "series/samples/cubes.h"

namespace lull::series {
namespace {

constexpr double threshold = 1.5;  // threshold in units of sigma
/// Limits of the computing time of estimate_risks(): the function examines at most about
/// `max_cubes` cubes. For each cube, it rotates coefficients from volumes to components. If these
/// rotations need more than `max_products` multiplications, the function examines fewer cubes, but
/// at least `min_cubes`.
constexpr double max_products = 5e8;
constexpr std::size_t max_cubes = 4000, min_cubes = 16;

/// Returns Stein's unbiased risk estimate of soft thresholding, for one coefficient.
double soft_risk(double coefficient) {
  const double magnitude = std::abs(coefficient);
  return magnitude <= threshold ? magnitude * magnitude - 1 : threshold * threshold + 1;
}

/// Sums over all cubes, for each volume: the squared errors of a separate filter for the volume
/// (`alone`) and of a filter for the components (`together`), and the squared differences between
/// these two errors (`squares`).
struct Sums {
  std::vector<double> alone, together, squares;
  explicit Sums(std::size_t volumes) : alone(volumes), together(volumes), squares(volumes) {}
};

class Estimator {
 public:
  Estimator(const Samples& samples, const Stabiliser& stabiliser, std::span<const int> volumes,
            std::span<const double> means, const EigenSystem& eigen, int components)
      : samples_(samples),
        stabiliser_(stabiliser),
        volumes_(volumes),
        means_(means),
        eigen_(eigen),
        components_(components) {}

  /// Estimates the errors of each volume in the cube whose first voxel is `first`, and adds these
  /// errors to `sums`.
  void add(std::size_t first, Sums& sums) const {
    const std::size_t count = volumes_.size();
    std::vector<double> coefficients(count * cube_voxels), alone(count), together(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Cube cube = coefficients_of(volumes_[i], first);
      for (int c = 0; c < cube_voxels; ++c) {
        const double constant = c == 0 ? std::sqrt(1.0 * cube_voxels) * means_[i] : 0;
        coefficients[i * cube_voxels + c] = static_cast<double>(cube[c]) - constant;
        alone[i] += soft_risk(coefficients[i * cube_voxels + c]);
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double risk = component_risk(k, coefficients);
      for (std::size_t i = 0; i < count; ++i)
        together[i] += eigen_.vector(k)[i] * eigen_.vector(k)[i] * risk;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double difference = together[i] - alone[i];
      sums.alone[i] += alone[i];
      sums.together[i] += together[i];
      sums.squares[i] += difference * difference;
    }
  }

 private:
  double component_risk(std::size_t k, const std::vector<double>& coefficients) const {
    std::array<double, cube_voxels> rotated{};
    for (std::size_t i = 0; i < volumes_.size(); ++i)
      for (int c = 0; c < cube_voxels; ++c)
        rotated[c] += eigen_.vector(k)[i] * coefficients[i * cube_voxels + c];
    double risk = 0;
    for (const double value : rotated)
      risk += static_cast<int>(k) < components_ ? soft_risk(value) : value * value - 1;
    return risk;
  }

  Cube coefficients_of(int volume, std::size_t first) const {
    Cube cube;
    for (int i = 0; i < cube_voxels; ++i) {
      const std::size_t voxel = voxel_of_cube(samples_.shape, first, i);
      cube[i] = stabiliser_.forward(volume, voxel, samples_.volume(volume)[voxel]);
    }
    transform(cube);
    return cube;
  }

  const Samples& samples_;
  const Stabiliser& stabiliser_;
  std::span<const int> volumes_;
  std::span<const double> means_;
  const EigenSystem& eigen_;
  int components_;
};

}  // namespace

Risks estimate_risks(const Samples& samples, const Stabiliser& stabiliser,
                     std::span<const int> volumes, std::span<const double> means,
                     const EigenSystem& eigen, int components,
                     std::span<const std::uint32_t> voxels) {
  const std::size_t count = volumes.size();
  const std::vector<std::uint32_t> cubes = cubes_inside(samples.shape, voxels);
  const double products = static_cast<double>(count * count) * cube_voxels;
  const std::size_t most =
      std::clamp(static_cast<std::size_t>(max_products / products), min_cubes, max_cubes);
  const std::size_t step = std::max<std::size_t>(1, cubes.size() / most);
  const std::size_t used = (cubes.size() + step - 1) / step;
  if (used < min_cubes) return {};
  // The function adds the sums of the parallel tasks in a fixed order, so the result is
  // deterministic.
  constexpr std::size_t tasks = 32;
  std::vector<Sums> parts(tasks, Sums(count));
  const Estimator estimator(samples, stabiliser, volumes, means, eigen, components);
  tbb::parallel_for(std::size_t{0}, tasks, [&](std::size_t task) {
    for (std::size_t i = task * used / tasks; i < (task + 1) * used / tasks; ++i)
      estimator.add(cubes[i * step], parts[task]);
  });
  const auto cube_count = static_cast<double>(used);
  Risks risks{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    double squares = 0;
    for (const Sums& part : parts) {
      risks.alone[i] += part.alone[i] / cube_count / cube_voxels;
      risks.together[i] += part.together[i] / cube_count / cube_voxels;
      squares += part.squares[i] / cube_count / cube_voxels / cube_voxels;
    }
    const double difference = risks.together[i] - risks.alone[i];
    risks.error[i] = std::sqrt(std::max(squares - difference * difference, 0.0) / cube_count);
  }
  return risks;
}

}  // namespace lull::series
