#pragma once
// Where the noise of an input is looked for.

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

/// A pipe gives what it has once.
[[nodiscard]] bool can_read_again(const std::string& input);

/// The noise of an input that can be read again: a few frames from places spread over what is asked
/// for are decoded, found by seeking, so that length does not matter; of a stack, slices spread
/// over it. Where the noise changes from scene to scene, each has its own; such cuts are looked
/// for.
/// @param source  the input, open; it is not read
/// @throws whatever reading throws
[[nodiscard]] NoiseRecord search_noise(const DenoiseOptions& options,
                                       const io::MediaSource& source);

/// The frames at the places where search_noise() looks. None of a stack, whose slices show no
/// clipping: air is dark, and the units of stacks have other ends.
/// @param source  the input, open; it is not read
/// @throws whatever reading throws
[[nodiscard]] std::vector<Excerpt> read_looks(const DenoiseOptions& options,
                                              const io::MediaSource& source);

/// The noise of what these frames show, which follow one another: those with which a pipe begins.
[[nodiscard]] NoiseRecord noise_of_first_frames(const DenoiseOptions& options,
                                                const std::vector<Frame>& frames,
                                                const io::ValueScale& values);

/// The same frames as looks; of interlaced video that is filtered by fields, the even fields.
[[nodiscard]] std::vector<Excerpt> looks_among(const DenoiseOptions& options,
                                               const std::vector<Frame>& frames);

/// As many frames of a pipe are looked at before the first is denoised.
inline constexpr std::size_t frames_ahead = 12;
/// Or slices, of what may be a volume.
inline constexpr std::size_t slices_ahead = 48;
[[nodiscard]] inline std::size_t frames_to_read_ahead(const DenoiseOptions& options) {
  return options.stack ? slices_ahead : frames_ahead;
}

[[nodiscard]] std::vector<Frame> read_frames(FrameSource& source, std::size_t count);

/// A source of which the first frames were read already.
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
