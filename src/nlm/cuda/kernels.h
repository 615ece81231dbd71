#pragma once
// The kernels of non-local means on a GPU. Each function launches a kernel on `stream`, and neither
// allocates memory nor waits.

// continue_plane() multiplies guide plane c by Curve::guide_scale sqrt(a_c), where a_c is the
// weight of the plane in the distance D (weights.h). The kernels then compute q = q1 + mean_share
// q2^2, which is D multiplied by the slope of the weight. q1 is the sum of the squared differences
// of two patches, and q2 the sum of their differences.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/device_planes.h"
#include "nlm/engine.h"

namespace lull::nlm::cuda {

/// The weight as a function of the distance q. The exponential weight is 2^min(top - q, 0), which
/// is 1 up to the distance `top`. The polynomial weight is min(max(top - q, 0), 1)^8, which is 0
/// from the distance `top` on.
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
  /// Returns the offset of a sample in a plane without padding (Margins::none()). Input samples and
  /// results have this layout.
  constexpr std::ptrdiff_t flat_at(int x, int y) const {
    return static_cast<std::ptrdiff_t>(y) * Margins::flat_pitch(width) + x;
  }
  constexpr std::ptrdiff_t flat_size() const { return flat_at(0, height); }
  int width = 0, height = 0, pad = 0;
  int pitch = 0;  // floats from row to row
};

using Planes3 = std::array<const float*, 3>;
using Results3 = std::array<float*, 3>;

/// Replaces a sample by `mark` if its element of `places` is not 0. `places` has one value per
/// sample, row by row without gaps. A null pointer replaces no samples.
struct Marks {
  const std::uint8_t* places = nullptr;
  float mark = 0;
};
/// Copies a plane without padding to a padded plane, and multiplies the samples by `scale`.
/// `border` selects whether the padding contains the nearest border samples or the mirror image of
/// the plane.
void continue_plane(const float* samples, const Space& space, Border border, float scale, float* to,
                    cudaStream_t stream, const Marks& marks = {});

/// In half precision, kernels store a sample as its difference from 128, multiplied by the scale of
/// the plane.
inline constexpr float middle = 128;
/// Minimum sigma for which half precision is accurate enough. The rounding error is at most 1/16
/// (float_range.h), which adds at most 1/250 to the noise variance.
inline constexpr float min_half_sigma = 1;

struct BlocksPlan {
  Space space;
  Curve curve;
  int step, search;
  bool halves;
  float scale;  // factor of the plane
  /// Returns the number of bytes for the estimates of all patches before the average of the
  /// estimates.
  std::size_t layer_bytes() const;
};
/// Filters a plane with the kernel of blocks.cu, for patches that are 4x4 blocks at a step of 1 or
/// 2. `layers` provides plan.layer_bytes() bytes of memory. `result` is a plane without padding.
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
  /// Slices of the volume. slice[0] is search + 1 slices before the first wanted slice. All
  /// pointers point to memory of the same size. Slices that no patch contains may have any
  /// contents.
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
  /// Returns whether the current device has enough shared memory for the kernel of volume.cu.
  bool fits() const;
};
/// Filters slices with the kernel of volume.cu, for patches of 3x3x3 samples around every sample.
/// `results` receives the wanted slices, one after another, without padding.
void estimate_cubes(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                    cudaStream_t stream);

struct TileSource {
  /// Guide planes. For volumes, the elements are the slices that a patch contains, one after
  /// another.
  std::array<const float*, 2 * max_volume_patch_radius + 1> guides{};
  Planes3 samples{};
  const Motion* motion = nullptr;  // one vector per motion block; null: no motion
};
inline constexpr int max_sources = 2 * max_volume_search_radius + 1;
struct TilesPlan {
  Space space;
  Curve curve;
  int block, step, patch_radius, search;
  // Numbers of guide planes, of slices of a patch, and of sample planes. Either `guides` or
  // `slices` is 1.
  int guides, slices, planes;
  int cell_width, cell_height;
  int shift_x = 0, shift_y = 0;  // as in FramePlan
  int side = 32;                 // side of a tile
  std::array<float, 3> scale{};

  /// Returns the maximum number of patches along an axis that overlap a tile.
  int patches_across() const { return (side + block) / step - 1; }
  /// Returns the number of floats that a thread block needs if there are `sources` sources of
  /// candidates.
  std::size_t workspace(int sources) const;
};
struct TileSources {
  TileSource wanted;
  std::array<TileSource, max_sources> all{};
  int count = 0;
  // True if the guide of all[0] contains marked holes (hole_mark()). all[0] is the target frame as
  // a source of candidates.
  bool shows_holes = false;
};
/// Filters one frame or slice with the general kernel (tiles.cu), which supports all parameters.
/// `workspaces` is memory for `workspace_count` thread blocks. Each thread block needs
/// plan.workspace(sources.count) floats.
void estimate_tiles(const TilesPlan& plan, const TileSources& sources, float* workspaces,
                    int workspace_count, const Results3& results, cudaStream_t stream);

}  // namespace lull::nlm::cuda
