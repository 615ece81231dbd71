#pragma once
// Launches the kernels for filtering and aggregation on `stream`, without allocation or
// synchronisation.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "bm3d/cuda/filter/filter_plan.h"
#include "bm3d/phase_plan.h"
#include "cuda/device_planes.h"
#include "cuda/shared_memory.h"
#include "match/cuda/kernels.h"

namespace lull::bm3d {

// ---- aggregation (normalise.cu) ----

/// The planes of a set (PlaneSet) at the end of a phase, all of the same size.
struct Quotients {
  int planes = 0;
  std::array<Sums, max_planes> sums{};
  Planes noisy{};
  std::array<float*, max_planes> estimate{};
};
/// Computes the estimate of each sample: the quotient of the sums, or the noisy sample if no patch
/// covers the sample.
void normalise(const Quotients& of, const Margins& margins, const std::array<float, patch>& window,
               cudaStream_t stream);

// ---- collaborative filtering ----

/// The frames in which groups can have patches.
struct GroupFrames {
  bool over_time = false;  // whether there are frames in addition to the reference frame
  ByOffset<bool> present;
  // Offset, in elements, from a plane of the reference frame to the same plane of another frame.
  // The offset between the sums of these two frames has the same value.
  ByOffset<std::ptrdiff_t> distance;
  ByOffset<const Motion*> motion;  // one vector for each cell; null: no motion
  MotionGrid grid;
};

struct FilterArgs {
  Planes noisy{};
  Planes basic{};  // only in the second phase
  std::array<Sums, max_planes> sums{};
  std::array<float, max_planes> sigma{};
  /// For each plane, the maximum magnitude of the value that a thread block subtracts from all its
  /// samples. This value is one of the samples (filter.cuh), clamped to -max_level[i]..max_level[i]
  /// in plane i.
  static constexpr float unlimited_level = std::numeric_limits<float>::max();
  std::array<float, max_planes> max_level{unlimited_level, unlimited_level, unlimited_level};
  int planes = 1;
  Margins margins;
  ReferenceGrid grid;
  Batch batch;
  Groups groups;
  std::array<float, patch> window{};  // the aggregation window along one axis; symmetric
  GroupFrames frames;

  /// Returns true if 32 bits can represent every offset between samples of the frames.
  bool has_narrow_offsets() const {
    return std::ranges::all_of(frames.distance.values, [&](std::ptrdiff_t distance) {
      return fits_narrow_offsets(distance, static_cast<std::int64_t>(margins.size()));
    });
  }
};

/// Covariance tables in device memory (covariance_cuda.h), for coloured noise.
struct CovarianceView {
  /// Noise variances of the coefficients [u][v] of a patch, in units of sigma^2, followed by the
  /// square roots of these 64 variances. Null for white noise.
  const float* own = nullptr;
  /// The noise of two patches is correlated. The elements are 1 minus this correlation for one
  /// coefficient, in half precision, as [entry][column(entry, u)][v]. The displacement between the
  /// patches determines `entry`. u is the horizontal and v the vertical frequency of the
  /// coefficient.
  const std::uint16_t* decorrelation = nullptr;
  int reach_x = 0, reach_y = 0;  // patches with larger displacements have uncorrelated noise
  int uncorrelated = 0;          // entry for such displacements; all values of this entry are 1
  float unit = 1;                // numerator of the weights of groups

  constexpr bool is_white() const { return own == nullptr; }
  constexpr int index(int dx, int dy) const { return dy * (2 * reach_x + 1) + dx; }
  /// Returns where a table entry stores the coefficients of column `u`. The permutation reduces
  /// bank conflicts between lanes that read different entries.
  static constexpr int column(int place, int u) { return u ^ 2 * (place & 3); }
};
using CovarianceViews = std::array<CovarianceView, max_planes>;

/// Filters the groups of a batch: filter_hard() in the first phase, and filter_wiener() in the
/// second phase. `covariances` has one element for each plane of `args`.
void filter_hard(const FilterArgs& args, const PhaseParams& phase, const Strength& lambda,
                 cudaStream_t stream, const cuda::DeviceLimits& device = cuda::device_limits(),
                 const CovarianceViews& covariances = {});
void filter_wiener(const FilterArgs& args, const PhaseParams& phase, const Strength& mu2,
                   cudaStream_t stream, const cuda::DeviceLimits& device = cuda::device_limits(),
                   const CovarianceViews& covariances = {});

// ---- weighted means ----

void average_groups(const FilterArgs& args, const MeansParams& means, cudaStream_t stream);

}  // namespace lull::bm3d
