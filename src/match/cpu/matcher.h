#pragma once
// Matching for the backends that run on the CPU's cores. A matcher chooses the size of the blocks
// of reference patches, prepares the frames once, and then finds groups block by block on several
// threads at once. group.h defines the content of a group.

#include <memory>
#include <span>

#include "match/cpu/guide_memory.h"
#include "match/cpu/kernels.h"
#include "match/group.h"
#include "match/guide_view.h"
#include "match/kept_groups.h"
#include "match/match_params.h"

namespace lull::cpu {

/// Input of a matcher: all reference patches of the first frame.
struct MatchInput {
  MatchParams params;
  std::span<const GuideAt> frames;
  /// Standard deviation of the noise in the guides; a typical value for estimates, whose noise is
  /// unknown. The matcher may ignore differences far below this value.
  float noise = 0;
  /// Groups whose members a propagating matcher tests.
  const KeptGroups* kept = nullptr;
};

/// Reference patches of a block, in a row and in a column.
struct BlockSize {
  int columns = 1, rows = 1;
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Returns the preferred block size, where a row of the picture has `columns` reference patches.
  [[nodiscard]] virtual BlockSize block_size(const MatchParams& params, int columns) const = 0;
  /// Prepares the matcher for a frame. The engine calls it before the blocks of the frame, inside
  /// its arena. The data behind `input` must stay valid until the last block.
  virtual void begin(const MatchInput& input) = 0;
  /// Prepares the matcher for a block. The engine calls it before the rows of the block. `thread`
  /// is the caller's index in the arena. A thread works on one block at a time.
  virtual void begin_block(const Block& block, int thread) = 0;
  /// Finds the groups of the reference patches in one row of the block, one for each column.
  virtual void find(const Block& block, int row, int thread, std::span<Group> groups) = 0;
};

/// Returns a matcher that finds the most similar patches of the complete search window, exactly. It
/// runs on up to `threads` threads. `memory` may be shared with matchers that never run at the same
/// time.
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());
/// Returns a matcher that propagates the groups of MatchInput::kept (propagation.h).
[[nodiscard]] std::unique_ptr<Matcher> make_propagating_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());
/// Returns a matcher that finds the groups of MatchInput::kept unchanged.
[[nodiscard]] std::unique_ptr<Matcher> make_reusing_matcher();
/// Returns a matcher by clusters (match/clusters.h).
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher(int threads);
/// Returns a matcher that selects the exhaustive or the cluster matcher by MatchParams::clusters,
/// phase by phase.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());

}  // namespace lull::cpu
