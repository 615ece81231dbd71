#pragma once
// Matching for the backends that run on the CPU. A matcher chooses the size of the blocks of
// reference patches, and prepares each frame once. The matcher then finds groups (group.h) block by
// block, in several threads at the same time.

#include <memory>
#include <span>

#include "match/cpu/guide_memory.h"
#include "match/cpu/kernels.h"
#include "match/group.h"
#include "match/guide_view.h"
#include "match/kept_groups.h"
#include "match/match_params.h"

namespace lull::cpu {

/// Input of a matcher. The matcher finds the groups of all reference patches of the first frame.
struct MatchInput {
  MatchParams params;
  std::span<const GuideAt> frames;
  /// Standard deviation of the noise in the guides, or a typical value if the guides are estimates.
  /// A matcher may ignore differences far below this value.
  float noise = 0;
  /// The groups from which a propagating matcher takes its candidates.
  const KeptGroups* kept = nullptr;
};

/// Size of a block: number of reference patches in a row and in a column of the block.
struct BlockSize {
  int columns = 1, rows = 1;
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Returns the preferred size of a block. `columns` is the number of reference patches in a row
  /// of the picture.
  [[nodiscard]] virtual BlockSize block_size(const MatchParams& params, int columns) const = 0;
  /// Prepares the matcher for a frame, before the blocks of the frame. The caller must run in the
  /// TBB arena of the engine. The data to which `input` refers must remain valid until the last
  /// block is finished.
  virtual void begin(const MatchInput& input) = 0;
  /// Prepares the matcher for a block, before the rows of the block. `thread` is the caller's index
  /// in the TBB arena. A thread works on one block at a time.
  virtual void begin_block(const Block& block, int thread) = 0;
  /// Finds the groups of the reference patches in one row of the block. `groups` receives one group
  /// for each column.
  virtual void find(const Block& block, int row, int thread, std::span<Group> groups) = 0;
};

/// Returns a matcher that always finds the most similar patches of the complete search window. The
/// matcher runs on up to `threads` threads. Matchers that never run at the same time may share
/// `memory`.
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());
/// Returns a matcher that takes its candidates from the groups of MatchInput::kept (propagation.h).
[[nodiscard]] std::unique_ptr<Matcher> make_propagating_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());
/// Returns a matcher that does not search. Its groups are the groups in MatchInput::kept.
[[nodiscard]] std::unique_ptr<Matcher> make_reusing_matcher();
/// Returns a matcher that takes its candidates from clusters (match/clusters.h).
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher(int threads);
/// Returns a matcher that calls the cluster matcher if MatchParams::clusters is set, and otherwise
/// the exhaustive matcher.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());

}  // namespace lull::cpu
