#pragma once
// Means of blocks of samples, for the next smaller level of a pyramid.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/volumes/stack_samples.h"

namespace lull::io {

/// Divides an axis of a pyramid level into blocks. The mean of a block is a sample of the next
/// smaller level. If `after` is the quotient of `before` and an integer factor, rounded up or down,
/// each block except the last has `factor` samples. The last block may be smaller. Samples after
/// the last block belong to no block.
class Blocks {
 public:
  /// @param before  number of samples of the larger level
  /// @param after   number of samples of the smaller level, 1..before
  Blocks(std::int64_t before, std::int64_t after);
  /// begin() returns the first sample of block `i`; end() returns the sample after the last sample
  /// of block `i`.
  std::int64_t begin(std::int64_t i) const;
  std::int64_t end(std::int64_t i) const;

 private:
  std::int64_t before_, after_;
  std::int64_t factor_;  // 0: the sizes of the blocks differ
};

struct PlaneSize {
  std::int64_t width = 0, height = 0;
};

/// Computes a plane whose samples are means of blocks of one or several planes. The means ignore
/// samples that are not finite.
class PlaneMeans {
 public:
  /// @param from  size of the planes
  /// @param to    size of the result, at most `from` in each direction
  PlaneMeans(const PlaneSize& from, const PlaneSize& to);
  /// Begins a new result.
  void clear();
  /// Adds the samples of a plane. `plane` contains no padding between rows.
  void add(std::span<const std::byte> plane, const StoredFormat& format);
  /// Returns the means over all planes that add() has received since clear(). The mean of a block
  /// without finite samples is NaN. The caller must call clear() after means().
  const std::vector<double>& means();

 private:
  Blocks x_, y_;
  PlaneSize from_, to_;
  std::vector<double> sums_;
  std::vector<std::uint64_t> counts_;
  std::vector<double> row_;
};

}  // namespace lull::io
