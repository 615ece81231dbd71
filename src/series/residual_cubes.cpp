#include "series/residual_cubes.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/frame_pool.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/estimate_volume.h"
#include "series/components.h"

namespace lull::series {
namespace {

constexpr double min_rician_signal = 2.5;
/// The noise estimator receives a component on the 0..255 scale, as middle + scale * component.
constexpr float middle = 128, scale = 8;

/// Returns the cubes of one component. Unusable voxels are NaN.
/// @param weights  the component, one weight for each of the volumes
CubeCollector cubes_of_component(const Samples& samples, const Stabiliser& stabiliser,
                                 std::span<const int> volumes, const double* weights,
                                 std::span<const VoxelState> states) {
  const Shape& shape = samples.shape;
  const FrameFormat format = component_format(shape);
  FramePool pool(format);
  CubeCollector cubes(format, shape.slices);
  std::size_t voxel = 0;
  for (int z = 0; z < shape.slices; ++z) {
    Frame slice = pool.acquire();
    slice.pts = slice.slice = z;
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x, ++voxel) {
        double sum = 0, mean = 0;
        for (std::size_t i = 0; i < volumes.size(); ++i) {
          const auto sample = static_cast<double>(
              stabiliser.forward(volumes[i], voxel, samples.volume(volumes[i])[voxel]));
          sum += weights[i] * sample;
          mean += sample / static_cast<double>(volumes.size());
        }
        const bool used = states[voxel] == VoxelState::complete &&
                          !(stabiliser.is_rician() && mean < min_rician_signal);
        slice.plane<float>(0)(x, y) = used ? middle + scale * static_cast<float>(sum)
                                           : std::numeric_limits<float>::quiet_NaN();
      }
    cubes.add(slice);
  }
  return cubes;
}

}  // namespace

std::optional<double> level_of_last_components(const Samples& samples, const Stabiliser& stabiliser,
                                               std::span<const int> volumes,
                                               const EigenSystem& eigen, int first,
                                               std::span<const VoxelState> states) {
  std::vector<double> levels;
  for (int k = first; k < static_cast<int>(volumes.size()); ++k) {
    const CubeCollector cubes =
        cubes_of_component(samples, stabiliser, volumes, eigen.vector(k), states);
    if (!cubes.has_enough_cubes()) return std::nullopt;
    const float level = estimate_volume(cubes, NoiseKind::gaussian, 0).level;
    levels.push_back(static_cast<double>(level) / static_cast<double>(scale));
  }
  if (levels.empty()) return std::nullopt;
  std::ranges::sort(levels);
  return levels[(levels.size() - 1) / 2];
}

}  // namespace lull::series
