#include "noise/fill_holes.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace lull {
namespace {

/// One level of an image pyramid. `value` contains means of samples. `weight` contains the weight
/// of each mean, from 0 (unknown) to 1 (known).
struct Level {
  int width = 0, height = 0;
  std::vector<float> value, weight;

  Level(int w, int h)
      : width(w),
        height(h),
        value(static_cast<std::size_t>(w) * h),
        weight(static_cast<std::size_t>(w) * h) {}
  std::size_t at(int x, int y) const { return static_cast<std::size_t>(y) * width + x; }
  std::size_t nearest(int x, int y) const {
    return at(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1));
  }
};

Level halved(const Level& fine) {
  Level coarse((fine.width + 1) / 2, (fine.height + 1) / 2);
  for (int y = 0; y < fine.height; ++y)
    for (int x = 0; x < fine.width; ++x) {
      const std::size_t from = fine.at(x, y), to = coarse.at(x / 2, y / 2);
      coarse.value[to] += fine.weight[from] * fine.value[from];
      coarse.weight[to] += fine.weight[from];
    }
  for (std::size_t i = 0; i < coarse.value.size(); ++i) {
    if (coarse.weight[i] > 0) coarse.value[i] /= coarse.weight[i];
    coarse.weight[i] = std::min(coarse.weight[i], 1.0f);
  }
  return coarse;
}

/// Fills the unknown samples of the pyramid level `fine` by linear interpolation of the next
/// coarser level. `coarse` must have no unknown samples.
void fill_from(const Level& coarse, Level& fine) {
  for (int y = 0; y < fine.height; ++y)
    for (int x = 0; x < fine.width; ++x) {
      const std::size_t to = fine.at(x, y);
      if (fine.weight[to] >= 1) continue;
      const int u = x / 2, v = y / 2, adjacent = x % 2 == 0 ? u - 1 : u + 1;
      const int below = y % 2 == 0 ? v - 1 : v + 1;
      const auto of = [&](int i, int j) { return coarse.value[coarse.nearest(i, j)]; };
      const float smooth = 0.5625f * of(u, v) + 0.1875f * (of(adjacent, v) + of(u, below)) +
                           0.0625f * of(adjacent, below);
      fine.value[to] = fine.weight[to] * fine.value[to] + (1 - fine.weight[to]) * smooth;
    }
}

/// Replaces holes by the mean of their neighbours, iteratively.
void diffuse(const Holes& holes, PlaneView<float> plane) {
  constexpr int rounds = 16;
  std::vector<std::pair<int, int>> places;
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      if (holes.at(x, y)) places.emplace_back(x, y);
  for (int round = 0; round < rounds; ++round)
    for (const auto& [x, y] : places)
      plane(x, y) = (plane(std::max(x - 1, 0), y) + plane(std::min(x + 1, plane.width - 1), y) +
                     plane(x, std::max(y - 1, 0)) + plane(x, std::min(y + 1, plane.height - 1))) /
                    4;
}

}  // namespace

bool interpolate_holes(const Holes& holes, PlaneView<float> plane) {
  std::vector<Level> levels;
  Level& first = levels.emplace_back(plane.width, plane.height);
  bool any = false;
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) {
      if (holes.at(x, y)) continue;
      first.value[first.at(x, y)] = plane(x, y);
      first.weight[first.at(x, y)] = 1;
      any = true;
    }
  while (levels.back().width > 1 || levels.back().height > 1)
    levels.push_back(halved(levels.back()));
  for (std::size_t i = levels.size() - 1; i-- > 0;) fill_from(levels[i + 1], levels[i]);
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x)
      if (holes.at(x, y)) plane(x, y) = levels.front().value[levels.front().at(x, y)];
  return any;
}

void fill_holes(const Holes& holes, PlaneView<float> plane) {
  if (interpolate_holes(holes, plane)) diffuse(holes, plane);
}

}  // namespace lull
