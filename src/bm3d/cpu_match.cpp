// Distances of all candidates of a block of references.
//
// Lanes are references: one vector holds the same pair of neighbouring samples of 16 (AVX2) or 32
// (AVX-512) references, and the sum of two squared differences of bytes is one multiply-add.
// Neighbouring references share most of their patches, so a displacement costs each sample once:
//   1. rows of pairs are summed over `step` rows, and these sums over the patch's height;
//   2. the pairs that a patch needs beyond its own `step` columns are those of its neighbours to
//   the
//      right: the sums are stored and loaded again from one lane on.
// Pairs cover the patch's columns 0-1, 2-3, 4-5, 6-7: column c is phase c % step of the reference
// c / step further on.
// All sums saturate at 16 bits; the engine chooses the unit of the bytes so that tau is below that.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm3d/cpu_match.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "bm3d/cpu_kernels.h"

#ifndef LULL_BM3D_CPU_MATCH_PLAN
#define LULL_BM3D_CPU_MATCH_PLAN
namespace lull::bm3d::cpu {

/// Which sums make a patch, for a step.
struct PairPlan {
  int phases = 0;
  std::array<int, 4> phase{};  // the different phases
  int stored = 0;
  std::array<unsigned, 3> mask{};  // phases summed in each stored array, by index
  int terms = 0;
  std::array<int, 4> array{}, shift{};  // a patch is the sum of these arrays at these lanes
};

constexpr PairPlan plan_for(int step) {
  PairPlan plan;
  std::array<unsigned, 8> at_shift{};
  for (int column = 0; column < patch; column += 2) {
    int index = 0;
    while (index < plan.phases && plan.phase[index] != column % step) ++index;
    if (index == plan.phases) plan.phase[plan.phases++] = column % step;
    at_shift[column / step] |= 1u << index;
  }
  for (int shift = 0; shift < 8; ++shift) {
    if (at_shift[shift] == 0) continue;
    int array = 0;
    while (array < plan.stored && plan.mask[array] != at_shift[shift]) ++array;
    if (array == plan.stored) plan.mask[plan.stored++] = at_shift[shift];
    plan.array[plan.terms] = array;
    plan.shift[plan.terms++] = shift;
  }
  return plan;
}

}  // namespace lull::bm3d::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<std::uint16_t>;
using Bytes = hn::Repartition<std::int8_t, Lanes>;
using Sum = hn::Vec<Lanes>;

/// d0^2 + d1^2 of the pairs' differences, each cut off at 127.
HWY_INLINE Sum squared_pairs(const std::uint16_t* a, const std::uint16_t* b) {
  const Bytes bytes;
  const auto va = hn::LoadU(bytes, reinterpret_cast<const std::int8_t*>(a));
  const auto vb = hn::LoadU(bytes, reinterpret_cast<const std::int8_t*>(b));
  const auto d = hn::Max(hn::SaturatedSub(va, vb), hn::SaturatedSub(vb, va));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return Sum{_mm512_maddubs_epi16(d.raw, d.raw)};
#elif HWY_TARGET == HWY_AVX2
  return Sum{_mm256_maddubs_epi16(d.raw, d.raw)};
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  return Sum{_mm_maddubs_epi16(d.raw, d.raw)};
#else
  const Lanes lanes;
  const auto pair = hn::BitCast(lanes, d);
  const auto low = hn::And(pair, hn::Set(lanes, 0xff));
  const auto high = hn::ShiftRight<8>(pair);
  return hn::Add(hn::Mul(low, low), hn::Mul(high, high));
#endif
}

template <int kStep>
struct BlockScorer {
  static constexpr PairPlan plan = plan_for(kStep);
  static constexpr int full = patch / kStep, rest = patch % kStep;

  std::ptrdiff_t row_stride;
  int rows, lanes;
  const std::uint16_t* reference[4];
  std::uint16_t* sums;  // [row][stored array][lane]

  /// Step 1 of the head comment, for the candidates at `candidate` (one pointer for each phase).
  HWY_INLINE void column_sums(const std::uint16_t* const* candidate) const {
    const Lanes d;
    const int width = static_cast<int>(hn::Lanes(d));
    const std::ptrdiff_t stride = row_stride;
    for (int lane = 0; lane < lanes; lane += width) {
      Sum history[full][4];  // sums of the last `full` groups of kStep rows
      const int groups = rows + full - (rest == 0);
      std::ptrdiff_t at = lane;
      for (int g = 0; g < groups; ++g, at += kStep * stride) {
        Sum now[4], part[4];
        for (int k = 0; k < plan.phases; ++k) {
          const std::uint16_t* a = reference[k] + at;
          const std::uint16_t* b = candidate[k] + at;
          now[k] = squared_pairs(a, b);
          if constexpr (rest == 1) part[k] = now[k];
          for (int r = 1; r < kStep; ++r) {
            if constexpr (rest > 1)
              if (r == rest) part[k] = now[k];
            // Rows beyond the last patch exist in the guide: it is padded.
            now[k] = hn::SaturatedAdd(now[k], squared_pairs(a + r * stride, b + r * stride));
          }
        }
        const int row = g - (rest == 0 ? full - 1 : full);
        if (row >= 0) {
          Sum total[4];
          for (int k = 0; k < plan.phases; ++k) {
            total[k] = rest == 0 ? now[k] : part[k];
            for (int h = rest == 0 ? 1 : 0; h < full; ++h)
              total[k] = hn::SaturatedAdd(total[k], history[h][k]);
          }
          for (int s = 0; s < plan.stored; ++s) {
            Sum sum = hn::Zero(d);
            for (int k = 0; k < plan.phases; ++k)
              if ((plan.mask[s] >> k & 1) != 0) sum = hn::SaturatedAdd(sum, total[k]);
            hn::StoreU(sum, d, sums + (row * plan.stored + s) * lanes + lane);
          }
        }
        for (int h = 0; h + 1 < full; ++h)
          for (int k = 0; k < plan.phases; ++k) history[h][k] = history[h + 1][k];
        for (int k = 0; k < plan.phases; ++k) history[full - 1][k] = now[k];
      }
    }
  }

