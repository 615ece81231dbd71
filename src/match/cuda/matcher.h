#pragma once
// Matching on a GPU: a matcher is planned once for a phase of a session. Then it finds the groups
// of the reference patches (group.h), one batch after the other.

#include <memory>
#include <span>

#include "match/cuda/kernels.h"
#include "match/match_params.h"

namespace lull::cuda {

/// Input of a matcher: a batch of the reference patches of the first frame.
struct MatchInput {
  // The parameters for which the matcher was planned. If groups are stored, tau and the group size
  // may differ from the parameters of the plan.
  MatchParams params;
  /// The frames that the matcher searches. The scale of the guides must be chosen so that a score
  /// can represent tau, or the sum of tau and motion_bias if there are neighbouring frames.
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

/// Makes a matcher on the current device. `others` is the number of frames that are searched in
/// addition to the reference frame. It is 0 without a temporal search. `greatest` is the layout of
/// the largest plane that is matched.
using MatcherFactory = std::unique_ptr<Matcher> (*)(const MatchParams& params, int others,
                                                    const Margins& greatest);

/// Returns a matcher that finds exactly the most similar patches of the complete search window
/// (match.cu, match_time.cu).
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher(const MatchParams& params,
                                                               int others, const Margins& greatest);
/// Returns a matcher that takes its candidates from clusters (match/clusters.h; clusters.cu,
/// cluster_query.cu).
/// @throws InvalidArgument  the planes have more positions than the matcher can number
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher(const MatchParams& params, int others,
                                                            const Margins& greatest);
/// Returns a matcher that calls the cluster matcher if MatchParams::clusters is set, and otherwise
/// the exhaustive matcher.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(const MatchParams& params, int others,
                                                    const Margins& greatest);

}  // namespace lull::cuda
