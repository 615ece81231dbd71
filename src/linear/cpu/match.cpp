// Matching in integers. The kernel sums squared differences along the columns of a patch, and then
// adds the column sums.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/cpu/match.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "linear/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::linear::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D32 = hn::CappedTag<std::int32_t, 16>;
using D16 = hn::Repartition<std::int16_t, D32>;

/// Adds the squared differences between `own` (the reference patch) and `other` (a candidate) to
/// `sum`. Each 32-bit element contains two 16-bit samples, one above the other (PairedGuide).
/// `mask` selects both samples or only the upper sample.
HWY_INLINE hn::Vec<D32> add_squares(const std::int32_t* own, const std::int32_t* other,
                                    hn::Vec<D16> mask, hn::Vec<D32> sum) {
  const D32 d;
  const D16 d16;
  const auto difference = hn::And(
      mask, hn::Sub(hn::BitCast(d16, hn::LoadU(d, own)), hn::BitCast(d16, hn::LoadU(d, other))));
#if HWY_ARCH_X86
  auto unused = hn::Zero(d);  // on x86, adds the products of neighbouring lanes to the first sum
  return hn::ReorderWidenMulAccumulate(d, difference, difference, sum, unused);
#else
  const auto pair = hn::BitCast(d, difference);
  const auto low = hn::ShiftRight<16>(hn::ShiftLeft<16>(pair)), high = hn::ShiftRight<16>(pair);
  return hn::Add(sum, hn::Add(hn::Mul(low, low), hn::Mul(high, high)));
#endif
}

/// Computes column sums of squared differences for a row of patches. Writes them to `sums`, or adds
/// them to `sums` if kAdds is true. The patches begin at (x, y) in the first guide, and at (x + dx,
/// y + dy) in the second guide.
template <bool kAdds>
HWY_INLINE void column_sums(PairedGuide own_guide, PairedGuide other_guide, int x, int y, int dx,
                            int dy, int side, int width, std::int32_t* sums) {
  const D32 d;
  const D16 d16;
  const auto both = hn::BitCast(d16, hn::Set(d, -1));
  const auto first = hn::BitCast(d16, hn::Set(d, 0xffff));
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int c = 0; c < width; c += lanes) {
    const std::int32_t* own = own_guide.at(x + c, y);
    const std::int32_t* other = other_guide.at(x + c + dx, y + dy);
    auto sum = hn::Zero(d);
    if constexpr (kAdds) sum = hn::Load(d, sums + c);
    for (int pair = 0; pair < side / 2; ++pair) {
      sum = add_squares(own, other, both, sum);
      own += 2 * own_guide.stride;
      other += 2 * other_guide.stride;
    }
    if (side % 2 != 0) sum = add_squares(own, other, first, sum);
    hn::Store(sum, d, sums + c);
  }
}

/// Sizes of buffers of sums: `row_stride` elements for each displacement, and `buffer_size`
/// elements for all displacements in one row of the search window.

/// The kernel computes column sums, patch sums and keys in three stages. Each stage processes all
/// displacements in the row before the next stage begins, so that loads do not wait for recent
/// stores.
constexpr int row_stride = 128, buffer_size = (max_window + 1) * row_stride;
static_assert(row_stride >= row_width + max_side + 16);

/// Adds `side` neighbouring column sums for each of `width` neighbouring patches, and writes the
/// results to `patches`. To save additions, the function combines sums of 1, 2, 4 and 8 columns,
/// and overwrites `columns` with these sums.
HWY_INLINE void patch_sums(int side, int width, int rows, std::int32_t* columns,
                           std::int32_t* patches) {
  const D32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int offset = 0;
  for (int length = 1; length <= side; length *= 2) {
    const bool is_last = 2 * length > side, is_first = offset == 0;
    for (int row = 0; row < rows; ++row) {
      std::int32_t* const from = columns + row * row_stride;
      std::int32_t* const to = patches + row * row_stride;
      if ((side & length) != 0)
        for (int c = 0; c < width; c += lanes) {
          const auto part = hn::LoadU(d, from + c + offset);
          hn::Store(is_first ? part : hn::Add(hn::Load(d, to + c), part), d, to + c);
        }
      for (int c = 0; !is_last && c < width + side; c += lanes)
        hn::Store(hn::Add(hn::Load(d, from + c), hn::LoadU(d, from + c + length)), d, from + c);
    }
    if ((side & length) != 0) offset += length;
  }
}

