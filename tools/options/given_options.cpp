// Checks the combination of the options that the user gave, and derives the parameters of the
// filters from them.

#include <algorithm>
#include <string>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"

namespace lull::tools {
namespace {

/// Rejects pairs of options that contradict each other.
void check_pairs(const DenoiseOptions& options) {
  const NoiseOptions& noise = options.noise;
  const OutputOptions& output = options.output;
  const PageOptions& page = options.run.page;
  const SharedJob& job = options.run.job;
  const bool segments = options.run.segment_frames > 0, masks = !options.input.mask.empty();
  const std::pair<bool, const char*> conflicts[] = {
      {noise.sigma && !noise.file.empty(),
       "--noise with --sigma (both specify the noise); leave one out"},
      {noise.sigma && !noise.map.empty(),
       "--noise-map with --sigma (lull then estimates no noise); leave one out"},
      {noise.scale != SigmaScale::automatic && !noise.sigma,
       "--sigma-scale without --sigma (it is the unit of --sigma); leave it out"},
      {output.lossless && output.crf,
       "--lossless with --crf (both set the quality); leave one out"},
      {job.segments && job.folder.empty(),
       "--segment without --job (only a planned job has segments to choose from); give the folder "
       "of the job"},
      {job.plans && job.folder.empty(),
       "lull plan without --job (the plan is written into its folder); give a folder"},
      {job.plans && !segments,
       "lull plan without --segment-frames (a job without segments cannot be shared); give some "
       "hundred frames"},
      {options.run.resume && !segments,
       "--resume without --segment-frames (only a job in segments can be resumed); give the value "
       "that the job was started with"},
      {output.keep && segments,
       "--keep with --segment-frames (one picture has no segments); leave one out"},
      {options.input.zero_outside && !masks,
       "--outside zero without --mask (only a mask has an outside); leave it out"},
      {masks && segments,
       "--mask with --segment-frames (segments do not support masks); leave one out"},
      {!page.reference.empty() && page.file.empty(),
       "--reference without --report (only the report shows it); give --report FILE"},
      {!page.frames.empty() && page.file.empty(),
       "--report-frames without --report (only the report shows it); give --report FILE"}};
  for (const auto& [holds, text] : conflicts)
    if (holds) throw InvalidArgument(text);
}

/// The guide is read frame by frame, in parallel with the input, so some options cannot be combined
/// with it.
void check_guide(const DenoiseOptions& options) {
  if (!has_guide_file(options.method)) return;
  if (options.output.keep_grain)
    throw InvalidArgument(
        "--guide with --grain keep (the grain is measured in single frames, for which no guide is "
        "read); "
        "leave one out");
  if (options.method.guide == "-")
    throw InvalidArgument(
        "--guide - (it must be a file, because standard input is for the input); name a file");
}

}  // namespace

void assign_operands(DenoiseOptions& options) {
  for (const std::string& name : options.operands) {
    if (options.input.file.empty()) {
      options.input.file = name;
    } else if (options.output.file.empty()) {
      options.output.file = name;
    } else {
      throw InvalidArgument("'" + name + "' is an unexpected argument (the input is '" +
                            options.input.file + "', the output is '" + options.output.file +
                            "'); leave one out");
    }
  }
  options.operands.clear();
}

void check(const DenoiseOptions& options) {
  if (options.input.file.empty())
    throw InvalidArgument("no input; name it, as in lull INPUT OUTPUT, or with -i FILE");
  if (options.output.file.empty())
    throw InvalidArgument("no output for '" + options.input.file +
                          "'; name it after the input or with " +
                          "-o FILE, as in lull INPUT OUTPUT");
  if (options.output.is_stdout() && options.run.progress.descriptor == 1)
    throw InvalidArgument("--progress-fd 1 with -o " + options.output.file +
                          " (the result is written to it); give another descriptor");
  check_pairs(options);
  check_grain(options);
  check_depth(options);
  check_scale_and_align(options);
  (void)make_params(options, given_noise(options.noise), options.method.temporal.value_or(0));
  check_matchers(options.method);
  check_nlm(options);
  check_guide(options);
  if (options.method.choice == MethodChoice::bm4d)
    (void)make_volume_params(options, given_noise(options.noise));
  if (const std::string given = first_given(options, for_bm4d, for_bm3d);
      options.method.choice == MethodChoice::bm3d && !given.empty())
    throw InvalidArgument(given + " with --method bm3d (only bm4d has this option); leave one out");
  (void)source_options(options.input);
}

bool may_be_temporal(const DenoiseOptions& options) {
  if (options.method.temporal) return *options.method.temporal > 0;
  if (options.method.align) return true;
  if (options.input.depth.on) return false;
  if (options.method.preset) return options.method.preset->temporal > 0;
  const Profile profile = chosen_profile(options);
  return profile == Profile::balanced || profile == Profile::high || profile == Profile::best;
}

int temporal_radius(const DenoiseOptions& options, const io::VideoInfo& input) {
  if (options.method.temporal) return *options.method.temporal;
  const bool has_time =
      !options.input.depth.on && !input.still && !input.stack && !options.input.stack;
  if (!may_be_temporal(options) || !has_time) return 0;
  if (options.method.preset && !options.method.align) return options.method.preset->temporal;
  return options.method.align || chosen_profile(options) == Profile::best ? 4 : 2;
}

Profile chosen_profile(const DenoiseOptions& options) {
  if (options.method.profile) return *options.method.profile;
  if (options.method.preset) return options.method.preset->profile;
  return options.input.depth.on ? Profile::high : Profile::balanced;
}

bm3d::Params make_params(const DenoiseOptions& options, const NoiseModel& noise, int temporal) {
  const NoiseModel scaled_noise = with_strength(options.noise, noise);
  const Profile profile = chosen_profile(options);
  bm3d::Params params = options.input.depth.on
                            ? bm3d::make_depth_params(profile, scaled_noise, temporal)
                            : bm3d::make_params(profile, scaled_noise, temporal);
  if (options.method.align) params.scene_cut = 0;
  for (const auto& apply_override : options.method.overrides) apply_override(params);
  params.guided = has_guide_file(options.method);
  if (params.bayes && !options.method.wiener_only.empty())
    throw InvalidArgument(options.method.wiener_only.front() +
                          " with --profile best over time (it has no Wiener phase with fixed "
                          "transforms); leave one out");
  choose_matchers(options.method, params);
  const int search_step = params.search_step;
  bm3d::search_where_needed(params);
  // Explicit options override the defaults of the profile. validate() rejects unsupported
  // combinations.
  if (const auto& mode = options.method.second_search) {
    params.kept = *mode == SecondSearch::window ? 0 : bm3d::default_kept;
    params.same_groups = *mode == SecondSearch::none   ? bm3d::SameGroups::all
                         : *mode == SecondSearch::luma ? bm3d::SameGroups::luma
                                                       : bm3d::SameGroups::none;
  }
  if (options.method.search_step && search_step > params.hard.step)
    params.search_step = search_step;
  bm3d::combine_where_possible(params);
  bm3d::validate(params);
  return params;
}

}  // namespace lull::tools
