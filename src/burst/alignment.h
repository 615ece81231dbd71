#pragma once
// Aligns two hand-held pictures by a similarity transform: rotation, uniform scaling and
// translation. The alignment proceeds from coarse to fine. A full search finds the translation at
// the coarsest level. Then robust least-squares fits determine the transform from the translations
// of tiles.

// The alignment from coarse to fine is accurate to about one sample. The function refined()
// (refinement.h) then improves the accuracy to a fraction of a sample. refined() runs on the host
// for every backend.

#include <cstdint>
#include <vector>

#include "core/image.h"
#include "core/plane.h"

namespace lull::burst {

/// Maps (x, y) in one picture to (a * x - b * y + move_x, b * x + a * y + move_y) in the other.
/// Coordinates are relative to the centres of the pictures.
struct Alignment {
  double a = 1, b = 0;
  double move_x = 0, move_y = 0;
};

/// An image pyramid. Each level has half the size of the previous level, rounded down.
class Pyramid {
 public:
  explicit Pyramid(PlaneView<const float> picture);
  [[nodiscard]] int levels() const { return static_cast<int>(planes_.size()); }
  /// Returns level `i`. Level 0 has the full size.
  [[nodiscard]] PlaneView<const float> level(int i) const { return planes_[i].view(); }

 private:
  std::vector<Plane<float>> planes_;
};

/// Returns the alignment of two pictures of equal size.
[[nodiscard]] Alignment find_alignment(const Pyramid& picture, const Pyramid& other);

}  // namespace lull::burst
