// Computes the scores of a block with AVX-512 VNNI, which adds four products of bytes to a 32-bit
// sum. Each lane processes one reference patch.

// The kernel computes the squared distance of a reference patch a and a candidate b as sum(a^2) +
// sum(b^2 + 256 * b) - 2 * sum((a + 128) * b). The second sum is the norm of b, which is the same
// for all reference patches.

// A patch consists of bands of `step` rows. The kernel sums the products of each band, and then
// adds the sums of all bands of the patch. Vertically neighbouring reference patches overlap, so
// they share the sums of their common bands.

// Candidates at neighbouring vertical displacements share rows. The kernel processes several of
// these candidates together, to save loads that cross cache lines.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "match/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using QuadSums = hn::CappedTag<std::int32_t, 16>;
using QuadSum = hn::Vec<QuadSums>;
using HalfLanes = hn::Rebind<std::uint16_t, QuadSums>;
constexpr int width = static_cast<int>(hn::MaxLanes(QuadSums()));
static_assert(width == 16);

/// Number of vertical displacements that the kernel processes together. Most window sides are
/// multiples of this number.
constexpr int dy_together = 5;
/// Offset of the second quad in a row of a patch. A quad consists of four samples.
constexpr int second_quad = patch / 2;

HWY_INLINE QuadSum load(const std::int32_t* at) { return hn::LoadU(QuadSums(), at); }

/// Returns `sum` plus products of unsigned and signed bytes. The function uses inline assembly,
/// because Highway does not use this instruction for its target AVX3.
HWY_INLINE QuadSum add_products(QuadSum sum, QuadSum bytes, QuadSum signed_bytes) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(bytes.raw), "v"(signed_bytes.raw));
  return sum;
}

/// Converts signed bytes b to b + 128.
HWY_INLINE QuadSum unsigned_bytes(QuadSum quads) {
  return hn::Xor(quads, hn::Set(QuadSums(), static_cast<std::int32_t>(0x80808080u)));
}

/// Returns `sum` plus the squares of the bytes.
HWY_INLINE QuadSum add_squares(QuadSum sum, QuadSum quads) {
  const hn::Repartition<std::int8_t, QuadSums> bytes;
  const QuadSum magnitudes = hn::BitCast(QuadSums(), hn::Abs(hn::BitCast(bytes, quads)));
  return add_products(sum, magnitudes, magnitudes);
}

/// Returns the contribution of one row of a patch to the norm of the patch: the sum of b^2 + 256 *
/// b over the signed bytes b of the row. The function computes b^2 + 256 * b as (b + 128) * b + 128
/// * b.
HWY_INLINE QuadSum row_norm(const std::int32_t* first, const std::int32_t* second) {
  const QuadSum a = load(first), b = load(second), none = hn::Zero(QuadSums());
  const QuadSum all_128 = unsigned_bytes(none);
  return hn::Add(add_products(add_products(none, unsigned_bytes(a), a), all_128, a),
                 add_products(add_products(none, unsigned_bytes(b), b), all_128, b));
}

/// The destination of the scores of one candidate, and the masks of excluded positions. `outside`
/// is the same for all rows of the block. The other pointers are for the first row.
struct Target {
  int first, last;  // rows of the block whose window contains the candidate
  std::uint16_t *values, *minima;
  const std::uint16_t *outside, *invalid;
  std::uint16_t added, subtracted;  // bias of the candidate
};

/// Computes the scores of a block. If `kPlain` is true, there are no biases and no invalid
/// positions.
template <int kStep, int kDys, bool kPlain>
class ProductScorer {
 public:
  ProductScorer(const QuadGuide& guide, const MatchGeometry& geometry, const Block& block,
                const Scores& scores, const ScoreBias* bias, const PairedGuide* invalid)
      : guide_(guide),
        geometry_(geometry),
        block_(block),
        scores_(scores),
        bias_(bias),
        invalid_(invalid),
        row_stride_(guide.quads.row_stride),
        step_stride_(guide.quads.step * row_stride_),
        own_norms_(reinterpret_cast<std::int32_t*>(scores.sums)) {
    for (int k = 0; k < 2; ++k) reference_[k] = guide.quads.at(block.x + k * second_quad, block.y);
  }

