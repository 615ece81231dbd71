#include "repair/windows.h"

namespace lull::repair {
namespace {

constexpr int row_step = 4;               // every fourth row is used
constexpr int max_differences = 1 << 16;  // maximum number of differences in a median

/// Standard deviation of a second difference of white noise with a standard deviation of 1.
const float second_difference = std::sqrt(6.0f);

float level_along(PlaneView<const float> plane, int dx, int dy) {
  const int rows = (plane.height - 2 + row_step - 1) / row_step;
  const int step = 1 + rows * (plane.width - 2) / max_differences;
  std::vector<float> differences;
  differences.reserve(static_cast<std::size_t>(max_differences) + plane.width);
  for (int y = 1; y < plane.height - 1; y += row_step)
    for (int x = 1; x < plane.width - 1; x += step)
      differences.push_back(
          std::abs(plane(x - dx, y - dy) - 2 * plane(x, y) + plane(x + dx, y + dy)));
  return sigma_of_mad * median(differences) / second_difference;
}

}  // namespace

float noise_level(PlaneView<const float> plane) {
  return std::min(level_along(plane, 1, 0), level_along(plane, 0, 1));
}

}  // namespace lull::repair
