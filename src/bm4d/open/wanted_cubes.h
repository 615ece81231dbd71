#pragma once
// Determines the reference cubes on which results inside the mask depend.

#include <cstdint>
#include <deque>
#include <vector>

#include "bm4d/params.h"
#include "core/slices.h"

namespace lull::bm4d {

/// Returns the distance from the mask, in voxels, up to which the first phase filters cubes.
int first_phase_reach(const Params& params);

/// The masks of the slices in progress, and the reference cubes that these masks require. The last
/// phase requires the cubes that contain a voxel inside the mask. The first of two phases requires
/// the cubes that contain a voxel within the distance first_phase_reach() of the mask.
class WantedCubes {
 public:
  /// `width` and `height` are the size of a slice in voxels, including the mirrored voxels of short
  /// axes.
  WantedCubes(const Params& params, int width, int height)
      : params_(params), width_(width), height_(height) {}

  void begin(int z);
  /// Adds the mask of the next slice. If `mask` is null, all voxels are inside the mask.
  void add(const SliceMask* mask);
  /// Releases the masks of the slices before `z`. Later calls of choose() must not need these
  /// masks.
  void forget_before(int z);

  /// Appends a flag to `cubes` for each reference cube at the position `z`, row by row: 1 if the
  /// cube is required, and 0 if not. Returns true if at least one of these cubes is required.
  bool choose(Phase phase, int z, std::vector<std::uint8_t>& cubes) const;

 private:
  using Slice = std::vector<std::uint8_t>;  // 1: inside the mask; empty: all voxels are

  Params params_;
  int width_, height_;
  int first_ = 0;  // number of the first slice in slices_
  std::deque<Slice> slices_;
};

}  // namespace lull::bm4d