  void run() const {
    sum_squares();
    const int last_y = block_.y + (block_.rows - 1) * guide_.quads.step;
    const int first = geometry_.first_dy(last_y), last = geometry_.last_dy(block_.y);
    for (int dy = first; dy <= last; dy += kDys)  // some of the last candidates may be scored twice
      for (int dx = -geometry_.radius(); dx <= geometry_.radius(); ++dx)
        match(dx, std::min(dy, last - kDys + 1));
  }

 private:
  static constexpr int full = patch / kStep, rest = patch % kStep;
  /// Number of bands of kStep rows in a patch, without the last band, which may have fewer rows.
  static constexpr int before = rest == 0 ? full - 1 : full;
  /// Number of rows of candidates that stay in registers from one band of rows to the next, because
  /// both bands need these rows. If reference patches do not overlap, the number is 0.
  static constexpr int carried = kStep < patch ? kDys - 1 : 0;

  /// Candidates with one horizontal displacement dx and several vertical displacements dy.
  struct Candidates {
    const std::int32_t *quads[2], *norms;
    Target targets[kDys];
  };
  using Totals = QuadSum[kDys];

  void sum_squares() const {
    for (int row = 0; row < block_.rows; ++row)
      for (int lane = 0; lane < scores_.lanes; lane += width) {
        QuadSum sum = hn::Zero(QuadSums());
        for (int r = 0; r < patch; ++r)
          for (const std::int32_t* const reference : reference_)
            sum = add_squares(sum, load(reference + row * step_stride_ + r * row_stride_ + lane));
        hn::StoreU(sum, QuadSums(), own_norms_ + row * scores_.lanes + lane);
      }
  }

  Target target_of(int dx, int dy) const {
    const int window = geometry_.window, radius = geometry_.radius(), step = guide_.quads.step;
    const std::ptrdiff_t index = (dy + radius) * window + dx + radius, lanes = scores_.lanes;
    const int outside = dx == 0 && dy == 0 ? window : dx + radius;
    Target to{};
    to.last = block_.rows - 1;
    while (to.first <= to.last && dy < geometry_.first_dy(block_.y + to.first * step)) ++to.first;
    while (to.last >= to.first && dy > geometry_.last_dy(block_.y + to.last * step)) --to.last;
    to.values = scores_.values + index * lanes;
    to.minima = scores_.minima + index % scores_.classes * lanes;
    to.outside = scores_.outside + outside * lanes;
    if (bias_ != nullptr && within_lags(dx, dy)) {
      to.added = bias_->added[lag_index(dx, dy)];
      to.subtracted = bias_->subtracted[lag_index(dx, dy)];
    }
    if (invalid_ != nullptr) to.invalid = invalid_->at(block_.x + dx, block_.y + dy);
    return to;
  }

  void match(int dx, int dy) const {
    const int x = block_.x + dx, y = block_.y + dy;
    Candidates candidates{
        {guide_.quads.at(x, y), guide_.quads.at(x + second_quad, y)}, guide_.norms.at(x, y), {}};
    for (int d = 0; d < kDys; ++d) candidates.targets[d] = target_of(dx, dy + d);
    for (int lane = 0; lane < scores_.lanes; lane += width) match_lanes(candidates, lane);
  }

  /// The rows of candidates that the kernel compares with one band of rows of the reference
  /// patches.
  struct Window {
    // This constructor initialises SIMD vectors. The macro HWY_ATTR makes the compiler generate the
    // constructor for the instruction set of these vectors.
    HWY_ATTR Window() {}
    QuadSum rows[kDys - 1 + kStep][2];
  };

