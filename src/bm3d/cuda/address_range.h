#pragma once
// The layout of planes and batches in device memory, and a check that kernels can address all
// samples of a session. This file is independent of CUDA.

#include "bm3d/params.h"
#include "core/frame.h"
#include "cuda/layout/margins.h"
#include "match/grid.h"

namespace lull::bm3d {

/// Returns the layout of plane `plane` in device memory. The layout includes the padding that
/// matchers and filters read.
[[nodiscard]] Margins plane_margins(const Params& params, const FrameFormat& format, int plane);

/// Checks that kernels can address all samples of a session.
/// @throws InvalidArgument  the index type of the kernels is too small for a plane
void require_addressable(const Params& params, const FrameFormat& format);

/// Number of reference tiles (4x4 reference patches, match/cuda/kernels.h) of a batch along each
/// axis.
struct BatchBricks {
  int x = 0, y = 0;
};
/// Returns the size of a full batch, which is small enough for 32-bit counts of group members and
/// for the grid of a kernel. If `whole_rows` is true, a batch consists of complete rows of
/// reference tiles, and their number is even. If not, the numbers of tiles along x and along y are
/// even.
[[nodiscard]] BatchBricks batch_tiles(const BatchSize& size, const ReferenceGrid& grid,
                                      bool whole_rows);

}  // namespace lull::bm3d
