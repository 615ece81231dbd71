// Defines the options for the method and its parameters.

#include <algorithm>

#include "bm3d/names.h"
#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

using bm3d::Params;
using bm3d::PhaseParams;
using VolumeParams = bm4d::Params;
using VolumePhase = bm4d::PhaseParams;

template <class Enum>
Enum name_or_reject(std::string_view option, const std::string& text) {
  const auto value = parse_name<Enum>(text);
  if (value) return *value;
  std::vector<std::string> names;
  for (const auto& [candidate, name] : names_of<Enum>) names.emplace_back(name);
  reject_word(option, text, names);
}

const Preset* preset_or_reject(const std::string& text) {
  std::vector<std::string> names;
  for (const Preset& preset : presets) {
    if (preset.name == text) return &preset;
    names.emplace_back(preset.name);
  }
  reject_word("--preset", text, names);
}

/// Parses "A" or "A:B" and sets the parameter `Member`: A for the hard-threshold phase, B for the
/// Wiener phase. `VolumeMember` is the parameter of bm4d, or null.
template <auto Member, auto VolumeMember, class Read>
void set_phases(DenoiseOptions& options, std::string_view option, const std::string& text,
                Read&& read) {
  const auto [a, b] = phases_or_reject(option, text);
  const auto first = read(option, a), second = read(option, b);
  options.method.overrides.emplace_back([=](Params& params) {
    params.hard.*Member = first;
    params.wiener.*Member = second;
  });
  if constexpr (VolumeMember != nullptr)
    options.method.volume_overrides.emplace_back([=](VolumeParams& params) {
      params.hard.*VolumeMember = first;
      params.wiener.*VolumeMember = second;
    });
}

template <auto Member, auto VolumeMember>
void set_number(DenoiseOptions& options, std::string_view option, const std::string& text) {
  const auto value = number_or_reject<float>(option, text);
  options.method.overrides.emplace_back([=](Params& params) { params.*Member = value; });
  if constexpr (VolumeMember != nullptr)
    options.method.volume_overrides.emplace_back(
        [=](VolumeParams& params) { params.*VolumeMember = value; });
}

void set_batch(DenoiseOptions& options, const std::string& text) {
  const std::vector<std::string> parts = split(text, 'x');
  const auto width = parts.size() == 2 ? number<int>(parts[0]) : std::nullopt;
  const auto height = parts.size() == 2 ? number<int>(parts[1]) : std::nullopt;
  if (!width || !height) reject("--batch", text, "must be WIDTHxHEIGHT in samples");
  options.method.overrides.emplace_back(
      [size = bm3d::BatchSize{*width, *height}](Params& params) { params.batch = size; });
}

constexpr std::pair<std::string_view, SecondSearch> second_searches[] = {
    {"window", SecondSearch::window},
    {"kept", SecondSearch::kept},
    {"luma", SecondSearch::luma},
    {"none", SecondSearch::none}};

constexpr std::pair<std::string_view, MethodChoice> methods[] = {{"auto", MethodChoice::automatic},
                                                                 {"bm3d", MethodChoice::bm3d},
                                                                 {"bm4d", MethodChoice::bm4d},
                                                                 {"nlm", MethodChoice::nlm}};

