#pragma once
// Matching on a GPU. A matcher is planned once for a phase of a session. The matcher then finds the
// groups of the reference patches (group.h), one batch after another.

#include <memory>
#include <span>

#include "match/cuda/kernels.h"
#include "match/match_params.h"

namespace lull::cuda {

/// Input of a matcher for one batch of reference patches of the first frame.
struct MatchInput {
  // The parameters with which the matcher was made. If the session stores groups for propagation,
  // tau and the group size may have other values.
  MatchParams params;
  /// The frames that the matcher searches. The scale of the guides must be so small that a score
  /// can represent tau, or tau + motion_bias if there are neighbouring frames.
  std::span<const SearchFrame> frames;
  const Margins& margins;
  const ReferenceGrid& grid;
  const MotionGrid& motion;
  const Batch& batch;
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Queues the search for the groups of the batch. The function neither allocates memory nor
  /// waits, so a CUDA graph can capture it.
  virtual void find(const MatchInput& input, const Groups& groups, cudaStream_t stream) const = 0;
};

/// A function that makes a matcher on the current device. `others` is the number of searched frames
/// in addition to the reference frame. `greatest` is the layout of the largest plane.
using MatcherFactory = std::unique_ptr<Matcher> (*)(const MatchParams& params, int others,
                                                    const Margins& greatest);

/// Returns a matcher that always finds the most similar patches of the complete search window
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
