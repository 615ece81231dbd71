#pragma once
// The kernels that filter and aggregate, as functions that launch them. Everything is asynchronous
// on `stream`; nothing here allocates or waits. How they work stands at the head of each .cu file.

#include <cuda_runtime_api.h>

#include <array>
#include <limits>

#include "bm3d/phase_plan.h"
#include "cuda/device_planes.h"
#include "cuda/shared_memory.h"
#include "match/cuda/kernels.h"

namespace lull::bm3d {

// ---- aggregation (normalise.cu) ----

/// Estimate = sums' quotient; the noisy sample where no patch lies.
void normalise(const Sums& sums, const float* noisy, const Margins& margins,
               const std::array<float, patch>& window, float* estimate, cudaStream_t stream);

// ---- collaborative filtering and aggregation (filter_*.cu) ----

/// The frames that groups have patches of.
struct GroupFrames {
  bool over_time = false;  // there may be others than the own one
  ByOffset<bool> present;
  ByOffset<int> distance;          // elements from the own planes and sums to theirs
  ByOffset<const Motion*> motion;  // for each cell; null: none
  MotionGrid grid;
};

struct FilterArgs {
  Planes noisy{};
  Planes basic{};  // second phase only
  std::array<Sums, max_planes> sums{};
  std::array<float, max_planes> sigma{};  // of white noise
  /// Magnitude of the level that a block's samples enter as differences from, at most.
  static constexpr float any_level = std::numeric_limits<float>::max();
  std::array<float, max_planes> greatest_level{any_level, any_level, any_level};
  int planes = 1;
  Margins margins;
  ReferenceGrid grid;
  Batch batch;
  Groups groups;
  std::array<float, patch> window{};  // aggregation window, one axis; symmetric
  GroupFrames frames;
};

/// `device`: what the kernels are planned for.
void filter_hard(const FilterArgs& args, const PhaseParams& phase, const Strength& lambda,
                 cudaStream_t stream, const cuda::DeviceLimits& device = cuda::device_limits());
void filter_wiener(const FilterArgs& args, const PhaseParams& phase, const Strength& mu2,
                   cudaStream_t stream, const cuda::DeviceLimits& device = cuda::device_limits());

}  // namespace lull::bm3d
