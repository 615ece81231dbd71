// Computes the scores of a block, one reference patch in each lane. A vector contains the same pair
// of samples of 16 (AVX2) or 32 (AVX-512) reference patches.

// Neighbouring patches overlap. For each displacement, the kernel therefore compares each sample
// once, and computes the distances of patches in two steps.

// Step 1: for each pair of adjacent columns, the kernel sums squared differences over `step` rows,
// and then sums the results over the height of the patch.

// Step 2: the kernel adds the sums of all pairs of columns of each reference patch. Step 1 has
// computed only the sums of the leftmost pairs, in the lane of the patch. The other pairs are the
// leftmost pairs of patches further right, so the kernel loads their sums from the lanes of those
// patches.

// All sums saturate at 16 bits. The unit of the quantised guide, which quantiser_of() chooses, is
// normally so large that the scores of group members do not saturate.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "match/cpu/kernels.h"
#include "match/cpu/score_plan.h"
#include "match/cpu/squares.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<std::uint16_t>;
using Sum = hn::Vec<Lanes>;

/// Sums of squared differences in a band of kStep rows, for each candidate c and each phase k (see
/// PairPlan). all[c][k] is the sum over all rows of the band. part[c][k] is the sum over only the
/// first patch % kStep rows of the band.
template <int kStep, int kCount>
struct RowSums {
  // This constructor initialises SIMD vectors. The macro HWY_ATTR makes the compiler generate the
  // constructor for the instruction set of these vectors.
  HWY_ATTR RowSums() {}
  Sum all[kCount][4], part[kCount][4];
};

template <int kStep>
struct BlockScorer {
  static constexpr PairPlan plan = plan_for(kStep);
  static constexpr int full = patch / kStep, rest = patch % kStep;

  std::ptrdiff_t row_stride, step_stride;  // number of elements in one row, and in `step` rows
  int rows, lanes;
  const std::uint16_t* reference[4];
  std::uint16_t* sums;  // [candidate][row][stored array][lane]

  std::uint16_t* sums_at(int candidate, int row, int array) const {
    return sums + ((candidate * rows + row) * plan.stored + array) * lanes;
  }

  /// Sums the squared differences of kStep rows. Rows below the last patch are readable, because
  /// the guide has padding.
  template <int kCount>
  HWY_INLINE void add_rows(const std::uint16_t* const (*candidate)[4], std::ptrdiff_t at,
                           RowSums<kStep, kCount>& out) const {
#pragma GCC unroll 8
    for (int k = 0; k < plan.phases; ++k)
#pragma GCC unroll 8
      for (int r = 0; r < kStep; ++r) {
        const auto a = load_bytes(Lanes(), reference[k] + at + r * row_stride);
#pragma GCC unroll 2
        for (int c = 0; c < kCount; ++c) {
          const Sum squares = squared_pairs(Lanes(), a, candidate[c][k] + at + r * row_stride);
          out.all[c][k] = r == 0 ? squares : hn::SaturatedAdd(out.all[c][k], squares);
          if (r == rest - 1) out.part[c][k] = out.all[c][k];
        }
      }
  }

  /// Sums the squared differences of kCount candidates over the height of a patch (step 1 at the
  /// top of scores.cpp).
  template <int kCount>
  HWY_INLINE void column_sums(const std::uint16_t* const (*candidate)[4]) const {
    const Lanes d;
    const int width = static_cast<int>(hn::Lanes(d));
    // Index of the last band of kStep rows of a patch. This band may have fewer rows.
    constexpr int newest = rest == 0 ? full - 1 : full;
    for (int lane = 0; lane < lanes; lane += width) {
      Sum history[full][kCount][4];  // sums of the preceding bands, the oldest band first
      std::ptrdiff_t at = lane;
      for (int row = -newest; row < rows; ++row, at += step_stride) {
        RowSums<kStep, kCount> now;
        add_rows<kCount>(candidate, at, now);
#pragma GCC unroll 2
        for (int c = 0; c < kCount; ++c) {
          if (row >= 0) {
            Sum total[4];
#pragma GCC unroll 8
            for (int k = 0; k < plan.phases; ++k) {
              total[k] = rest == 0 ? now.all[c][k] : now.part[c][k];
#pragma GCC unroll 8
              for (int h = full - newest; h < full; ++h)
                total[k] = hn::SaturatedAdd(total[k], history[h][c][k]);
            }
#pragma GCC unroll 8
            for (int s = 0; s < plan.stored; ++s) {
              Sum sum = hn::Zero(d);
#pragma GCC unroll 8
              for (int k = 0; k < plan.phases; ++k)
                if ((plan.mask[s] >> k & 1) != 0) sum = hn::SaturatedAdd(sum, total[k]);
              hn::StoreU(sum, d, sums_at(c, row, s) + lane);
            }
          }
#pragma GCC unroll 8
          for (int k = 0; k < plan.phases; ++k) {
#pragma GCC unroll 8
            for (int h = 0; h + 1 < full; ++h) history[h][c][k] = history[h + 1][c][k];
            history[full - 1][c][k] = now.all[c][k];
          }
        }
      }
    }
  }

