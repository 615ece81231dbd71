#include "series/voxels.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cmath>

namespace lull::series {
namespace {

constexpr std::size_t grain = 4096;  // voxels of a task

VoxelState state_of(const Samples& samples, std::span<const int> volumes, std::size_t voxel) {
  std::size_t missing = 0;
  bool same = true;
  const float first = samples.volume(volumes.front())[voxel];
  for (const int v : volumes) {
    const float sample = samples.volume(v)[voxel];
    if (std::isnan(sample)) ++missing;
    if (sample != first) same = false;  // also if one of them is NaN
  }
  if (missing == volumes.size() || same) return VoxelState::constant;
  return missing > 0 ? VoxelState::partial : VoxelState::complete;
}

/// Returns the mean square of the stabilised samples of each voxel.
std::vector<float> energies(const Samples& samples, const Stabiliser& stabiliser,
                            std::span<const int> volumes) {
  std::vector<float> energy(samples.shape.voxels());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, energy.size(), grain),
                    [&](const auto& part) {
                      for (const int v : volumes) {
                        const float* from = samples.volume(v);
                        for (std::size_t i = part.begin(); i < part.end(); ++i) {
                          const float sample = stabiliser.forward(v, i, from[i]);
                          energy[i] += sample * sample / static_cast<float>(volumes.size());
                        }
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
  // The mean square of stabilised noise is 1; of stabilised Rician noise without signal it is 1.5.
  // With V volumes its standard deviation is sqrt(2 / V).
  const float most = (stabiliser.is_rician() ? 1.75f : 1.25f) +
                     5 * std::sqrt(2.0f / static_cast<float>(volumes.size()));
  const std::vector<float> energy =
      mask.empty() ? energies(samples, stabiliser, volumes) : std::vector<float>{};
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i] != VoxelState::complete) continue;
    all.push_back(static_cast<std::uint32_t>(i));
    if (mask.empty() ? energy[i] > most : mask[i] != 0) selected.push_back(all.back());
  }
  constexpr std::size_t min_voxels = 500;
  const std::size_t enough = std::max(min_voxels, 4 * volumes.size());
  return selected.size() >= enough ? selected : all;
}

}  // namespace lull::series
