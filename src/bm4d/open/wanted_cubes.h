#pragma once
// Determines the reference cubes on which results depend. A mask selects the voxels whose results
// are required.

#include <cstdint>
#include <deque>
#include <vector>

#include "bm4d/params.h"
#include "core/slices.h"

namespace lull::bm4d {

/// Returns the maximum distance from a required voxel up to which the first phase filters cubes:
/// the distance by which a cube of the second phase can extend beyond a required voxel, but at most
/// the search radius. The guide of a required cube then consists only of estimates.
int first_phase_reach(const Params& params);

/// The masks of the slices in progress. A cube of the second phase is required if it contains a
/// voxel inside the mask. A cube of the first phase is required if such a voxel is in the cube or
/// within `first_phase_reach` of it. The decision depends only on slices that the cube's group can
/// reach.
class WantedCubes {
 public:
  /// `width` and `height` are the size of a slice in voxels, including the extension by the mirror
  /// image.
  WantedCubes(const Params& params, int width, int height)
      : params_(params), width_(width), height_(height) {}

  void begin(int z);
  /// Adds the next slice. If the slice has no mask, all of its voxels are required.
  void add(const SliceMask* mask);
  /// Releases the slices before `z`. Later calls of choose() must not need these slices.
  void forget_before(int z);

  /// Returns whether any cube of the layer that begins in slice `z` is required. Appends 1 for each
  /// required cube and 0 for all other cubes to `cubes`, row by row.
  bool choose(Phase phase, int z, std::vector<std::uint8_t>& cubes) const;

 private:
  using Slice = std::vector<std::uint8_t>;  // 1: inside the mask; empty: all voxels are

  Params params_;
  int width_, height_;
  int first_ = 0;  // number of the first slice in slices_
  std::deque<Slice> slices_;
};

}  // namespace lull::bm4d
