// Computes the distances between reference cubes a and candidates b as |a - b|^2 = |a|^2 + |b|^2 -
// 2 * (a.b), where a.b is the inner product. The kernel processes 8 or 16 neighbouring candidates
// at once.

// Registers contain the products of up to nine rows of candidates, so that the kernel loads each
// row of voxels once. The kernel collects only candidates whose distance is less than the current
// bound of the group.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm4d/cpu/match.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "bm4d/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm4d::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::CappedTag<std::int32_t, 16>;
using Halves = hn::Repartition<std::int16_t, Words>;
inline constexpr int lanes = static_cast<int>(hn::MaxLanes(Words()));
inline constexpr int max_rows = 9;  // rows of candidates in registers

/// Selects the `count` candidates with the smallest keys (distance, then position in the search
/// window), without the reference cube itself.
class Selection {
 public:
  explicit Selection(int count) : count_(count) {
    if (count == 0) worst_key_ = 0, bound_ = 0;
  }
  /// Returns the bound of the distances: the kernel rejects all candidates whose distance is not
  /// below it.
  std::int32_t bound() const { return bound_; }

  void add(std::int32_t distance, int place) {
    const std::uint64_t key = static_cast<std::uint64_t>(distance) << 16 | place;
    if (key >= worst_key_) return;
    keys_[found_++] = key;
    if (found_ == capacity) keep_best();
  }

  /// Sorts the members and returns their number.
  int finish() {
    if (found_ > count_) keep_best();
    std::sort(keys_.begin(), keys_.begin() + found_);
    return found_;
  }
  int place(int i) const { return static_cast<int>(keys_[i] & 0xffff); }

 private:
  static constexpr int capacity = 64;

  void keep_best() {
    std::nth_element(keys_.begin(), keys_.begin() + count_ - 1, keys_.begin() + found_);
    found_ = count_;
    worst_key_ = keys_[count_ - 1];
    // A new candidate may replace the worst member even if their distances are equal, because its
    // position in the search window may be smaller. Therefore, the bound is one above the distance
    // of the worst member.
    bound_ = static_cast<std::int32_t>(worst_key_ >> 16) + 1;
  }

  int count_, found_ = 0;
  std::int32_t bound_ = std::numeric_limits<std::int32_t>::max();
  std::uint64_t worst_key_ = std::numeric_limits<std::uint64_t>::max();
  std::array<std::uint64_t, capacity> keys_;
};

/// The search for the group of one reference cube.
class Search {
 public:
  Search(const MatchSlices& slices, const PhaseParams& params, int x, int y)
      : slices_(slices),
        cube_(params.cube),
        radius_(params.radius()),
        window_(params.window),
        x_(x),
        y_(y),
        first_x_(std::max(0, x - radius_)),
        first_y_(std::max(0, y - radius_)),
        columns_(std::min(slices.width - cube_, x + radius_) - first_x_ + 1),
        rows_(std::min(slices.height - cube_, y + radius_) - first_y_ + 1),
        selection_(params.group - 1) {
    for (int c = 0; c < cube_; ++c) {
      const std::int32_t* row = slices.pairs[radius_ + c] + y * slices.stride + x;
      for (int b = 0; b < cube_; ++b, row += slices.stride) {
        reference_[c][b][0] = row[0];
        reference_[c][b][1] = cube_ == 4 ? row[2] : row[2] & 0xffff;
        reference_row_[c][b][0] = reference_[c][b][0];
        reference_row_[c][b][2] = reference_[c][b][1];
      }
    }
    own_ = slices.squares[radius_][y * slices.stride + x];
  }

  /// Searches the complete search window.
  void run(Group& group) {
    // The search begins in the central slice, which usually contains the most similar cubes.
    for (int away = 0; away <= radius_; ++away)
      for (const int k : {radius_ - away, radius_ + away}) {
        if (k >= slices_.first && k + cube_ <= slices_.end) search_slice(k);
        if (away == 0) break;
      }
    finish(group);
  }

