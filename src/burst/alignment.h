#pragma once
// Alignment of two hand-held pictures of a burst by a similarity: translation, small rotation and
// small change of scale. The alignment is computed on the host, so every backend uses the same
// alignment. It has three steps:
// 1. At the coarsest level of the pyramid, a full search finds the translation.
// 2. At each level, a least-squares fit determines a similarity from the translations of tiles. The
//    fit is repeated without outliers, so that tiles with different motion do not bias the fit.
// 3. At the finest level, a minimisation of the differences (refinement.h) determines the
//    similarity to a small fraction of a sample.

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

/// An image pyramid: a picture at decreasing sizes. Each level has half the width and height of the
/// previous level, rounded down.
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
