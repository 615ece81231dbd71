#pragma once
// The kernels of BM4D on a GPU. The functions queue all work on `stream`, and neither allocate
// memory nor wait. In ring buffers, each slice has margins (cuda/layout/margins.h), so that search
// windows may extend beyond the slice.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "bm4d/cubes.h"
#include "bm4d/cuda/extent.h"
#include "bm4d/cuda/rank_plan.h"
#include "bm4d/cuda/rings.h"
#include "bm4d/cuda/stored_slices.h"
#include "bm4d/params.h"
#include "bm4d/volume_engine.h"
#include "cuda/device_planes.h"

namespace lull::bm4d::cuda {

/// The reference cubes of consecutive layers: the range of layers, their grid, and the available
/// slices. A layer is the set of reference cubes with the same z position.
struct ReferenceCubes {
  PhaseParams params;
  int z = 0, layers = 1;      // first slice of the first layer; number of layers
  SliceSpan available;        // the slices that exist
  int columns = 0, rows = 0;  // reference cubes in a row and in a column of a layer
  constexpr int count() const { return columns * rows * layers; }
};

// ---- samples.cu ------------------------------------------------------------------------------

/// Converts the slices `slices` of `stored` to floats on the 0..255 scale, and writes them to
/// `noisy`. If the planes of `noisy` are larger than the stored slices, the function fills the rest
/// by mirroring. `cells` is scratch memory for the replacement of out-of-range samples, and may be
/// empty for integer samples.
void load_slices(const StoredPlanes& stored, const Ring<CellSum>& cells, SliceSpan slices,
                 const Margins& margins, const Ring<float>& noisy, cudaStream_t stream);

// ---- guide.cu --------------------------------------------------------------------------------

/// The guide as bytes: (sample - low) * scale, rounded and clamped to 0..255.
struct GuideQuantiser {
  float low = 0, scale = 1;
};
/// Returns the quantiser that converts the guide to 8 bits, for noise with the standard deviation
/// `sigma`. Its range is 0..255, extended at both ends by 3 * `sigma`, but by at most 120.
constexpr GuideQuantiser guide_quantiser(float sigma) {
  const float beyond = 3 * (sigma < 40 ? sigma : 40.0f);
  return {-beyond, 255 / (255 + 2 * beyond)};
}
/// The guide and, at the first voxel of each cube b, the number |b|^2 / 2, rounded down. |b|^2 is
/// the sum of the squared voxels of b. Values near `no_patch` (match/cuda/kernels.h) mark positions
/// without a cube.
struct Guide {
  Ring<std::uint8_t> samples;
  Ring<std::int32_t> half_norms;
};
void make_guide(const Ring<float>& samples, SliceSpan slices, const Margins& margins,
                const GuideQuantiser& scale, const Ring<std::uint8_t>& guide, cudaStream_t stream);
/// Computes |b|^2 / 2 for each cube b that begins in `slices`, but not in their margins. All slices
/// of these cubes must exist.
void make_half_norms(const Guide& guide, SliceSpan slices, const Margins& margins, int cube,
                     cudaStream_t stream);

/// Fixed-point sums, independent of the order of additions. 64 bits suffice for at most 15^3 groups
/// per cube with weights of at most 1.
using Sum = unsigned long long;  // signed numbers modulo 2^64
/// The units of the fixed-point sums.
inline constexpr float estimate_unit = 1 << 24;
inline constexpr float weight_unit = 1 << 20;  // fixed-point value of a weight of 1
/// The centre of the 0..255 scale. Kernels subtract the centre from estimates, to keep the sums
/// small.
inline constexpr float estimate_centre = 128;
struct VolumeSums {
  Ring<Sum> numerator;
  /// Group weights, stored at the first voxel of each cube. These weights do not include the
  /// aggregation window, because finish.cu applies it.
  Ring<std::uint32_t> weights;
};

/// Arguments of finish_basic() and finish_slices(). Voxels without an estimate get the value of
/// `noisy`.
struct PhaseEnd {
  VolumeSums sums;
  SliceSpan slices;
  int first = 0;  // first slice that has weights
  Ring<float> noisy;
  Margins margins;
  int cube = 4;
  std::array<float, max_cube> window{};
};
/// Stores the basic estimate and, if `bytes` is not empty, the guide of the second phase.
void finish_basic(const PhaseEnd& end, const Ring<float>& estimate, const Ring<std::uint8_t>& bytes,
                  const GuideQuantiser& scale, cudaStream_t stream);
/// Stores the results of the last phase as samples. Copies out-of-range float samples from
/// `original`.
void finish_slices(const PhaseEnd& end, const StoredPlanes& original, const StoredPlanes& results,
                   cudaStream_t stream);

// ---- match.cu, match_tile.cu -------------------------------------------------------------------

/// The score of a candidate that equals the reference cube. In general, the score of a candidate is
/// best_score - d^2 / 2, rounded down, where d is the distance in levels of the 8-bit guide. The
/// matcher rejects candidates with negative scores.
inline constexpr int best_score = 65535;

/// Finds the group of each reference cube (cubes.h). All kernels find the same groups. `groups` has
/// params.group entries for each reference cube, and unused entries are 0. Bits 24 to 31 of the
/// first entry contain the number of members.
void find_groups(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                 std::uint32_t* groups, cudaStream_t stream);
namespace detail {
/// Finds groups with any search window on any GPU (match.cu).
void find_groups_generic(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                         std::uint32_t* groups, cudaStream_t stream);
/// Finds groups on the tensor cores (match_tile.cu). Returns false if the search window is too
/// wide, or if shared memory is too small.
bool find_groups_in_tiles(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                          std::uint32_t* groups, cudaStream_t stream);
}  // namespace detail

// ---- rank.cu ---------------------------------------------------------------------------------

/// Stored groups of the first phase, in the format of find_groups(). The groups are sorted by layer
/// (reference cubes with the same z position).
struct KeptLists {
  const std::uint32_t* groups = nullptr;
  PhaseParams params;         // parameters of the first phase
  int columns = 0, rows = 0;  // number of reference cubes in a row and in a column of a layer
  /// For each layer k of the second phase, around[k] contains the indices, in `groups`, of the
  /// three nearest layers of the first phase (KeptLayers::around). -1 means that there is no such
  /// layer.
  int around[max_layers][3] = {};
};
/// Finds groups among the candidates that propagation.h defines. The groups have the format of
/// find_groups().
void rank_groups(const Ring<std::uint8_t>& guide, const Margins& margins,
                 const ReferenceCubes& cubes, const KeptLists& kept, std::uint32_t* groups,
                 cudaStream_t stream);
namespace detail {
/// Finds groups as rank_groups() does, with thread blocks of the given size. The groups do not
/// depend on this size.
void rank_groups(const RankPlan& plan, const Ring<std::uint8_t>& guide, const Margins& margins,
                 const ReferenceCubes& cubes, const KeptLists& kept, std::uint32_t* groups,
                 cudaStream_t stream);
}  // namespace detail

// ---- filter.cu, filter_tile.cu -----------------------------------------------------------------

struct FilterPlan {
  bool wiener = false;
  int cube = 4;
  /// Strengths of the filter: thresholds in the first phase, and noise powers mu2 * sigma^2 in the
  /// second phase. `limit_mean` applies to the DC coefficient of the transform across the group.
  float limit = 0, limit_mean = 0;
  std::array<float, max_cube> window{};
  std::array<std::array<float, max_cube>, max_cube> rows{};  // DCT matrix along an axis
};
/// Filters the groups, and adds their estimates and weights to the sums. Only the second phase uses
/// `basic`.
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
/// are too large, or if shared memory is too small.
bool filter_groups_in_tiles(const FilterPlan& plan, const Ring<float>& noisy,
                            const Ring<float>& basic, const Margins& margins,
                            const ReferenceCubes& cubes, const std::uint32_t* groups,
                            const VolumeSums& sums, cudaStream_t stream);
}  // namespace detail

}  // namespace lull::bm4d::cuda
