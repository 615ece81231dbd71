#pragma once
// Matching for the backends that run on the CPU's cores: a matcher says how it wishes the picture
// to be cut into blocks of reference patches, looks at the frames once, and then finds groups block
// by block, from several threads at once. What a group holds stands in group.h.

#include <memory>
#include <span>

#include "match/cpu/kernels.h"
#include "match/group.h"
#include "match/guide_view.h"
#include "match/kept_groups.h"
#include "match/match_params.h"

namespace lull::cpu {

/// What is matched: all reference patches of the first frame.
struct MatchInput {
  MatchParams params;
  std::span<const GuideFrame> frames;
  /// Standard deviation of the noise in the guides; of estimates, whose noise is not known, what is
  /// typical. Differences far below it need not be told apart.
  float noise = 0;
  /// For a matcher that propagates: the groups that it looks at.
  const KeptGroups* kept = nullptr;
};

/// References of a block, in a row and in a column.
struct BlockSize {
  int columns = 1, rows = 1;
};

class Matcher {
 public:
  virtual ~Matcher() = default;
  /// The size of blocks that suits it best, where a row of the picture has `columns` references.
  [[nodiscard]] virtual BlockSize block_size(const MatchParams& params, int columns) const = 0;
  /// Before the blocks of a frame, from within the engine's arena; what `input` refers to stays
  /// until the last block.
  virtual void begin(const MatchInput& input) = 0;
  /// Before the rows of a block; `thread` is the caller's index in the arena. A thread has one
  /// block at a time.
  virtual void begin_block(const Block& block, int thread) = 0;
  /// The groups of the references in one row of the block, one for each column.
  virtual void find(const Block& block, int row, int thread, std::span<Group> groups) = 0;
};

/// The most similar patches of the whole window, exactly. For `threads` threads at most.
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher(int threads);
/// By propagation (propagation.h) of MatchInput::kept.
[[nodiscard]] std::unique_ptr<Matcher> make_propagating_matcher(int threads);
/// The groups of MatchInput::kept as they are.
[[nodiscard]] std::unique_ptr<Matcher> make_taking_matcher();
/// By clusters (match/clusters.h).
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher(int threads);
/// The one that MatchParams::clusters asks for, phase by phase.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher(int threads);

}  // namespace lull::cpu
