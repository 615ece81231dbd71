#pragma once
// Matching on a GPU: a matcher is planned once, for the phase of a session, and then finds the
// groups of one batch of reference patches after the other. What a group holds stands in group.h.

#include <memory>
#include <span>

#include "match/cuda/kernels.h"
#include "match/match_params.h"

namespace lull::cuda {

/// What is matched: a batch of the first frame's reference patches.
struct MatchInput {
  MatchParams params;  // those of the plan, but for tau and the size of groups, which may be kept
  /// The guides' scale must be such that tau and, over time, place_bonus together fit.
  std::span<const SearchFrame> frames;
  const Margins& margins;
  const ReferenceGrid& grid;
  const MotionGrid& motion;
  const Batch& batch;
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Queues: the groups of the batch. Allocates nothing and waits for nothing, so that it can be
  /// part of a graph.
  virtual void find(const MatchInput& input, const Groups& groups, cudaStream_t stream) const = 0;
};

/// Makes a matcher for `others` frames beside the references' own, 0 for frames by themselves, on
/// the current device. `greatest`: of the planes that are matched.
using MatcherFactory = std::unique_ptr<Matcher> (*)(const MatchParams& params, int others,
                                                    const Margins& greatest);

/// The most similar patches of the whole window, exactly (match.cu, match_time.cu).
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher(const MatchParams& params,
                                                               int others, const Margins& greatest);
/// By clusters (match/clusters.h; clusters.cu, cluster_query.cu).
/// @throws InvalidArgument  the planes have more places than it can number
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher(const MatchParams& params, int others,
                                                            const Margins& greatest);
/// The one that MatchParams::clusters asks for.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(const MatchParams& params, int others,
                                                    const Margins& greatest);

}  // namespace lull::cuda
