#pragma once
// Replaces defective samples by interpolation.

#include <cstdint>
#include <vector>

#include "core/image.h"

namespace lull::repair {

/// A mask that marks the defective samples of a plane.
class DefectMask {
 public:
  /// Sets the mask to the size of a plane, and clears it.
  void reset(int width, int height);
  void mark(int x, int y);
  bool is_marked(int x, int y) const { return marks_[index(x, y)] != 0; }
  std::int64_t count() const { return static_cast<std::int64_t>(places_.size()); }

  struct Place {
    int x, y;
  };
  const std::vector<Place>& places() const { return places_; }

 private:
  std::size_t index(int x, int y) const { return static_cast<std::size_t>(y) * width_ + x; }

  int width_ = 0;
  std::vector<std::uint8_t> marks_;
  std::vector<Place> places_;
};

/// Replaces the marked samples by weighted means over four directions, with high weights along
/// edges and lines. Marked samples without unmarked neighbours nearby do not change.
/// @param noise  standard deviation of the noise of the plane
void interpolate_marked(const DefectMask& mask, float noise, PlaneView<float> plane);

}  // namespace lull::repair
