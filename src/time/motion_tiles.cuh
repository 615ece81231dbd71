#pragma once
// Tiles of planes in shared memory for motion.cu. Thread blocks have `motion_threads` threads.

#include <algorithm>
#include <cstdint>

namespace lull {

inline constexpr int motion_threads = 128;

constexpr int words_for(int bytes) { return (bytes + 3) / 4; }

/// Returns four consecutive bytes of the eight bytes of two words. `from` is the index of the first
/// of the four bytes.
__device__ inline std::uint32_t cut(std::uint32_t low, std::uint32_t high, int from) {
  return __funnelshift_r(low, high, 8 * from);
}

/// Returns a mask of the first `count` (0 to 4) bytes of a word.
__device__ inline std::uint32_t first_bytes(int count) {
  return count >= 4 ? ~0u : count <= 0 ? 0 : (1u << 8 * count) - 1;
}

/// Two aligned words that contain four required bytes, from bit `shift` on.
struct WordPair {
  std::uint32_t low, high;
  int shift;
  __device__ std::uint32_t word() const { return __funnelshift_r(low, high, shift); }
};

struct BytePlane {
  const std::uint8_t* data;
  int width, height;

  /// Returns the two aligned words that contain four successive samples of a row, from (x, y) on.
  /// Because the function loads both words completely, the samples at x to x + 7 must be inside the
  /// plane.
  __device__ WordPair words_at(int x, int y) const {
    const auto at = reinterpret_cast<std::uintptr_t>(data + y * width + x);
    const auto* const aligned = reinterpret_cast<const std::uint32_t*>(at & ~std::uintptr_t{3});
    return {__ldg(aligned), __ldg(aligned + 1), 8 * static_cast<int>(at & 3)};
  }
  /// Returns `count` (0 to 4) samples from (x, y) on, as the bytes of a word. All other bytes, and
  /// samples outside the plane, are 0.
  __device__ std::uint32_t word(int x, int y, int count) const {
    std::uint32_t word = 0;
    if (y < 0 || y >= height || count <= 0) return word;
    if (x >= 0 && x + 8 <= width) return words_at(x, y).word() & first_bytes(count);
    for (int k = 0; k < 4; ++k)
      if (const int column = x + k; k < count && column >= 0 && column < width)
        word |= static_cast<std::uint32_t>(data[y * width + column]) << 8 * k;
    return word;
  }
};

/// Returns the row stride, in words, of rows of `width` samples in shared memory. The stride is
/// odd, which avoids bank conflicts between rows.
constexpr int odd_pitch(int width) { return (words_for(width) + 1) | 1; }

/// Rows of samples (bytes) of a plane, in shared memory.
template <int width, int height, int pitch = odd_pitch(width)>
struct Tile {
  std::uint32_t words[height * pitch];

  /// Loads the tile rows `first` to `end` - 1: row r receives `columns` samples of the plane from
  /// (x, y + r) on. All other bytes of the tile become 0.
  template <int most>
  __device__ void load_zero_padded(const BytePlane& plane, int x, int y, int columns, int first,
                                   int end) {
    if (!load_within<most>(plane, x, y, columns, first, end))
      return load_clipped(plane, x, y, columns, first, end);
    for (int i = threadIdx.x; i < first * pitch; i += motion_threads) words[i] = 0;
    for (int i = end * pitch + threadIdx.x; i < height * pitch; i += motion_threads) words[i] = 0;
  }
  /// Loads a rectangle of `columns` x `rows` samples with the top-left sample (x, y). Samples
  /// outside the plane become 0. All other bytes of the tile are arbitrary.
  template <int most>
  __device__ void load(const BytePlane& plane, int x, int y, int columns, int rows) {
    if (!load_within<most>(plane, x, y, 4 * pitch, 0, rows))
      load_clipped(plane, x, y, columns, 0, rows);
  }

  __device__ std::uint32_t at(int row, int word) const { return words[row * pitch + word]; }
  __device__ std::uint32_t square(int row, int column) const {
    const std::uint32_t v = reinterpret_cast<const std::uint8_t*>(words + row * pitch)[column];
    return v * v;
  }

 private:
  __device__ void load_clipped(const BytePlane& plane, int x, int y, int columns, int first,
                               int end) {
    for (int i = threadIdx.x; i < height * pitch; i += motion_threads) {
      const int row = i / pitch, column = i % pitch * 4;
      const bool inside = row >= first && row < end;
      words[i] = inside ? plane.word(x + column, y + row, columns - column) : 0;
    }
  }
  /// Loads the samples if all loads are inside the plane, and otherwise only returns false. Each
  /// thread issues all its loads before it waits for the first.
  template <int most>
  __device__ bool load_within(const BytePlane& plane, int x, int y, int columns, int first,
                              int end) {
    constexpr int lanes = pitch <= 4 ? 4 : 16, step = motion_threads / lanes;
    constexpr int count = (most + step - 1) / step;
    static_assert(pitch <= lanes);
    if (x < 0 || x + 4 * pitch + 4 > plane.width || y + first < 0 ||
        y + first + count * step > plane.height)
      return false;
    const int column = threadIdx.x % lanes, row = first + threadIdx.x / lanes;
    if (column >= pitch) return true;
    WordPair v[count];
#pragma unroll
    for (int k = 0; k < count; ++k) v[k] = plane.words_at(x + 4 * column, y + row + k * step);
    const std::uint32_t mask = first_bytes(columns - 4 * column);
#pragma unroll
    for (int k = 0; k < count; ++k)
      if (row + k * step < end) words[(row + k * step) * pitch + column] = v[k].word() & mask;
    return true;
  }
};

/// The search area of a region in the other frame. For |b|^2, squares[row][dx] is the sum of the
/// squared samples in the part of a row that begins at position dx and is as wide as the region.
template <int side, int vectors>
struct SearchArea {
  static constexpr int height = side + vectors - 1;
  Tile<side + vectors - 1, height + 2> tile;  // products read two or four rows at a time
  std::uint32_t squares[height][vectors];

  /// Loads the search area of a region of `columns` x `rows` samples. (x, y) is the position of the
  /// region after a shift by the first vector.
  __device__ void load(const BytePlane& plane, int x, int y, int columns, int rows) {
    tile.template load<height>(plane, x, y, columns + vectors - 1, rows + vectors - 1);
  }
  __device__ void sum_row(int row, int columns) {
    std::uint32_t sum = 0;
#pragma unroll 12
    for (int k = 0; k < columns / 4; ++k) sum = __dp4a(tile.at(row, k), tile.at(row, k), sum);
    for (int x = columns & ~3; x < columns; ++x) sum += tile.square(row, x);
#pragma unroll
    for (int dx = 0; dx < vectors; ++dx) {
      squares[row][dx] = sum;
      if (dx + 1 < vectors) sum += tile.square(row, dx + columns) - tile.square(row, dx);
    }
  }
  /// Returns the sum of the squared samples of the other frame in the region, after a shift of the
  /// region to the indices (dx, dy). `rows` is the height of the region.
  __device__ std::uint32_t squares_at(int dx, int dy, int rows) const {
    std::uint32_t sum = 0;
#pragma unroll 12
    for (int y = 0; y < rows; ++y) sum += squares[dy + y][dx];
    return sum;
  }
};

}  // namespace lull
