#pragma once
// Statistics of a volume for noise estimation. The collector stores a few numbers for each cube of
// 4 x 4 x 4 voxels, slice by slice. For stacks of fewer than four slices, it can instead examine
// squares of 8 x 8 samples of single slices.

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/float_range.h"
#include "core/frame.h"
#include "core/plane.h"

namespace lull {

/// The 64 samples that have common statistics: a cube of 4 x 4 x 4 voxels, or a square of 8 x 8
/// samples of a slice.
enum class CubeShape : std::uint8_t { cube, square };

/// Statistics of one cube or square, on the 0..255 scale. An energy is the mean square of some
/// coefficients of the orthonormal DCT-II. For white noise, each energy is the noise variance.
struct CubeStatistics {
  float mean = 0;
  // Energy of the coefficients (w, v, u) with 1 <= w + v + u <= 3: 19 in a cube, 9 in a square. w,
  // v and u are the frequencies along z, y and x.
  float low = 0;
  // Energy of the 8 coefficients with the least structure. In a cube, w, v and u are at least 2. In
  // a square, v and u are at least 5, and v + u is at least 11.
  float high = 0;
  float variance = 0;  // variance of the 64 samples: energy of all coefficients but the mean
  float third = 0;     // third central moment of the voxels
  float common = 0;    // the most frequent value of the voxels
  std::uint8_t common_count = 0;           // number of voxels with that value
  std::array<std::int16_t, 3> position{};  // position along x, y, z, in cubes
};

class CubeCollector {
 public:
  static constexpr int side = 4;
  static constexpr std::size_t min_cubes = 16;

  /// `slices` is the total number of slices of all volumes of the input, if known. With this
  /// number, the collector selects at most about 400 000 cubes, and examines only these cubes.
  CubeCollector(const FrameFormat& format, std::int64_t slices, CubeShape shape = CubeShape::cube);

  /// Adds the first plane of a slice. The caller must add the slices of a volume in order, and the
  /// volumes of a series one after another (Frame::slice).
  void add(const Frame& slice);

  /// Returns the examined cubes that are usable: all voxels are within the filter range
  /// (core/float_range.h), and not all voxels are equal.
  const std::vector<CubeStatistics>& cubes() const { return cubes_; }
  /// Returns whether there are enough cubes for an estimate (estimate_volume.h).
  bool has_enough_cubes() const { return cubes_.size() >= min_cubes; }
  /// Returns the number of all examined cubes, whether usable or not.
  std::int64_t examined() const { return examined_; }
  /// Constant cubes are cubes of equal voxels. Constant cubes contain clipped samples, or lie
  /// around the object in a masked or padded volume. Returns the number of constant cubes for each
  /// value.
  const std::unordered_map<float, std::int64_t>& constant_values() const {
    return constant_values_;
  }
  /// Minimum and maximum of the voxels of the examined cubes. Cubes with a voxel outside the filter
  /// range (core/float_range.h) do not count. In a volume with clipped samples, these values are
  /// the clipping limits.
  float min_value() const { return min_value_; }
  float max_value() const { return max_value_; }
  /// Returns the number of voxels of a volume along each axis.
  std::array<int, 3> voxels() const { return {format_.width, format_.height, depth_}; }
  const FrameFormat& format() const { return format_; }

 private:
  void process_layer(int layer);
  void examine(int layer, int row, int column);

  FrameFormat format_;
  CubeShape shape_;
  int width_, depth_of_cube_;  // sides of a cube or square along x and y, and along z
  int step_ = 1;               // one of `step_` cubes along each axis is examined
  std::array<Plane<float>, side> slices_;
  int next_ = 0;         // expected index of the next slice of this volume
  int first_slice_ = 0;  // index of the first slice of this volume
  int depth_ = 0;
  std::vector<CubeStatistics> cubes_;
  std::int64_t examined_ = 0;
  std::unordered_map<float, std::int64_t> constant_values_;
  float min_value_ = filter_range_max, max_value_ = filter_range_min;
};

}  // namespace lull
