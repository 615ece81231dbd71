#include "core/sample_ends.h"

#include <vector>

namespace lull {
namespace {

/// Of the window around cell (i, j). `depths`: room for a window's.
float toll_of(const SampleEnd& end, PlaneView<const float> plane, int i, int j,
              std::vector<float>& depths) {
  constexpr int around = (toll_window - toll_cell) / 2;
  const int left = std::max(i * toll_cell - around, 0);
  const int right = std::min((i + 1) * toll_cell + around, plane.width);
  const int top = std::max(j * toll_cell - around, 0);
  const int bottom = std::min((j + 1) * toll_cell + around, plane.height);
  depths.clear();
  bool any_beyond = false;
  float sum = 0;
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const float depth = end.depth(plane(x, y));
      if (!end.is_near(depth)) continue;
      depths.push_back(depth);
      sum += depth;
      any_beyond |= depth < 0;
    }
  float toll = 0;
  for (int round = 0; any_beyond && round < TollSums::rounds; ++round) {
    TollSums sums;
    for (const float depth : depths) sums.add(end, depth, toll);
    toll = sums.next(end, sum, toll);
  }
  return toll;
}

void keep_within(const SampleEnd& end, PlaneView<float> plane) {
  const int columns = toll_cells(plane.width), rows = toll_cells(plane.height);
  std::vector<float> tolls(static_cast<std::size_t>(columns) * rows), depths;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      tolls[static_cast<std::size_t>(j) * columns + i] = toll_of(end, plane, i, j, depths);
  for (int y = 0; y < plane.height; ++y) {
    float* row = plane.row(y);
    const TollPlace vertical(y, rows);
    for (int x = 0; x < plane.width; ++x)
      row[x] = end.kept(row[x], toll_at(tolls.data(), columns, TollPlace(x, columns), vertical));
  }
}

}  // namespace

void keep_between(const SampleEnds& ends, PlaneView<float> plane) {
  if (ends.low.is_there()) keep_within(ends.low, plane);
  if (ends.high.is_there()) keep_within(ends.high, plane);
}

}  // namespace lull
