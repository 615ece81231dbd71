#include "match/second_half.h"

namespace lull {

Motion second_half(PlaneView<const float> own, PlaneView<const float> other, const BundleArea& area,
                   Motion a, Motion acceleration) {
  if (acceleration.x == 0 && acceleration.y == 0) return {};
  float straight_error = 0, shifted_error = 0;
  for (int y = area.top; y < area.bottom; ++y) {
    for (int x = area.left; x < area.right; ++x) {
      const int u = x + a.x, v = y + a.y;
      const float unmoved = own(x, y) - other(u, v);
      const float moved = own(x, y) - other(u + acceleration.x, v + acceleration.y);
      straight_error += unmoved * unmoved;
      shifted_error += moved * moved;
    }
  }
  return shifted_error < max_error_ratio * straight_error ? acceleration : Motion{};
}

}  // namespace lull
