#include "series/samples/voxels.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lull::series {
namespace {

constexpr std::size_t grain = 4096;  // number of voxels of a task

VoxelState state_of(const Samples& samples, std::span<const int> volumes, std::size_t voxel) {
  std::size_t missing = 0;
  bool same = true;
  const float first = samples.volume(volumes.front())[voxel];
  for (const int v : volumes) {
    const float sample = samples.volume(v)[voxel];
    if (std::isnan(sample)) ++missing;
    if (sample != first) same = false;  // true also if one of them is NaN
  }
  if (missing == volumes.size() || same) return VoxelState::constant;
  return missing > 0 ? VoxelState::partial : VoxelState::complete;
}

/// Returns the minimum energy of a voxel inside the object: the upper limit of the energy of noise,
/// or a quarter of the median energy of the voxels above this limit, whichever is greater.
float least_energy(const std::vector<float>& energy, const std::vector<std::uint32_t>& voxels,
                   float of_noise, std::size_t volumes) {
  constexpr float min_share = 0.25f;
  const float least = of_noise * 1.25f + 5 * std::sqrt(2.0f / static_cast<float>(volumes));
  std::vector<float> above;
  for (const std::uint32_t voxel : voxels)
    if (energy[voxel] > least) above.push_back(energy[voxel]);
  if (above.empty()) return least;
  const auto middle = above.begin() + static_cast<std::ptrdiff_t>(above.size() / 2);
  std::ranges::nth_element(above, middle);
  return std::max(least, min_share * *middle);
}

/// Returns the mean square of each voxel's stabilised samples.
std::vector<float> energies(const Samples& samples, const Stabiliser& stabiliser,
                            std::span<const int> volumes) {
  std::vector<float> energy(samples.shape.voxels());
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, energy.size(), grain), [&](const auto& part) {
        for (const int v : volumes) {
          const float* from = samples.volume(v);
          for (std::size_t i = part.begin(); i < part.end(); ++i)
            energy[i] += stabiliser.energy(v, i, from[i]) / static_cast<float>(volumes.size());
        }
      });
  return energy;
}

}  // namespace

std::vector<VoxelState> classify_voxels(const Samples& samples, std::span<const int> volumes) {
  std::vector<VoxelState> states(samples.shape.voxels());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, states.size(), grain),
                    [&](const auto& part) {
                      for (std::size_t i = part.begin(); i < part.end(); ++i)
                        states[i] = state_of(samples, volumes, i);
                    });
  return states;
}

std::vector<std::uint32_t> select_voxels(const Samples& samples, const Stabiliser& stabiliser,
                                         std::span<const int> volumes,
                                         std::span<const VoxelState> states,
                                         std::span<const std::uint8_t> mask) {
  std::vector<std::uint32_t> all, selected;
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i] == VoxelState::complete) all.push_back(static_cast<std::uint32_t>(i));
  if (mask.empty()) {
    const std::vector<float> energy = energies(samples, stabiliser, volumes);
    const float least = least_energy(energy, all, stabiliser.energy_of_noise(), volumes.size());
    std::ranges::copy_if(all, std::back_inserter(selected),
                         [&](std::uint32_t voxel) { return energy[voxel] > least; });
  } else {
    std::ranges::copy_if(all, std::back_inserter(selected),
                         [&](std::uint32_t voxel) { return mask[voxel] != 0; });
  }
  constexpr std::size_t min_voxels = 500;
  const std::size_t enough = std::max(min_voxels, 4 * volumes.size());
  return selected.size() >= enough ? selected : all;
}

}  // namespace lull::series
