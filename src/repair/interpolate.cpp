#include "repair/interpolate.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace lull::repair {
namespace {

// The estimator interpolates a defect between opposite neighbours. If there is no pair of unmarked
// opposite neighbours inside the plane, the mean of the nearest unmarked samples replaces the
// defect. These samples are at most `max_reach` samples away.
constexpr int max_reach = 16;
/// Maximum noise level, in 8-bit steps, for cubic interpolation. At higher levels, linear
/// interpolation has a smaller error.
constexpr float max_noise_of_cubic = 1.5f;

struct Direction {
  int dx, dy;
  float weight;  // decreases with the distance
};
constexpr std::array<Direction, 4> directions{
    {{1, 0, 1.0f}, {0, 1, 1.0f}, {1, 1, 0.5f}, {1, -1, 0.5f}}};

class Estimator {
 public:
  Estimator(const DefectMask& mask, float noise, PlaneView<const float> plane)
      : mask_(mask),
        plane_(plane),
        is_cubic_(noise < max_noise_of_cubic),
        floor_(1 + 4 * noise * noise) {}

  std::optional<float> at(int x, int y) const {
    float sum = 0, weights = 0;
    for (const Direction& direction : directions) {
      const auto [dx, dy, preference] = direction;
      if (!is_valid(x - dx, y - dy) || !is_valid(x + dx, y + dy)) continue;
      const float before = plane_(x - dx, y - dy), after = plane_(x + dx, y + dy);
      const float difference = before - after;
      const float agreement = floor_ + difference * difference;
      const float weight = preference / (agreement * agreement);
      sum += weight * between(x, y, direction, before, after);
      weights += weight;
    }
    if (weights > 0) return sum / weights;
    for (int reach = 1; reach <= max_reach; ++reach)
      if (const std::optional<float> mean = mean_at(x, y, reach)) return mean;
    return std::nullopt;
  }

 private:
  bool is_valid(int x, int y) const {
    return x >= 0 && y >= 0 && x < plane_.width && y < plane_.height && !mask_.is_marked(x, y);
  }

  /// Interpolates between the samples `before` and `after`: by a cubic polynomial through four
  /// samples, or linearly if the noise is strong or an outer sample is not valid.
  float between(int x, int y, const Direction& to, float before, float after) const {
    const int x0 = x - 2 * to.dx, y0 = y - 2 * to.dy, x3 = x + 2 * to.dx, y3 = y + 2 * to.dy;
    const float linear = (before + after) / 2;
    if (!is_cubic_ || !is_valid(x0, y0) || !is_valid(x3, y3)) return linear;
    const float cubic = linear + (before + after - plane_(x0, y0) - plane_(x3, y3)) / 6;
    return std::clamp(cubic, std::min(before, after) - std::abs(before - after) - 4,
                      std::max(before, after) + std::abs(before - after) + 4);
  }

  /// Returns the mean of the valid samples at Chebyshev distance `reach`.
  std::optional<float> mean_at(int x, int y, int reach) const {
    float sum = 0;
    int count = 0;
    for (int dy = -reach; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx) {
        if (std::max(std::abs(dx), std::abs(dy)) != reach || !is_valid(x + dx, y + dy)) continue;
        sum += plane_(x + dx, y + dy);
        ++count;
      }
    if (count == 0) return std::nullopt;
    return sum / static_cast<float>(count);
  }

  const DefectMask& mask_;
  PlaneView<const float> plane_;
  bool is_cubic_;
  float floor_;  // difference of neighbours that is due to noise alone
};

}  // namespace

void DefectMask::reset(int width, int height) {
  width_ = width;
  marks_.assign(static_cast<std::size_t>(width) * height, 0);
  places_.clear();
}

void DefectMask::mark(int x, int y) {
  std::uint8_t& mark = marks_[index(x, y)];
  if (mark != 0) return;
  mark = 1;
  places_.push_back({x, y});
}

void interpolate_marked(const DefectMask& mask, float noise, PlaneView<float> plane) {
  // The interpolation reads only unmarked samples, so the order of the replacements has no effect.
  const Estimator estimator(mask, noise, plane);
  for (const auto& [x, y] : mask.places())
    if (const std::optional<float> estimate = estimator.at(x, y)) plane(x, y) = *estimate;
}

}  // namespace lull::repair
