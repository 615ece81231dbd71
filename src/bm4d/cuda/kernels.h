#pragma once
// The kernels of BM4D on a GPU. The functions queue all work on `stream`, and neither allocate
// memory nor wait. Each .cu file describes its algorithm.
//
// Slices are stored in ring buffers in device memory. Each slice has padding
// (cuda/device_planes.h), so kernels do not need to check whether a window extends beyond the slice
// along x or y.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "bm4d/cubes.h"
#include "bm4d/cuda/rings.h"
#include "bm4d/cuda/stored_slices.h"
#include "bm4d/params.h"
#include "bm4d/volume_engine.h"
#include "cuda/device_planes.h"

namespace lull::bm4d::cuda {

/// The reference cubes of consecutive layers.
struct ReferenceCubes {
  PhaseParams params;
  int z = 0, layers = 1;      // first slice of the first layer; number of layers
  SliceSpan available;        // the slices that exist
  int columns = 0, rows = 0;  // reference cubes in a row and in a column of a layer
  constexpr int count() const { return columns * rows * layers; }
};

// ---- samples.cu ------------------------------------------------------------------------------

/// Converts the slices `slices` of `stored` to floats on the 0..255 scale. If the planes of `noisy`
/// are larger than the slices, the function extends the slices by their mirror image. `cells` is
/// scratch memory for the replacement of out-of-range float samples; it may be empty for integer
/// samples.
void load_slices(const StoredPlanes& stored, const Ring<CellSum>& cells, SliceSpan slices,
                 const Margins& margins, const Ring<float>& noisy, cudaStream_t stream);

// ---- guide.cu --------------------------------------------------------------------------------

/// Conversion of the guide to bytes: (sample - low) * scale, rounded and clamped to 0..255.
struct GuideQuantiser {
  float low = 0, scale = 1;
};
/// Returns the finest scale for which 8 bits cover nearly all samples of a picture in 0..255, plus
/// noise with the standard deviation `sigma`.
constexpr GuideQuantiser guide_quantiser(float sigma) {
  const float beyond = 3 * (sigma < 40 ? sigma : 40.0f);
  return {-beyond, 255 / (255 + 2 * beyond)};
}
/// The data with which a phase compares cubes: the guide, and for each voxel the half norm of the
/// cube that begins at the voxel (half the sum of squares, rounded down). Positions where no cube
/// begins have the half norm no_patch (match/cuda/kernels.h) or a value near it, which excludes
/// them.
struct Guide {
  Ring<std::uint8_t> samples;
  Ring<std::int32_t> half_norms;
};
void make_guide(const Ring<float>& samples, SliceSpan slices, const Margins& margins,
                const GuideQuantiser& scale, const Ring<std::uint8_t>& guide, cudaStream_t stream);
/// Computes the half norms of the cubes that begin in `slices`. The following `cube` - 1 slices
/// must also exist. The function does not change the padding.
void make_half_norms(const Guide& guide, SliceSpan slices, const Margins& margins, int cube,
                     cudaStream_t stream);

// ---- finish.cu: the end of a phase -------------------------------------------------------------

/// Fixed-point sums, which do not depend on the order of additions. 64 bits suffice: a cube is a
/// member of at most 15^3 groups, because displacements are -7..7 along each axis, and the weight
/// of a group is at most 1.
using Sum = unsigned long long;  // signed numbers modulo 2^64
/// The fixed-point scale of the sums: the integer that represents an estimate of 1 with the weight
/// 1.
inline constexpr float estimate_unit = 1 << 24;
inline constexpr float weight_unit = 1 << 20;  // fixed-point value of a weight of 1
/// The centre of the 0..255 scale, which kernels subtract from estimates so that the sums are
/// small.
inline constexpr float estimate_centre = 128;
struct VolumeSums {
  Ring<Sum> numerator;
  /// Weights of groups, each at the first voxel of a cube. The convolution with the aggregation
  /// window follows at the end of the phase.
  Ring<std::uint32_t> weights;
};

/// Arguments of finish_basic() and finish_slices(), which compute estimates from the sums. Voxels
/// without an estimate get the value of `noisy`.
struct PhaseEnd {
  VolumeSums sums;
  SliceSpan slices;
  int first = 0;  // first slice that has weights
  Ring<float> noisy;
  Margins margins;
  int cube = 4;
  std::array<float, max_cube> window{};
};
/// Stores the estimate of the first phase, if there are two phases. If `bytes` is given, the
/// function also makes the guide of the second phase.
void finish_basic(const PhaseEnd& end, const Ring<float>& estimate, const Ring<std::uint8_t>& bytes,
                  const GuideQuantiser& scale, cudaStream_t stream);
/// Stores the results of the last phase as samples. Restores out-of-range float samples from
/// `original`.
void finish_slices(const PhaseEnd& end, const StoredPlanes& original, const StoredPlanes& results,
                   cudaStream_t stream);

// ---- match.cu, match_tile.cu -------------------------------------------------------------------

/// Maximum score of a candidate: a score is best_score minus half the squared distance, rounded
/// down. Cubes with a negative score are not candidates. They differ from the reference cube by at
/// least 45 (root mean square of 64 voxels, in levels of the 8-bit guide).
inline constexpr int best_score = 65535;

/// Finds the members of the group of each reference cube (cubes.h). Each group has params.group
/// entries, with the number of members in bits 24 to 31 of the first entry, and zeros in unused
/// entries. The generic kernels and the kernels on the tensor cores find the same groups.
void find_groups(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                 std::uint32_t* groups, cudaStream_t stream);
namespace detail {
/// Finds groups with any search window on any GPU (match.cu).
void find_groups_generic(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                         std::uint32_t* groups, cudaStream_t stream);
/// Finds groups on the tensor cores (match_tile.cu). Returns false if the search window is too
/// wide, or if the shared memory of the GPU is too small.
bool find_groups_in_tiles(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                          std::uint32_t* groups, cudaStream_t stream);
}  // namespace detail

// ---- rank.cu ---------------------------------------------------------------------------------

inline constexpr int max_layers = 16;  // maximum number of layers of reference cubes at a time
/// The groups of the first phase, layer by layer, in the format of find_groups().
struct KeptLists {
  const std::uint32_t* groups = nullptr;
  PhaseParams params;         // parameters of the first phase
  int columns = 0, rows = 0;  // number of reference cubes in a row and in a column of a layer
  /// For each layer of the second phase, the slots of the nearby layers of the first phase
  /// (KeptLayers::around in propagation.h).
  int around[max_layers][3] = {};
};
/// Finds groups among the candidates that propagation.h lists. The results have the format of
/// find_groups().
void rank_groups(const Ring<std::uint8_t>& guide, const Margins& margins,
                 const ReferenceCubes& cubes, const KeptLists& kept, std::uint32_t* groups,
                 cudaStream_t stream);

// ---- filter.cu, filter_tile.cu -----------------------------------------------------------------

struct FilterPlan {
  bool wiener = false;
  int cube = 4;
  /// Limits of the coefficients: thresholds in the first phase, and noise powers mu2 sigma^2 in the
  /// second phase. `limit_mean` is for the mean over the group, and `limit` is for all other
  /// coefficients.
  float limit = 0, limit_mean = 0;
  std::array<float, max_cube> window{};
  std::array<std::array<float, max_cube>, max_cube> rows{};  // DCT matrix along an axis
};
/// Filters the groups, and adds the estimates and weights of the groups to the sums. The function
/// uses `basic` only in the second phase.
void filter_groups(const FilterPlan& plan, const Ring<float>& noisy, const Ring<float>& basic,
                   const Margins& margins, const ReferenceCubes& cubes, const std::uint32_t* groups,
                   const VolumeSums& sums, cudaStream_t stream);
namespace detail {
/// Filters groups of any size on any GPU (filter.cu).
void filter_groups_generic(const FilterPlan& plan, const Ring<float>& noisy,
                           const Ring<float>& basic, const Margins& margins,
                           const ReferenceCubes& cubes, const std::uint32_t* groups,
                           const VolumeSums& sums, cudaStream_t stream);
/// Filters groups in half precision on the tensor cores (filter_tile.cu). Returns false if groups
/// are too large, or if the shared memory of the GPU is too small.
bool filter_groups_in_tiles(const FilterPlan& plan, const Ring<float>& noisy,
                            const Ring<float>& basic, const Margins& margins,
                            const ReferenceCubes& cubes, const std::uint32_t* groups,
                            const VolumeSums& sums, cudaStream_t stream);
}  // namespace detail

}  // namespace lull::bm4d::cuda
