#pragma once
// Finds the end of a run of equal samples.

#include <algorithm>
#include <cstring>

namespace lull {

/// Returns the first index from `begin` on, before `end`, at which `row` differs from `value`, or
/// `end`. Compares blocks of samples with memcmp(), which is several times as fast as a loop.
template <class T>
[[nodiscard]] int end_of_equal(const T* row, int begin, int end, T value) {
  constexpr int block = 64;
  // If the first sample equals `value`, and each sample has the same bytes as the sample before it,
  // all samples of the block equal `value`.
  while (begin + block < end && row[begin] == value &&
         std::memcmp(row + begin, row + begin + 1, block * sizeof(T)) == 0)
    begin += block;
  return static_cast<int>(std::find_if(row + begin, row + end, [&](T v) { return !(v == value); }) -
                          row);
}

}  // namespace lull
