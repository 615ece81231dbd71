#pragma once
// Launches the kernels of non-local means with features (light.cu, light_planes.cu). The formulas
// are in formulas.h.

#include <cuda_runtime_api.h>

#include <array>
#include <vector>

#include "nlm/cuda/kernels.h"
#include "nlm/features/formulas.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::nlm::cuda {

/// Number of quads (four planes, interleaved to one float4 per pixel) for the regressors. Unused
/// planes of the last quad are 0.
constexpr int regressor_quads(int regressors) { return (regressors + 3) / 4; }
inline constexpr int max_quads = regressor_quads(max_regressors);

/// The demodulated illumination of a frame (the picture divided by its albedo) and its noise
/// variance, as padded planes in GPU memory (Space in nlm/cuda/kernels.h). A pixel is RGB, or grey
/// in the first element.
struct DeviceLight {
  const float4 *light = nullptr, *variance = nullptr;
  std::array<const float4*, max_quads> regressors{};
  const Motion* motion = nullptr;  // one vector per motion block; null: no motion
};

/// A displacement of the search window: `offset` in floats of a plane (Space::at), `x` and `y` in
/// units of the search radius.
struct alignas(16) DeviceDisplacement {
  int offset = 0;
  float x = 0, y = 0;
};
[[nodiscard]] std::vector<DeviceDisplacement> window_of(int search_radius, const Space& space);

/// Result planes without padding, with rows of `width` samples.
struct DeviceCandidate {
  std::array<float*, 3> value{}, derivative{};
};

struct LightJob {
  Space space;
  int channels = 3, regressors = 0;
  int displacements = 0;
  const DeviceDisplacement* displacement = nullptr;  // one more displacement must be readable
  int cell = motion_cell, cell_columns = 1;
  int sources = 1;  // the first source is the target frame
  std::array<DeviceLight, max_frames> source{};
  /// Planes with the noise variances of the regressors of the target frame, one value per pixel.
  /// The planes have no padding.
  std::array<const float*, max_regressors> noise{};
  DeviceCandidate colour, guided;
};

/// Four planes without padding. The samples of a null plane are 0.
using FourPlanes = std::array<const float*, 4>;
/// Interleaves four planes to quads, with mirrored padding.
void pack_planes(const FourPlanes& planes, const Space& space, float4* to, cudaStream_t stream);
/// Computes the two candidate results and their derivatives for all pixels (steps 1 to 4 of
/// formulas.h).
void filter_light(const LightJob& job, cudaStream_t stream);
/// Blends the candidate results (steps 4 and 5 of formulas.h). `cost` and `share` are scratch
/// memory for one plane each.
void blend_light(const LightJob& job, float* cost, float* share,
                 const std::array<float*, 3>& results, cudaStream_t stream);

}  // namespace lull::nlm::cuda