constexpr OptionRow method_rows[] = {
    {"-p,--profile", "fast|balanced|high|best|paper", OptionGroup::basic,
     planned | in_preview | in_bids,
     "trade-off between speed and quality; best (bm3d): linear combinations of patches, at several "
     "times the cost; otherwise the same as high; paper: "
     "the parameters of Honzatko and Krulis 2017, for nlm of Marques and Pardo 2013, for nlm "
     "volumes of Cuomo 2014 (default: balanced)",
     [](DenoiseOptions& o, const std::string& v) {
       o.method.profile = name_or_reject<Profile>("--profile", v);
     },
     "fast, balanced, high or best (default: balanced)"},
    {"--preset", "veryfast|faster|fast|medium|slow|slower|veryslow", OptionGroup::basic,
     in_plan | in_preview | in_bids,
     "profile and temporal radius by one word: veryfast: fast, R 0; faster: fast, R 1; fast: "
     "balanced, R 1; medium: balanced, R 2, the default for video; slow: high, R 2; slower: high, "
     "R 4; veryslow: best, R 4; --profile and --temporal have precedence; stills and volumes use "
     "the profile",
     [](DenoiseOptions& o, const std::string& v) { o.method.preset = preset_or_reject(v); },
     "veryfast to veryslow: profile and temporal radius"},
    {"--method", "auto|bm3d|bm4d|nlm", OptionGroup::basic, planned | in_preview | in_bids,
     "bm3d: patches, in pictures or slice by slice; bm4d: cubes, in volumes; nlm: non-local means, "
     "in pictures, or in volumes where auto selects bm4d (--temporal 0: slice by slice); auto: "
     "bm4d for stacks of at least 8 slices that are less than 4 times as thick as their voxels are "
     "wide, otherwise bm3d, also if a given option exists only there (default: auto)",
     [](DenoiseOptions& o, const std::string& v) {
       o.method.choice = choose("--method", v, methods);
     }},
    {"--window", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "side of the search window in samples, odd, 1 to 127; for volumes (bm4d) in voxels, 3 to 15",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::window, &VolumePhase::window>(o, "--window", v,
                                                              number_or_reject<int>);
     }},
    {"--group", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "maximum number of patches in a group: 1, 2, 4, 8, 16 or 32",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::group, &VolumePhase::group>(o, "--group", v, number_or_reject<int>);
     }},
    {"--step", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "distance between reference patches in samples, 1 to 8; for volumes 1 to the side of a cube",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::step, &VolumePhase::step>(o, "--step", v, number_or_reject<int>);
     }},
    {"--tau", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d,
     "match threshold: maximum mean squared difference of two patches, on the 0..255 scale",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::tau, nullptr>(o, "--tau", v, number_or_reject<float>);
     }},
    {"--transform", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d,
     "2D transform of a patch: dct, bior or dft",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::transform, nullptr>(o, "--transform", v,
                                                    name_or_reject<bm3d::Transform>);
     }},
    {"--group-transform", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d,
     "1D transform across a group: haar or wht",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::group_transform, nullptr>(o, "--group-transform", v,
                                                          name_or_reject<bm3d::GroupTransform>);
     }},
    {"--kaiser", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "beta of the Kaiser window in the aggregation, 0 (no window) to 4",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::kaiser, &VolumePhase::kaiser>(o, "--kaiser", v,
                                                              number_or_reject<float>);
     }},
    {"--lambda", "X", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "hard threshold of the first phase, in units of sigma",
     [](DenoiseOptions& o, const std::string& v) {
       set_number<&Params::lambda, &VolumeParams::lambda>(o, "--lambda", v);
     }},
    {"--lambda-mean", "X", OptionGroup::tuning,
     planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "threshold for the mean over a group, relative to the threshold of the other coefficients",
     [](DenoiseOptions& o, const std::string& v) {
       set_number<&Params::lambda_mean, &VolumeParams::lambda_mean>(o, "--lambda-mean", v);
     }},
    {"--mu2", "X", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "noise factor of the Wiener filter: c^2 / (c^2 + mu2 sigma^2)",
     [](DenoiseOptions& o, const std::string& v) {
       set_number<&Params::mu2, &VolumeParams::mu2>(o, "--mu2", v);
     }},
    {"--guide", "FILE", OptionGroup::renders, planned | in_preview | in_bids | only_on_command_line,
     "match patches in FILE, filter the input; FILE has the same size and length, for example a "
     "result of another filter; auto: the input is a render, and its feature layers are the guide "
     "(bm3d and nlm)",
     [](DenoiseOptions& o, const std::string& v) {
       o.method.guide = file_or_reject("--guide", v);
     }},
    {"--guide-noise", "X", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d,
     "share of the noisy picture in the guide of the second phase, 0 to 1",
     [](DenoiseOptions& o, const std::string& v) {
       set_number<&Params::guide_noise, nullptr>(o, "--guide-noise", v);
     }},
    {"--search-step", "N", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d,
     "first phase: search only every N samples, 1 to 16; patches in between reuse their "
     "neighbours' matches; values up to --step search everywhere (default: 4 with high and best "
     "over time in white noise, otherwise everywhere)",
     [](DenoiseOptions& o, const std::string& v) {
       const int step = count_or_reject("--search-step", v, 1, bm3d::max_search_step);
       o.method.search_step = true;
       o.method.overrides.emplace_back([=](Params& params) { params.search_step = step; });
     }},
    {"--near-window", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d,
     "side of the window that patches still search when they reuse their neighbours' matches, odd, "
     "up to 31; 1: no search (default: 1)",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::refine_window, nullptr>(o, "--near-window", v,
                                                        number_or_reject<int>);
     }},
    {"--near-temporal-window", "A[:B]", OptionGroup::tuning,
     planned | in_preview | in_bids | for_bm3d,
     "the same for neighbouring frames, around the predicted position, up to 15; 0: no search "
     "(default: 0)",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::refine_temporal_window, nullptr>(o, "--near-temporal-window", v,
                                                                 number_or_reject<int>);
     }},
    {"--second-search", "window|kept|luma|none", OptionGroup::tuning,
     planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "how the second phase forms its groups. window: by a full search. kept: from the groups that "
     "the first phase found around each patch or cube. none: the groups of the first phase, "
     "unchanged (pictures whose phases have equal step and window). luma: none for luma, kept for "
     "subsampled chroma. (default in white noise: none for fast, luma for balanced "
     "up to sigma 25, kept above that, over time and for bm4d; otherwise, for depth maps, "
     "and with --guide or --matcher cluster: window)",
     [](DenoiseOptions& o, const std::string& v) {
       const SecondSearch how = choose("--second-search", v, second_searches);
       o.method.second_search = how;
       o.method.volume_overrides.emplace_back([=](VolumeParams& params) {
         if (how == SecondSearch::none || how == SecondSearch::luma)
           throw InvalidArgument("--second-search " + v +
                                 " with --method bm4d (cubes are always ranked in the basic "
                                 "estimate); choose kept or window");
         params.second_search = how == SecondSearch::window;
       });
     }},
    {"--phases", "1|2|3", OptionGroup::tuning, planned | in_preview | in_bids | for_bm3d | for_bm4d,
     "stop after this phase; 1: the basic estimate is the result; 3: the same as 2 (bm3d only) "
     "(default: 2)",
     [](DenoiseOptions& o, const std::string& v) {
       const int phases = count_or_reject("--phases", v, 1, 3);
       // In earlier versions, the profile `best` had a third phase. BM3D still accepts --phases 3.
       o.method.overrides.emplace_back(
           [=](Params& params) { params.phases = std::min(phases, 2); });
       o.method.volume_overrides.emplace_back(
           [=](VolumeParams& params) { params.phases = phases; });
     }},
    {"--temporal", "R|auto", OptionGroup::video, planned | in_preview,
     "also search R frames before and after, 0 to 8; auto: 2 for video with balanced and high, 4 "
     "with best and with --align, 0 for stills and slices, and with fast and paper (default: auto)",
     [](DenoiseOptions& o, const std::string& v) {
       o.method.temporal.reset();
       if (v == "auto") return;
       const auto radius = number<int>(v);
       if (!radius || *radius < 0 || *radius > max_temporal)
         reject("--temporal", v, "must be auto, or from 0 to 8");
       o.method.temporal = radius;
     },
     "also search R frames before and after (video: 2)"},
    {"--temporal-window", "A[:B]", OptionGroup::tuning, planned | in_preview | for_bm3d,
     "side of the search window in neighbouring frames, centred on the predicted position, odd, 1 "
     "to 63",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::temporal_window, nullptr>(o, "--temporal-window", v,
                                                          number_or_reject<int>);
     }},
    {"--place-bonus", "A[:B]", OptionGroup::tuning, planned | in_preview | for_bm3d,
     "amount subtracted from the distance (mean squared difference) of the patch at the position "
     "to which the motion vector points",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::motion_bias, nullptr>(o, "--place-bonus", v,
                                                      number_or_reject<float>);
     }},
    {"--scene-cut", "off|T", OptionGroup::video,
     planned | in_preview | for_bm3d | for_nlm | for_groups,
     "do not match patches across scene cuts; a cut is a frame of whose contrast more than this "
     "share, 0 to 1, is not predicted by the previous frames (default: 0.5)",
     [](DenoiseOptions& o, const std::string& v) {
       const float share = v == "off" ? 0.0f : number_or_reject<float>("--scene-cut", v);
       if (v != "off" && !(share > 0 && share <= 1))
         reject("--scene-cut", v, "must be off, or a share above 0, up to 1");
       o.method.overrides.emplace_back([=](Params& params) { params.scene_cut = share; });
       o.method.nlm_overrides.emplace_back([=](nlm::Params& params) { params.scene_cut = share; });
     }},
    {"--align", "", OptionGroup::video, planned | for_bm3d | for_nlm | for_groups,
     "the frames are a hand-held burst: align all frames to frame --keep (shift, rotation, scale) "
     "before motion estimation; the burst counts as one scene unless --scene-cut is given",
     [](DenoiseOptions& o, const std::string&) { o.method.align = true; }},
    {"--batch", "WxH", OptionGroup::tuning, planned | in_preview | for_bm3d | for_groups,
     "area of reference patches that is processed at a time; it bounds the memory on a GPU "
     "(default: 4096x1088)",
     set_batch},

};

}  // namespace

std::span<const OptionRow> method_option_rows() { return method_rows; }

void check_method(const DenoiseOptions& options) {
  (void)make_params(options, given_noise(options.noise), options.method.temporal.value_or(0));
  check_matchers(options.method);
  check_nlm(options);
  if (options.method.choice == MethodChoice::bm4d)
    (void)make_volume_params(options, given_noise(options.noise));
  if (const std::string given = first_given(options, for_bm4d, for_bm3d);
      options.method.choice == MethodChoice::bm3d && !given.empty())
    throw InvalidArgument(given + " with --method bm3d (only bm4d has this option); leave one out");
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
  const bool is_stack = (input.stack && !input.over_time) || options.input.stack;
  const bool has_time = !options.input.depth.on && !input.still && !is_stack;
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
  choose_matchers(options.method, params);
  const int search_step = params.search_step;
  bm3d::search_where_needed(params);
  // An explicit option overrides the default of the profile. validate() rejects combinations that
  // are not supported.
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