  /// Compares the reference cube only with the candidates at the displacements `candidates`.
  void run(std::span<const std::uint32_t> candidates, Group& group) {
    for (const std::uint32_t to : candidates) {
      const int x = offset_x(to), y = offset_y(to), k = offset_z(to) + radius_;
      const std::ptrdiff_t at = (y_ + y) * slices_.stride + x_ + x;
      const std::int32_t products = cube_ == 4 ? product<4>(k, at) : product<3>(k, at);
      selection_.add(own_ + slices_.squares[k][at] - 2 * products,
                     (k * window_ + y + radius_) * window_ + x + radius_);
    }
    finish(group);
  }

 private:
  void finish(Group& group) {
    const int found = selection_.finish() + 1;
    group.count = static_cast<int>(std::bit_floor(static_cast<unsigned>(found)));
    group.members[0] = pack_offset(0, 0, 0);
    for (int m = 1; m < group.count; ++m) {
      const int place = selection_.place(m - 1);
      group.members[m] = pack_offset(place % window_ - radius_, place / window_ % window_ - radius_,
                                     place / (window_ * window_) - radius_);
    }
  }

  /// Returns the inner product of a cube and the reference cube. Each word of the guide contains
  /// two neighbouring voxels.
  template <int cube>
  std::int32_t product(int k, std::ptrdiff_t at) const {
    const hn::FixedTag<std::int32_t, 4> d;
    const hn::Repartition<std::int16_t, decltype(d)> d16;
    auto sums = hn::Zero(d), others = hn::Zero(d);
    for (int c = 0; c < cube; ++c) {
      const std::int32_t* from = slices_.pairs[k + c] + at;
      for (int b = 0; b < cube; ++b, from += slices_.stride)
        sums = hn::ReorderWidenMulAccumulate(d, hn::BitCast(d16, hn::LoadU(d, from)),
                                             hn::BitCast(d16, hn::Load(d, reference_row_[c][b])),
                                             sums, others);
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(sums, others)));
  }

  void search_slice(int k) {
    // The code divides the rows of candidates into blocks. Each block has at most `max_rows` rows,
    // and the blocks have nearly equal heights.
    const int blocks = (rows_ + max_rows - 1) / max_rows;
    for (int block = 0; block < blocks; ++block) {
      const int from = rows_ * block / blocks, to = rows_ * (block + 1) / blocks;
      for (int column = 0; column < columns_; column += lanes)
        if (cube_ == 4)
          search_rows<4>(k, from, to - from, column);
        else
          search_rows<3>(k, from, to - from, column);
    }
  }

  template <int cube>
  void search_rows(int k, int row, int rows, int column) {
    switch (rows) {
      case 1:
        return search_block<1, cube>(k, row, column);
      case 2:
        return search_block<2, cube>(k, row, column);
      case 3:
        return search_block<3, cube>(k, row, column);
      case 4:
        return search_block<4, cube>(k, row, column);
      case 5:
        return search_block<5, cube>(k, row, column);
      case 6:
        return search_block<6, cube>(k, row, column);
      case 7:
        return search_block<7, cube>(k, row, column);
      case 8:
        return search_block<8, cube>(k, row, column);
      default:
        return search_block<9, cube>(k, row, column);
    }
  }

  /// Accumulators for the inner products of the reference cube with the candidates of each row. The
  /// product for row i is even[i] + odd[i], because the SIMD instruction that multiplies and adds
  /// may need two accumulators. On x86, the instruction uses only `even`, so a single vector `odd`,
  /// which stays 0, is enough for all rows.
  template <int rows>
  struct Sums {
    static constexpr int apart = HWY_ARCH_X86 ? 1 : rows;
    hn::Vec<Words> even[rows], odd[apart];
  };
  /// Multiplies row `i` of the guide by the rows b, b + 1, ... of the reference cube. The product
  /// with row b contributes to the candidates that begin in row i - b.
  template <int rows, int cube, int i, int b>
  static HWY_INLINE void add_products(hn::Vec<Halves> pairs, const hn::Vec<Halves>* own,
                                      Sums<rows>& sums) {
    if constexpr (b < cube) {
      if constexpr (i >= b && i - b < rows)
        sums.even[i - b] = hn::ReorderWidenMulAccumulate(Words(), pairs, own[b], sums.even[i - b],
                                                         sums.odd[(i - b) % Sums<rows>::apart]);
      add_products<rows, cube, i, b + 1>(pairs, own, sums);
    }
  }
  template <int rows, int cube, int i>
  static HWY_INLINE void add_rows(const std::int32_t* from, std::ptrdiff_t stride,
                                  const hn::Vec<Halves>* own, Sums<rows>& sums) {
    if constexpr (i < rows + cube - 1) {
      const auto pairs = hn::BitCast(Halves(), hn::LoadU(Words(), from));
      add_products<rows, cube, i, 0>(pairs, own, sums);
      add_rows<rows, cube, i + 1>(from + stride, stride, own, sums);
    }
  }

  template <int rows, int cube>
  void search_block(int k, int row, int column) {
    const Words d;
    const Halves d16;
    const std::ptrdiff_t stride = slices_.stride;
    const std::ptrdiff_t at = (first_y_ + row) * stride + first_x_ + column;
    Sums<rows> sums;
    for (auto& sum : sums.even) sum = hn::Zero(d);
    for (auto& sum : sums.odd) sum = hn::Zero(d);
    for (int c = 0; c < cube; ++c)
      for (int p = 0; p < 2; ++p) {
        hn::Vec<Halves> own[cube];
        for (int b = 0; b < cube; ++b) own[b] = hn::BitCast(d16, hn::Set(d, reference_[c][b][p]));
        add_rows<rows, cube, 0>(slices_.pairs[k + c] + at + 2 * p, stride, own, sums);
      }
    // The kernel does not branch for each candidate, because processors cannot predict whether a
    // distance is below the bound. Instead, the kernel collects the comparisons in bit masks.
    alignas(64) std::int32_t distances[rows][lanes];
    std::uint32_t near[rows];  // one bit for each lane
    const auto bound = hn::Set(d, selection_.bound()), own = hn::Set(d, own_);
    const auto in = hn::Lt(hn::Iota(d, column), hn::Set(d, columns_));
    std::uint32_t any = 0;
    for (int j = 0; j < rows; ++j) {
      const auto norm = hn::Add(own, hn::LoadU(d, slices_.squares[k] + at + j * stride));
      const auto products =
          hn::RearrangeToOddPlusEven(sums.even[j], sums.odd[j % Sums<rows>::apart]);
      const auto distance = hn::Sub(norm, hn::Add(products, products));
      hn::Store(distance, d, distances[j]);
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, hn::And(in, hn::Lt(distance, bound)), bits);
      near[j] = bits[0] | static_cast<std::uint32_t>(bits[1]) << 8;
      any |= near[j];
    }
    if (any == 0) return;
    const int y = first_y_ + row - y_, x = first_x_ + column - x_;  // displacements
    for (int j = 0; j < rows; ++j)
      for (std::uint32_t left = near[j]; left != 0; left &= left - 1) {
        const int i = std::countr_zero(left);
        if (k == radius_ && y + j == 0 && x + i == 0) continue;  // the reference cube itself
        selection_.add(distances[j][i],
                       (k * window_ + y + j + radius_) * window_ + x + i + radius_);
      }
  }

  const MatchSlices& slices_;
  int cube_, radius_, window_, x_, y_;
  int first_x_, first_y_, columns_, rows_;  // the part of the window inside the volume
  Selection selection_;
  std::int32_t reference_[max_cube][max_cube][2];
  alignas(16) std::int32_t reference_row_[max_cube][max_cube][4] = {};
  std::int32_t own_;
};

}  // namespace

