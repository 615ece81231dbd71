#pragma once
// Estimation of the noise of an input from excerpts.

#include <cstddef>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/stream.h"
#include "io/media.h"
#include "noise/estimate/estimate.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Returns false for a pipe, which can be read only once.
[[nodiscard]] bool can_read_again(const std::string& input);

/// Estimates the noise of an input that can be read again. It decodes a few frames at positions
/// that are spread over the selected part. These positions are found by seeking, so the time does
/// not depend on the length of the input. For a stack the function uses slices that are spread over
/// the stack. If the noise changes from scene to scene, each scene gets its own estimate, and the
/// cuts are searched.
/// @param source  the open input, which is not read
/// @throws whatever reading throws
[[nodiscard]] NoiseRecord search_noise(const DenoiseOptions& options,
                                       const io::MediaSource& source);

/// Returns the frames that search_noise() uses, so that the caller can detect clipping. Returns no
/// frames for a stack, because clipping cannot be detected there: air is dark, and the range limits
/// of a stack are in the units of its file.
/// @param source  the open input, which is not read
/// @throws whatever reading throws
[[nodiscard]] std::vector<Excerpt> read_excerpts(const DenoiseOptions& options,
                                                 const io::MediaSource& source);

/// Estimates the noise from consecutive frames: the first frames of a pipe.
[[nodiscard]] NoiseRecord noise_of_first_frames(const DenoiseOptions& options,
                                                const std::vector<Frame>& frames,
                                                const io::ValueScale& values);

/// Returns these frames as excerpts; for interlaced video that is filtered by fields, their even
/// fields.
[[nodiscard]] std::vector<Excerpt> excerpts_from(const DenoiseOptions& options,
                                                 const std::vector<Frame>& frames);

/// Number of frames of a pipe that are read before the first one is denoised.
inline constexpr std::size_t frames_ahead = 12;
/// Number of slices, if the input may be a volume.
inline constexpr std::size_t slices_ahead = 48;
[[nodiscard]] inline std::size_t frames_to_read_ahead(const DenoiseOptions& options) {
  return options.stack ? slices_ahead : frames_ahead;
}

[[nodiscard]] std::vector<Frame> read_frames(FrameSource& source, std::size_t count);

/// Returns frames that were read already, and then the frames of a source.
class PrefixedSource final : public FrameSource {
 public:
  PrefixedSource(FrameSource& source, std::vector<Frame> first)
      : source_(source),
        first_(std::make_move_iterator(first.begin()), std::make_move_iterator(first.end())) {}

  const FrameFormat& format() const noexcept override { return source_.format(); }
  std::optional<Frame> read() override;
  void interrupt() noexcept override { source_.interrupt(); }

 private:
  FrameSource& source_;
  std::deque<Frame> first_;
};

}  // namespace lull::tools
