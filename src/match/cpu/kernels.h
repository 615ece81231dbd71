#pragma once
// What the stages of matching on the CPU hand to each other. Each stage is one source, compiled for
// every instruction set that Highway knows and chosen at run time:
//   bytes.cpp    the guide in 8 bits
//   guide.cpp    and arranged for matching (plain code)
//   scores.cpp   distances of all candidates of a block of references
//   products.cpp the same where an instruction set multiplies and adds four bytes at a time
//   around.cpp   candidates from other frames
//   select.cpp   the most similar candidates of each reference: groups
// window_search.h runs them.
//   propagate.cpp  what a reference takes of the groups of others; propagating_matcher.cpp runs it

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

/// Memory on 64-byte boundaries that grows and never shrinks; growing loses the content.
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

/// Lanes that every array of the matching is padded to: the widest vector of 16-bit lanes.
inline constexpr int lane_multiple = 32;

/// Quotient rounded down, for positive divisors.
constexpr int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// ---- guide ---------------------------------------------------------------------------------

/// How samples of the guide become signed bytes: (sample - centre) / unit.
struct Quantiser {
  float centre = 0, unit = 1;
};

/// The guide as several bytes to an element: element i of phase m of row y holds the samples of row
/// y from x = i step + m on, for m = 0 .. step - 1. So neighbouring elements belong to neighbouring
/// reference patches, and one vector serves as many of them as it has lanes, at any displacement.
/// Samples outside of the picture repeat the border.
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
/// Pairs of samples.
using PairedGuide = PhasedGuide<std::uint16_t>;
/// Fours of samples, and for each place what its patch adds to distances (products.cpp).
struct QuadGuide {
  PhasedGuide<std::int32_t> quads, norms;  // arranged alike
};

/// A row of the guide as bytes.
void byte_row(std::span<const float> samples, const Quantiser& quantiser, std::int8_t* bytes);
/// Fills the row of elements at `to` (element i = first_element of phase 0) from a row of samples.
/// `bytes` is scratch for the elements' samples: elements * step and the bytes of an element - 1.
template <class Element>
struct PhasedRow {
  Element* to;
  std::ptrdiff_t phase_stride;
  int first_element, elements, step;
  std::int8_t* bytes;
};
void pair_row(std::span<const float> samples, const Quantiser& quantiser,
              const PhasedRow<std::uint16_t>& row);
void quad_row(std::span<const float> samples, const Quantiser& quantiser,
              const PhasedRow<std::int32_t>& row);
/// Smallest and largest sample.
std::array<float, 2> row_range(std::span<const float> samples);

// ---- matching ------------------------------------------------------------------------------

/// References of a block: `columns` x `rows`, the guide's step apart, the first at (x, y).
struct Block {
  int x = 0, y = 0, columns = 0, rows = 0;
};

/// References that one block may be wide: so many lanes, less those that only feed their
/// neighbours.
inline constexpr int max_lanes = 128;
/// Lanes beyond the last reference of a block that its patches reach into.
constexpr int extra_lanes(int step) { return (patch - 2) / step; }
constexpr int lanes_of(int columns, int step) {
  return static_cast<int>(round_up(columns + extra_lanes(step), lane_multiple));
}

/// Scores of the candidates of a block: squared differences summed over the patch, in units of the
/// quantiser, saturated. Candidate `c` = (dy + radius) window + dx + radius.
struct Scores {
  std::uint16_t* values;   // [row][candidate][lane]
  std::uint16_t* minima;   // [row][class][lane]: the least score of the candidates c % classes
  std::uint16_t* sums;     // scratch, sums_size()
  std::uint16_t* outside;  // scratch, [window + 1][lane]: candidates that leave the picture
  int lanes;
  int classes;  // power of two
};
constexpr std::size_t sums_size(int rows, int lanes) {
  return static_cast<std::size_t>(2 * rows) * 3 * lanes + lane_multiple;
}

struct MatchGeometry {
  int width, height;  // of the picture
  int window;         // the one that is searched
  int radius() const { return window / 2; }
  int first_dy(int y) const { return y < radius() ? -y : -radius(); }
  int last_dy(int y) const {
    const int below = height - patch - y;
    return below < radius() ? below : radius();
  }
};

/// MatchParams::bias as scores: what is added and what is taken off.
struct ScoreBias {
  std::array<std::uint16_t, correlation_lags * correlation_lags> more, less;
};

