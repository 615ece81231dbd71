#pragma once
// The kernels that filter and aggregate, as functions that launch them. Everything is asynchronous
// on `stream`; nothing here allocates or waits. How they work stands at the head of each .cu file.

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <limits>

#include "bm3d/phase_plan.h"
#include "cuda/device_planes.h"
#include "cuda/shared_memory.h"
#include "match/cuda/kernels.h"

namespace lull::bm3d {

// ---- aggregation (normalise.cu) ----

/// Planes of one size whose phase ends.
struct Quotients {
  int planes = 0;
  std::array<Sums, max_planes> sums{};
  Planes noisy{};
  std::array<float*, max_planes> estimate{};
};
/// Estimate = sums' quotient; the noisy sample where no patch lies.
void normalise(const Quotients& of, const Margins& margins, const std::array<float, patch>& window,
               cudaStream_t stream);

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
  std::array<float, max_planes> sigma{};
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

/// What patches share of a plane's noise that is not white, on the device (covariance_cuda.h). A
/// displacement and its opposite have one place: |place(dx, dy)|.
struct CovarianceView {
  /// [u][v]: variance of the noise in the coefficients of a patch, in units of sigma^2; behind
  /// these 64 their roots. Null: white noise.
  const float* own = nullptr;
  /// [place][column(place, u)][v], halves: 1 - covariance / variance, of coefficients of two
  /// patches.
  const std::uint16_t* apart = nullptr;
  int reach_x = 0, reach_y = 0;  // beyond, patches share none:
  int far = 0;                   // the place where all are 1
  float unit = 1;                // of the variances in weights of groups, which so are 1 at most

  constexpr bool is_white() const { return own == nullptr; }
  constexpr int place(int dx, int dy) const { return dy * (2 * reach_x + 1) + dx; }
  /// Eight lanes read two columns of four places at once: so these tend to be in other banks.
  static constexpr int column(int place, int u) { return u ^ 2 * (place & 3); }
};
using CovarianceViews = std::array<CovarianceView, max_planes>;

/// `device`: what the kernels are planned for. `covariances`: of the noise of args' planes.
void filter_hard(const FilterArgs& args, const PhaseParams& phase, const Strength& lambda,
                 cudaStream_t stream, const cuda::DeviceLimits& device = cuda::device_limits(),
                 const CovarianceViews& covariances = {});
void filter_wiener(const FilterArgs& args, const PhaseParams& phase, const Strength& mu2,
                   cudaStream_t stream, const cuda::DeviceLimits& device = cuda::device_limits(),
                   const CovarianceViews& covariances = {});

// ---- means of groups, and their aggregation (means.cu) ----

void average_groups(const FilterArgs& args, const MeansParams& means, cudaStream_t stream);

}  // namespace lull::bm3d
