#pragma once
// Means of blocks of samples, for the next smaller level of a pyramid.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/volumes/stack_samples.h"

namespace lull::io {

/// Divides an axis of a pyramid level into blocks, whose means are the samples of the next smaller
/// level. If the sizes of the two levels are a factor apart, rounded up or down, the factor is the
/// size of all blocks. Only the last block may then be smaller. Samples after the last block do not
/// count.
class Blocks {
 public:
  /// @param before  number of samples of the level before
  /// @param after   number of samples of the level, 1..before
  Blocks(std::int64_t before, std::int64_t after);
  /// First sample of block `i`, and the sample after its last sample.
  std::int64_t begin(std::int64_t i) const;
  std::int64_t end(std::int64_t i) const;

 private:
  std::int64_t before_, after_;
  std::int64_t factor_;  // 0: the sizes of the blocks differ
};

struct PlaneSize {
  std::int64_t width = 0, height = 0;
};

/// Computes a plane of means from one or several planes. Samples that are not finite do not count.
class PlaneMeans {
 public:
  /// @param to  size of the result, in each direction at most that of the planes
  PlaneMeans(const PlaneSize& from, const PlaneSize& to);
  /// Begins a new result.
  void clear();
  /// Adds the stored samples of a plane without padding between rows.
  void add(std::span<const std::byte> plane, const StoredFormat& format);
  /// Returns the means of all planes since clear(). The mean of a block without finite samples is
  /// NaN. The next call must be clear().
  const std::vector<double>& means();

 private:
  Blocks x_, y_;
  PlaneSize from_, to_;
  std::vector<double> sums_;
  std::vector<std::uint64_t> counts_;
  std::vector<double> row_;
};

}  // namespace lull::io
