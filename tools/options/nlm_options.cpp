// Options for non-local means, and checks of their combinations.

#include <algorithm>
#include <array>

#include "core/error.h"
#include "nlm/names.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::string_view group = "Non-local means";

constexpr std::pair<std::string_view, nlm::Weights> weights[] = {
    {"exp", nlm::Weights::exponential}, {"poly", nlm::Weights::polynomial}};

/// Sets an option that only nlm has.
template <class Value>
void set_nlm(DenoiseOptions& options, std::string_view option, Value nlm::Params::*member,
             Value value) {
  options.nlm_overrides.emplace_back([=](nlm::Params& params) { params.*member = value; });
  options.nlm_only.emplace_back(option);
}

/// Parses "albedo=FILE,normal=:LAYER".
void add_features(DenoiseOptions& options, const std::string& text) {
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const auto* const at = std::ranges::find(feature_names, std::string_view(name));
    if (at == feature_names.end())
      reject_word("--feature", name, {feature_names.begin(), feature_names.end()});
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (value.empty() || value == ":")
      reject("--feature", part, "must be NAME=FILE or NAME=:LAYER");
    FeatureChoice choice{.feature = static_cast<Feature>(at - feature_names.begin())};
    (value[0] == ':' ? choice.layer : choice.file) = value.substr(value[0] == ':' ? 1 : 0);
    std::erase_if(options.features,  // the last one applies
                  [&](const FeatureChoice& one) { return one.feature == choice.feature; });
    options.features.push_back(std::move(choice));
  }
}

constexpr OptionRow rows[] = {
    {"--patch-radius", "N", group,
     "patch radius: a patch extends N samples (0 to 8) around a block of 4x4 samples; with paper "
     "around one sample, in volumes (0 to 4) around one voxel",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, "--patch-radius", &nlm::Params::patch_radius,
               count_or_reject("--patch-radius", v, 0, nlm::max_patch_radius));
     }},
    {"--search-radius", "N", group,
     "search radius in samples, 1 to 20; in volumes in voxels, 1 to 10",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, "--search-radius", &nlm::Params::search_radius,
               count_or_reject("--search-radius", v, 1, nlm::max_search_radius));
     }},
    {"--nlm-h", "X", group, "filter strength h, in units of sigma (--strength scales both)",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, "--nlm-h", &nlm::Params::h, number_or_reject<float>("--nlm-h", v));
     }},
    {"--weights", "exp|poly", group,
     "decay of the weights with distance: exponential, as in the papers, or polynomial, which is "
     "faster (default: poly; exp with --profile paper)",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, "--weights", &nlm::Params::weights, choose("--weights", v, weights));
     }},
    {"--feature", "NAME=FILE|:LAYER", group,
     "for renders (nlm, bm3d): read the feature albedo, normal, depth, variance, halfA or halfB "
     "from a file, or from a layer of the input; --guide auto finds layers with well-known names "
     "by itself",
     [](DenoiseOptions& o, const std::string& v) { add_features(o, v); }, "", true},
};

/// Options that nlm does not support.
constexpr std::string_view unsupported_options[] = {"--window",
                                                    "--group",
                                                    "--step",
                                                    "--tau",
                                                    "--transform",
                                                    "--kaiser",
                                                    "--lambda",
                                                    "--group-transform",
                                                    "--lambda-mean",
                                                    "--mu2",
                                                    "--phases",
                                                    "--guide-noise",
                                                    "--temporal-window",
                                                    "--place-bonus",
                                                    "--batch",
                                                    "--cube",
                                                    "--mu2-mean",
                                                    "--second-search",
                                                    "--search-step",
                                                    "--near-window",
                                                    "--near-temporal-window"};
/// Exceptions: options that nlm supports when it averages groups.
constexpr std::string_view group_options[] = {"--matcher", "--cluster", "--batch"};

/// Rejects options that renders do not support.
void check_features(const DenoiseOptions& options) {
  if (!uses_features(options)) return;
  const std::string option = options.features.empty() ? "--guide auto" : "--feature";
  const auto refuse = [&](const char* other, const char* why) {
    throw InvalidArgument(option + " with " + other + " (" + why + "); leave one out");
  };
  if (has_guide_file(options)) refuse("--guide FILE", "both select the guide");
  if (options.method == MethodChoice::bm4d) refuse("--method bm4d", "volumes have no features");
  if (options.stack || !options.mask.empty()) refuse("--stack", "volumes have no features");
  if (options.interlaced == Interlaced::fields)
    refuse("--interlaced fields", "features are not split into fields");
  if (!options.noise_file.empty()) refuse("--noise", "the features determine the noise");
  if (options.keep_grain || !options.grain_table.empty())
    refuse("--grain", "the noise of renders is not film grain");
  if (uses_nlm(options))
    for (const std::string& given : options.nlm_only)
      if (given != "--search-radius")
        refuse(given.c_str(), "with features, nlm derives its weights from them");
  for (const FeatureChoice& choice : options.features)
    if (choice.file == "-" || (!choice.file.empty() && choice.file == options.output))
      throw InvalidArgument("--feature " + choice.file +
                            " (it must be a file, and not the output); choose another");
}

}  // namespace

std::span<const OptionRow> nlm_option_rows() { return rows; }

void check_nlm(const DenoiseOptions& options) {
  check_features(options);
  if (!uses_nlm(options)) {
    if (!options.nlm_only.empty())
      throw InvalidArgument(options.nlm_only.front() +
                            " without --method nlm (only nlm supports it); give both, or neither");
    return;
  }
  const bool groups = averages_groups(options);
  for (const auto& [name, value] : options.given) {
    if (groups && std::ranges::find(group_options, name) != std::end(group_options)) continue;
    if (name == "--matcher" && value == "window") continue;  // the default
    if (name == "--matcher" || name == "--cluster")
      throw InvalidArgument("--matcher " + value +
                            " with --method nlm (nlm has one phase, with its own window or with "
                            "clusters); give --matcher cluster, or leave it out");
    if (std::ranges::find(unsupported_options, name) != std::end(unsupported_options))
      throw InvalidArgument(name + " with --method nlm (nlm does not support it); leave one out");
  }
  if (groups) return check_group_means(options);
  const bool volumes = may_be_volume(options);
  (void)make_nlm_params(options, given_noise(options), volumes, options.temporal.value_or(0));
}

nlm::Profile nlm_profile(const DenoiseOptions& options) {
  switch (chosen_profile(options)) {
    case bm3d::Profile::fast:
      return nlm::Profile::fast;
    case bm3d::Profile::high:
    case bm3d::Profile::best:
      return nlm::Profile::high;
    case bm3d::Profile::paper:
      return nlm::Profile::paper;
    case bm3d::Profile::balanced:
      break;
  }
  return nlm::Profile::balanced;
}

nlm::Params make_nlm_params(const DenoiseOptions& options, const NoiseModel& noise, bool volumes,
                            int temporal) {
  const NoiseModel all = options.strength == 1 ? noise : scaled(noise, options.strength);
  nlm::Params params = volumes ? nlm::make_volume_params(nlm_profile(options), all)
                               : nlm::make_params(nlm_profile(options), all, temporal);
  if (options.align) params.scene_cut = 0;
  for (const auto& override_one : options.nlm_overrides) override_one(params);
  params.guided = has_guide_file(options);
  params.holes = options.depth.on;
  nlm::validate(params);
  return params;
}

}  // namespace lull::tools