/// `bias`, `barred`: null for none. `barred`: laid out as the guide, 0xffff where a candidate does
/// not count, else 0.
void score_block(const PairedGuide& guide, const MatchGeometry& geometry, const Block& block,
                 const Scores& scores, const ScoreBias* bias = nullptr,
                 const PairedGuide* barred = nullptr);

/// Whether score_block_by_products() is there for references `step` apart, and worth it.
bool scores_by_products(int step);
/// `rows` rows of norms from `to` on, for the rows of `quads` at `from`, whose phases follow each
/// other: `elements` to a row, a multiple of 16. Reads patch - 1 rows of quads more.
void fill_norms(const PhasedGuide<std::int32_t>& quads, const std::int32_t* from, int rows,
                int elements, std::int32_t* to);
/// As score_block(). Differences of samples that a byte does not hold are not cut off.
void score_block_by_products(const QuadGuide& guide, const MatchGeometry& geometry,
                             const Block& block, const Scores& scores,
                             const ScoreBias* bias = nullptr, const PairedGuide* barred = nullptr);

/// Fills Scores::outside: for each dx a row of lanes, 0xffff where the candidate leaves the
/// picture; and one of all ones, for the reference itself.
void mark_outside(const MatchGeometry& geometry, const Block& block, int step,
                  const Scores& scores);

// ---- selection -----------------------------------------------------------------------------

struct SelectParams {
  int group;                          // patches at most
  std::uint16_t limit;                // largest score that counts, < 65535
  const std::uint32_t* displacement;  // of each candidate, packed (group.h)
};
/// The candidates of one reference that are best so far, in the order of group.h.
struct Ranking {
  int count = 0;  // at most group - 1
  std::array<std::uint16_t, max_group> score;
  std::array<std::uint32_t, max_group> member;
};
/// Keys of one reference while they are collected.
inline constexpr int max_keys = 192;
struct SelectScratch {
  std::uint32_t* keys;  // [lanes of a vector][max_keys]
};
inline constexpr std::size_t select_scratch_size = std::size_t{lane_multiple} * max_keys;

/// The rankings of row `row` of the block, one for each column.
void rank_candidates(const SelectParams& params, const MatchGeometry& geometry, const Block& block,
                     int step, int row, const Scores& scores, const SelectScratch& scratch,
                     std::span<Ranking> rankings);

struct AroundParams {
  int group;            // patches at most
  std::uint16_t limit;  // largest score that counts, < 65535
  std::uint16_t bonus;  // taken off that of the patch at the centre, if it is not saturated
  int offset;           // the candidates' frame
};
/// Adds to the ranking of the reference at (x, y) those candidates from another frame that are
/// better, out of a window around its place plus `motion`. The guides have step 1; that of the
/// candidates can be read for around_padding samples beyond the last column.
/// `barred`: of the other frame, as for score_block().
void rank_around(const AroundParams& params, const PairedGuide& own, const PairedGuide& other,
                 const MatchGeometry& geometry, int x, int y, const Motion& motion,
                 Ranking& ranking, const PairedGuide* barred = nullptr);
inline constexpr int around_padding = 32;

// ---- propagation ---------------------------------------------------------------------------

/// What scores of 16 bits saturate at: too far.
inline constexpr std::int32_t saturated_score = 65535;

/// A frame as a reference patch sees it that propagates (propagation.h): displacements that members
/// may have there, both ends included.
struct PropagationFrame {
  const std::int8_t* strips = nullptr;  // the guide as in PatchStrips, at sample (0, 0)
  Motion predicted;
  int near_radius = -1;  // of the window that was searched around it; -1: none
  int left = 0, right = 0, top = 0, bottom = 0;
};
struct PropagationReach {
  std::span<const int> offsets;  // of the frames
  ByOffset<PropagationFrame> frames;
  int row = 0;  // samples from one row of strips to the next
};
struct PropagateParams {
  int group;           // patches at most
  std::int32_t limit;  // largest score that counts, below saturated_score
  std::int32_t bonus;  // taken off that of the patch at the place that motion predicts
};
/// The group of the reference at (x, y) out of the candidates that lie near it, ranked, and of
/// members of others' groups, up to max_propagated. As many can be read.
Group propagate(const PropagateParams& params, const PropagationReach& reach, int x, int y,
                std::span<const std::uint32_t> members, const Ranking& near);

/// The group that a ranking amounts to.
Group group_of(const Ranking& ranking);
/// The same in place.
void make_group(const Ranking& ranking, Group& group);

}  // namespace lull::cpu
