#pragma once
// Interlaced video: the two fields of a frame are pictures of different moments.

#include <memory>

#include "core/denoiser.h"

namespace lull::pipeline {

/// What a session for the fields of such frames must be opened with: every other row.
/// @throws InvalidArgument  the fields' planes would differ in height (a height that is no multiple
///                          of 2, of 4 where chroma has half the rows)
[[nodiscard]] FrameFormat field_format(const FrameFormat& frame);

/// The rows of `frame` with even (parity 0) or odd numbers, sharing its samples.
[[nodiscard]] Frame field_of(const Frame& frame, int parity);

/// A denoiser of whole frames that gives `even` the rows with even numbers of each and `odd` those
/// with odd numbers, and weaves the results. So each session sees a clip of progressive pictures at
/// the rate of the frames, with motion, cuts and repetitions of its own. Nothing is copied on the
/// way in. Frames must be in the host's memory.
///
/// Results of one parity wait while the other one shows a still and its session holds them back.
/// latency() is the greater of theirs; frames of which a field repeats the one before are not
/// counted where the session does not count them. Frames that both sessions give back without
/// samples come through without.
/// @param frame  format of the whole frames
/// @param even, odd  equal filters, opened with field_format(frame)
[[nodiscard]] std::unique_ptr<Denoiser> by_fields(const FrameFormat& frame,
                                                  std::unique_ptr<Denoiser> even,
                                                  std::unique_ptr<Denoiser> odd);

}  // namespace lull::pipeline
