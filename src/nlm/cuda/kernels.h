#pragma once
// The kernels of non-local means and how they are launched. Everything is queued on `stream`;
// nothing allocates or waits.
//
// Guide planes have the factor Curve::guide_scale sqrt(a_c), so that the sum of squared differences
// q1 and the sum of differences q2 of two patches give a distance q = q1 + mean_share q2^2 that
// needs no more constants (weights.h: q is the slope of the weight times D).

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/device_planes.h"
#include "nlm/engine.h"

namespace lull::nlm::cuda {

/// The weight of a distance q: 2^min(top - q, 0), or min(max(top - q, 0), 1)^8.
struct Curve {
  explicit Curve(const Params& params);
  bool exponential;
  float guide_scale, mean_share, top;
};

/// How a plane lies that continues for `pad` samples beyond each of its ends.
struct Space {
  Space() = default;
  Space(int width, int height, int pad);
  constexpr std::ptrdiff_t at(int x, int y) const {
    return static_cast<std::ptrdiff_t>(y + pad) * pitch + x + pad;
  }
  constexpr std::size_t size() const {
    return static_cast<std::size_t>(pitch) * (height + 2 * pad);
  }
  /// Without pads, as Margins::none() says: how samples come, and where results go.
  constexpr std::ptrdiff_t flat_at(int x, int y) const {
    return static_cast<std::ptrdiff_t>(y) * Margins::flat_pitch(width) + x;
  }
  constexpr std::ptrdiff_t flat_size() const { return flat_at(0, height); }
  int width = 0, height = 0, pad = 0;
  int pitch = 0;  // floats from row to row
};

using Planes3 = std::array<const float*, 3>;
using Results3 = std::array<float*, 3>;

/// Samples that are replaced, where `places`, row by row without gaps, are not 0. Null: none are.
struct Marks {
  const std::uint8_t* places = nullptr;
  float mark = 0;
};
/// A flat plane, times `scale`, to one that continues.
void continue_plane(const float* samples, const Space& space, Border border, float scale, float* to,
                    cudaStream_t stream, const Marks& marks = {});

/// Samples are kept in half precision as differences from this (times the plane's scale).
inline constexpr float middle = 128;
/// Where the noise has at least this sigma halves are exact enough: they are off by 1/16 at most
/// (float_range.h), which is a 250th of its variance.
inline constexpr float least_half_sigma = 1;

// ---- blocks.cu: patches that are 4x4 blocks, at a step of 1 or 2, in one plane -----------------

struct BlocksPlan {
  Space space;
  Curve curve;
  int step, search;
  bool halves;
  float scale;  // of the plane
  /// Bytes that estimates of patches need before they are averaged.
  std::size_t layer_bytes() const;
};
/// `result`: flat, here and below.
void estimate_blocks(const BlocksPlan& plan, const float* plane, void* layers, float* result,
                     cudaStream_t stream);

// ---- boxes.cu: a patch around every sample, no mean term, 1 or 3 planes ------------------------

struct BoxesPlan {
  Space space;
  Curve curve;
  int patch_radius, search, planes;
  std::array<float, 3> scale;
};
inline constexpr int most_box_radius = 4;
void estimate_boxes(const BoxesPlan& plan, const Planes3& planes, const Results3& results,
                    cudaStream_t stream);

// ---- volume.cu: patches of 3x3x3 around every sample -------------------------------------------

inline constexpr int most_slices = 32;
struct VolumePlanes {
  /// From the slice search + 1 before the first wanted one on; all are memory of the kind, those
  /// that patches do not reach anything.
  std::array<const float*, most_slices + 2 * (max_volume_search_radius + 1)> slice{};
  std::uint64_t there = 0;  // bit k: slice[k] exists, and may hold candidates
  int count = 0;            // of wanted slices
};
struct CubesPlan {
  Space space;
  Curve curve;
  int search;
  bool halves;
  float scale;
  /// Whether the current device has the shared memory for it.
  bool fits() const;
};
/// `results`: the wanted slices, one after the other.
void estimate_cubes(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                    cudaStream_t stream);

// ---- tiles.cu: everything, one slice or frame at a time ----------------------------------------

struct TileSource {
  /// In volumes of the slices that patches have, one after the other.
  std::array<const float*, 2 * max_volume_patch_radius + 1> guides{};
  Planes3 samples{};
  const Motion* motion = nullptr;  // of each cell; null: none
};
inline constexpr int most_sources = 2 * max_volume_search_radius + 1;
struct TilesPlan {
  Space space;
  Curve curve;
  int block, step, patch_radius, search;
  int guides, slices, planes;  // guide planes, slices of a patch (one of them is 1)
  int cell_width, cell_height;
  int shift_x = 0, shift_y = 0;  // as FramePlan's
  int side = 32;                 // of a tile
  std::array<float, 3> scale{};

  /// Most patches that cover a row of a tile.
  int patches_across() const { return (side + block) / step - 1; }
  /// Floats that a thread block needs for `sources` sources.
  std::size_t workspace(int sources) const;
};
struct TileSources {
  TileSource wanted;
  std::array<TileSource, most_sources> all{};
  int count = 0;
  bool shows_holes = false;  // the first of all is the wanted one, but for mark_of() in its guide
};
/// `workspaces`: of plan.workspace(sources.count) floats each, for so many thread blocks.
void estimate_tiles(const TilesPlan& plan, const TileSources& sources, float* workspaces,
                    int workspace_count, const Results3& results, cudaStream_t stream);

}  // namespace lull::nlm::cuda
