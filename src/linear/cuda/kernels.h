#pragma once
// Launches the kernels of iterated linear combinations of patches (linear/params.h) on `stream`,
// without allocation or synchronisation.

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
  // The squared norm of the patch at each position. If the patch overlaps a hole, the element is
  // the bitwise complement of the norm, which is negative.
  std::int32_t* norms = nullptr;
};

/// The groups of all reference patches, as arrays of `sizes.group` candidate indices
/// (linear/params.h), in an arbitrary but deterministic order.
struct DeviceGroups {
  GroupSizes sizes;
  ReferenceGrid grid;
  std::uint16_t* members = nullptr;
  std::uint8_t* counts = nullptr;
};

/// Returns the launch grid with one thread per sample of a plane.
inline dim3 blocks_of(const Margins& margins, dim3 block) {
  return {(margins.width + block.x - 1) / block.x, (margins.height + block.y - 1) / block.y};
}

/// Quantises `guide` and computes the squared norms of its patches (match.cu). `holes` contains one
/// flag per sample, row by row without gaps, which is not 0 in a hole. Null: no holes.
void quantise(const float* guide, const Margins& margins, const GuideRange& range, int side,
              const std::uint8_t* holes, const QuantisedGuide& to, cudaStream_t stream);
/// Finds the groups of all reference patches (match.cu).
void match(const QuantisedGuide& guide, const Margins& margins, const DeviceGroups& groups,
           cudaStream_t stream);

/// Sums of weighted estimates in fixed point (combine.cu).
struct CombineSums {
  unsigned long long *x = nullptr, *z = nullptr;  // signed values, two's complement
  // Sums of weights, stored at the top-left sample of each patch.
  std::uint32_t* weights = nullptr;
};

/// Arguments of one step for one plane. The pilot reads the noisy picture y. An iteration reads x,
/// z and the moments of y - z (linear/params.h).
struct CombineArgs {
  Margins margins;
  DeviceGroups groups;
  const float *x = nullptr, *z = nullptr;  // in the pilot, both are y
  // Moments of y - z over the patch at each position (patch_moments()).
  const float2* moments = nullptr;
  CombineSums sums;
  float sigma = 0;
  const float* autocorrelation = nullptr;  // autocorrelation of the noise; null: white noise
  Step step;                               // if tau is 0, an iteration computes no z
};

/// Computes the sums of y - z and of (y - z)^2 over the patch at each position (finish.cu).
void patch_moments(const float* y, const float* z, const Margins& margins, int side, float2* to,
                   cudaStream_t stream);
/// Combines the patches of all groups and adds the estimates to the sums (combine.cu).
void combine(const CombineArgs& args, cudaStream_t stream);
/// Computes the weighted means of the estimates, and sets the sums to 0 (finish.cu). `z` may be
/// null.
void finish(const CombineSums& sums, const Margins& margins, int side, float* x, float* z,
            cudaStream_t stream);

}  // namespace lull::linear
