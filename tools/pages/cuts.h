#pragma once
// Pictures of three orthogonal cross-sections through a volume.

#include <array>
#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"
#include "io/media.h"

namespace lull::tools {

/// The geometry of a volume. The axes x, y and z are the axes of the file, for any slice direction.
struct CutGeometry {
  std::array<int, 3> size{};               // voxels along x, y, z
  std::array<double, 3> spacing{1, 1, 1};  // distance between voxels along x, y, z
  std::array<int, 3> of_slice{0, 1, 2};    // axes along a slice's rows, columns and across slices
  bool upwards = false;                    // y and z point up, which is usual in NIfTI
  std::array<int, 3> at{};                 // voxel in which all three cross-sections intersect
};

/// Returns the geometry of the volume in a stack. The cross-sections intersect at the centre of the
/// volume.
[[nodiscard]] CutGeometry cut_geometry(const io::MediaSource& source, io::Axis axis);

/// Collects three cross-sections through a volume from its slices: perpendicular to z, y and x.
class VolumeCuts {
 public:
  explicit VolumeCuts(const CutGeometry& geometry);
  /// Adds a grey slice. `number` is the index of the slice in the volume.
  void add(const Frame& slice, int number);
  /// Returns the samples of a cross-section. 0..1 is the sample range of the slices. Samples may be
  /// NaN.
  PlaneView<const float> cut(int i) const { return cuts_[i].view(); }
  PlaneView<float> cut(int i) { return cuts_[i].view(); }

 private:
  CutGeometry geometry_;
  std::array<Plane<float>, 3> cuts_;
};

/// Returns cross-section `i` as three 8-bit grey panels: before, after, and the amplified
/// difference around mid-grey, in the aspect ratio of the volume.
[[nodiscard]] std::array<Frame, 3> cut_panels(const CutGeometry& geometry, const VolumeCuts& before,
                                              const VolumeCuts& after, int i, int factor);

/// Returns one picture with a row of panels for each cross-section: perpendicular to z, y and x.
[[nodiscard]] Frame cuts_picture(const CutGeometry& geometry, const VolumeCuts& before,
                                 const VolumeCuts& after, int factor);

}  // namespace lull::tools
