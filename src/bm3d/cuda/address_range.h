#pragma once
// How planes and batches of reference patches are laid out in device memory, decided without a
// device or the CUDA toolkit, and which sessions have sizes that kernels cannot address. These are
// refused before anything is allocated.

#include <cstdint>

#include "bm3d/params.h"
#include "core/frame.h"
#include "cuda/layout/margins.h"
#include "match/grid.h"

namespace lull::bm3d {

/// The layout of plane `plane` of a frame, with the padding that the matchers and filters read.
[[nodiscard]] Margins plane_margins(const Params& params, const FrameFormat& format, int plane);

/// The samples that the kernels of a session over time address; sums and guides have as many
/// elements.
struct AddressRange {
  std::int64_t plane = 0;     // of the largest plane, padding included
  std::int64_t distance = 0;  // from a sample to the same sample of another frame, at most
};
[[nodiscard]] AddressRange address_range(const Params& params, const FrameFormat& format);

/// @throws InvalidArgument  the indices of kernels do not hold the samples of a plane, or phases by
///                          Bayes those of all frames that are in device memory at a time
void require_addressable(const Params& params, const FrameFormat& format);

/// Bricks of a batch of reference patches along each axis (match/cuda/kernels.h).
struct BatchBricks {
  int x = 0, y = 0;
};
/// A full batch of the reference patches of `grid`; of all columns if `whole_rows`. Else it has
/// even numbers of bricks: the filter takes two at a time, and the result must not depend on where
/// batches begin. Places of members are counted in 32 bits, which bounds `size`.
[[nodiscard]] BatchBricks batch_tiles(const BatchSize& size, const ReferenceGrid& grid,
                                      bool whole_rows);

}  // namespace lull::bm3d