  /// The destination of the scores of one candidate, and the masks of excluded positions. `outside`
  /// is the same for all rows of the block. The other pointers are for the first row.
  struct Target {
    const std::uint16_t* outside;
    const std::uint16_t* invalid;  // null: all positions are valid
    std::uint16_t *values, *minima;
    std::size_t values_stride, minima_stride;  // distance between rows, in elements
  };

  /// Computes the scores of candidate `c` in some rows of the block (step 2 at the top of
  /// scores.cpp). `first` and `last` are the first and the last of these rows. Also updates
  /// Scores::minima with these scores.
  template <bool kBiased, bool kHasInvalid>
  HWY_INLINE void finish(int c, int first, int last, const Target& to, std::uint16_t added = 0,
                         std::uint16_t subtracted = 0) const {
    const Lanes d;
    const int width = static_cast<int>(hn::Lanes(d));
    for (int row = first; row <= last; ++row)
      for (int lane = 0; lane < lanes; lane += width) {
        Sum score = hn::LoadU(d, to.outside + lane);
#pragma GCC unroll 4
        for (int t = 0; t < plan.terms; ++t)
          score = hn::SaturatedAdd(
              score, hn::LoadU(d, sums_at(c, row, plan.array[t]) + lane + plan.shift[t]));
        if constexpr (kBiased) {
          score = hn::SaturatedAdd(score, hn::Set(d, added));
          const auto saturated = hn::Eq(score, hn::Set(d, 0xffff));
          score = hn::IfThenElse(saturated, score, hn::SaturatedSub(score, hn::Set(d, subtracted)));
        }
        if constexpr (kHasInvalid)
          score = hn::SaturatedAdd(score, hn::LoadU(d, to.invalid + row * step_stride + lane));
        hn::StoreU(score, d, to.values + row * to.values_stride + lane);
        std::uint16_t* const least = to.minima + row * to.minima_stride + lane;
        hn::StoreU(hn::Min(hn::LoadU(d, least), score), d, least);
      }
  }
};

/// Computes the scores of one block. kStep is the step of the reference patches in samples, at most
/// the width of a patch.
template <int kStep>
class BlockMatcher {
 public:
  BlockMatcher(const PairedGuide& guide, const MatchGeometry& g, const Block& block,
               const Scores& scores, const ScoreBias* bias, const PairedGuide* invalid)
      : guide_(guide),
        g_(g),
        block_(block),
        scores_(scores),
        bias_(bias),
        invalid_(invalid),
        scorer_{guide.row_stride, guide.step * guide.row_stride, block.rows, scores.lanes, {},
                scores.sums} {
    for (int k = 0; k < Scorer::plan.phases; ++k)
      scorer_.reference[k] = guide.at(block.x + Scorer::plan.phase[k], block.y);
  }

  void run() const {
    const std::size_t minima = static_cast<std::size_t>(scores_.classes) * scores_.lanes;
    std::fill_n(scores_.minima, minima * block_.rows, std::uint16_t{0xffff});
    const int step = guide_.step;
    mark_outside(g_, block_, step, scores_);
    const int radius = g_.radius(), last_y = block_.y + (block_.rows - 1) * step;
    for (int dy = g_.first_dy(last_y); dy <= g_.last_dy(block_.y); ++dy) {
      int first = 0, last = block_.rows - 1;  // rows of the block whose window contains this dy
      while (dy < g_.first_dy(block_.y + first * step)) ++first;
      while (dy > g_.last_dy(block_.y + last * step)) --last;
      int dx = -radius;
      // Processes two candidates at a time, so that the kernel loads the reference samples only
      // once for both. If kStep is below 5, the sums of two candidates need too many registers, and
      // the kernel processes one candidate at a time.
      if constexpr (kStep >= 5)
        for (; dx < radius; dx += 2) match<2>(dx, dy, first, last);
      for (; dx <= radius; ++dx) match<1>(dx, dy, first, last);
    }
  }

