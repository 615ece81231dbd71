#pragma once
// Matching on a GPU. A matcher makes its plan once for a phase, and finds groups (group.h) batch by
// batch.

#include <memory>
#include <span>

#include "match/cuda/kernels.h"
#include "match/match_params.h"

namespace lull::cuda {

/// Input of a matcher for one batch of reference patches of the first frame.
struct MatchInput {
  // The parameters from the construction of the matcher. With propagation, the caller may set `tau`
  // and `group` to other values.
  MatchParams params;
  /// The frames that the matcher searches. The scale of the guides must be so small that a 16-bit
  /// score can represent distances up to the match threshold tau (max_guide_scale()). With
  /// neighbouring frames, a score must represent distances up to tau + motion_bias.
  std::span<const SearchFrame> frames;
  const Margins& margins;
  const ReferenceGrid& grid;
  const MotionGrid& motion;
  const Batch& batch;
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Queues the search for the groups of the batch. A CUDA graph can capture the function, because
  /// the function neither allocates memory nor waits.
  virtual void find(const MatchInput& input, const Groups& groups, cudaStream_t stream) const = 0;
};

/// Makes a matcher on the current device. `others` is the number of neighbouring frames. `greatest`
/// is the layout of the largest plane.
using MatcherFactory = std::unique_ptr<Matcher> (*)(const MatchParams& params, int others,
                                                    const Margins& greatest);

/// Returns a matcher that compares all patches of the search window (match.cu, match_time.cu).
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher(const MatchParams& params,
                                                               int others, const Margins& greatest);
/// Returns a matcher that takes its candidates from clusters (clusters.cu, cluster_query.cu).
/// @throws InvalidArgument  the planes have more positions than the matcher can number
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher(const MatchParams& params, int others,
                                                            const Margins& greatest);
/// Returns a matcher that runs the cluster matcher if MatchParams::clusters has a value, and the
/// exhaustive matcher if not.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(const MatchParams& params, int others,
                                                    const Margins& greatest);

}  // namespace lull::cuda