  HWY_INLINE void match_lanes(const Candidates& candidates, int lane) const {
    const int groups = block_.rows + before;
    Window window;
    Totals history[before + 1];
    const auto load_candidates = [&](int i, std::ptrdiff_t at) HWY_ATTR {
      for (int k = 0; k < 2; ++k)
        window.rows[i][k] = load(candidates.quads[k] + at + i * row_stride_);
    };
    std::ptrdiff_t at = lane;
#pragma GCC unroll 8
    for (int i = 0; i < carried; ++i) load_candidates(i, at);
    for (int g = 0; g < groups; ++g, at += step_stride_) {
#pragma GCC unroll 8
      for (int i = carried; i < kDys - 1; ++i) load_candidates(i, at);
      Totals sum;
#pragma GCC unroll 8
      for (int d = 0; d < kDys; ++d) sum[d] = hn::Zero(QuadSums());
#pragma GCC unroll 8
      for (int r = 0; r < kStep; ++r) {
        if (rest != 0 && r == rest) {
          if (g >= before) finish(candidates, g - before, lane, sum, history);
          if (g == groups - 1) return;
        }
        load_candidates(kDys - 1 + r, at);
#pragma GCC unroll 2
        for (int k = 0; k < 2; ++k) {
          const QuadSum own = unsigned_bytes(load(reference_[k] + at + r * row_stride_));
#pragma GCC unroll 8
          for (int d = 0; d < kDys; ++d) sum[d] = add_products(sum[d], own, window.rows[r + d][k]);
        }
      }
      if (rest == 0 && g >= before) finish(candidates, g - before, lane, sum, history);
#pragma GCC unroll 8
      for (int d = 0; d < kDys; ++d) {
#pragma GCC unroll 8
        for (int h = 0; h + 1 < before; ++h) history[h][d] = history[h + 1][d];
        if (before > 0) history[before - 1][d] = sum[d];
      }
#pragma GCC unroll 8
      for (int i = 0; i < carried; ++i)
        for (int k = 0; k < 2; ++k) window.rows[i][k] = window.rows[i + kStep][k];
    }
  }

  /// Completes the scores of one row of reference patches. `sum` contains the products of the last
  /// band of rows, and `history` the products of each earlier band.
  HWY_INLINE void finish(const Candidates& candidates, int row, int lane, const Totals& sum,
                         const Totals (&history)[before + 1]) const {
    const QuadSums d;
    const QuadSum own = hn::LoadU(d, own_norms_ + row * scores_.lanes + lane);
    const std::int32_t* const norms = candidates.norms + row * step_stride_ + lane;
#pragma GCC unroll 8
    for (int i = 0; i < kDys; ++i) {
      QuadSum products = sum[i];
#pragma GCC unroll 8
      for (int h = 0; h < before; ++h) products = hn::Add(products, history[h][i]);
      const QuadSum distance =
          hn::Sub(hn::Add(own, load(norms + i * row_stride_)), hn::Add(products, products));
      store(candidates.targets[i], row, lane, distance);
    }
  }

  HWY_INLINE void store(const Target& to, int row, int lane, QuadSum distance) const {
    if (row < to.first || row > to.last) return;
    const HalfLanes d;
    auto score = hn::SaturatedAdd(hn::DemoteTo(d, distance), hn::LoadU(d, to.outside + lane));
    if constexpr (!kPlain) {
      score = hn::SaturatedAdd(score, hn::Set(d, to.added));
      const auto saturated = hn::Eq(score, hn::Set(d, 0xffff));
      score = hn::IfThenElse(saturated, score, hn::SaturatedSub(score, hn::Set(d, to.subtracted)));
      if (to.invalid != nullptr)
        score = hn::SaturatedAdd(
            score, hn::LoadU(d, to.invalid + row * invalid_->step * invalid_->row_stride + lane));
    }
    const std::ptrdiff_t all = static_cast<std::ptrdiff_t>(geometry_.window) * geometry_.window;
    hn::StoreU(score, d, to.values + row * all * scores_.lanes + lane);
    std::uint16_t* const least = to.minima + row * scores_.classes * scores_.lanes + lane;
    hn::StoreU(hn::Min(hn::LoadU(d, least), score), d, least);
  }

  const QuadGuide guide_;
  const MatchGeometry geometry_;
  const Block block_;
  const Scores scores_;
  const ScoreBias* bias_;
  const PairedGuide* invalid_;
  const std::ptrdiff_t row_stride_, step_stride_;
  std::int32_t* own_norms_;  // sums of squares of the reference patches: [row][lane]
  const std::int32_t* reference_[2];
};

