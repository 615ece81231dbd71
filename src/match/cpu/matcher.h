#pragma once
// Matching on the CPU. A matcher prepares each frame once, and finds groups (group.h) block by
// block, in several threads.

#include <memory>
#include <span>

#include "match/cpu/guide_memory.h"
#include "match/cpu/kernels.h"
#include "match/group.h"
#include "match/guide_view.h"
#include "match/kept_groups.h"
#include "match/match_params.h"

namespace lull::cpu {

/// Input of a matcher. The first frame contains the reference patches.
struct MatchInput {
  MatchParams params;
  std::span<const GuideAt> frames;
  /// Standard deviation of the noise in the guides, or a typical value. A matcher may ignore
  /// differences far below `noise`.
  float noise = 0;
  /// The groups from which a propagating matcher takes its candidates.
  const KeptGroups* kept = nullptr;
};

/// Size of a block in reference patches.
struct BlockSize {
  int columns = 1, rows = 1;
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Returns the preferred number of reference patches in a block, along each axis. `columns` is
  /// the number of reference patches in a row of the picture.
  [[nodiscard]] virtual BlockSize block_size(const MatchParams& params, int columns) const = 0;
  /// Prepares the matcher for a frame, in the TBB arena of the engine. The data of `input` must
  /// remain valid until the matcher has finished the last block.
  virtual void begin(const MatchInput& input) = 0;
  /// Prepares the matcher for a block. `thread` is the index of the calling thread in the TBB
  /// arena. A thread processes one block at a time.
  virtual void begin_block(const Block& block, int thread) = 0;
  /// Finds one group for each reference patch in one row of the block.
  virtual void find(const Block& block, int row, int thread, std::span<Group> groups) = 0;
};

/// Returns a matcher that compares each reference patch with every candidate in its search windows,
/// on up to `threads` threads. Matchers that never run at the same time may share `memory`.
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());
/// Returns a matcher that takes its candidates from the groups in MatchInput::kept (propagation.h).
[[nodiscard]] std::unique_ptr<Matcher> make_propagating_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());
/// Returns a matcher that returns the groups in MatchInput::kept, without a search.
[[nodiscard]] std::unique_ptr<Matcher> make_reusing_matcher();
/// Returns a matcher that takes its candidates from clusters (match/clusters.h).
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher(int threads);
/// Returns a matcher that runs the cluster matcher if MatchParams::clusters has a value, and the
/// exhaustive matcher if not.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(
    int threads, const std::shared_ptr<GuideMemory>& memory = std::make_shared<GuideMemory>());

}  // namespace lull::cpu
