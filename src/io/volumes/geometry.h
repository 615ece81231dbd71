#pragma once
// Position of a volume in space, for all formats of volumes.

#include <array>
#include <cstdint>

namespace lull::io {

struct VolumeGeometry {
  std::array<std::int64_t, 3> size{1, 1, 1};  // along the axes of the file, fastest first
  std::int64_t volumes = 1;                   // number of volumes of a series
  std::array<double, 3> spacing{1, 1, 1};     // along the axes, in millimetres; above 0
  /// Whether the file states an orientation. If false, `directions` and `origin` are unknown.
  bool is_oriented = false;
  /// Step from voxel to voxel along each axis, and position of the first voxel, in millimetres to
  /// the right, front and top (RAS).
  std::array<std::array<double, 3>, 3> directions{};
  std::array<double, 3> origin{};
  double seconds = 0;  // time between the volumes of a series; 0: unknown
};

}  // namespace lull::io
