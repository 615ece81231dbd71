#pragma once
// Estimates the noise of an input from excerpts.

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

/// Returns whether lull can read the input a second time. lull can read a pipe only once.
[[nodiscard]] bool can_read_again(const std::string& input);

/// The frames that lull examines for noise and defects. Empty for a stack, because stacks have no
/// sensor defects, and their dark background would look like clipped samples.
struct InputSamples {
  std::vector<TimedExcerpt> excerpts;  // complete frames
  double start_s = 0;                  // time of the input's first frame
};

/// Decodes a few frames that are spread over the selected part of an input. Because the function
/// seeks to these frames, the length of the input does not matter.
/// @param source  the open input; the function opens the input a second time
/// @throws any error of opening and reading the input
[[nodiscard]] InputSamples read_samples(const DenoiseOptions& options,
                                        const io::MediaSource& source);

/// Estimates the noise of an input that lull can read a second time. If the noise of a clip
/// changes, the result has one estimate for each scene.
/// @param source  the open input; the function does not read from `source`
/// @param samples  repaired excerpts of the input
/// @param repair  repairs the further frames that the function reads
[[nodiscard]] NoiseRecord search_noise(const DenoiseOptions& options, const io::MediaSource& source,
                                       const InputSamples& samples, const RepairPlan& repair);

/// The noise of an input, and the defects that lull repairs before the noise estimation.
struct FoundNoise {
  NoiseRecord noise;
  RepairPlan repair;
};
/// Finds the defects and the noise of an input that lull can read a second time.
/// @throws any error of opening and reading the input
[[nodiscard]] FoundNoise search_noise(const DenoiseOptions& options, const io::MediaSource& source);

/// Estimates the noise from the consecutive first frames of a pipe.
[[nodiscard]] NoiseRecord noise_of_first_frames(const DenoiseOptions& options,
                                                const std::vector<Frame>& frames,
                                                const io::ValueScale& values);

/// Returns excerpts for the noise estimation. The excerpts contain complete frames or, if sessions
/// filter fields, only the even field of each frame.
[[nodiscard]] std::vector<Excerpt> excerpts_from(const InputOptions& options,
                                                 const std::vector<Frame>& frames);
[[nodiscard]] std::vector<Excerpt> excerpts_from(const InputOptions& options,
                                                 const InputSamples& samples);

/// Number of frames that lull reads from a pipe before it denoises the first frame.
inline constexpr std::size_t frames_ahead = 12;
/// Number of slices that lull reads from a piped stack before it denoises the first slice.
inline constexpr std::size_t slices_ahead = 48;
[[nodiscard]] inline std::size_t frames_to_read_ahead(const InputOptions& options) {
  return options.stack ? slices_ahead : frames_ahead;
}

[[nodiscard]] std::vector<Frame> read_frames(FrameSource& source, std::size_t count);

/// A source that returns some stored frames, and then the frames of another source.
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