void find_group(const MatchSlices& slices, const PhaseParams& params, int x, int y, Group& group) {
  Search(slices, params, x, y).run(group);
}
void rank_group(const MatchSlices& slices, const PhaseParams& params, int x, int y,
                std::span<const std::uint32_t> candidates, Group& group) {
  Search(slices, params, x, y).run(candidates, group);
}

void make_pairs(PlaneView<const float> samples, Rows rows, PlaneView<std::int32_t> to) {
  const int width = samples.width;
  for (int y = rows.y0; y < rows.y1; ++y) {
    const float* const from = samples.row(y);
    std::int32_t* const pairs = to.row(y);
    for (int x = 0; x < width; ++x) {
      const float v = (from[x] - guide_centre) * guide_levels;
      const auto nearest = static_cast<int>(v < 0 ? v - 0.5f : v + 0.5f);
      pairs[x] = std::clamp(nearest, -max_level, max_level) & 0xffff;
    }
    pairs[width] = 0;
    for (int x = 0; x < width; ++x)
      pairs[x] = static_cast<std::int32_t>(static_cast<std::uint32_t>(pairs[x]) |
                                           static_cast<std::uint32_t>(pairs[x + 1]) << 16);
  }
}

void make_faces(PlaneView<const std::int32_t> pairs, int cube, Rows rows,
                PlaneView<std::int32_t> faces) {
  for (int y = rows.y0; y < std::min(rows.y1, pairs.height - cube + 1); ++y) {
    std::int32_t* const sums = faces.row(y);
    std::fill_n(sums, pairs.width, 0);
    for (int b = 0; b < cube; ++b) {
      const std::int32_t* const row = pairs.row(y + b);
      for (int a = 0; a < cube; ++a)
        for (int x = 0; x + cube <= pairs.width; ++x) {
          const int v = static_cast<std::int16_t>(row[x + a] & 0xffff);
          sums[x] += v * v;
        }
    }
  }
}

