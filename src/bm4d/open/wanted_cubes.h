#pragma once
// Which reference cubes results depend on, where a mask says which voxels are wanted.

#include <cstdint>
#include <deque>
#include <vector>

#include "bm4d/params.h"
#include "core/slices.h"

namespace lull::bm4d {

/// How far from the voxels that are wanted cubes of the first phase still count: as far as a cube
/// of the second phase that has one of these can reach, so that its guide is an estimate wherever
/// it lies, but not beyond the search window. (Against the whole volume that costs 0.001 dB inside
/// and 0.007 dB within two voxels of the edge; none at all 0.01 and 0.03 dB.)
int first_phase_reach(const Params& params);

/// The masks of the slices in work. A cube of the second phase is wanted if a voxel inside is in
/// it; one of the first phase also if one is so near that the second phase may look at its
/// estimates: within `first_phase_reach` of it. A decision depends on no slice that the cube's
/// group cannot reach, so that it is the same in a part of a volume.
class WantedCubes {
 public:
  /// `width`, `height`: voxels of a slice as engines see it.
  WantedCubes(const Params& params, int width, int height)
      : params_(params), width_(width), height_(height) {}

  void begin(int z);
  /// The next slice, wanted as a whole without a mask.
  void add(const SliceMask* mask);
  /// Nobody asks for layers any more that reach slices before this one.
  void forget_before(int z);

  /// Whether any cube of the layer that begins in slice z is wanted. Adds to `cubes` a value for
  /// each, row by row: 1 if it is.
  bool choose(Phase phase, int z, std::vector<std::uint8_t>& cubes) const;

 private:
  using Slice = std::vector<std::uint8_t>;  // 1: inside; empty: all is

  Params params_;
  int width_, height_;
  int first_ = 0;  // the place of the first slice that is kept
  std::deque<Slice> slices_;
};

}  // namespace lull::bm4d
