#pragma once
// The interface between the cpu engines (frames.cpp, volumes.cpp) and their kernels (tile.cpp,
// blocks.cpp). Highway compiles the kernels for several instruction sets.

// The kernel processes one displacement after another for a complete tile (a rectangle of samples,
// in volumes a box), as in Marques and Pardo. For each displacement, the kernel computes the
// squared differences of the samples, adds these squares over each patch, and converts the sums to
// weights.

// The kernel sums differences over cells. A cell is a square of 1x1 or 2x2 samples. Patches share
// the sums of cells, and the samples of a cell share their weight.

// Planes have a polyphase layout: phase m contains column m of every cell (a square of 1x1 or 2x2
// samples), so that neighbouring lanes process neighbouring cells.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/image.h"
#include "nlm/params.h"
#include "noise/holes.h"

namespace lull::nlm::cpu {

/// A view of a padded plane in a polyphase layout: phase m contains column m of every cell (a
/// square of 1x1 or 2x2 samples).
struct PhasedView {
  const float* data = nullptr;  // sample (0, 0)
  std::ptrdiff_t row = 0;       // distance from row to row, in floats
  std::ptrdiff_t phase = 0;     // distance from phase to phase, in floats
};

/// A padded plane in the polyphase layout of PhasedView, with one phase for each column of a cell
/// (a square of 1x1 or 2x2 samples). The padding replicates or mirrors the border (Border).
class PhasedPlane {
 public:
  PhasedPlane() = default;
  /// Allocates a plane with at least `pad` samples of padding. Beyond the padding on the right, the
  /// plane has further floats with arbitrary values, because vector loads may read them.
  PhasedPlane(int width, int height, int pad, int cell);
  /// Copies samples, multiplied by `scale`.
  void fill(PlaneView<const float> samples, float scale, Border border);
  /// Copies samples as fill() does, but writes hole_mark() at holes.
  void fill_with_holes(PlaneView<const float> samples, float scale, Border border,
                       const Holes& holes);
  PhasedView view() const;

 private:
  int width_ = 0, height_ = 0, pad_ = 0, cell_ = 1;
  std::ptrdiff_t row_ = 0, phase_ = 0;
  std::vector<float> samples_;
};

/// The parameters in the form that the kernel uses.
struct Shape {
  explicit Shape(const Params& params);

  int cell;        // side of a cell: 1 or 2 samples
  int patch;       // number of cells along a side of a patch
  int block;       // number of cells along a side of a block
  int every;       // distance between reference patches, in cells
  int around;      // number of cells of a patch before its block
  int search;      // search radius in samples
  int slices;      // number of slices of a patch
  int estimates;   // number of estimates of a sample
  bool is_single;  // a block is one sample, which has one estimate
  Weights weights;
  /// Factors for the distance of two patches: D (weights.h) times the slope of WeightCurve. fill()
  /// multiplies guide plane c by guide_scale * sqrt(a_c), where a_c is the weight of the plane in
  /// D. The distance is the sum of q1 + mean_share * q2^2 over these scaled planes: q1 is the sum
  /// of the squared differences of the patches, and q2 the sum of their differences.
  float guide_scale, mean_share;
  float zero;  // zero of WeightCurve, multiplied by its slope
};

/// A source of candidates for a tile. In pictures, a source is a frame. In volumes, a source is a
/// displacement dz along z: the candidates of slice z are in slice z + dz.
struct TileSource {
  /// Guide planes of the reference patches (`wanted`) and of the candidates, for all slices of the
  /// patches. Guide plane c of slice t has the index t * guides + c.
  std::span<const PhasedView> wanted, candidates;
  /// Sample planes of the candidates. Plane c for slice t of the tile has the index t * planes + c.
  /// Missing slices have null `data`.
  std::span<const PhasedView> samples;
  int motion_x = 0, motion_y = 0;  // motion in samples
  /// True if the candidates are in the target frame. In the target frame, a patch that overlaps a
  /// hole is a candidate only for itself. At the displacement 0, candidates_at() therefore returns
  /// `wanted`, in which holes are not marked (hole_mark()).
  bool is_own = false;
  std::span<const PhasedView> candidates_at(int e_x, int e_y) const {
    return is_own && e_x == 0 && e_y == 0 ? wanted : candidates;
  }
};

struct Tile {
  int x = 0, y = 0, width = 0, height = 0;  // in samples; x and y are multiples of a cell
  int slices = 1;
  int guides = 1, planes = 1;
  std::span<const TileSource> sources;  // the first source contains the reference patches
  /// Result planes in their full size. The kernel writes only the samples of the tile. Plane c of
  /// slice t has the index t * planes + c.
  std::span<const PlaneView<float>> results;
  /// For each plane, the number by which the kernel divides the results.
  std::span<const float> scale;
};

/// Memory that a thread reuses for all its tiles.
class TileMemory {
 public:
  /// Returns aligned memory for at least `floats` floats. The memory does not preserve its previous
  /// contents.
  float* allocate(std::size_t floats);

 private:
  std::vector<float> memory_;
};

/// Default size of tiles in samples. With 4x4 patches at a step of 2, the patches of a tile span 64
/// columns of cells (squares of 2x2 samples). 64 is a multiple of the vector length.
inline constexpr int tile_width = 124, tile_height = 16;

void estimate_tile(const Shape& shape, const Tile& tile, TileMemory& memory);

/// Returns whether blocks.cpp supports the shape of the patches. estimate_tile() then calls
/// estimate_blocks().
[[nodiscard]] bool fits_blocks(const Shape& shape, const Tile& tile);
void estimate_blocks(const Shape& shape, const Tile& tile, TileMemory& memory);

/// Calls work(tile, memory) for all tiles of a plane, in parallel. `memory` belongs to the calling
/// thread.
class TileExecutor {
 public:
  explicit TileExecutor(int threads);
  ~TileExecutor();
  void run(int width, int height, int tile_width, int tile_height,
           const std::function<void(Tile, TileMemory&)>& work);

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

}  // namespace lull::nlm::cpu