void add_faces(std::span<const PlaneView<const std::int32_t>> faces, Rows rows,
               PlaneView<std::int32_t> squares) {
  for (int y = rows.y0; y < rows.y1; ++y) {
    std::int32_t* const to = squares.row(y);
    std::copy_n(faces[0].row(y), squares.width, to);
    for (const PlaneView<const std::int32_t>& face : faces.subspan(1)) {
      const std::int32_t* const from = face.row(y);
      for (int x = 0; x < squares.width; ++x) to[x] += from[x];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm4d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm4d::cpu {
HWY_EXPORT(find_group);
HWY_EXPORT(rank_group);
HWY_EXPORT(make_pairs);
HWY_EXPORT(make_faces);
HWY_EXPORT(add_faces);
void find_group(const MatchSlices& slices, const PhaseParams& params, int x, int y, Group& group) {
  HWY_DYNAMIC_DISPATCH(find_group)(slices, params, x, y, group);
}
void rank_group(const MatchSlices& slices, const PhaseParams& params, int x, int y,
                std::span<const std::uint32_t> candidates, Group& group) {
  HWY_DYNAMIC_DISPATCH(rank_group)(slices, params, x, y, candidates, group);
}
void make_pairs(PlaneView<const float> samples, Rows rows, PlaneView<std::int32_t> pairs) {
  HWY_DYNAMIC_DISPATCH(make_pairs)(samples, rows, pairs);
}
void make_faces(PlaneView<const std::int32_t> pairs, int cube, Rows rows,
                PlaneView<std::int32_t> faces) {
  HWY_DYNAMIC_DISPATCH(make_faces)(pairs, cube, rows, faces);
}
void add_faces(std::span<const PlaneView<const std::int32_t>> faces, Rows rows,
               PlaneView<std::int32_t> squares) {
  HWY_DYNAMIC_DISPATCH(add_faces)(faces, rows, squares);
}
}  // namespace lull::bm4d::cpu
#endif
