#pragma once
// Matching on a GPU: a matcher is planned once, for a phase of a session, and then finds the groups
// of one batch of reference patches after the other. group.h defines the content of a group.

#include <memory>
#include <span>

#include "match/cuda/kernels.h"
#include "match/match_params.h"

namespace lull::cuda {

/// Input of a matcher: a batch of the first frame's reference patches.
struct MatchInput {
  MatchParams params;  // those of the plan; tau and the group size may differ for kept groups
  /// The guides' scale must be such that tau fits into a score; with a temporal search, the sum of
  /// tau and motion_bias must fit.
  std::span<const SearchFrame> frames;
  const Margins& margins;
  const ReferenceGrid& grid;
  const MotionGrid& motion;
  const Batch& batch;
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Queues the search for the groups of the batch. The function allocates nothing and does not
  /// wait, so it can be captured in a graph.
  virtual void find(const MatchInput& input, const Groups& groups, cudaStream_t stream) const = 0;
};

/// Makes a matcher on the current device for `others` frames in addition to the reference frame; 0
/// without a temporal search. `greatest` is the layout of the largest plane that is matched.
using MatcherFactory = std::unique_ptr<Matcher> (*)(const MatchParams& params, int others,
                                                    const Margins& greatest);

/// Returns a matcher that finds the most similar patches of the complete search window, exactly
/// (match.cu, match_time.cu).
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher(const MatchParams& params,
                                                               int others, const Margins& greatest);
/// Returns a matcher by clusters (match/clusters.h; clusters.cu, cluster_query.cu).
/// @throws InvalidArgument if the planes have more positions than the matcher can number
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher(const MatchParams& params, int others,
                                                            const Margins& greatest);
/// Returns a matcher that selects the exhaustive or the cluster matcher by MatchParams::clusters.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(const MatchParams& params, int others,
                                                    const Margins& greatest);

}  // namespace lull::cuda
