#include "match/second_half.h"

namespace lull {

Motion second_half(PlaneView<const float> own, PlaneView<const float> other, const BundleArea& area,
                   Motion a, Motion uneven) {
  if (uneven.x == 0 && uneven.y == 0) return {};
  float straight = 0, following = 0;
  for (int y = area.top; y < area.bottom; ++y) {
    for (int x = area.left; x < area.right; ++x) {
      const int u = x + a.x, v = y + a.y;
      const float there = own(x, y) - other(u, v);
      const float moved = own(x, y) - other(u + uneven.x, v + uneven.y);
      straight += there * there;
      following += moved * moved;
    }
  }
  return following < follows_below * straight ? uneven : Motion{};
}

}  // namespace lull
