#pragma once
// Runs over depth maps: what their samples stand for, their range, their noise.

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
  NoiseRecord noise;               // on the 0..255 scale of `scale`
  std::vector<std::string> lines;  // what is told of it
};

/// How samples of the input are depths. @throws InvalidArgument  it is not grey, or its samples
/// cannot hold the value that marks holes
[[nodiscard]] DepthSamples depth_samples(const DenoiseOptions& options,
                                         const io::MediaSource& input);

/// The first frames of an input that can be read again.
[[nodiscard]] std::vector<Frame> first_maps(const DenoiseOptions& options);

/// For an input that begins with `frames`. @throws BadData  they are nothing but holes
[[nodiscard]] DepthPlan plan_depth(const DenoiseOptions& options, const io::MediaSource& input,
                                   const std::vector<Frame>& frames);

/// What such an input is filtered with. @throws InvalidArgument  naming a parameter outside its
/// range
[[nodiscard]] ClipPlan clip_plan(const DenoiseOptions& options, const DepthPlan& depth,
                                 const io::VideoInfo& input);

}  // namespace lull::tools