 private:
  using Scorer = BlockScorer<kStep>;

  template <int kCount>
  HWY_INLINE void match(int dx, int dy, int first, int last) const {
    const std::uint16_t* candidate[kCount][4];
    for (int c = 0; c < kCount; ++c)
      for (int k = 0; k < Scorer::plan.phases; ++k)
        candidate[c][k] = guide_.at(block_.x + Scorer::plan.phase[k] + dx + c, block_.y + dy);
    scorer_.template column_sums<kCount>(candidate);
    const std::size_t lanes = scores_.lanes, window = g_.window;
    for (int c = 0; c < kCount; ++c) {
      const std::size_t column = dx + c + g_.radius();
      const std::size_t index = (dy + g_.radius()) * window + column;
      const std::size_t outside = dx + c == 0 && dy == 0 ? window : column;
      const typename Scorer::Target target{
          scores_.outside + outside * lanes, invalid_at(dx + c, dy),
          scores_.values + index * lanes,    scores_.minima + index % scores_.classes * lanes,
          window * window * lanes,           scores_.classes * lanes};
      const bool biased = bias_ != nullptr && within_lags(dx + c, dy);
      const int at = biased ? lag_index(dx + c, dy) : 0;
      const std::uint16_t added = biased ? bias_->added[at] : 0,
                          subtracted = biased ? bias_->subtracted[at] : 0;
      if (invalid_ != nullptr)
        scorer_.template finish<true, true>(c, first, last, target, added, subtracted);
      else if (biased)
        scorer_.template finish<true, false>(c, first, last, target, added, subtracted);
      else
        scorer_.template finish<false, false>(c, first, last, target);
    }
  }

  const std::uint16_t* invalid_at(int dx, int dy) const {
    return invalid_ != nullptr ? invalid_->at(block_.x + dx, block_.y + dy) : nullptr;
  }

  const PairedGuide& guide_;
  const MatchGeometry& g_;
  const Block& block_;
  const Scores& scores_;
  const ScoreBias* bias_;
  const PairedGuide* invalid_;
  Scorer scorer_;
};

template <int kStep>
void score_block_of(const PairedGuide& guide, const MatchGeometry& g, const Block& block,
                    const Scores& scores, const ScoreBias* bias, const PairedGuide* invalid) {
  BlockMatcher<kStep>(guide, g, block, scores, bias, invalid).run();
}

}  // namespace

void score_block(const PairedGuide& guide, const MatchGeometry& geometry, const Block& block,
                 const Scores& scores, const ScoreBias* bias, const PairedGuide* invalid) {
  using Score = void (*)(const PairedGuide&, const MatchGeometry&, const Block&, const Scores&,
                         const ScoreBias*, const PairedGuide*);
  static constexpr Score by_step[] = {score_block_of<1>, score_block_of<2>, score_block_of<3>,
                                      score_block_of<4>, score_block_of<5>, score_block_of<6>,
                                      score_block_of<7>, score_block_of<8>};
  by_step[std::min(guide.step, patch) - 1](guide, geometry, block, scores, bias, invalid);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
void mark_outside(const MatchGeometry& g, const Block& block, int step, const Scores& scores) {
  const int radius = g.radius();
  for (int i = 0; i < g.window; ++i)
    for (int lane = 0; lane < scores.lanes; ++lane) {
      const int x = block.x + lane * step + i - radius;
      const bool inside = x >= 0 && x <= g.width - patch;
      scores.outside[i * scores.lanes + lane] = inside ? 0 : 0xffff;
    }
  std::fill_n(scores.outside + g.window * scores.lanes, scores.lanes, std::uint16_t{0xffff});
}

HWY_EXPORT(score_block);
void score_block(const PairedGuide& guide, const MatchGeometry& geometry, const Block& block,
                 const Scores& scores, const ScoreBias* bias, const PairedGuide* invalid) {
  HWY_DYNAMIC_DISPATCH(score_block)(guide, geometry, block, scores, bias, invalid);
}
}  // namespace lull::cpu
#endif
