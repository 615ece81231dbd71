#pragma once
// The motion vectors of a bundle (8x4 reference patches with the same motion).

#include "linear/cuda/time_windows.h"
#include "linear/uniform_motion.h"
#include "match/grid.h"
#include "time/frame_pairs.h"

namespace lull::linear {

struct BlockMotion {
  Motion centre[max_frames];  // displacement of the windows in each frame
  int halves;                 // number of frames that a patch spans
};

/// Computes the motion vectors of reference patch (i, j). All 8x4 reference patches of a bundle
/// have the same vectors. Ends with a barrier, so all threads of the block must call this function.
__device__ __forceinline__ void find_motion(const SearchedFrames& frames, const ReferenceGrid& grid,
                                            int i, int j, BlockMotion& to) {
  for (int f = threadIdx.x; f < frames.count; f += blockDim.x)
    to.centre[f] = frames.cells[f] == nullptr
                       ? Motion{}
                       : frames.grid.vector(frames.cells[f], i, j, grid.count_x, grid.count_y);
  __syncthreads();
  if (threadIdx.x == 0) {
    int even = 0, uneven = 0;
    for (int f = 1; frames.pairs && f < frames.count; ++f) {
      if (frames.partner[f] == no_frame) continue;
      const bool uniform =
          is_uniform(to.centre[f], to.centre[frames.partner[f]], to.centre[frames.partner[0]]);
      ++(uniform ? even : uneven);
    }
    to.halves = frames.pairs && even >= uneven ? 2 : 1;
  }
  __syncthreads();
}

/// Returns true if a patch that begins in frame `f` can be a candidate. `halves` is the number
/// of frames, 1 or 2, that each patch spans.
__device__ __forceinline__ bool has_candidates(const SearchedFrames& frames, int f, int halves) {
  return halves == 1 || frames.partner[f] != no_frame;
}

}  // namespace lull::linear
