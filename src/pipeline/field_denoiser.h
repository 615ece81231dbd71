#pragma once
// Interlaced video: the two fields of a frame are pictures of different moments.

#include <memory>

#include "core/denoiser.h"

namespace lull::pipeline {

/// What a session for the fields of such frames must be opened with: every other row.
/// @throws InvalidArgument  the fields' planes would differ in height (a height that is no multiple
///                          of 2, of 4 where chroma has half the rows)
[[nodiscard]] FrameFormat field_format(const FrameFormat& frame);

/// A denoiser of whole frames that gives `session` the rows with even numbers of each as one
/// picture and those with odd numbers as the next, and weaves the results. Nothing is copied on the
/// way in. For filters without memory of earlier frames. Frames must be in the host's memory.
/// @param frame    format of the whole frames
/// @param session  opened with field_format(frame)
[[nodiscard]] std::unique_ptr<Denoiser> by_fields(const FrameFormat& frame,
                                                  std::unique_ptr<Denoiser> session);

}  // namespace lull::pipeline
