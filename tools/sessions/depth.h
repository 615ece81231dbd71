#pragma once
// Plans the denoising of depth maps: the conversion of samples to depths, the depth range, and the
// noise.

#include <string>
#include <vector>

#include "io/media.h"
#include "noise/depth/depth_scale.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {

struct DepthPlan {
  DepthScale scale;
  NoiseRecord noise;               // noise on the 0..255 scale of `scale`
  std::vector<std::string> lines;  // messages for the user
};

/// Returns the conversion of the samples of the input to depths.
/// @throws InvalidArgument  the input is not grey, or its samples cannot represent the value that
///     marks holes
[[nodiscard]] DepthSamples depth_samples(const InputOptions& options, const io::MediaSource& input);

/// Opens the input once more and reads its first frames. The input must not be a pipe.
[[nodiscard]] std::vector<Frame> read_first_maps(const InputOptions& options);

/// Plans the denoising of an input with the given first frames.
/// @throws BadData  the frames contain only holes
[[nodiscard]] DepthPlan plan_depth(const DenoiseOptions& options, const io::MediaSource& input,
                                   const std::vector<Frame>& frames);

/// Returns the filters and their parameters.
/// @throws InvalidArgument  a parameter is out of range
[[nodiscard]] ClipPlan clip_plan(const DenoiseOptions& options, const DepthPlan& depth,
                                 const io::VideoInfo& input);

}  // namespace lull::tools
