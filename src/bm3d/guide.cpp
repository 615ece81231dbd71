#include "bm3d/guide.h"

#include <algorithm>

namespace lull::bm3d {

bool filters_any(const Params& params, const FrameFormat& format) {
  for (int i = 0; i < format.planes(); ++i)
    if (params.sigma[i] > 0 && format.plane_width(i) >= patch && format.plane_height(i) >= patch)
      return true;
  return false;
}

void box_average(PlaneView<const float> fine, int shift_x, int shift_y, PlaneView<float> coarse) {
  for (int y = 0; y < coarse.height; ++y)
    for (int x = 0; x < coarse.width; ++x) {
      const int top = y << shift_y, bottom = std::min((y + 1) << shift_y, fine.height);
      const int left = x << shift_x, right = std::min((x + 1) << shift_x, fine.width);
      float sum = 0;
      for (int v = top; v < bottom; ++v)
        for (int u = left; u < right; ++u) sum += fine(u, v);
      coarse(x, y) = sum / static_cast<float>((bottom - top) * (right - left));
    }
}

void add_weighted(PlaneView<const float> plane, float weight, PlaneView<float> sum) {
  for (int y = 0; y < sum.height; ++y)
    for (int x = 0; x < sum.width; ++x) sum(x, y) += weight * plane(x, y);
}

}  // namespace lull::bm3d
