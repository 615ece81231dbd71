#pragma once
// Launches the kernels of non-local means on `stream`. The functions neither allocate memory nor
// wait.

// Kernels compute the distance q of two patches from scaled guide planes: q is the sum of q1 +
// mean_share * q2^2 over these planes. q1 is the sum of the squared differences of the two patches
// in one plane, and q2 is the sum of their differences.

// q is proportional to the distance D (weights.h). The factor is the slope of WeightCurve. For
// exponential weights, the factor also contains log2(e). To avoid a further multiplication in the
// kernels, continue_plane() scales guide plane c by Curve::guide_scale * sqrt(a_c), where a_c is
// the weight of the plane in D.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/device_planes.h"
#include "nlm/engine.h"

namespace lull::nlm::cuda {

/// The weight as a function of the distance q. An exponential weight is 2^min(top - q, 0), which is
/// 1 if q <= `top`. A polynomial weight is min(max(top - q, 0), 1)^8, which is 0 if q >= `top`.
struct Curve {
  explicit Curve(const Params& params);
  bool exponential;
  float guide_scale, mean_share, top;
};

/// Memory layout of a plane with `pad` samples of padding on each side. continue_plane() fills the
/// padding.
struct Space {
  Space() = default;
  /// Lays out a plane.
  /// @throws InvalidArgument  kernels cannot address the plane (cuda/layout/margins.h)
  Space(int width, int height, int pad);
  constexpr std::ptrdiff_t at(int x, int y) const {
    return static_cast<std::ptrdiff_t>(y + pad) * pitch + x + pad;
  }
  constexpr std::size_t size() const {
    return static_cast<std::size_t>(pitch) * (height + 2 * pad);
  }
  /// Returns the offset of a sample in a plane without padding (Margins::none()), as in inputs and
  /// results.
  constexpr std::ptrdiff_t flat_at(int x, int y) const {
    return static_cast<std::ptrdiff_t>(y) * Margins::flat_pitch(width) + x;
  }
  constexpr std::ptrdiff_t flat_size() const { return flat_at(0, height); }
  int width = 0, height = 0, pad = 0;
  int pitch = 0;  // floats from row to row
};

using Planes3 = std::array<const float*, 3>;
using Results3 = std::array<float*, 3>;

/// Replaces samples by `mark` where `places` (one value per sample, row by row without gaps) is not
/// 0. If `places` is null, replaces no samples.
struct Marks {
  const std::uint8_t* places = nullptr;
  float mark = 0;
};
/// Multiplies a plane by `scale`, and copies the result to a plane with padding. The padding
/// replicates or mirrors the border.
void continue_plane(const float* samples, const Space& space, Border border, float scale, float* to,
                    cudaStream_t stream, const Marks& marks = {});

/// Half-precision kernels store a sample as its difference from 128, times the scale of the plane.
inline constexpr float middle = 128;
/// Minimum sigma for half precision. The rounding error is at most 1/16 (float_range.h), so the
/// variance of the rounding error is at most 1/250 of the noise variance.
inline constexpr float min_half_sigma = 1;

struct BlocksPlan {
  Space space;
  Curve curve;
  int step, search;
  bool halves;
  float scale;  // factor of the plane
  /// Returns the size of the layers in bytes. The layers are the arrays in which the kernel stores
  /// the estimates of all patches.
  std::size_t layer_bytes() const;
};
/// Runs the kernel of blocks.cu, for 4x4 blocks at a step of 1 or 2. `layers` is scratch memory of
/// plan.layer_bytes() bytes. `result` is a plane without padding.
void estimate_blocks(const BlocksPlan& plan, const float* plane, void* layers, float* result,
                     cudaStream_t stream);

struct BoxesPlan {
  Space space;
  Curve curve;
  int patch_radius, search, planes;
  std::array<float, 3> scale;
};
inline constexpr int max_box_radius = 4;
void estimate_boxes(const BoxesPlan& plan, const Planes3& planes, const Results3& results,
                    cudaStream_t stream);

inline constexpr int max_slices = 32;
struct VolumePlanes {
  /// Consecutive slices of the volume. The first wanted slice has the index CubesPlan::search + 1.
  /// All pointers must be valid.
  std::array<const float*, max_slices + 2 * (max_volume_search_radius + 1)> slice{};
  std::uint64_t available = 0;  // bit k: slice[k] exists, and may contain candidates
  int count = 0;                // number of wanted slices
};
struct CubesPlan {
  Space space;
  Curve curve;
  int search;
  bool halves;
  float scale;
  /// Returns whether the current device has enough shared memory for volume.cu.
  bool fits() const;
};
/// Runs the kernel of volume.cu, for patches of 3x3x3 samples. `results` receives the wanted
/// slices, one after another, without padding.
void estimate_cubes(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                    cudaStream_t stream);

struct TileSource {
  /// For pictures, these are the guide planes. For volumes, these are the consecutive slices of the
  /// guide that a patch covers.
  std::array<const float*, 2 * max_volume_patch_radius + 1> guides{};
  Planes3 samples{};
  const Motion* motion = nullptr;  // one vector per motion block; null: no motion
};
inline constexpr int max_sources = 2 * max_volume_search_radius + 1;
struct TilesPlan {
  Space space;
  Curve curve;
  int block, step, patch_radius, search;
  // `guides` is the number of guide planes, `slices` is the number of slices of a patch, and
  // `planes` is the number of sample planes. At least one of `guides` and `slices` is 1.
  int guides, slices, planes;
  int cell_width, cell_height;
  int shift_x = 0, shift_y = 0;  // as in FramePlan
  int side = 32;                 // side of a tile
  std::array<float, 3> scale{};

  /// Returns the maximum number of patches along an axis that overlap a tile.
  int patches_across() const { return (side + block) / step - 1; }
  /// Returns the number of floats that a thread block needs as workspace. `sources` is the number
  /// of elements of TileSources::all that the kernel uses.
  std::size_t workspace(int sources) const;
};
struct TileSources {
  TileSource wanted;
  std::array<TileSource, max_sources> all{};
  int count = 0;
  // True if the guide of all[0], the target frame, contains marked holes (hole_mark()).
  bool shows_holes = false;
};
/// Runs the general kernel (tiles.cu) on one frame or slice. `workspaces` has `workspace_count`
/// times plan.workspace(sources.count) floats.
void estimate_tiles(const TilesPlan& plan, const TileSources& sources, float* workspaces,
                    int workspace_count, const Results3& results, cudaStream_t stream);

}  // namespace lull::nlm::cuda
