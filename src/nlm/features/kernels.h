#pragma once
// The kernels of features: light.cu. formulas.h has the formulas.

#include <cuda_runtime_api.h>

#include <array>

#include "nlm/cuda/kernels.h"
#include "nlm/features/formulas.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::nlm::cuda {

/// Planes of a frame in a Space (they continue beyond their ends); regressors' noise lies there
/// too.
struct DeviceLight {
  std::array<const float*, 3> light{}, variance{};
  std::array<const float*, most_regressors> regressor{};
  const Motion* motion = nullptr;  // of each cell; null: none
};

/// Without pads, rows of `width`.
struct DeviceCandidate {
  std::array<float*, 3> value{}, derivative{};
};

struct LightJob {
  Space space;
  int channels = 3, regressors = 0, search_radius = 7;
  int cell = motion_cell, cell_columns = 1;
  int sources = 1;  // the first is the wanted frame
  std::array<DeviceLight, max_frames> source{};
  std::array<const float*, most_regressors> noise{};  // of the wanted frame's regressors
  DeviceCandidate colour, guided;
};

/// Steps 1 to 3, and what step 4 needs.
void filter_light(const LightJob& job, cudaStream_t stream);
/// Steps 4 and 5. `cost` and `share`: room for a plane each.
void blend_light(const LightJob& job, float* cost, float* share,
                 const std::array<float*, 3>& results, cudaStream_t stream);

}  // namespace lull::nlm::cuda