  /// Step 2: the scores of one candidate in rows first .. last, and its class's minima.
  HWY_INLINE void finish(int first, int last, const std::uint16_t* outside, std::uint16_t* values,
                         std::size_t values_stride, std::uint16_t* minima,
                         std::size_t minima_stride) const {
    const Lanes d;
    const int width = static_cast<int>(hn::Lanes(d));
    for (int row = first; row <= last; ++row)
      for (int lane = 0; lane < lanes; lane += width) {
        const std::uint16_t* sum = sums + row * plan.stored * lanes + lane;
        Sum score = hn::LoadU(d, outside + lane);
        for (int t = 0; t < plan.terms; ++t)
          score =
              hn::SaturatedAdd(score, hn::LoadU(d, sum + plan.array[t] * lanes + plan.shift[t]));
        hn::StoreU(score, d, values + row * values_stride + lane);
        std::uint16_t* const least = minima + row * minima_stride + lane;
        hn::StoreU(hn::Min(hn::LoadU(d, least), score), d, least);
      }
  }
};

/// For each dx a row of lanes, 0xffff where the candidate leaves the picture; and one of all ones,
/// for the reference itself.
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

template <int kStep>
void score_block_of(const PairedGuide& guide, const MatchGeometry& g, const Block& block,
                    const Scores& scores) {
  mark_outside(g, block, kStep, scores);
  const int radius = g.radius(), last_y = block.y + (block.rows - 1) * kStep;
  const std::size_t candidates = static_cast<std::size_t>(g.window) * g.window;
  const std::size_t values_stride = candidates * scores.lanes;
  const std::size_t minima_stride = static_cast<std::size_t>(scores.classes) * scores.lanes;
  std::fill_n(scores.minima, minima_stride * block.rows, std::uint16_t{0xffff});

  using Scorer = BlockScorer<kStep>;
  Scorer scorer{guide.row_stride, block.rows, scores.lanes, {}, scores.sums};
  for (int k = 0; k < Scorer::plan.phases; ++k)
    scorer.reference[k] = guide.at(block.x + Scorer::plan.phase[k], block.y);
  for (int dy = g.first_dy(last_y); dy <= g.last_dy(block.y); ++dy) {
    int first = 0, last = block.rows - 1;  // rows whose window has this dy
    while (dy < g.first_dy(block.y + first * kStep)) ++first;
    while (dy > g.last_dy(block.y + last * kStep)) --last;
    for (int dx = -radius; dx <= radius; ++dx) {
      const std::uint16_t* candidate[4];
      for (int k = 0; k < Scorer::plan.phases; ++k)
        candidate[k] = guide.at(block.x + Scorer::plan.phase[k] + dx, block.y + dy);
      scorer.column_sums(candidate);
      const std::size_t c = static_cast<std::size_t>((dy + radius) * g.window + dx + radius);
      const int outside = dx == 0 && dy == 0 ? g.window : dx + radius;
      scorer.finish(first, last, scores.outside + outside * scores.lanes,
                    scores.values + c * scores.lanes, values_stride,
                    scores.minima + c % scores.classes * scores.lanes, minima_stride);
    }
  }
}

}  // namespace

void score_block(const PairedGuide& guide, const MatchGeometry& geometry, const Block& block,
                 const Scores& scores) {
  using Score = void (*)(const PairedGuide&, const MatchGeometry&, const Block&, const Scores&);
  static constexpr Score by_step[] = {score_block_of<1>, score_block_of<2>, score_block_of<3>,
                                      score_block_of<4>, score_block_of<5>, score_block_of<6>,
                                      score_block_of<7>, score_block_of<8>};
  by_step[guide.step - 1](guide, geometry, block, scores);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm3d::cpu {
HWY_EXPORT(score_block);
void score_block(const PairedGuide& guide, const MatchGeometry& geometry, const Block& block,
                 const Scores& scores) {
  HWY_DYNAMIC_DISPATCH(score_block)(guide, geometry, block, scores);
}
}  // namespace lull::bm3d::cpu
#endif
