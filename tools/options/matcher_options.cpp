// Defines the options that select the matcher.

#include "core/error.h"
#include "match/clusters.h"
#include "nlm/params.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::pair<std::string_view, bool> matchers[] = {{"window", false}, {"cluster", true}};

static_assert(ClusterParams{} ==
              ClusterParams{64, 48, 2});  // the help text of --cluster states the same defaults

constexpr OptionRow matcher_rows[] = {
    {"--matcher", "A[:B]", OptionGroup::tuning,
     planned | in_preview | in_bids | for_bm3d | for_groups,
     "how similar patches are found: window searches the whole search window; cluster takes the "
     "members of the clusters that a patch belongs to; cluster with --method nlm averages such "
     "groups (default: window)",
     [](DenoiseOptions& o, const std::string& v) {
       const auto [a, b] = phases_or_reject("--matcher", v);
       o.method.by_clusters = {choose("--matcher", a, matchers), choose("--matcher", b, matchers)};
     }},
    {"--cluster", "TILE:LEAF:TILINGS", OptionGroup::tuning,
     planned | in_preview | in_bids | for_bm3d | for_groups,
     "clusters of at most LEAF patches, in tiles of TILE patches a side (both 8 to 128), in 1 to 4 "
     "tilings; paper: 15:32:1, as in Tsai 2016; implies --matcher cluster (default: 64:48:2)",
     [](DenoiseOptions& o, const std::string& v) {
       o.method.clusters = parse_clusters(v);
       if (!o.method.clusters) reject("--cluster", v, "must be TILE:LEAF:TILINGS or paper");
     }},
};

}  // namespace

std::span<const OptionRow> matcher_option_rows() { return matcher_rows; }

void choose_matchers(const MethodOptions& options, bm3d::Params& params) {
  if (!options.by_clusters && !options.clusters) return;
  const ClusterParams clusters = options.clusters.value_or(ClusterParams{});
  const auto [first, second] = options.by_clusters.value_or(std::array{true, true});
  if (first) params.hard.clusters = clusters;
  if (second) params.wiener.clusters = clusters;
}

void check_matchers(const MethodOptions& options) {
  if (options.clusters && options.by_clusters == std::array{false, false})
    throw InvalidArgument("--cluster with --matcher window (which has no clusters); leave one out");
}

bool averages_groups(const MethodOptions& options) {
  if (options.choice != MethodChoice::nlm) return false;
  return options.by_clusters ? options.by_clusters == std::array{true, true}
                             : options.clusters.has_value();
}

bm3d::Params make_means_params(const DenoiseOptions& options, const NoiseModel& noise,
                               int temporal) {
  bm3d::Params params =
      bm3d::make_means_params(chosen_profile(options), with_strength(options.noise, noise),
                              temporal, options.method.clusters.value_or(ClusterParams{}));
  if (options.method.align) params.scene_cut = 0;
  for (const auto& override_one : options.method.overrides) override_one(params);
  nlm::Params of_nlm;
  of_nlm.h = params.means->h;
  for (const auto& override_one : options.method.nlm_overrides) override_one(of_nlm);
  params.means->h = of_nlm.h;
  bm3d::validate(params);
  return params;
}

void check_group_means(const DenoiseOptions& options) {
  const auto refuse = [](const std::string& other, const char* why) {
    throw InvalidArgument(other + " with --method nlm --matcher cluster (" + why +
                          "); leave one out");
  };
  if (has_guide_file(options.method)) refuse("--guide", "patches are matched in the input itself");
  if (uses_features(options.method))
    refuse(options.method.features.empty() ? "--guide auto" : "--feature",
           "averaging of groups does not use features");
  if (options.input.depth.on) refuse("--depth", "clusters do not support holes");
  if (may_be_volume(options)) refuse("--stack", "clusters exist in pictures only");
  if (const std::string given = first_given(options, for_nlm, for_bm3d | for_groups);
      !given.empty())
    refuse(given, "this method has 8x8 patches, no search window and one kind of weights");
  (void)make_means_params(options, given_noise(options.noise), options.method.temporal.value_or(0));
}

}  // namespace lull::tools
