#include "time/frame_statistics.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace lull {
namespace {

/// Calls `use` with plane `i` of two frames, as views with the C++ type of the samples.
template <class Use>
void with_samples(const Frame& a, const Frame& b, int i, Use&& use) {
  switch (a.format.sample) {
    case SampleType::u8:
      return use(a.plane<const std::uint8_t>(i), b.plane<const std::uint8_t>(i));
    case SampleType::u16:
      return use(a.plane<const std::uint16_t>(i), b.plane<const std::uint16_t>(i));
    case SampleType::f32:
      return use(a.plane<const float>(i), b.plane<const float>(i));
  }
}

bool same_bytes(const Frame& a, const Frame& b, int i) {
  const int bytes = a.format.plane_width(i) * a.format.bytes_per_sample();
  for (int y = 0; y < a.format.plane_height(i); ++y)
    if (std::memcmp(a.planes[i].row(y), b.planes[i].row(y), bytes) != 0) return false;
  return true;
}

/// Sums over the samples of each column in one row of blocks. Compilers can vectorise the loops
/// over columns.
struct ColumnSums {
  explicit ColumnSums(int width)
      : squares(width), sum(width), sum_of_squares(width), unlike(width) {}
  std::vector<std::int32_t> squares;  // sums of squared differences
  std::vector<std::uint16_t> sum;
  std::vector<std::int32_t> sum_of_squares;
  std::vector<std::uint8_t> unlike;  // whether any samples differ outside the 8-bit range
};

/// Returns a row of samples in 8 bits. If the samples have another type, the function converts the
/// samples and stores the result in `to`.
const std::uint8_t* bytes_of(const std::uint8_t* row, EightBitScale, std::vector<std::uint8_t>&) {
  return row;
}
template <class T>
const std::uint8_t* bytes_of(const T* row, EightBitScale scale, std::vector<std::uint8_t>& to) {
  std::uint8_t* const bytes = to.data();
  for (int x = 0, width = static_cast<int>(to.size()); x < width; ++x)
    bytes[x] = to_byte(row[x], scale);
  return bytes;
}

template <bool textured>
void add_row(const std::uint8_t* a, const std::uint8_t* b, int width, ColumnSums& sums) {
  std::int32_t *const squares = sums.squares.data(), *const sum_of_squares =
                                                         sums.sum_of_squares.data();
  std::uint16_t* const sum = sums.sum.data();
  for (int x = 0; x < width; ++x) {
    const auto d = static_cast<std::int16_t>(a[x] - b[x]);
    squares[x] += d * d;
  }
  if constexpr (textured)
    for (int x = 0; x < width; ++x) {
      sum[x] += a[x];
      sum_of_squares[x] += a[x] * a[x];
    }
}

void mark_unlike(const float* a, const float* b, int width, EightBitScale scale, ColumnSums& sums) {
  for (int x = 0; x < width; ++x)
    sums.unlike[x] |= differ_outside_8bit_range(a[x], b[x], scale) ? 1 : 0;
}
template <class T>
void mark_unlike(const T*, const T*, int, EightBitScale, ColumnSums&) {}

/// Sums over one block, from its column sums.
struct BlockSums {
  std::uint32_t squares = 0, sum = 0, sum_of_squares = 0;
  bool unlike = false;

