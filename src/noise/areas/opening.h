#pragma once
// Morphological opening of a set of samples, for areas with ragged borders.

#include <cstdint>
#include <vector>

namespace lull {

/// A set of samples of a rectangle. `marked` has one element per sample, row by row, which is not 0
/// if the sample is in the set.
struct SampleSet {
  int width = 0, height = 0;
  std::vector<std::uint8_t> marked;

  SampleSet(int w, int h) : width(w), height(h), marked(static_cast<std::size_t>(w) * h) {}
  std::uint8_t& at(int x, int y) { return marked[static_cast<std::size_t>(y) * width + x]; }
  bool has(int x, int y) const { return marked[static_cast<std::size_t>(y) * width + x] != 0; }
};

/// Returns the morphological opening by a square: the union of all squares of `side` x `side`
/// samples inside `set`.
[[nodiscard]] SampleSet opened(const SampleSet& set, int side);

}  // namespace lull
