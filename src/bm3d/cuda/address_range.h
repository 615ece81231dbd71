#pragma once
// The layout of planes and of batches of reference patches in device memory, and a check that
// kernels can address all samples of a session. This file requires neither a device nor the CUDA
// toolkit.

#include <cstdint>

#include "bm3d/params.h"
#include "core/frame.h"
#include "cuda/layout/margins.h"
#include "match/grid.h"

namespace lull::bm3d {

/// Returns the layout of plane `plane` of a frame in device memory, including the padding that the
/// matchers and filters read.
[[nodiscard]] Margins plane_margins(const Params& params, const FrameFormat& format, int plane);

/// The range of samples, sums and guides that the kernels of a session address. Without temporal
/// filtering, the member `distance` is 0.
struct AddressRange {
  std::int64_t plane = 0;     // number of samples of the largest plane, including padding
  std::int64_t distance = 0;  // maximum distance between equal positions in two frames, in samples
};
[[nodiscard]] AddressRange address_range(const Params& params, const FrameFormat& format);

/// Checks that kernels can address all samples of a session.
/// @throws InvalidArgument the indices of the kernels are too small for a plane or, in Bayes
///     phases, for all frames that are in device memory at a time
void require_addressable(const Params& params, const FrameFormat& format);

/// Number of reference tiles of a batch along each axis. A reference tile consists of 4x4 reference
/// patches (match/cuda/kernels.h).
struct BatchBricks {
  int x = 0, y = 0;
};
/// Returns the size of a full batch of the reference patches in `grid`. The number of reference
/// tiles along y is even, because the filter processes two reference tiles at a time. If
/// `whole_rows` is true, the batch consists of complete rows. If not, the number of reference tiles
/// along x is even. Kernels can count the members of the batch in 32 bits.
[[nodiscard]] BatchBricks batch_tiles(const BatchSize& size, const ReferenceGrid& grid,
                                      bool whole_rows);

}  // namespace lull::bm3d