template <int kStep>
void score_block_of(const QuadGuide& guide, const MatchGeometry& g, const Block& block,
                    const Scores& scores, const ScoreBias* bias, const PairedGuide* invalid) {
  const int last_y = block.y + (block.rows - 1) * guide.quads.step;
  if (g.last_dy(block.y) - g.first_dy(last_y) + 1 < dy_together)
    ProductScorer<kStep, 1, false>(guide, g, block, scores, bias, invalid).run();
  else if (bias != nullptr || invalid != nullptr)
    ProductScorer<kStep, dy_together, false>(guide, g, block, scores, bias, invalid).run();
  else
    ProductScorer<kStep, dy_together, true>(guide, g, block, scores, bias, invalid).run();
}

}  // namespace

// The target AVX3_DL of Highway includes VNNI.
bool scores_by_products(int step) {
  return step >= 3 && (hwy::SupportedTargets() & HWY_AVX3_DL) != 0;
}

void fill_norms(const PhasedGuide<std::int32_t>& quads, const std::int32_t* from, int rows,
                int elements, std::int32_t* to) {
  const QuadSums d;
  const std::ptrdiff_t stride = quads.row_stride;
  for (int y = 0; y < rows; ++y)
    for (int m = 0; m < quads.step; ++m) {
      const int behind = m + second_quad;
      const std::int32_t* const first = from + m * quads.phase_stride;
      const std::int32_t* const second =
          from + behind % quads.step * quads.phase_stride + behind / quads.step;
      const auto row = [&](int at, int i) HWY_ATTR {
        return row_norm(first + at * stride + i, second + at * stride + i);
      };
      std::int32_t* const out = to + y * stride + m * quads.phase_stride;
      for (int i = 0; i < elements; i += width) {
        QuadSum sum = hn::Zero(d);
        if (y == 0)
          for (int r = 0; r < patch; ++r) sum = hn::Add(sum, row(r, i));
        else  // norm of the patch above, minus its first row, plus the new last row
          sum = hn::Add(load(out - stride + i), hn::Sub(row(y + patch - 1, i), row(y - 1, i)));
        hn::StoreU(sum, d, out + i);
      }
    }
}

void score_block_by_products(const QuadGuide& guide, const MatchGeometry& geometry,
                             const Block& block, const Scores& scores, const ScoreBias* bias,
                             const PairedGuide* invalid) {
  using Score = void (*)(const QuadGuide&, const MatchGeometry&, const Block&, const Scores&,
                         const ScoreBias*, const PairedGuide*);
  static constexpr Score by_step[] = {score_block_of<3>, score_block_of<4>, score_block_of<5>,
                                      score_block_of<6>, score_block_of<7>, score_block_of<8>};
  const std::size_t minima = static_cast<std::size_t>(scores.classes) * scores.lanes * block.rows;
  std::fill_n(scores.minima, minima, std::uint16_t{0xffff});
  mark_outside(geometry, block, guide.quads.step, scores);
  by_step[std::min(guide.quads.step, patch) - 3](guide, geometry, block, scores, bias, invalid);
}

#else

bool scores_by_products(int /*step*/) { return false; }
void fill_norms(const PhasedGuide<std::int32_t>& /*quads*/, const std::int32_t* /*from*/,
                int /*rows*/, int /*elements*/, std::int32_t* /*to*/) {}
void score_block_by_products(const QuadGuide& /*guide*/, const MatchGeometry& /*geometry*/,
                             const Block& /*block*/, const Scores& /*scores*/,
                             const ScoreBias* /*bias*/, const PairedGuide* /*invalid*/) {}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(scores_by_products);
HWY_EXPORT(fill_norms);
HWY_EXPORT(score_block_by_products);
bool scores_by_products(int step) { return HWY_DYNAMIC_DISPATCH(scores_by_products)(step); }
void fill_norms(const PhasedGuide<std::int32_t>& quads, const std::int32_t* from, int rows,
                int elements, std::int32_t* to) {
  HWY_DYNAMIC_DISPATCH(fill_norms)(quads, from, rows, elements, to);
}
void score_block_by_products(const QuadGuide& guide, const MatchGeometry& geometry,
                             const Block& block, const Scores& scores, const ScoreBias* bias,
                             const PairedGuide* invalid) {
  HWY_DYNAMIC_DISPATCH(score_block_by_products)(guide, geometry, block, scores, bias, invalid);
}
}  // namespace lull::cpu
#endif
