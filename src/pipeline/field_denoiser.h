#pragma once
// Denoises interlaced video. The two fields of an interlaced frame are pictures of different
// moments.

#include <memory>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Returns the format of a field (every other row) of a frame with the format `frame`.
/// @throws InvalidArgument  the format is not valid, or the height is not a multiple of 2 (of 4 if
///     chroma has half the rows)
[[nodiscard]] FrameFormat field_format(const FrameFormat& frame);

/// Returns the even rows (`parity` 0) or the odd rows (`parity` 1) of `frame`, and of its guide,
/// mask, holes and features. The field shares the samples of the frame.
[[nodiscard]] Frame field_of(const Frame& frame, int parity);

/// Returns a denoiser of interlaced frames. The sessions `even` and `odd` filter the even and the
/// odd rows as progressive clips. Frames must be in host memory.
/// @param even, odd  equal filters, opened with field_format(frame)
/// @param results  sample format of the results
[[nodiscard]] std::unique_ptr<Denoiser> by_fields(const FrameFormat& frame,
                                                  std::unique_ptr<Denoiser> even,
                                                  std::unique_ptr<Denoiser> odd,
                                                  const ResultSamples& results = {});

}  // namespace lull::pipeline
