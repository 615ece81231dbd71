#pragma once
// Data and kernels of the stages of matching on the CPU. Each stage is one source file, which
// Highway compiles for every instruction set and dispatches at run time:
// - bytes.cpp quantises the guide to 8 bits.
// - guide.cpp arranges the guide for matching (not vectorised).
// - scores.cpp computes the distances between the reference patches of a block and all their
//   candidates.
// - products.cpp computes the same distances, with an instruction that multiplies and adds four
//   bytes at a time.
// - select.cpp selects the most similar candidates of each reference patch.
// - temporal_candidates.cpp adds candidates from neighbouring frames.
// - propagate.cpp makes groups from the groups of other reference patches.
// propagating_matcher.cpp runs propagate.cpp; window_search.h runs the other stages.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/image.h"
#include "core/plane.h"
#include "core/round_up.h"
#include "match/grid.h"
#include "match/group.h"
#include "match/match_params.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::cpu {

/// Memory that begins at a multiple of 64 bytes. If it grows, it loses its content. It never
/// shrinks.
template <class T>
class Buffer {
 public:
  T* reserve(std::size_t count) {
    if (count > capacity_) {
      memory_ = Plane<T>(static_cast<int>(count), 1);
      capacity_ = count;
    }
    return data();
  }
  T* data() { return memory_.view().data; }
  const T* data() const { return memory_.view().data; }

 private:
  Plane<T> memory_;
  std::size_t capacity_ = 0;
};

/// The matchers pad all arrays of 16-bit values to a multiple of this number, which is the number
/// of 16-bit lanes of the widest vector.
inline constexpr int lane_multiple = 32;

/// Returns the quotient of two positive integers, rounded down.
constexpr int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// ---- guide ---------------------------------------------------------------------------------

/// Converts samples of the guide to signed bytes: (sample - centre) / unit.
struct Quantiser {
  float centre = 0, unit = 1;
};

/// The guide with several samples in each element, one byte per sample. Each row of the guide is
/// stored in `step` phases, where `step` is the distance between reference patches: element i of
/// phase m contains the samples that begin at x = i step + m. At any displacement, a vector of
/// neighbouring elements therefore serves neighbouring reference patches. Samples outside the
/// picture repeat the border.
template <class Element>
struct PhasedGuide {
  const Element* origin = nullptr;  // y = 0, m = 0, i = 0
  std::ptrdiff_t row_stride = 0;    // elements
  std::ptrdiff_t phase_stride = 0;  // elements
  int step = 1;

  const Element* at(int x, int y) const {
    const int i = floor_div(x, step);
    return origin + y * row_stride + (x - i * step) * phase_stride + i;
  }
};
/// A guide with two samples in each element.
using PairedGuide = PhasedGuide<std::uint16_t>;
/// The guide with four samples in each element, and for each position the norm of its patch
/// (products.cpp).
struct QuadGuide {
  PhasedGuide<std::int32_t> quads, norms;  // `quads` and `norms` have the same layout
};

/// Quantises a row of the guide to bytes.
void byte_row(std::span<const float> samples, const Quantiser& quantiser, std::int8_t* bytes);
/// A row of the guide that pair_row() or quad_row() fills, in `step` phases (PhasedGuide). `to` is
/// the address of the element with i = first_element and m = 0. `bytes` is scratch memory of
/// elements * step + sizeof(Element) - 1 bytes, for the samples of all elements of the row.
template <class Element>
struct PhasedRow {
  Element* to;
  std::ptrdiff_t phase_stride;
  int first_element, elements, step;
  std::int8_t* bytes;
};
/// Fills a row of elements from a row of samples.
void pair_row(std::span<const float> samples, const Quantiser& quantiser,
              const PhasedRow<std::uint16_t>& row);
void quad_row(std::span<const float> samples, const Quantiser& quantiser,
              const PhasedRow<std::int32_t>& row);