/// Replaces distances by keys.
HWY_INLINE void make_keys(int index, int shift, std::uint32_t bonus, int width,
                          std::int32_t* distances) {
  const D32 d;
  const hn::RebindToUnsigned<D32> u;
  const auto most = hn::Set(u, max_distance), inside = hn::Set(u, max_inside_distance);
  const auto subtracted = hn::Set(u, bonus);
  for (int c = 0; c < width; c += static_cast<int>(hn::Lanes(d))) {
    const auto distance = hn::BitCast(u, hn::Load(d, distances + c));
    const auto left = hn::Sub(distance, hn::Min(distance, subtracted));
    const auto key =
        hn::Or(hn::ShiftLeft<index_bits>(hn::Min(hn::ShiftRightSame(left, shift), most)),
               hn::Set(u, static_cast<std::uint32_t>(index)));
    const auto valid = hn::IfThenElse(hn::Gt(distance, inside), hn::Set(u, no_key), key);
    hn::Store(hn::BitCast(d, valid), d, distances + c);
  }
}

/// Computes the keys of the candidates in one frame.
void frame_keys(const ReferenceRow& row, const SearchedGuide& frame, std::uint32_t* keys) {
  const int side = row.sizes.side, window = frame.window, radius = window / 2;
  const int shift = distance_shift(row.sizes.samples(row.halves));
  const int origins = (row.count - 1) * row.sizes.step + 1, width = origins + side - 1;
  const std::size_t stride = row.key_stride();
  alignas(64) std::int32_t columns[buffer_size] = {};
  alignas(64) std::int32_t patches[buffer_size];
  for (int v = 0; v < window; ++v) {
    const int dy = frame.centre.y + v - radius;
    for (int u = 0; u < window; ++u) {
      const int dx = frame.centre.x + u - radius;
      std::int32_t* const sums = columns + u * row_stride;
      column_sums<false>(row.own, frame.guide, row.x, row.y, dx, dy, side, width, sums);
      if (row.halves == 2)
        column_sums<true>(row.own_partner, frame.partner, row.x, row.y, dx, dy, side, width, sums);
    }
    patch_sums(side, origins, window, columns, patches);
    for (int u = 0; u < window; ++u) {
      const int position = v * window + u;
      make_keys(frame.first_index + position, shift,
                position == window * window / 2 ? row.bonus : 0, origins, patches + u * row_stride);
    }
    std::uint32_t* const of_row = keys + frame.first_index - 1 + v * window;
    for (int r = 0; r < row.count; ++r)
      for (int u = 0; u < window; ++u)
        of_row[r * stride + u] =
            static_cast<std::uint32_t>(patches[u * row_stride + r * row.sizes.step]);
  }
}

}  // namespace

void candidate_keys(const ReferenceRow& row, std::uint32_t* keys) {
  const std::size_t stride = row.key_stride();
  std::fill_n(keys, stride * row.count, no_key);
  for (const SearchedGuide& frame : row.guides) frame_keys(row, frame, keys);
  const int window = row.sizes.window;
  for (int r = 0; r < row.count; ++r) keys[r * stride + window * window / 2] = no_key;
}

std::size_t keys_up_to(const std::uint32_t* keys, std::size_t count, std::uint32_t limit,
                       std::uint32_t* out) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const auto most = hn::Set(d, limit);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto key = hn::Load(d, keys + i);
    const auto is_member = hn::Not(hn::Gt(key, most));
    if (!hn::AllFalse(d, is_member)) found += hn::CompressStore(key, is_member, d, out + found);
  }
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::linear::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::linear::cpu {
HWY_EXPORT(candidate_keys);
HWY_EXPORT(keys_up_to);

void candidate_keys(const ReferenceRow& row, std::uint32_t* keys) {
  HWY_DYNAMIC_DISPATCH(candidate_keys)(row, keys);
}

int select_members(const std::uint32_t* keys, std::size_t count, std::span<std::uint16_t> members,
                   std::uint32_t& limit, std::uint32_t* scratch) {
  const std::size_t wanted = members.size() - 1;
  std::size_t found;
  // Reads only candidates with keys up to `limit`. The loop raises `limit` until it finds enough
  // candidates.
  while (true) {
    found = HWY_DYNAMIC_DISPATCH(keys_up_to)(keys, count, std::min(limit, no_key - 1), scratch);
    if (found >= wanted || limit >= no_key / 2) break;
    limit = 2 * limit + 1;
  }
  if (found < wanted) found = HWY_DYNAMIC_DISPATCH(keys_up_to)(keys, count, no_key - 1, scratch);
  const std::size_t chosen = std::min(found, wanted);
  if (chosen < found) std::nth_element(scratch, scratch + chosen, scratch + found);
  std::uint32_t largest = 0;
  members[0] = 0;
  for (std::size_t m = 0; m < chosen; ++m) {
    members[m + 1] = static_cast<std::uint16_t>(scratch[m] & ((1u << index_bits) - 1));
    largest = std::max(largest, scratch[m]);
  }
  constexpr std::uint32_t room = 4u << index_bits;
  limit = largest < no_key / 4 ? largest + largest / 4 + room : no_key;
  return static_cast<int>(chosen) + 1;
}

}  // namespace lull::linear::cpu
#endif
