#pragma once
// What is asked of a volume to know its noise: a few numbers of each of its cubes of 4 x 4 x 4
// voxels, collected slice by slice.

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/float_range.h"
#include "core/frame.h"
#include "core/plane.h"

namespace lull {

/// Of one cube, on the 0..255 scale. Energies are means over coefficients of its orthonormal
/// DCT-II: the variance of white noise, each.
struct CubeStatistics {
  float mean = 0;
  float low = 0;     // energy of coefficients (w, v, u) with 1 <= w + v + u <= 3: 19 of them
  float high = 0;    // of those with w, v, u >= 2 each: 8, in which there is the least of a picture
  float whole = 0;   // of all but the mean: the variance of the 64 voxels
  float third = 0;   // third central moment of the voxels
  float common = 0;  // the value that most voxels have,
  std::uint8_t commons = 0;             // and how many have it
  std::array<std::int16_t, 3> place{};  // along x, y, z, in cubes
};

class CubeCollector {
 public:
  static constexpr int side = 4;

  /// `slices`: of all volumes of the input together, as far as known; from it follows of how many
  /// cubes one is looked at, so that there are not many more than 400 000.
  CubeCollector(const FrameFormat& format, std::int64_t slices);

  /// The slices of a volume in order, of a series volume after volume (Frame::slice). Only the
  /// first plane is looked at.
  void add(const Frame& slice);

  /// Those whose voxels are numbers, all within what filters see, and not all equal.
  const std::vector<CubeStatistics>& cubes() const { return cubes_; }
  /// Cubes that were looked at, whatever is in them.
  std::int64_t seen() const { return seen_; }
  /// Values that cubes consist of wholly, with the number of such cubes: what is around the object
  /// in volumes that are masked or padded, and where samples are clipped.
  const std::unordered_map<float, std::int64_t>& flat() const { return flat_; }
  /// The ends of the range of all voxels that are numbers; where samples are clipped if they are.
  float least() const { return least_; }
  float greatest() const { return greatest_; }
  /// Voxels of a volume along each axis.
  std::array<int, 3> voxels() const { return {format_.width, format_.height, depth_}; }
  const FrameFormat& format() const { return format_; }

 private:
  void work_off(int layer);
  void look_at(int layer, int row, int column);

  FrameFormat format_;
  int step_ = 1;  // of so many cubes along each axis one is looked at
  std::array<Plane<float>, side> slices_;
  int next_ = 0;   // the slice that comes, if it is of the same volume
  int begun_ = 0;  // the slice that the volume began with
  int depth_ = 0;
  std::vector<CubeStatistics> cubes_;
  std::int64_t seen_ = 0;
  std::unordered_map<float, std::int64_t> flat_;
  float least_ = greatest_seen, greatest_ = least_seen;
};

}  // namespace lull
