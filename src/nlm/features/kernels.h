#pragma once
// The kernels of features: light.cu. formulas.h has the formulas.

#include <cuda_runtime_api.h>

#include <array>

#include "nlm/cuda/kernels.h"
#include "nlm/features/formulas.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::nlm::cuda {

/// Of a pixel; red, green and blue, or a grey one's first alone.
struct alignas(32) LightPixel {
  float4 light, variance;
};
/// A pixel's regressors lie one after the other in so many quads, the last one filled up with
/// zeros.
constexpr int regressor_quads(int regressors) { return (regressors + 3) / 4; }

/// A frame in a Space (planes continue beyond their ends).
struct DeviceLight {
  const LightPixel* pixels = nullptr;
  const float4* regressors = nullptr;
  const Motion* motion = nullptr;  // of each cell; null: none
};

/// Without pads, rows of `width`.
struct DeviceCandidate {
  std::array<float*, 3> value{}, derivative{};
};

struct LightJob {
  Space space;
  int channels = 3, regressors = 0, search_radius = 6;
  int cell = motion_cell, cell_columns = 1;
  int sources = 1;  // the first is the wanted frame
  std::array<DeviceLight, max_frames> source{};
  /// Of the wanted frame's regressors, planes in the Space.
  std::array<const float*, most_regressors> noise{};
  DeviceCandidate colour, guided;
};

/// Flat planes, of which some may be null: then there are zeros.
using FourPlanes = std::array<const float*, 4>;
/// Up to four of them to quads that lie `stride` apart, which continue.
void pack_planes(const FourPlanes& planes, const Space& space, float4* to, int stride,
                 cudaStream_t stream);
/// Steps 1 to 3, and what step 4 needs.
void filter_light(const LightJob& job, cudaStream_t stream);
/// Steps 4 and 5. `cost` and `share`: room for a plane each.
void blend_light(const LightJob& job, float* cost, float* share,
                 const std::array<float*, 3>& results, cudaStream_t stream);

}  // namespace lull::nlm::cuda
