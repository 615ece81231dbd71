#pragma once
// What the engines of the cpu backend (frames.cpp, volumes.cpp) hand to its kernel (tile.cpp),
// which Highway compiles for every instruction set.
//
// A tile is a rectangle of samples, in volumes of one slice or several. All candidates of its
// patches are gone through displacement by displacement, as Marques and Pardo do: squared
// differences, their sums over patches (separable), weights, for the whole tile.
//
// Sums go over *cells*, squares of 1 or 2 samples a side, as coarse as blocks, patches and steps
// allow: with patches of 4x4 at a step of 2, a cell's sum of squares serves the four patches that
// it is in, and one weight four samples. Columns are dealt out to as many *phases* as a cell has,
// so that the lanes of a vector are neighbouring cells.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/image.h"
#include "nlm/params.h"
#include "noise/holes.h"

namespace lull::nlm::cpu {

/// A plane that continues beyond its ends.
struct PhasedView {
  const float* data = nullptr;  // sample (0, 0)
  std::ptrdiff_t row = 0;       // floats from row to row
  std::ptrdiff_t phase = 0;     // floats from phase to phase
};

/// Owns such a plane.
class PhasedPlane {
 public:
  PhasedPlane() = default;
  /// Continues for `pad` samples on all sides; it can be read further to the right.
  PhasedPlane(int width, int height, int pad, int cell);
  /// Samples times `scale`.
  void fill(PlaneView<const float> samples, float scale, Border border);
  /// The same, with mark_of() where there are holes.
  void fill_marked(PlaneView<const float> samples, float scale, Border border, const Holes& holes);
  PhasedView view() const;

 private:
  int width_ = 0, height_ = 0, pad_ = 0, cell_ = 1;
  std::ptrdiff_t row_ = 0, phase_ = 0;
  std::vector<float> samples_;
};

/// Params as the kernel needs them.
struct Shape {
  explicit Shape(const Params& params);

  int cell;        // side of a cell: 1 or 2 samples
  int patch;       // cells along a side of a patch
  int block;       // of a block
  int every;       // cells from reference patch to reference patch
  int around;      // cells of a patch before its block
  int search;      // samples
  int slices;      // of a patch
  int estimates;   // of a sample
  bool is_single;  // blocks are samples, which have one estimate each
  Weights weights;
  /// Guide samples have the factor guide_scale() sqrt(a_c), so that the sum of squared differences
  /// and mean_share times the square of the sum of differences are WeightCurve's slope times D.
  float guide_scale, mean_share;
  float zero;  // WeightCurve's, times its slope
};

/// Where candidates come from: another frame, or the slices so many further on.
struct TileSource {
  /// In cells of the tile's slices and those around them that patches reach, guide by guide: those
  /// of slice k, guide c are at k * guides + c. `wanted`: where the reference patches are.
  std::span<const PhasedView> wanted, candidates;
  /// Sample planes of the slices that the tile's are averaged with, plane by plane: of slice t,
  /// plane c at t * planes + c; data null: no such slice.
  std::span<const PhasedView> samples;
  int motion_x = 0, motion_y = 0;  // samples
  /// Of the frame itself, whose candidates may show holes (mark_of()): the reference patch is seen
  /// as it is.
  bool is_own = false;
  std::span<const PhasedView> candidates_at(int e_x, int e_y) const {
    return is_own && e_x == 0 && e_y == 0 ? wanted : candidates;
  }
};

struct Tile {
  int x = 0, y = 0, width = 0, height = 0;  // samples; x and y multiples of a cell
  int slices = 1;
  int guides = 1, planes = 1;
  std::span<const TileSource> sources;  // the first holds the patches themselves
  /// Of slice t, plane c at t * planes + c; whole planes, of which the tile is written.
  std::span<const PlaneView<float>> results;
  /// Each plane's results are divided by that.
  std::span<const float> scale;
};

/// What a thread keeps from tile to tile.
class TileMemory {
 public:
  /// Of at least so many floats, aligned; what they hold is lost.
  float* take(std::size_t floats);

 private:
  std::vector<float> memory_;
};

/// Tiles of this width waste the least where nothing else decides: with a block and a patch beyond
/// it they fill vectors.
inline constexpr int tile_width = 124, tile_height = 16;

void estimate_tile(const Shape& shape, const Tile& tile, TileMemory& memory);

/// Whether blocks.cpp has a kernel for that; then estimate_tile() leaves it to estimate_blocks().
[[nodiscard]] bool fits_blocks(const Shape& shape, const Tile& tile);
void estimate_blocks(const Shape& shape, const Tile& tile, TileMemory& memory);

/// Calls `work(tile, thread's memory)` for the tiles that a plane is cut into, in parallel.
class TileCrew {
 public:
  explicit TileCrew(int threads);
  ~TileCrew();
  void run(int width, int height, int tile_width, int tile_height,
           const std::function<void(Tile, TileMemory&)>& work);

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

}  // namespace lull::nlm::cpu
