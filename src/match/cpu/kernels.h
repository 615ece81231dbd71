#pragma once
// Data and kernels of matching on the CPU, compiled by Highway for every instruction set and
// dispatched at run time.

// - bytes.cpp quantises the guide to 8 bits.
// - guide.cpp arranges the guide for matching.
// - scores.cpp computes the distances of candidates; products.cpp does so with AVX-512 VNNI.
// - select.cpp selects the most similar candidates.
// - temporal_candidates.cpp adds candidates from neighbouring frames.

// - propagate.cpp finds groups by propagation instead of a search of complete windows.

#include <algorithm>
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

/// Memory aligned to 64 bytes. When the memory grows, it does not preserve its content. The memory
/// never shrinks.
template <class T>
class Buffer {
 public:
  T* reserve(std::size_t count) {
    if (count > capacity_) {
      // The memory is a plane of several rows without gaps. A single row would be too long for
      // large buffers, because the width of a plane is an `int`.
      const int width = static_cast<int>(std::min(count, max_row));
      memory_ = Plane<T>(width, static_cast<int>((count + max_row - 1) / max_row));
      capacity_ = count;
    }
    return data();
  }
  T* data() { return memory_.view().data; }
  const T* data() const { return memory_.view().data; }

 private:
  static constexpr std::size_t max_row = std::size_t{1} << 30;
  Plane<T> memory_;
  std::size_t capacity_ = 0;
};

/// Number of 16-bit lanes of the widest vector. The sizes of arrays of 16-bit values are multiples
/// of this number.
inline constexpr int lane_multiple = 32;

/// Returns a / b, rounded down, for b > 0.
constexpr int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// ---- guide ---------------------------------------------------------------------------------

/// Quantises samples of the guide to signed bytes: (sample - centre) / unit.
struct Quantiser {
  float centre = 0, unit = 1;
};

/// The guide in a polyphase layout, in which neighbouring elements in memory belong to neighbouring
/// reference patches. These patches are `step` samples apart. Phase m (0 .. `step` - 1) has the
/// elements at x = i * step + m, i = 0, 1, .. The element at x contains the sample at x and the
/// next samples of the row, one byte each.

/// Samples outside the picture repeat the border.
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
/// A guide with four samples in each element, and the norm of each patch (products.cpp).
struct QuadGuide {
  PhasedGuide<std::int32_t> quads, norms;  // `quads` and `norms` have the same layout
};

/// Quantises a row of the guide to bytes.
void byte_row(std::span<const float> samples, const Quantiser& quantiser, std::int8_t* bytes);
/// The destination of one row of a PhasedGuide. `to` points to the element with the index
/// `first_element` of phase 0. `bytes` is scratch memory of elements * step + sizeof(Element) - 1
/// bytes.
template <class Element>
struct PhasedRow {
  Element* to;
  std::ptrdiff_t phase_stride;
  int first_element, elements, step;
  std::int8_t* bytes;
};
/// Writes the elements of a row of the guide.
void pair_row(std::span<const float> samples, const Quantiser& quantiser,
              const PhasedRow<std::uint16_t>& row);
void quad_row(std::span<const float> samples, const Quantiser& quantiser,
              const PhasedRow<std::int32_t>& row);
/// Returns the minimum and the maximum sample of a row.
std::array<float, 2> row_range(std::span<const float> samples);

// ---- matching ------------------------------------------------------------------------------

/// A rectangular block of reference patches. The first patch of the block is at (x, y).
struct Block {
  int x = 0, y = 0, columns = 0, rows = 0;
};

/// Maximum number of lanes for a row of reference patches, including extra_lanes().
inline constexpr int max_lanes = 128;
/// Returns the number of additional lanes after the last reference patch of a row. Reference
/// patches overlap, so the lane of a patch sums only the columns before the next patch begins. The
/// lanes of the next patches sum the other columns. The last patches of a row have no next patches,
/// and need additional lanes instead.
constexpr int extra_lanes(int step) { return (patch - 2) / step; }
constexpr int lanes_of(int columns, int step) {
  return static_cast<int>(round_up(columns + extra_lanes(step), lane_multiple));
}

