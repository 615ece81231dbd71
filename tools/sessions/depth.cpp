#include "tools/sessions/depth.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/describe.h"
#include "core/error.h"
#include "noise/depth/find_depth_noise.h"
#include "tools/search/noise_search.h"
#include "tools/sessions/noise_choice.h"

namespace lull::tools {
namespace {

std::string text_of_depth(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

void check_invalid(double invalid, const FrameFormat& format) {
  if (format.sample == SampleType::f32) return;
  const auto max_value = static_cast<double>((1 << format.bits) - 1);
  if (invalid >= 0 && invalid <= max_value && invalid == std::floor(invalid)) return;
  throw InvalidArgument("--invalid " + text_of_depth(invalid) + " (samples of " +
                        std::to_string(format.bits) + " bits are whole numbers from 0 to " +
                        text_of_depth(max_value) + "); give one of these");
}

/// Returns the value of --sigma in the unit of the depths.
double stated_sigma(const NoiseOptions& options, const DepthSamples& samples,
                    const FrameFormat& format) {
  const auto sigma = static_cast<double>((*options.sigma)[0]);
  const double full = format.full_scale() * samples.unit;
  if (options.scale == SigmaScale::eight_bits) return sigma * full / 255;
  return options.scale == SigmaScale::unit ? sigma * full : sigma;
}

}  // namespace

DepthSamples depth_samples(const InputOptions& options, const io::MediaSource& input) {
  const FrameFormat& format = input.format();
  if (format.planes() != 1)
    throw InvalidArgument("'" + options.file + "' has frames of " + describe(format) +
                          " (a depth map has one value per pixel); convert it, or leave "
                          "--depth, --invalid and --sigma-model out");
  DepthSamples samples{.noise = options.depth.noise};
  if (input.info().stack) {
    samples.zero = input.info().values.low;
    samples.unit = input.info().values.span / format.full_scale();
  }
  if (!options.depth.invalid) return samples;
  if (samples.unit == 1 && samples.zero == 0) check_invalid(*options.depth.invalid, format);
  samples.invalid = options.depth.invalid;
  return samples;
}

std::vector<Frame> read_first_maps(const InputOptions& options) {
  const auto source = io::open_source(options.file, source_options(options));
  return read_frames(*source, frames_ahead);
}

DepthPlan plan_depth(const DenoiseOptions& options, const io::MediaSource& input,
                     const std::vector<Frame>& frames) {
  const DepthSamples samples = depth_samples(options.input, input);
  DepthStatistics statistics(samples);
  for (const Frame& frame : frames) statistics.add(frame);
  if (statistics.empty())
    throw BadData("'" + options.input.file +
                  "' contains only holes (no sample is a depth); check " +
                  "--invalid and the file");
  std::optional<double> stated;
  if (options.noise.sigma) stated = stated_sigma(options.noise, samples, input.format());
  DepthSetup known = prepare_depth(statistics, frames, stated, options.input.depth.reference);
  const float level = known.noise.sigma;
  SceneNoise scene;
  scene.estimate.noise = NoiseModel({level, level, level});
  scene.estimate.noise.plane(0) = std::move(known.noise);
  scene.estimate.level = {level, level, level};
  DepthPlan plan{.scale = known.scale,
                 .noise = {.layout = Layout::gray, .unit = 0, .scenes = {scene}},
                 .lines = {}};

  const bool squared = options.input.depth.noise == DepthNoise::squared;
  const double holes = statistics.share_of_holes();
  plan.lines.push_back("depth: " + text_of_depth(statistics.min_depth()) + " to " +
                       text_of_depth(statistics.max_depth()) + ", " +
                       (holes > 0 ? text_of_depth(100 * holes) + " % holes" : "no holes"));
  if (!options.noise.sigma || (squared && !options.input.depth.reference))
    plan.lines.push_back("noise: " + std::string(options.noise.sigma ? "" : "estimated, ") +
                         "sigma " + text_of_depth(known.scale.sigma) +
                         (squared ? " at depth " + text_of_depth(plan.scale.reference) +
                                        ", growing with the square of the depth"
                                  : std::string()));
  return plan;
}

ClipPlan clip_plan(const DenoiseOptions& options, const DepthPlan& depth,
                   const io::VideoInfo& input) {
  ClipPlan plan = clip_plan(options, depth.noise, input);
  for (ScenePlan& scene : plan.scenes) scene.method.depth = depth.scale;
  return plan;
}

}  // namespace lull::tools
