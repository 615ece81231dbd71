#pragma once
// Describes the size and the position of a volume in space, independently of the file format.

#include <array>
#include <cstdint>

namespace lull::io {

struct VolumeGeometry {
  std::array<std::int64_t, 3> size{1, 1, 1};  // along the axes of the file, fastest first
  std::int64_t volumes = 1;                   // number of volumes of a series
  std::array<double, 3> spacing{1, 1, 1};     // along the axes, in millimetres; above 0
  /// Whether the file states an orientation. If false, `directions` and `origin` are unknown.
  bool is_oriented = false;
  /// `directions` contains the step to the next voxel along each axis. `origin` is the position of
  /// the first voxel. Both have RAS coordinates: x to the right, y to the front, z to the top, in
  /// millimetres.
  std::array<std::array<double, 3>, 3> directions{};
  std::array<double, 3> origin{};
  double seconds = 0;  // time between the volumes of a series; 0: unknown
};

}  // namespace lull::io
