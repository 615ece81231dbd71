#pragma once
// The samples of a series in memory: all voxels of a volume, volume after volume.

#include <cstddef>

namespace lull::series {

/// Size of a series. The index of a voxel in a volume counts along x, then y, then the slices.
struct Shape {
  // Size along each axis, and number of volumes, at least 1.
  int width = 0, height = 0, slices = 0, volumes = 0;

  constexpr std::size_t slice_voxels() const { return static_cast<std::size_t>(width) * height; }
  constexpr std::size_t voxels() const { return slice_voxels() * slices; }
  constexpr std::size_t samples() const { return voxels() * volumes; }
  bool operator==(const Shape&) const = default;
};

/// The samples of a series on the 0..255 scale. NaN represents a missing sample. The struct does
/// not own the memory.
struct Samples {
  Shape shape;
  float* data = nullptr;

  float* volume(int v) const { return data + v * shape.voxels(); }
};

}  // namespace lull::series
