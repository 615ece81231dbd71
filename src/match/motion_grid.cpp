#include "match/motion_grid.h"

namespace lull {

void bundle_motion(const std::vector<Motion>& cells, const MotionGrid& grid,
                   std::vector<Motion>& bundles) {
  bundles.clear();
  for (int j = 0; j < grid.rows(); ++j)
    for (int i = 0; i < grid.columns(); ++i)
      bundles.push_back(grid.vector(cells.data(), i * motion_columns, j * motion_rows));
}

}  // namespace lull