/// Scores of the candidates of a block: sums of squared differences, saturated at 16 bits. The
/// candidate with the displacement (dx, dy) has the index (dy + radius) * window + dx + radius.
struct Scores {
  std::uint16_t* values;  // [row][candidate][lane]
  /// An array [row][class][lane]. An element is the minimum score of all candidates in a class. A
  /// class consists of all candidates whose index has the same remainder modulo `classes`.
  std::uint16_t* minima;
  std::uint16_t* sums;  // scratch memory of sums_size() elements
  // Scratch memory for masks, an array [window + 1][lane], which mark_outside() fills. The masks
  // mark candidates that lie partly outside the picture.
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

/// MatchParams::bias in the unit of scores. `added` contains the positive biases, and `subtracted`
/// contains the magnitudes of the negative biases.
struct ScoreBias {
  std::array<std::uint16_t, correlation_lags * correlation_lags> added, subtracted;
};

/// Computes the scores of a block. `bias` and `invalid` may be null. `invalid` has the layout of
/// the guide: 0xffff at positions that are not candidates.
void score_block(const PairedGuide& guide, const MatchGeometry& geometry, const Block& block,
                 const Scores& scores, const ScoreBias* bias = nullptr,
                 const PairedGuide* invalid = nullptr);

/// Returns whether score_block_by_products() supports reference patches that begin `step` samples
/// apart, and is faster than score_block().
bool scores_by_products(int step);
/// Computes the norms of patches (products.cpp) and writes them to `to`. The patches begin at all
/// positions of `rows` rows. `from` points to the first of these rows in `quads`, which stores each
/// row as `quads.step` separate arrays (PhasedGuide). Each array has `elements` elements, a
/// multiple of 16.
void fill_norms(const PhasedGuide<std::int32_t>& quads, const std::int32_t* from, int rows,
                int elements, std::int32_t* to);
/// Computes the scores of a block as score_block() does, but does not clamp the differences of
/// samples to a byte.
void score_block_by_products(const QuadGuide& guide, const MatchGeometry& geometry,
                             const Block& block, const Scores& scores,
                             const ScoreBias* bias = nullptr, const PairedGuide* invalid = nullptr);

/// Fills Scores::outside with one row of masks for each dx: 0xffff if the candidate lies partly
/// outside the picture, otherwise 0. One further row consists of 0xffff. With this row,
/// score_block() excludes the reference patch itself, which is not a candidate.
void mark_outside(const MatchGeometry& geometry, const Block& block, int step,
                  const Scores& scores);

// ---- selection -----------------------------------------------------------------------------

struct SelectParams {
  int group;            // maximum number of members of a group
  std::uint16_t limit;  // maximum score of a member, < 65535
  // The packed displacement (group.h) of each candidate.
  const std::uint32_t* displacement;
};
/// The best candidates of one reference patch, in the order of group.h.
struct Ranking {
  int count = 0;  // <= group - 1
  std::array<std::uint16_t, max_group> score;
  std::array<std::uint32_t, max_group> member;
};
/// Maximum number of keys collected for one reference patch. When the array is full, only the best
/// keys remain.
inline constexpr int max_keys = 192;
struct SelectScratch {
  std::uint32_t* keys;  // [lanes of a vector][max_keys]
};
inline constexpr std::size_t select_scratch_size = std::size_t{lane_multiple} * max_keys;

/// Selects the best candidates of the reference patches in row `row` of a block.
void rank_candidates(const SelectParams& params, const MatchGeometry& geometry, const Block& block,
                     int step, int row, const Scores& scores, const SelectScratch& scratch,
                     std::span<Ranking> rankings);

struct TemporalRankParams {
  int group;            // maximum number of members of a group
  std::uint16_t limit;  // maximum score of a member, < 65535
  /// The matcher subtracts this amount from the score of the patch to which the motion vector
  /// points, unless this score is saturated.
  std::uint16_t motion_bias;
  int offset;  // frame that contains the candidates
};
/// Merges candidates from a neighbouring frame into the ranking of the reference patch at (x, y).
/// The candidates lie around (x, y) plus `motion`. The guides must have a PhasedGuide::step of one.
/// The function may read `temporal_padding` samples after the last column of `other`.
void rank_temporal_candidates(const TemporalRankParams& params, const PairedGuide& own,
                              const PairedGuide& other, const MatchGeometry& geometry, int x, int y,
                              const Motion& motion, Ranking& ranking,
                              const PairedGuide* invalid = nullptr);
inline constexpr int temporal_padding = 32;

// ---- propagation ---------------------------------------------------------------------------

/// The value at which 16-bit scores saturate. Patches with this score are not candidates.
inline constexpr std::int32_t saturated_score = 65535;

/// A frame in which the matcher finds candidates for one reference patch (propagation.h). Relative
/// to the reference patch, candidates have displacements from `left` to `right` along x, and from
/// `top` to `bottom` along y, both ends included.
struct PropagationFrame {
  const std::int8_t* strips = nullptr;  // the guide in the layout of PatchStrips, at sample (0, 0)
  Motion predicted;
  // Radius of the refinement window around the position `predicted`. -1: no refinement window.
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
  std::int32_t motion_bias;  // amount subtracted from the score of the predicted patch
};
/// Makes the group of the reference patch at (x, y) from the candidates `near` and `members`. The
/// array behind `members` must have max_propagated elements, because the function loads complete
/// vectors.
Group propagate(const PropagateParams& params, const PropagationReach& reach, int x, int y,
                std::span<const std::uint32_t> members, const Ranking& near);

/// Returns the best candidates of a ranking as a group.
Group group_of(const Ranking& ranking);
/// Writes the best candidates of a ranking to `group`.
void make_group(const Ranking& ranking, Group& group);

}  // namespace lull::cpu
