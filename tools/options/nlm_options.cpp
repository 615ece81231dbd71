// Defines and checks the options for non-local means.

#include <algorithm>
#include <array>

#include "core/error.h"
#include "nlm/names.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::pair<std::string_view, nlm::Weights> weights[] = {
    {"exp", nlm::Weights::exponential}, {"poly", nlm::Weights::polynomial}};

/// Sets a parameter that only non-local means has.
template <class Value>
void set_nlm(DenoiseOptions& options, Value nlm::Params::*member, Value value) {
  options.method.nlm_overrides.emplace_back([=](nlm::Params& params) { params.*member = value; });
}

/// Parses a list of feature buffers such as "albedo=FILE,normal=:LAYER".
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
    std::erase_if(options.method.features,  // the last occurrence is used
                  [&](const FeatureChoice& one) { return one.feature == choice.feature; });
    options.method.features.push_back(std::move(choice));
  }
}

constexpr OptionRow nlm_rows[] = {
    {"--patch-radius", "N", OptionGroup::tuning, planned | in_preview | for_nlm,
     "patch radius: a patch extends N samples (0 to 8) around a block of 4x4 samples; with paper "
     "around one sample, in volumes (0 to 4) around one voxel",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, &nlm::Params::patch_radius,
               count_or_reject("--patch-radius", v, 0, nlm::max_patch_radius));
     }},
    {"--search-radius", "N", OptionGroup::tuning, planned | in_preview | for_nlm | for_features,
     "search radius in samples, 1 to 20; in volumes in voxels, 1 to 10",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, &nlm::Params::search_radius,
               count_or_reject("--search-radius", v, 1, nlm::max_search_radius));
     }},
    {"--nlm-h", "X", OptionGroup::tuning, planned | in_preview | for_nlm | for_groups,
     "filter strength h, in units of sigma (--strength scales both)",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, &nlm::Params::h, number_or_reject<float>("--nlm-h", v));
     }},
    {"--weights", "exp|poly", OptionGroup::tuning, planned | in_preview | for_nlm,
     "decay of the weights with distance: exponential, as in the papers, or polynomial, which is "
     "faster (default: poly; exp with --profile paper)",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, &nlm::Params::weights, choose("--weights", v, weights));
     }},
    {"--feature", "NAME=FILE|:LAYER", OptionGroup::renders,
     planned | in_preview | only_on_command_line,
     "for renders (nlm, bm3d): read the feature albedo, normal, depth, variance, halfA or halfB "
     "from a file, or from a layer of the input; --guide auto finds layers with well-known names "
     "by itself",
     [](DenoiseOptions& o, const std::string& v) { add_features(o, v); }, "", true},
};

/// Rejects options that are incompatible with feature buffers.
void check_features(const DenoiseOptions& options) {
  if (!uses_features(options.method)) return;
  const std::string option = options.method.features.empty() ? "--guide auto" : "--feature";
  const auto refuse = [&](const char* other, const char* why) {
    throw InvalidArgument(option + " with " + other + " (" + why + "); leave one out");
  };
  if (has_guide_file(options.method)) refuse("--guide FILE", "both select the guide");
  if (options.method.choice == MethodChoice::bm4d)
    refuse("--method bm4d", "volumes have no features");
  if (options.input.stack || !options.input.mask.empty())
    refuse("--stack", "volumes have no features");
  if (options.input.interlaced == Interlaced::fields)
    refuse("--interlaced fields", "features are not split into fields");
  if (!options.noise.file.empty()) refuse("--noise", "the features determine the noise");
  if (options.output.has_grain()) refuse("--grain", "the noise of renders is not film grain");
  if (const std::string given = first_given(options, for_nlm, for_bm3d | for_features);
      uses_nlm(options.method) && !given.empty())
    refuse(given.c_str(), "with features, nlm derives its weights from them");
  for (const FeatureChoice& choice : options.method.features)
    if (choice.file == "-" || (!choice.file.empty() && choice.file == options.output.file))
      throw InvalidArgument("--feature " + choice.file +
                            " (it must be a file, and not the output); choose another");
}

}  // namespace

std::span<const OptionRow> nlm_option_rows() { return nlm_rows; }

void check_nlm(const DenoiseOptions& options) {
  check_features(options);
  if (!uses_nlm(options.method)) {
    if (const std::string given = first_given(options, for_nlm, for_bm3d); !given.empty())
      throw InvalidArgument(given +
                            " without --method nlm (only nlm supports it); give both, or neither");
    return;
  }
  const bool groups = averages_groups(options.method);
  for (const auto& [name, value] : options.given) {
    const OptionRow* row = find_option(name);
    if (!row || (row->uses & method_bits) == 0) continue;
    if ((row->uses & (groups ? for_nlm | for_groups : for_nlm)) != 0) continue;
    if (name == "--matcher" && value == "window") continue;  // this is the default
    if (name == "--matcher" || name == "--cluster")
      throw InvalidArgument("--matcher " + value +
                            " with --method nlm (nlm has one phase, with its own window or with "
                            "clusters); give --matcher cluster, or leave it out");
    throw InvalidArgument(name + " with --method nlm (nlm does not support it); leave one out");
  }
  if (groups) return check_group_means(options);
  const bool volumes = may_be_volume(options);
  (void)make_nlm_params(options, given_noise(options.noise), volumes,
                        options.method.temporal.value_or(0));
}

nlm::Params make_nlm_params(const DenoiseOptions& options, const NoiseModel& noise, bool volumes,
                            int temporal) {
  const NoiseModel scaled_noise = with_strength(options.noise, noise);
  nlm::Params params = volumes ? nlm::make_volume_params(chosen_profile(options), scaled_noise)
                               : nlm::make_params(chosen_profile(options), scaled_noise, temporal);
  if (options.method.align) params.scene_cut = 0;
  for (const auto& override_one : options.method.nlm_overrides) override_one(params);
  params.guided = has_guide_file(options.method);
  params.holes = options.input.depth.on;
  nlm::validate(params);
  return params;
}

}  // namespace lull::tools
