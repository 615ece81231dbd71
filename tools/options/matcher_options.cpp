// The rows of the option table that say how similar patches are found.

#include "core/error.h"
#include "match/clusters.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::pair<std::string_view, bool> matchers[] = {{"window", false}, {"cluster", true}};

static_assert(ClusterParams{} == ClusterParams{64, 48, 2});  // as --cluster says below

constexpr OptionRow rows[] = {
    {"--matcher", "A[:B]", "Method",
     "how similar patches are found: window, all of the search window, or cluster, those of the "
     "clusters that a patch belongs to (default: window)",
     [](DenoiseOptions& o, const std::string& v) {
       const std::vector<std::string> parts = split(v, ':');
       if (parts.size() > 2) reject("--matcher", v, "must be one value, or A:B for the two phases");
       o.by_clusters = {choose("--matcher", parts.front(), matchers),
                        choose("--matcher", parts.back(), matchers)};
       o.bm3d_alone.emplace_back("--matcher");
     }},
    {"--cluster", "TILE:LEAF:TILINGS", "Method",
     "clusters of at most LEAF patches, in tiles of TILE patches a side (8 to 128 both) of 1 to 4 "
     "tilings; paper: 15:32:1, as in Tsai 2016; --matcher cluster is meant where it is not given "
     "(default: 64:48:2)",
     [](DenoiseOptions& o, const std::string& v) {
       o.clusters = parse_clusters(v);
       if (!o.clusters) reject("--cluster", v, "must be TILE:LEAF:TILINGS or paper");
       o.bm3d_alone.emplace_back("--cluster");
     }},
};

}  // namespace

std::span<const OptionRow> matcher_option_rows() { return rows; }

void choose_matchers(const DenoiseOptions& options, bm3d::Params& params) {
  if (!options.by_clusters && !options.clusters) return;
  const ClusterParams clusters = options.clusters.value_or(ClusterParams{});
  const auto [first, second] = options.by_clusters.value_or(std::array{true, true});
  if (first) params.hard.clusters = clusters;
  if (second) params.wiener.clusters = clusters;
}

void check_matchers(const DenoiseOptions& options) {
  if (options.clusters && options.by_clusters == std::array{false, false})
    throw InvalidArgument("--cluster with --matcher window (which has no clusters); leave one out");
}

}  // namespace lull::tools
