#pragma once
// Three cuts through a volume, across each of its axes, as a picture.

#include <array>
#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"
#include "io/media.h"

namespace lull::tools {

/// A volume as its file has it, x, y and z, whichever of them its slices follow.
struct CutGeometry {
  std::array<int, 3> size{};               // voxels along x, y, z
  std::array<double, 3> spacing{1, 1, 1};  // from voxel to voxel
  std::array<int, 3> of_slice{0, 1, 2};    // which axis a slice's rows, columns, order are
  bool upwards = false;                    // y and z rise from below, as NIfTI's mostly do
  std::array<int, 3> at{};                 // the voxel that all three cuts meet in
};

/// Of a stack, with the cuts in its middle.
[[nodiscard]] CutGeometry cut_geometry(const io::MediaSource& source, io::Axis axis);

/// The cuts across z, y and x, which takes one volume's slices one by one.
class VolumeCuts {
 public:
  explicit VolumeCuts(const CutGeometry& geometry);
  /// `slice` is grey, and the `number`-th of the volume.
  void add(const Frame& slice, int number);
  /// Samples from 0 to 1, where the slices' lie within their range; NaN where they are none.
  PlaneView<const float> cut(int i) const { return cuts_[i].view(); }

 private:
  CutGeometry geometry_;
  std::array<Plane<float>, 3> cuts_;
};

/// Cut `i` before, after, and mid-grey with what was taken away, amplified: grey, of 8 bits. Voxels
/// have the shape that their spacing gives them.
[[nodiscard]] std::array<Frame, 3> cut_panels(const CutGeometry& geometry, const VolumeCuts& before,
                                              const VolumeCuts& after, int i, int factor);

/// Rows of the cuts across z, y and x: their panels side by side.
[[nodiscard]] Frame cuts_picture(const CutGeometry& geometry, const VolumeCuts& before,
                                 const VolumeCuts& after, int factor);

}  // namespace lull::tools
