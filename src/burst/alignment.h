#pragma once
// Aligns two hand-held pictures of a burst by a similarity: translation, small rotation and small
// change of scale. A full search at the coarsest level of an image pyramid finds the translation.
// At each level, a robust least-squares fit to the translations of tiles determines a similarity.

// The function refined() (refinement.h) determines the final similarity to a fraction of a sample.
// The alignment runs on the host for every backend.

#include <cstdint>
#include <vector>

#include "core/image.h"
#include "core/plane.h"

namespace lull::burst {

/// Maps the position (x, y) in one picture to (a x - b y + move_x, b x + a y + move_y) in another
/// picture. Coordinates are relative to the centres of the pictures.
struct Alignment {
  double a = 1, b = 0;
  double move_x = 0, move_y = 0;
};

/// An image pyramid. Each level has half the width and height of the previous level, rounded down.
class Pyramid {
 public:
  /// `picture` contains float samples on the 0..255 scale.
  explicit Pyramid(PlaneView<const float> picture);
  [[nodiscard]] int levels() const { return static_cast<int>(planes_.size()); }
  /// Returns a level of the pyramid. Level 0 has the full size.
  [[nodiscard]] PlaneView<const float> level(int i) const { return planes_[i].view(); }

 private:
  std::vector<Plane<float>> planes_;
};

/// Returns the alignment of two pictures of the same size.
[[nodiscard]] Alignment find_alignment(const Pyramid& picture, const Pyramid& other);

}  // namespace lull::burst
