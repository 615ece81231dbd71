// What options say together: whether they agree, and which parameters come of them.

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
        "--segment without --job (only a job that was planned has segments to "
        "choose from); give the folder of one");
  if (job.plans && job.folder.empty())
    throw InvalidArgument("lull plan without --job (the plan goes into its folder); give one");
  if (job.plans && options.segment_frames == 0)
    throw InvalidArgument(
        "lull plan without --segment-frames (nothing would be to share); give "
        "some hundred");
}

/// A guide is read beside the input, frame by frame.
void check_guide(const DenoiseOptions& options) {
  if (!has_guide_file(options)) return;
  if (options.keep_grain)
    throw InvalidArgument(
        "--guide with --grain keep (the grain is looked for in places, where no guide is read); "
        "leave one out");
  if (options.guide == "-")
    throw InvalidArgument("--guide - (it must be a file, beside standard input); name one");
}

}  // namespace

void check(const DenoiseOptions& options) {
  if (options.input.empty())
    throw InvalidArgument("no input; name it, as in lull INPUT OUTPUT, or with -i FILE");
  if (options.output.empty())
    throw InvalidArgument("no output for '" + options.input +
                          "'; name it behind the input or with " +
                          "-o FILE, as in lull INPUT OUTPUT");
  if (options.sigma && !options.noise_file.empty())
    throw InvalidArgument("--noise with --sigma (either says what the noise is); leave one out");
  if (options.sigma && !options.noise_map.empty())
    throw InvalidArgument("--noise-map with --sigma (no noise is looked for); leave one out");
  if (options.sigma_scale != SigmaScale::automatic && !options.sigma)
    throw InvalidArgument("--sigma-scale without --sigma (nothing is in its unit); leave it out");
  if (options.lossless && options.crf)
    throw InvalidArgument("--lossless with --crf (nothing is left to choose); leave one out");
  if ((options.output == "-" || options.output == "hash") && options.progress.descriptor == 1)
    throw InvalidArgument("--progress-fd 1 with -o " + options.output +
                          " (the result goes there); give another descriptor");
  check_job(options);
  if (options.resume && options.segment_frames == 0)
    throw InvalidArgument(
        "--resume without --segment-frames (only a job in segments can go on); "
        "give what the job was begun with");
  if (options.keep && options.segment_frames > 0)
    throw InvalidArgument("--keep with --segment-frames (one picture has no segments); " +
                          std::string("leave one out"));
  if (options.zero_outside && options.mask.empty())
    throw InvalidArgument("--outside zero without --mask (nothing is outside); leave it out");
  if (!options.mask.empty() && options.segment_frames > 0)
    throw InvalidArgument("--mask with --segment-frames (a job does not keep it); leave one out");
  check_grain(options);
  check_depth(options);
  check_scale_and_align(options);
  for (const bool given : {!options.page.reference.empty(), !options.page.frames.empty()})
    if (given && options.page.file.empty())
      throw InvalidArgument(
          std::string(options.page.reference.empty() ? "--report-frames" : "--reference") +
          " without --report (nothing would show it); give the name of a page");
  (void)make_params(options, given_noise(options), options.temporal.value_or(0));
  check_matchers(options);
  check_nlm(options);
  check_guide(options);
  if (options.method == MethodChoice::bm4d) (void)make_volume_params(options, given_noise(options));
  if (options.method == MethodChoice::bm3d && !options.bm4d_alone.empty())
    throw InvalidArgument(options.bm4d_alone.front() +
                          " with --method bm3d (only bm4d has it); leave one out");
  (void)source_options(options);
}

bool may_be_temporal(const DenoiseOptions& options) {
  if (options.temporal) return *options.temporal > 0;
  if (options.align) return true;
  if (options.depth.on) return false;
  using bm3d::Profile;
  const Profile chosen = options.profile;
  return chosen == Profile::balanced || chosen == Profile::high || chosen == Profile::best;
}

int temporal_radius(const DenoiseOptions& options, const io::VideoInfo& input) {
  if (options.temporal) return *options.temporal;
  const bool moves = !options.depth.on && !input.still && !input.stack && !options.stack;
  if (!may_be_temporal(options) || !moves) return 0;
  return options.align || options.profile == bm3d::Profile::best ? 4 : 2;
}

NoiseModel given_noise(const DenoiseOptions& options) {
  return options.sigma ? NoiseModel(*options.sigma) : NoiseModel(std::array<float, 3>{1, 1, 1});
}

bm3d::Profile chosen_profile(const DenoiseOptions& options) {
  const bool given = std::ranges::any_of(
      options.given, [](const auto& one) { return one.first.ends_with("--profile"); });
  return given || !options.depth.on ? options.profile : bm3d::Profile::high;
}

bm3d::Params make_params(const DenoiseOptions& options, const NoiseModel& noise, int temporal) {
  // As they are without a strength: sigmas stay what was given, to the bit.
  const NoiseModel all = options.strength == 1 ? noise : scaled(noise, options.strength);
  const bm3d::Profile profile = chosen_profile(options);
  bm3d::Params params = options.depth.on ? bm3d::make_depth_params(profile, all, temporal)
                                         : bm3d::make_params(profile, all, temporal);
  if (options.align) params.scene_cut = 0;
  for (const auto& override_one : options.overrides) override_one(params);
  params.guided = has_guide_file(options);
  if (params.bayes && !options.wiener_alone.empty())
    throw InvalidArgument(options.wiener_alone.front() +
                          " with --profile best over time (it has no second phase of fixed "
                          "transforms); leave one out");
  choose_matchers(options, params);
  const int search_step = params.search_step;
  bm3d::search_where_needed(params);
  // What was asked for by name is refused where it cannot be.
  if (const auto& how = options.second_search) {
    params.kept = *how == SecondSearch::window ? 0 : bm3d::default_kept;
    params.same_groups = *how == SecondSearch::none   ? bm3d::SameGroups::all
                         : *how == SecondSearch::luma ? bm3d::SameGroups::luma
                                                      : bm3d::SameGroups::none;
  }
  if (options.search_step && search_step > params.hard.step) params.search_step = search_step;
  bm3d::validate(params);
  return params;
}

}  // namespace lull::tools
