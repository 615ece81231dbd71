// Finds the candidates of a reference patch in a neighbouring frame, around the position to which
// the motion vector points.

// Each lane processes one of 16 horizontally neighbouring candidates of a single reference patch.
// Unlike in scores.cpp, reference patches share no sums, because motion vectors differ between
// bundles (8x4 reference patches).

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/temporal_candidates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "match/cpu/kernels.h"
#include "match/cpu/squares.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Row = hn::CappedTag<std::uint16_t, 16>;

constexpr int pairs_per_row = patch / 2;

/// The pairs of samples of the reference patch, each broadcast to all lanes of a vector.
class Reference {
 public:
  HWY_INLINE Reference(const PairedGuide& guide, int x, int y) {
    const Row d;
    for (int row = 0; row < patch; ++row)
      for (int k = 0; k < pairs_per_row; ++k)
        hn::Store(hn::Set(d, *guide.at(x + 2 * k, y + row)), d, at(row, k));
  }

  /// Returns the scores of horizontally neighbouring candidates, one in each lane. `candidates` is
  /// the address of the first candidate.
  HWY_INLINE hn::Vec<Row> scores(const std::uint16_t* candidates, std::ptrdiff_t stride) const {
    const Row d;
    auto even = hn::Zero(d), odd = even;
    for (int row = 0; row < patch; ++row, candidates += stride)
#pragma GCC unroll 4
      for (int k = 0; k < pairs_per_row; k += 2) {
        even =
            hn::SaturatedAdd(even, squared_pairs(d, load_bytes(d, at(row, k)), candidates + 2 * k));
        odd = hn::SaturatedAdd(
            odd, squared_pairs(d, load_bytes(d, at(row, k + 1)), candidates + 2 * k + 2));
      }
    return hn::SaturatedAdd(even, odd);
  }

 private:
  HWY_INLINE std::uint16_t* at(int row, int k) { return pairs_ + (row * pairs_per_row + k) * 16; }
  HWY_INLINE const std::uint16_t* at(int row, int k) const {
    return pairs_ + (row * pairs_per_row + k) * 16;
  }
  alignas(64) std::uint16_t pairs_[patch * pairs_per_row * 16];
};

/// Inserts a candidate into the ranking, behind all candidates of equal score.
HWY_INLINE void insert(Ranking& ranking, int wanted, std::uint16_t score, std::uint32_t member) {
  int to = ranking.count < wanted ? ranking.count++ : wanted - 1;
  for (; to > 0 && ranking.score[to - 1] > score; --to) {
    ranking.score[to] = ranking.score[to - 1];
    ranking.member[to] = ranking.member[to - 1];
  }
  ranking.score[to] = score;
  ranking.member[to] = member;
}

}  // namespace

void rank_temporal_candidates(const TemporalRankParams& params, const PairedGuide& own,
                              const PairedGuide& other, const MatchGeometry& geometry, int x, int y,
                              const Motion& motion, Ranking& ranking, const PairedGuide* invalid) {
  const Row d;
  const int lanes = static_cast<int>(hn::Lanes(d)), wanted = params.group - 1;
  const int radius = geometry.radius(), centre_x = x + motion.x, centre_y = y + motion.y;
  const int left = std::max(0, centre_x - radius);
  const int right = std::min(geometry.width - patch, centre_x + radius);
  const int top = std::max(0, centre_y - radius);
  const int bottom = std::min(geometry.height - patch, centre_y + radius);
  const Reference reference(own, x, y);
  const auto bound = [&] {  // candidates that tie with a ranked candidate are not inserted
    return ranking.count == wanted ? ranking.score[wanted - 1]
                                   : static_cast<std::uint16_t>(params.limit + 1);
  };
  auto bounds = hn::Set(d, bound());
  for (int v = top; v <= bottom; ++v)
    for (int u = left; u <= right; u += lanes) {
      auto scores = reference.scores(other.at(u, v), other.row_stride);
      if (invalid != nullptr) scores = hn::SaturatedAdd(scores, hn::LoadU(d, invalid->at(u, v)));
      alignas(64) std::uint16_t values[16];
      if (v == centre_y && centre_x >= u && centre_x < u + lanes && params.motion_bias > 0) {
        hn::Store(scores, d, values);
        std::uint16_t& favoured = values[centre_x - u];
        if (favoured != 0xffff)
          favoured = favoured > params.motion_bias ? favoured - params.motion_bias : 0;
        scores = hn::Load(d, values);
      }
      const auto near = hn::And(hn::Lt(scores, bounds), hn::FirstN(d, right - u + 1));
      alignas(8) std::uint8_t raw[8] = {};
      hn::StoreMaskBits(d, near, raw);
      std::uint32_t bits;
      std::memcpy(&bits, raw, sizeof bits);
      if (bits == 0) continue;
      hn::Store(scores, d, values);
      for (; bits != 0; bits &= bits - 1) {
        const int lane = std::countr_zero(bits);
        if (values[lane] < bound())
          insert(ranking, wanted, values[lane],
                 pack_displacement(u + lane - x, v - y, params.offset));
      }
      bounds = hn::Set(d, bound());
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(rank_temporal_candidates);
void rank_temporal_candidates(const TemporalRankParams& params, const PairedGuide& own,
                              const PairedGuide& other, const MatchGeometry& geometry, int x, int y,
                              const Motion& motion, Ranking& ranking, const PairedGuide* invalid) {
  HWY_DYNAMIC_DISPATCH(rank_temporal_candidates)
  (params, own, other, geometry, x, y, motion, ranking, invalid);
}
}  // namespace lull::cpu
#endif
