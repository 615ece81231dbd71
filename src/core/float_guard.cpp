#include "core/float_guard.h"

#include <vector>

namespace lull {
namespace {

bool all_seen(PlaneView<const float> plane) {
  for (int y = 0; y < plane.height; ++y) {
    const float* row = plane.row(y);
    int seen = 0;  // like is_in_filter_range(), but with &, because && would prevent vectorisation
    for (int x = 0; x < plane.width; ++x)
      seen += static_cast<int>(row[x] >= filter_range_min) &
              static_cast<int>(row[x] <= filter_range_max);
    if (seen < plane.width) return false;
  }
  return true;
}

std::vector<CellSum> cells_of(const FloatGuard& guard, PlaneView<const float> plane) {
  const int columns = guard_cells(plane.width);
  std::vector<CellSum> cells(static_cast<std::size_t>(columns) * guard_cells(plane.height));
  for (int y = 0; y < plane.height; ++y) {
    const float* row = plane.row(y);
    CellSum* const cell = cells.data() + static_cast<std::size_t>(y / guard_cell) * columns;
    for (int x = 0; x < plane.width; ++x)
      if (!guard.is_out_of_range(row[x])) {
        cell[x / guard_cell].sum += FloatGuard::level(row[x]);
        ++cell[x / guard_cell].count;
      }
  }
  return cells;
}

}  // namespace

bool guard_plane(const Frame& frame, int i, float sigma, PlaneView<float> plane) {
  if (all_seen(plane)) return false;
  const FloatGuard guard(frame.format, sigma);
  const std::vector<CellSum> cells = cells_of(guard, plane);
  const int columns = guard_cells(plane.width);
  // The loop overwrites `plane`, so it reads the neighbours of a replaced sample from `frame`.
  const PlaneView<const float> samples = frame.plane<const float>(i);
  const auto sample = [&](int x, int y) { return samples(x, y) * guard.scale(); };
  const auto cell = [&](int p, int q) { return cells[static_cast<std::size_t>(q) * columns + p]; };
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) {
      float& v = plane(x, y);
      if (guard.is_out_of_range(v))
        v = guard.replacement(v, x, y, plane.width, plane.height, sample, cell);
      else
        v = FloatGuard::clamped(v);
    }
  return true;
}

void restore_plane(const Frame& frame, int i, float sigma, const Frame& filtered) {
  const FloatGuard guard(frame.format, sigma);
  const PlaneView<const float> samples = frame.plane<const float>(i);
  const PlaneView<float> to = filtered.plane<float>(i);
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x) to(x, y) = guard.result(samples(x, y), to(x, y));
}

}  // namespace lull
