#pragma once
// The kernels of iterated linear combinations of patches (linear/params.h), as functions that
// launch the kernels on `stream`. The functions neither allocate memory nor wait for the GPU.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/device_planes.h"
#include "linear/params.h"
#include "linear/schedule.h"
#include "match/grid.h"
#include "match/match_params.h"

namespace lull::linear {

/// The quantised guide of the matcher, in the layout of the planes.
struct QuantisedGuide {
  std::uint8_t* samples = nullptr;
  // For each position, the sum of the squared samples of the patch that begins at the position.
  std::int32_t* norms = nullptr;
};

/// The groups of all reference patches. A group is an array of `sizes.group` indices of candidates
/// (linear/params.h). The order of the indices has no meaning, but is the same in each run.
struct DeviceGroups {
  GroupSizes sizes;
  ReferenceGrid grid;
  std::uint16_t* members = nullptr;
  std::uint8_t* counts = nullptr;
};

/// Returns the grid of thread blocks with one thread for each sample of a plane.
inline dim3 blocks_of(const Margins& margins, dim3 block) {
  return {(margins.width + block.x - 1) / block.x, (margins.height + block.y - 1) / block.y};
}

/// Quantises `guide` and computes the norms of its patches (match.cu).
void quantise(const float* guide, const Margins& margins, const GuideRange& range, int side,
              const QuantisedGuide& to, cudaStream_t stream);
/// Finds the groups of all reference patches (match.cu).
void match(const QuantisedGuide& guide, const Margins& margins, const DeviceGroups& groups,
           cudaStream_t stream);

/// Sums of weighted estimates in fixed point (combine.cu).
struct CombineSums {
  unsigned long long *x = nullptr, *z = nullptr;  // signed values, two's complement
  // Sums of weights, at the first samples of patches.
  std::uint32_t* weights = nullptr;
};

/// Arguments of one step that combines the patches of a plane. The pilot reads the noisy picture y.
/// An iteration reads the estimate x, the partly denoised picture z and the moments of y - z.
struct CombineArgs {
  Margins margins;
  DeviceGroups groups;
  const float *x = nullptr, *z = nullptr;  // in the pilot, both are y
  // Moments of y - z over the patch that begins at each sample (patch_moments()).
  const float2* moments = nullptr;
  CombineSums sums;
  float sigma = 0;
  const float* autocorrelation = nullptr;  // autocorrelation of the noise; null: white noise
  Step step;                               // if tau is 0, an iteration computes no z
};

/// Computes the sum of y - z and the sum of its squares over the patch that begins at each sample
/// (finish.cu).
void patch_moments(const float* y, const float* z, const Margins& margins, int side, float2* to,
                   cudaStream_t stream);
/// Combines the patches of all groups and adds the estimates to the sums (combine.cu).
void combine(const CombineArgs& args, cudaStream_t stream);
/// Computes the weighted means of the estimates, and sets the sums to 0 (finish.cu). `z` may be
/// null.
void finish(const CombineSums& sums, const Margins& margins, int side, float* x, float* z,
            cudaStream_t stream);

}  // namespace lull::linear