/// Returns the minimum and the maximum sample of a row.
std::array<float, 2> row_range(std::span<const float> samples);

// ---- matching ------------------------------------------------------------------------------

/// A block of `columns` x `rows` reference patches. They are `step` samples apart; the first
/// reference patch is at (x, y).
struct Block {
  int x = 0, y = 0, columns = 0, rows = 0;
};

/// Maximum number of lanes for one row of a block's reference patches, including the additional
/// lanes of extra_lanes().
inline constexpr int max_lanes = 128;
/// Returns the number of additional lanes at the end of a row of reference patches. The lane of a
/// reference patch contains sums over its first `step` columns, and the following lanes contain the
/// sums over its other columns. The last reference patches therefore need additional lanes.
constexpr int extra_lanes(int step) { return (patch - 2) / step; }
constexpr int lanes_of(int columns, int step) {
  return static_cast<int>(round_up(columns + extra_lanes(step), lane_multiple));
}

/// Scores of the candidates of a block. A score is the sum of squared differences over a patch, in
/// squared levels of the quantised guide, saturated at 16 bits. The candidate at displacement (dx,
/// dy) has the index c = (dy + radius) window + dx + radius.
struct Scores {
  std::uint16_t* values;  // [row][candidate][lane]
  /// Minima of classes of candidates: element [row][class][lane] is the minimum score of the
  /// candidates c with c % classes = class.
  std::uint16_t* minima;
  std::uint16_t* sums;  // scratch memory of sums_size() elements
  // Scratch memory [window + 1][lane] that marks candidates that lie partly outside the picture.
  std::uint16_t* outside;
  int lanes;
  int classes;  // power of two
};
constexpr std::size_t sums_size(int rows, int lanes) {
  return static_cast<std::size_t>(2 * rows) * 3 * lanes + lane_multiple;
}

struct MatchGeometry {
  int width, height;  // size of the picture
  int window;         // side of the search window
  int radius() const { return window / 2; }
  int first_dy(int y) const { return y < radius() ? -y : -radius(); }
  int last_dy(int y) const {
    const int below = height - patch - y;
    return below < radius() ? below : radius();
  }
};

/// MatchParams::bias, converted to scores, and split into its positive and its negative part.
struct ScoreBias {
  std::array<std::uint16_t, correlation_lags * correlation_lags> added, subtracted;
};

/// Computes the scores of a block. `bias` and `invalid` may be null. `invalid` has the layout of
/// the guide: 0xffff marks positions that are not candidates, other elements are 0.
void score_block(const PairedGuide& guide, const MatchGeometry& geometry, const Block& block,
                 const Scores& scores, const ScoreBias* bias = nullptr,
                 const PairedGuide* invalid = nullptr);

/// Returns whether score_block_by_products() supports this step and is faster than score_block().
bool scores_by_products(int step);
/// Computes the norms (products.cpp) of `rows` rows of patch positions. `from` is the first of
/// these rows in `quads`, in which the rows of the last patches must also exist. `to` receives the
/// norms. The `step` phases of a row (PhasedGuide) are adjacent in memory. A row has `elements`
/// elements, a multiple of 16.
void fill_norms(const PhasedGuide<std::int32_t>& quads, const std::int32_t* from, int rows,
                int elements, std::int32_t* to);
/// Computes scores as score_block() does, but without clamping differences of samples to the range
/// of a byte.
void score_block_by_products(const QuadGuide& guide, const MatchGeometry& geometry,
                             const Block& block, const Scores& scores,
                             const ScoreBias* bias = nullptr, const PairedGuide* invalid = nullptr);

/// Fills Scores::outside with one row for each dx, which contains 0xffff in the lanes in which the
/// candidate lies partly outside the picture, and 0 in the other lanes. An additional row contains
/// 0xffff in all lanes, so that the reference patch is not a candidate.
void mark_outside(const MatchGeometry& geometry, const Block& block, int step,
                  const Scores& scores);

