#pragma once
// Denoises interlaced video, in which the two fields of a frame are pictures of different moments.

#include <memory>

#include "core/denoiser.h"

namespace lull::pipeline {

/// Returns the format of the fields (every other row) of frames with the format `frame`.
/// @throws InvalidArgument the format is not valid, or the planes of the two fields would differ in
///     height (the height must be a multiple of 2, or of 4 if chroma has half the rows)
[[nodiscard]] FrameFormat field_format(const FrameFormat& frame);

/// Returns a field of `frame`: the even rows (parity 0) or the odd rows, also of its guide, mask,
/// holes and features. The field shares the samples of the frame.
[[nodiscard]] Frame field_of(const Frame& frame, int parity);

/// Returns a denoiser of complete frames that passes the even rows of each frame to `even` and the
/// odd rows to `odd`, and interleaves the results. Each session filters a clip of progressive
/// pictures at the frame rate, with its own motion, scene cuts and repeated frames. The input is
/// not copied. Frames must be in host memory.
///
/// Results of one parity wait for results of the other parity. latency() is the maximum of the
/// latencies of both sessions. A frame does not count if one of its fields repeats the previous
/// field and the session of this field does not count repeated fields. A frame is returned without
/// samples if both sessions return its fields without samples.
/// @param frame  format of the complete frames
/// @param even, odd  equal filters, opened with field_format(frame)
/// @param results  samples of the results of `even` and `odd`
[[nodiscard]] std::unique_ptr<Denoiser> by_fields(const FrameFormat& frame,
                                                  std::unique_ptr<Denoiser> even,
                                                  std::unique_ptr<Denoiser> odd,
                                                  const ResultSamples& results = {});

}  // namespace lull::pipeline