  BlockSums(const ColumnSums& of, int left, int columns) {
    for (int x = left; x < left + columns; ++x) {
      unlike |= of.unlike[x] != 0;
      squares += of.squares[x];
      sum += of.sum[x];
      sum_of_squares += of.sum_of_squares[x];
    }
  }
};

/// Returns true if the first `rows` of the `all_rows` sample rows in a row of blocks prove that
/// every block is textured and differs from the previous frame. `sums` contains the sums over these
/// first rows.
bool are_independent(const ColumnSums& sums, int rows, int all_rows, std::uint32_t limit) {
  const int width = static_cast<int>(sums.sum.size());
  for (int left = 0; left < width; left += relation_block) {
    const int columns = std::min(relation_block, width - left);
    const std::uint32_t seen = columns * rows, samples = columns * all_rows;
    const BlockSums block(sums, left, columns);
    const std::uint64_t scatter = std::uint64_t{seen} * block.sum_of_squares -
                                  std::uint64_t{block.sum} * block.sum;  // multiplied by `seen`
    if (same_block(block.squares, samples, limit) ||
        16 * scatter <= std::uint64_t{limit} * samples * seen)
      return false;
  }
  return true;
}

/// Number of sample rows that nearly always suffice to recognise independent noise.
constexpr int deciding_rows = 4;

/// Compares two planes block by block, and adds the number of different blocks to `different`. If
/// `textured` is true, also counts the textured blocks in d.textured, and the textured blocks that
/// are equal in both planes in d.shared. The comparison stops early if enough(number of remaining
/// blocks) returns true.
template <bool textured, class T, class Enough>
void compare_plane(PlaneView<T> a, PlaneView<T> b, EightBitScale scale, std::uint32_t limit,
                   std::uint32_t& different, FrameDifference& d, Enough&& enough) {
  const auto blocks_of = [](int length) { return (length + relation_block - 1) / relation_block; };
  std::vector<std::uint8_t> bytes_a(a.width), bytes_b(a.width);
  for (int top = 0; top < a.height; top += relation_block) {
    if (enough(static_cast<std::uint32_t>(blocks_of(a.width) * blocks_of(a.height - top)))) return;
    ColumnSums sums(a.width);
    const int rows = std::min(relation_block, a.height - top);
    const auto add_rows = [&](int from, int to) {
      for (int y = top + from; y < top + to; ++y) {
        mark_unlike(a.row(y), b.row(y), a.width, scale, sums);
        add_row<textured>(bytes_of(a.row(y), scale, bytes_a), bytes_of(b.row(y), scale, bytes_b),
                          a.width, sums);
      }
    };
    const int first = textured ? std::min(rows, deciding_rows) : rows;
    add_rows(0, first);
    if (textured && are_independent(sums, first, rows, limit)) {
      different += blocks_of(a.width);
      d.textured += blocks_of(a.width);
      continue;
    }
    add_rows(first, rows);
    for (int left = 0; left < a.width; left += relation_block) {
      const int columns = std::min(relation_block, a.width - left);
      const std::uint32_t samples = columns * rows;
      const BlockSums block(sums, left, columns);
      const bool same = !block.unlike && same_block(block.squares, samples, limit);
      if (!same) ++different;
      if (textured && is_textured_block(block.sum, block.sum_of_squares, samples, limit)) {
        ++d.textured;
        if (same) ++d.shared;
      }
    }
  }
}

std::uint32_t own_cost(PlaneView<const std::uint8_t> plane, int x, int y) {
  std::int32_t sum = 0;
  std::uint32_t squares = 0;
  for (int v = 0; v < prediction_block; ++v)
    for (int u = 0; u < prediction_block; ++u) {
      const int sample = plane(x + u, y + v);
      sum += sample;
      squares += sample * sample;
    }
  return about_mean(sum, squares);
}

std::uint32_t least_difference(PlaneView<const std::uint8_t> plane,
                               PlaneView<const std::uint8_t> earlier, int x, int y) {
  constexpr int block = prediction_block, reach = prediction_reach;
  std::int16_t own[block][block];
  for (int v = 0; v < block; ++v)
    for (int u = 0; u < block; ++u) own[v][u] = plane(x + u, y + v);
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
  for (int q = std::max(0, y - reach); q <= std::min(plane.height - block, y + reach); ++q)
    for (int p = std::max(0, x - reach); p <= std::min(plane.width - block, x + reach); ++p) {
      std::int32_t sum = 0, squares = 0;
      for (int v = 0; v < block; ++v) {
        const std::uint8_t* const row = earlier.row(q + v) + p;
        for (int u = 0; u < block; ++u) {
          const int d = own[v][u] - row[u];
          sum += d;
          squares += d * d;
        }
      }
      least = std::min(least, about_mean(sum, squares));
    }
  return least;
}

}  // namespace

FrameDifference difference_of(const Frame& frame, const Frame& before,
                              const std::array<float, 3>& sigma) {
  FrameDifference d;
  const FrameFormat& format = frame.format;
  d.identical = true;
  for (int i = 0; i < format.planes() && d.identical; ++i)
    d.identical = same_bytes(frame, before, i);
  if (d.identical) return d;
  const auto never = [](std::uint32_t) { return false; };
  for (int i = 0; i < format.planes(); ++i) {
    const bool main = i == main_plane(format.layout == Layout::rgb);
    with_samples(frame, before, i, [&](auto a, auto b) {
      const std::uint32_t limit = same_block_limit(sigma[i]);
      if (main)
        compare_plane<true>(a, b, EightBitScale(format), limit, d.different[i], d, never);
      else if (sigma[i] > 0)
        compare_plane<false>(a, b, EightBitScale(format), limit, d.different[i], d, never);
    });
    if (sigma[i] == 0) d.different[i] = same_bytes(frame, before, i) ? 0 : 1;
  }
  return d;
}

Relation relation_between(const Frame& frame, const Frame& before,
                          const std::array<float, 3>& sigma) {
  const int main = main_plane(frame.format.layout == Layout::rgb);
  FrameDifference d;
  // If the luma (or green) planes of the two frames differ, the relation depends only on the
  // textured blocks of these two planes. The comparison stops when the remaining blocks cannot
  // change the relation.
  if (sigma[main] > 0)
    with_samples(frame, before, main, [&](auto a, auto b) {
      compare_plane<true>(a, b, EightBitScale(frame.format), same_block_limit(sigma[main]),
                          d.different[main], d, [&](std::uint32_t left) {
                            return d.different[main] > 0 && d.textured >= 2 * d.shared + left;
                          });
    });
  return d.different[main] > 0 ? relation_of(d) : relation_of(difference_of(frame, before, sigma));
}

void to_bytes(const Frame& frame, PlaneView<std::uint8_t> to) {
  const int i = main_plane(frame.format.layout == Layout::rgb);
  const EightBitScale scale(frame.format);
  with_samples(frame, frame, i, [&](auto from, auto) {
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) to(x, y) = to_byte(from(x, y), scale);
  });
}

void make_coarse(PlaneView<const std::uint8_t> main, PlaneView<std::uint8_t> to) {
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x) {
      int sum = coarse * coarse / 2;
      for (int v = 0; v < coarse; ++v)
        for (int u = 0; u < coarse; ++u) sum += main(x * coarse + u, y * coarse + v);
      to(x, y) = static_cast<std::uint8_t>(sum / (coarse * coarse));
    }
}

PredictionCost prediction_of(PlaneView<const std::uint8_t> plane,
                             PlaneView<const std::uint8_t> earlier, std::uint32_t noise) {
  PredictionCost cost;
  for (int y = 0; y + prediction_block <= plane.height; y += prediction_block)
    for (int x = 0; x + prediction_block <= plane.width; x += prediction_block)
      add_block(cost, own_cost(plane, x, y), least_difference(plane, earlier, x, y), noise);
  return cost;
}

}  // namespace lull
