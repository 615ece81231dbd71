// Checks the combination of the given options and derives the parameters of the filters from them.

#include <algorithm>
#include <string>

#include "core/error.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {
namespace {

void check_job(const DenoiseOptions& options) {
  const SharedJob& job = options.job;
  if (job.segments && job.folder.empty())
    throw InvalidArgument(
        "--segment without --job (only a planned job has segments to "
        "choose from); give the folder of the job");
  if (job.plans && job.folder.empty())
    throw InvalidArgument(
        "lull plan without --job (the plan is written into its folder); give a folder");
  if (job.plans && options.segment_frames == 0)
    throw InvalidArgument(
        "lull plan without --segment-frames (a job without segments cannot be shared); "
        "give some hundred frames");
}

/// A guide is read in parallel with the input, frame by frame.
void check_guide(const DenoiseOptions& options) {
  if (!has_guide_file(options)) return;
  if (options.keep_grain)
    throw InvalidArgument(
        "--guide with --grain keep (the grain is measured in single frames, for which no guide is "
        "read); "
        "leave one out");
  if (options.guide == "-")
    throw InvalidArgument(
        "--guide - (it must be a file, because standard input is for the input); name a file");
}

}  // namespace

void check(const DenoiseOptions& options) {
  if (options.input.empty())
    throw InvalidArgument("no input; name it, as in lull INPUT OUTPUT, or with -i FILE");
  if (options.output.empty())
    throw InvalidArgument("no output for '" + options.input +
                          "'; name it after the input or with " +
                          "-o FILE, as in lull INPUT OUTPUT");
  if (options.sigma && !options.noise_file.empty())
    throw InvalidArgument("--noise with --sigma (both specify the noise); leave one out");
  if (options.sigma && !options.noise_map.empty())
    throw InvalidArgument("--noise-map with --sigma (lull then estimates no noise); leave one out");
  if (options.sigma_scale != SigmaScale::automatic && !options.sigma)
    throw InvalidArgument(
        "--sigma-scale without --sigma (it is the unit of --sigma); leave it out");
  if (options.lossless && options.crf)
    throw InvalidArgument("--lossless with --crf (both set the quality); leave one out");
  if ((options.output == "-" || options.output == "hash") && options.progress.descriptor == 1)
    throw InvalidArgument("--progress-fd 1 with -o " + options.output +
                          " (the result is written to it); give another descriptor");
  check_job(options);
  if (options.resume && options.segment_frames == 0)
    throw InvalidArgument(
        "--resume without --segment-frames (only a job in segments can be resumed); "
        "give the value that the job was started with");
  if (options.keep && options.segment_frames > 0)
    throw InvalidArgument("--keep with --segment-frames (one picture has no segments); " +
                          std::string("leave one out"));
  if (options.zero_outside && options.mask.empty())
    throw InvalidArgument(
        "--outside zero without --mask (only a mask has an outside); leave it out");
  if (!options.mask.empty() && options.segment_frames > 0)
    throw InvalidArgument(
        "--mask with --segment-frames (segments do not support masks); leave one out");
  check_grain(options);
  check_depth(options);
  check_scale_and_align(options);
  for (const bool given : {!options.page.reference.empty(), !options.page.frames.empty()})
    if (given && options.page.file.empty())
      throw InvalidArgument(
          std::string(options.page.reference.empty() ? "--report-frames" : "--reference") +
          " without --report (only the report shows it); give --report FILE");
  (void)make_params(options, given_noise(options), options.temporal.value_or(0));
  check_matchers(options);
  check_nlm(options);
  check_guide(options);
  if (options.method == MethodChoice::bm4d) (void)make_volume_params(options, given_noise(options));
  if (options.method == MethodChoice::bm3d && !options.bm4d_only.empty())
    throw InvalidArgument(options.bm4d_only.front() +
                          " with --method bm3d (only bm4d has this option); leave one out");
  (void)source_options(options);
}

bool may_be_temporal(const DenoiseOptions& options) {
  if (options.temporal) return *options.temporal > 0;
  if (options.align) return true;
  if (options.depth.on) return false;
  using bm3d::Profile;
  const Profile profile = options.profile;
  return profile == Profile::balanced || profile == Profile::high || profile == Profile::best;
}

int temporal_radius(const DenoiseOptions& options, const io::VideoInfo& input) {
  if (options.temporal) return *options.temporal;
  const bool has_time = !options.depth.on && !input.still && !input.stack && !options.stack;
  if (!may_be_temporal(options) || !has_time) return 0;
  return options.align || options.profile == bm3d::Profile::best ? 4 : 2;
}

NoiseModel given_noise(const DenoiseOptions& options) {
  return options.sigma ? NoiseModel(*options.sigma) : NoiseModel(std::array<float, 3>{1, 1, 1});
}

bm3d::Profile chosen_profile(const DenoiseOptions& options) {
  const bool is_given = std::ranges::any_of(
      options.given, [](const auto& option) { return option.first.ends_with("--profile"); });
  return is_given || !options.depth.on ? options.profile : bm3d::Profile::high;
}

bm3d::Params make_params(const DenoiseOptions& options, const NoiseModel& noise, int temporal) {
  // With a strength of 1 the given noise levels are used bit for bit.
  const NoiseModel scaled_noise = options.strength == 1 ? noise : scaled(noise, options.strength);
  const bm3d::Profile profile = chosen_profile(options);
  bm3d::Params params = options.depth.on ? bm3d::make_depth_params(profile, scaled_noise, temporal)
                                         : bm3d::make_params(profile, scaled_noise, temporal);
  if (options.align) params.scene_cut = 0;
  for (const auto& apply_override : options.overrides) apply_override(params);
  params.guided = has_guide_file(options);
  if (params.bayes && !options.wiener_only.empty())
    throw InvalidArgument(options.wiener_only.front() +
                          " with --profile best over time (it has no Wiener phase with fixed "
                          "transforms); leave one out");
  choose_matchers(options, params);
  const int search_step = params.search_step;
  bm3d::search_where_needed(params);
  // Explicit options override these defaults; validate() rejects unsupported combinations.
  if (const auto& mode = options.second_search) {
    params.kept = *mode == SecondSearch::window ? 0 : bm3d::default_kept;
    params.same_groups = *mode == SecondSearch::none   ? bm3d::SameGroups::all
                         : *mode == SecondSearch::luma ? bm3d::SameGroups::luma
                                                       : bm3d::SameGroups::none;
  }
  if (options.search_step && search_step > params.hard.step) params.search_step = search_step;
  bm3d::validate(params);
  return params;
}

}  // namespace lull::tools