// ---- selection -----------------------------------------------------------------------------

struct SelectParams {
  int group;            // maximum number of members of a group
  std::uint16_t limit;  // maximum score of a member, < 65535
  // Packed displacement of each candidate from its reference patch (group.h).
  const std::uint32_t* displacement;
};
/// The best candidates of one reference patch so far, in the order of group.h.
struct Ranking {
  int count = 0;  // <= group - 1
  std::array<std::uint16_t, max_group> score;
  std::array<std::uint32_t, max_group> member;
};
/// Maximum number of collected keys of one reference patch, at which the selection removes all but
/// the best keys.
inline constexpr int max_keys = 192;
struct SelectScratch {
  std::uint32_t* keys;  // [lanes of a vector][max_keys]
};
inline constexpr std::size_t select_scratch_size = std::size_t{lane_multiple} * max_keys;

/// Selects the best candidates for row `row` of the block. The result is one ranking for each
/// column.
void rank_candidates(const SelectParams& params, const MatchGeometry& geometry, const Block& block,
                     int step, int row, const Scores& scores, const SelectScratch& scratch,
                     std::span<Ranking> rankings);

struct TemporalRankParams {
  int group;            // maximum number of members of a group
  std::uint16_t limit;  // maximum score of a member, < 65535
  /// Amount that is subtracted from the score of the patch at the centre of the window. A saturated
  /// score is not changed.
  std::uint16_t motion_bias;
  int offset;  // frame that contains the candidates
};
/// Adds candidates from a neighbouring frame to the ranking of the reference patch at (x, y), if
/// they are better than candidates in the ranking. The candidates come from a window around the
/// position of the reference patch plus `motion`. Both guides must be arranged for a step of 1, and
/// the guide of the candidates must be readable for `temporal_padding` samples beyond the last
/// column. `invalid` marks its invalid positions, as for score_block().
void rank_temporal_candidates(const TemporalRankParams& params, const PairedGuide& own,
                              const PairedGuide& other, const MatchGeometry& geometry, int x, int y,
                              const Motion& motion, Ranking& ranking,
                              const PairedGuide* invalid = nullptr);
inline constexpr int temporal_padding = 32;

// ---- propagation ---------------------------------------------------------------------------

/// 16-bit scores saturate at this value. A patch with this score is never a candidate.
inline constexpr std::int32_t saturated_score = 65535;

/// The displacements that candidates from other groups (propagation.h) may have in one frame. Both
/// ends of the ranges are included.
struct PropagationFrame {
  const std::int8_t* strips = nullptr;  // the guide in the layout of PatchStrips, at sample (0, 0)
  Motion predicted;
  // Radius of the refinement window around `predicted`; -1: no refinement window.
  int refine_radius = -1;
  int left = 0, right = 0, top = 0, bottom = 0;
};
struct PropagationReach {
  std::span<const int> offsets;  // time offsets of the frames
  ByOffset<PropagationFrame> frames;
  int row = 0;  // distance from one row of strips to the next, in samples
};
struct PropagateParams {
  int group;                 // maximum number of members of a group
  std::int32_t limit;        // maximum score of a member, below saturated_score
  std::int32_t motion_bias;  // amount subtracted from the score of the patch that motion predicts
};
/// Makes the group of the reference patch at (x, y) from two lists of candidates: `near`, the
/// ranked candidates in the refinement windows of this patch, and `members`, at most max_propagated
/// members of other groups. `members` must have max_propagated readable elements.
Group propagate(const PropagateParams& params, const PropagationReach& reach, int x, int y,
                std::span<const std::uint32_t> members, const Ranking& near);

/// Returns the group that consists of the best candidates of a ranking.
Group group_of(const Ranking& ranking);
/// Stores the best candidates of a ranking as the group `group`.
void make_group(const Ranking& ranking, Group& group);

}  // namespace lull::cpu
