#pragma once
// Means of blocks of samples, for the next pyramid level.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/volumes/stack_samples.h"

namespace lull::io {

/// Divides an axis of a pyramid level into blocks, one for each sample of the next smaller level.
/// An integer downsampling factor is the size of each block. The last block may be shorter, or some
/// samples at the end of the axis may belong to no block. For other factors, the sizes of blocks
/// differ by at most 1.
class Blocks {
 public:
  /// @param before  number of samples of the larger level
  /// @param after   number of samples of the smaller level, 1..before
  Blocks(std::int64_t before, std::int64_t after);
  /// Block `i` begins with sample begin(i), and ends before sample end(i).
  std::int64_t begin(std::int64_t i) const;
  std::int64_t end(std::int64_t i) const;

 private:
  std::int64_t before_, after_;
  std::int64_t factor_;  // 0: the sizes of the blocks differ
};

struct PlaneSize {
  std::int64_t width = 0, height = 0;
};

/// Downsamples planes: computes the mean of each block over one or several planes. The means ignore
/// samples that are not finite.
class PlaneMeans {
 public:
  /// @param from  size of the planes
  /// @param to    size of the result, at most `from` in each direction
  PlaneMeans(const PlaneSize& from, const PlaneSize& to);
  /// Begins a new result.
  void clear();
  /// Adds a plane, which must have no padding between rows.
  void add(std::span<const std::byte> plane, const StoredFormat& format);
  /// Returns the means over all planes that the caller has added since clear(); NaN for a block
  /// without finite samples. The caller must call clear() afterwards.
  const std::vector<double>& means();

 private:
  Blocks x_, y_;
  PlaneSize from_, to_;
  std::vector<double> sums_;
  std::vector<std::uint64_t> counts_;
  std::vector<double> row_;
};

}  // namespace lull::io
