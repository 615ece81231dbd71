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
#include "tools/repair/repair_plan.h"
#include "tools/search/noise_scenes.h"

namespace lull::tools {

/// Returns false for a pipe, which can be read only once.
[[nodiscard]] bool can_read_again(const std::string& input);

/// Frames of an input that show its noise and its defects. Empty for a stack, whose slices show no
/// clipping: air is dark, and the range limits of stacks have other units.
struct InputSamples {
  std::vector<TimedExcerpt> excerpts;  // complete frames
  double start_s = 0;                  // time of the input's first frame
};

/// Decodes a few frames of an input that can be read again, at positions that are spread over the
/// selected part. They are found by seeking, so the time does not depend on the length.
/// @param source  the open input, which is not read
/// @throws whatever reading throws
[[nodiscard]] InputSamples read_samples(const DenoiseOptions& options,
                                        const io::MediaSource& source);

/// Estimates the noise of an input that can be read again, from its samples. For a stack it uses
/// slices that are spread over it. If the noise changes from scene to scene, each scene gets its
/// own estimate, and the cuts are searched.
/// @param source  the open input, which is not read
/// @param repair  repairs frames that are read in addition; `samples` are repaired already
/// @throws whatever reading throws
[[nodiscard]] NoiseRecord search_noise(const DenoiseOptions& options, const io::MediaSource& source,
                                       const InputSamples& samples, const RepairPlan& repair);

/// The noise of an input, and the defects that are repaired before the noise is measured.
struct FoundNoise {
  NoiseRecord noise;
  RepairPlan repair;
};
/// Reads the samples of an input that can be read again, and finds its defects and its noise.
/// @throws whatever reading throws
[[nodiscard]] FoundNoise search_noise(const DenoiseOptions& options, const io::MediaSource& source);

/// Estimates the noise from consecutive frames: the first frames of a pipe.
[[nodiscard]] NoiseRecord noise_of_first_frames(const DenoiseOptions& options,
                                                const std::vector<Frame>& frames,
                                                const io::ValueScale& values);

/// Returns frames as excerpts in which the noise is measured; for interlaced video that is filtered
/// by fields, their even fields.
[[nodiscard]] std::vector<Excerpt> excerpts_from(const InputOptions& options,
                                                 const std::vector<Frame>& frames);
[[nodiscard]] std::vector<Excerpt> excerpts_from(const InputOptions& options,
                                                 const InputSamples& samples);

/// Number of frames of a pipe that are read before the first one is denoised.
inline constexpr std::size_t frames_ahead = 12;
/// Number of slices, if the input may be a volume.
inline constexpr std::size_t slices_ahead = 48;
[[nodiscard]] inline std::size_t frames_to_read_ahead(const InputOptions& options) {
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
