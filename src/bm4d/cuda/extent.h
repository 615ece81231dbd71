#pragma once
// Numbers of slices in the memory of a GPU worker, without CUDA types.

#include "bm4d/params.h"
#include "core/frame.h"

namespace lull::bm4d {

inline constexpr int max_layers = 16;  // maximum number of layers of reference cubes at a time
/// Maximum number of rows of reference cubes in a slice. A grid has at most 65535 thread blocks
/// along y, and each block processes at least two rows of reference cubes.
inline constexpr int max_reference_rows = 2 * 65535;

/// Numbers of slices, and of layers of reference cubes, that a worker processes together.
struct Extent {
  int layers;    // layers of reference cubes that are filtered together
  int batch;     // number of slices that are loaded between two batches
  int noisy;     // number of noisy slices, from the oldest unfinished one on
  int phase[2];  // for each phase, the number of slices that it reads and adds to

  Extent(const Params& params, const FrameFormat& format);
};

}  // namespace lull::bm4d
