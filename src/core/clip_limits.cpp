#include "core/clip_limits.h"

#include <vector>

namespace lull {
namespace {

/// Returns the clipping shift of cell (i, j): the maximum distance by which clipping moves samples
/// near the limit towards it (core/clip_limits.h). `depths` is scratch memory.
float clip_shift_of(const ClipLimit& limit, PlaneView<const float> plane, int i, int j,
                    std::vector<float>& depths) {
  constexpr int around = (clip_shift_window - clip_shift_cell) / 2;
  const int left = std::max(i * clip_shift_cell - around, 0);
  const int right = std::min((i + 1) * clip_shift_cell + around, plane.width);
  const int top = std::max(j * clip_shift_cell - around, 0);
  const int bottom = std::min((j + 1) * clip_shift_cell + around, plane.height);
  depths.clear();
  bool any_beyond = false;
  float sum = 0;
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const float depth = limit.depth(plane(x, y));
      if (!limit.is_near(depth)) continue;
      depths.push_back(depth);
      sum += depth;
      any_beyond |= depth < 0;
    }
  float shift = 0;
  for (int round = 0; any_beyond && round < ClipShiftSums::rounds; ++round) {
    ClipShiftSums sums;
    for (const float depth : depths) sums.add(limit, depth, shift);
    shift = sums.next(limit, sum, shift);
  }
  return shift;
}

void clip_to_limit(const ClipLimit& limit, PlaneView<float> plane) {
  const int columns = clip_shift_cells(plane.width), rows = clip_shift_cells(plane.height);
  std::vector<float> shifts(static_cast<std::size_t>(columns) * rows), depths;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      shifts[static_cast<std::size_t>(j) * columns + i] = clip_shift_of(limit, plane, i, j, depths);
  for (int y = 0; y < plane.height; ++y) {
    float* row = plane.row(y);
    const ClipShiftPosition vertical(y, rows);
    for (int x = 0; x < plane.width; ++x)
      row[x] = limit.clipped(
          row[x], clip_shift_at(shifts.data(), columns, ClipShiftPosition(x, columns), vertical));
  }
}

}  // namespace

void clip_preserving_mean(const ClipLimits& limits, PlaneView<float> plane) {
  if (limits.low.is_enabled()) clip_to_limit(limits.low, plane);
  if (limits.high.is_enabled()) clip_to_limit(limits.high, plane);
}

}  // namespace lull
