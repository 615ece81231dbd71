#pragma once
// The kernels of features: light.cu. formulas.h has the formulas.

#include <cuda_runtime_api.h>

#include <array>
#include <vector>

#include "nlm/cuda/kernels.h"
#include "nlm/features/formulas.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::nlm::cuda {

/// Regressors lie four and four in quads, the last one filled up with zeros.
constexpr int regressor_quads(int regressors) { return (regressors + 3) / 4; }
inline constexpr int most_quads = regressor_quads(most_regressors);

/// A frame in a Space (planes continue beyond their ends), each pixel of a plane a quad: red, green
/// and blue, or a grey one's first alone; regressors.
struct DeviceLight {
  const float4 *light = nullptr, *variance = nullptr;
  std::array<const float4*, most_quads> regressors{};
  const Motion* motion = nullptr;  // of each cell; null: none
};

/// A displacement of the window, as an offset in the Space and in units of the search radius.
struct alignas(16) DeviceDisplacement {
  int offset = 0;
  float x = 0, y = 0;
};
[[nodiscard]] std::vector<DeviceDisplacement> window_of(int search_radius, const Space& space);

/// Without pads, rows of `width`.
struct DeviceCandidate {
  std::array<float*, 3> value{}, derivative{};
};

struct LightJob {
  Space space;
  int channels = 3, regressors = 0;
  int displacements = 0;
  const DeviceDisplacement* displacement = nullptr;  // one more can be read
  int cell = motion_cell, cell_columns = 1;
  int sources = 1;  // the first is the wanted frame
  std::array<DeviceLight, max_frames> source{};
  /// Of the wanted frame's regressors; without pads.
  std::array<const float*, most_regressors> noise{};
  DeviceCandidate colour, guided;
};

/// Flat planes, of which some may be null: then there are zeros.
using FourPlanes = std::array<const float*, 4>;
/// Four of them to quads, which continue.
void pack_planes(const FourPlanes& planes, const Space& space, float4* to, cudaStream_t stream);
/// Steps 1 to 3, and what step 4 needs.
void filter_light(const LightJob& job, cudaStream_t stream);
/// Steps 4 and 5. `cost` and `share`: room for a plane each.
void blend_light(const LightJob& job, float* cost, float* share,
                 const std::array<float*, 3>& results, cudaStream_t stream);

}  // namespace lull::nlm::cuda
