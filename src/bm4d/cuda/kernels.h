#pragma once
// The kernels of BM4D on a GPU. Everything is asynchronous on `stream`; nothing here allocates or
// waits. The head of each .cu file says how it works.
//
// Slices lie in rings of device memory. Each has margins (cuda/device_planes.h), so that no kernel
// asks whether a window leaves it along x or y.

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

/// The reference cubes of some layers.
struct ReferenceCubes {
  PhaseParams params;
  int z = 0, layers = 1;      // the first layer; others follow a step apart
  SliceSpan there;            // the slices that exist
  int columns = 0, rows = 0;  // of a layer
  constexpr int count() const { return columns * rows * layers; }
};

// ---- samples.cu ------------------------------------------------------------------------------

/// These slices of `stored` as floats on the 0..255 scale, continued by their mirror image where
/// the planes of `noisy` are larger. `cells`: of floats, room for those of the slices.
void load_slices(const StoredPlanes& stored, const Ring<CellSum>& cells, SliceSpan slices,
                 const Margins& margins, const Ring<float>& noisy, cudaStream_t stream);

// ---- guide.cu --------------------------------------------------------------------------------

/// The guide in bytes: (sample - low) * scale, rounded and limited to 0..255.
struct ByteScale {
  float low = 0, scale = 1;
};
/// All values that noise of this deviation makes of 0..255, nearly, as finely as bytes can.
constexpr ByteScale byte_scale(float sigma) {
  const float beyond = 3 * (sigma < 40 ? sigma : 40.0f);
  return {-beyond, 255 / (255 + 2 * beyond)};
}
/// What a phase looks for groups in: the guide, and half the sum of squares of the cube that begins
/// at each voxel (rounded down); where none does, no_patch (match/cuda/kernels.h) or nearly that.
struct Guide {
  Ring<std::uint8_t> samples;
  Ring<std::int32_t> half_norms;
};
void make_guide(const Ring<float>& samples, SliceSpan slices, const Margins& margins,
                const ByteScale& scale, const Ring<std::uint8_t>& guide, cudaStream_t stream);
/// Of cubes that begin in `slices`; a cube's side less one more slices are there. The margins stay
/// as they are.
void make_half_norms(const Guide& guide, SliceSpan slices, const Margins& margins, int cube,
                     cudaStream_t stream);

// ---- finish.cu: the end of a phase -------------------------------------------------------------

/// Sums in fixed point, which are equal in whatever order they are made. Of estimates with 64 bits,
/// which there are not enough cubes in a volume to fill. A voxel begins at most 15^3 cubes of
/// weight 1.
using Sum = unsigned long long;                  // of signed numbers: modulo 2^64
inline constexpr float estimate_unit = 1 << 24;  // of value 1 times weight 1
inline constexpr float weight_unit = 1 << 20;    // of weight 1
inline constexpr float estimate_centre = 128;    // estimates are added as differences from it
struct VolumeSums {
  Ring<Sum> numerator;
  Ring<std::uint32_t> weights;  // at the first voxels of cubes; the window comes later
};

/// Slices of a phase's estimate, `noisy` where no cube was filtered.
struct PhaseEnd {
  VolumeSums sums;
  SliceSpan slices;
  int first = 0;  // weights of slices from here on exist
  Ring<float> noisy;
  Margins margins;
  int cube = 4;
  std::array<float, max_cube> window{};
};
/// Of the first of two phases; its guide for the second, too, if `bytes` are given.
void finish_basic(const PhaseEnd& end, const Ring<float>& estimate, const Ring<std::uint8_t>& bytes,
                  const ByteScale& scale, cudaStream_t stream);
/// Of the last phase: as samples, of which floats get what filters did not see of `original`.
void finish_slices(const PhaseEnd& end, const StoredPlanes& original, const StoredPlanes& results,
                   cudaStream_t stream);

// ---- match.cu, match_tile.cu -------------------------------------------------------------------

/// The greatest score of a candidate; half the squared distance is taken off, rounded down. Cubes
/// that differ by more are no candidates: 45 units of the guide for each voxel.
inline constexpr int best_score = 65535;

/// The members of each reference cube's group, params.group each (cubes.h); the number of members
/// in bits 24 to 31 of the first; zeros behind them. Both kinds of kernels find the same.
void find_groups(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                 std::uint32_t* groups, cudaStream_t stream);
namespace detail {
/// For any window, on any GPU.
void find_groups_alone(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                       std::uint32_t* groups, cudaStream_t stream);
/// False where the window is too wide for it or the GPU too small.
bool find_groups_in_tiles(const Guide& guide, const Margins& margins, const ReferenceCubes& cubes,
                          std::uint32_t* groups, cudaStream_t stream);
}  // namespace detail

// ---- rank.cu ---------------------------------------------------------------------------------

inline constexpr int most_layers = 16;  // of reference cubes at a time
/// The first phase's groups, as find_groups() gives them, layer by layer.
struct KeptLists {
  const std::uint32_t* groups = nullptr;
  PhaseParams params;         // of the first phase
  int columns = 0, rows = 0;  // of a layer
  /// For each layer of the second phase: KeptLayers::around (propagation.h).
  int around[most_layers][3] = {};
};
/// The same as find_groups() among what is listed there.
void rank_groups(const Ring<std::uint8_t>& guide, const Margins& margins,
                 const ReferenceCubes& cubes, const KeptLists& kept, std::uint32_t* groups,
                 cudaStream_t stream);

// ---- filter.cu, filter_tile.cu -----------------------------------------------------------------

struct FilterPlan {
  bool wiener = false;
  int cube = 4;
  float limit = 0, limit_mean = 0;  // threshold, or mu2 sigma^2; the same for the group's mean
  std::array<float, max_cube> window{};
  std::array<std::array<float, max_cube>, max_cube> rows{};  // of the transform
};
/// Filters the groups and adds their estimates and weights. `basic`: of the second phase.
void filter_groups(const FilterPlan& plan, const Ring<float>& noisy, const Ring<float>& basic,
                   const Margins& margins, const ReferenceCubes& cubes, const std::uint32_t* groups,
                   const VolumeSums& sums, cudaStream_t stream);
namespace detail {
/// For any group, on any GPU.
void filter_groups_alone(const FilterPlan& plan, const Ring<float>& noisy, const Ring<float>& basic,
                         const Margins& margins, const ReferenceCubes& cubes,
                         const std::uint32_t* groups, const VolumeSums& sums, cudaStream_t stream);
/// In half precision. False where groups are too large for it or the GPU too small.
bool filter_groups_in_tiles(const FilterPlan& plan, const Ring<float>& noisy,
                            const Ring<float>& basic, const Margins& margins,
                            const ReferenceCubes& cubes, const std::uint32_t* groups,
                            const VolumeSums& sums, cudaStream_t stream);
}  // namespace detail

}  // namespace lull::bm4d::cuda
