#include "bm3d/cuda/address_range.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/error.h"
#include "match/cuda/match_plan.h"
#include "match/cuda/patch_ids.h"
#include "match/group.h"
#include "match/guide.h"
#include "match/motion_grid.h"

namespace lull::bm3d {
namespace {

int max_window(const Params& params) {
  int window = std::max(params.hard.window, params.wiener.window);
  if (params.temporal > 0)  // window + 2, because motion is rounded in small planes
    window = std::max({window, params.hard.temporal_window + 2, params.wiener.temporal_window + 2});
  return window;
}

/// Returns how many rows above the picture the kernels may read.
int rows_above(const Params& params) {
  if (params.temporal == 0) return patch;
  const int step = std::max({params.hard.step, params.wiener.step, params.search_step});
  const int window = std::max(params.hard.temporal_window, params.wiener.temporal_window);
  return std::max(patch, rows_outside(step) + window / 2 + 1);
}

/// Maximum number of reference tiles (4x4 reference patches) in a batch. In a batch of this size,
/// 32 bits can count the members of all groups.
constexpr int most_bricks = std::numeric_limits<int>::max() / (references_per_tile * max_group);

/// Maximum number of rows of reference tiles in a batch. A grid has at most 65535 thread blocks
/// along y, and a thread block of a matcher processes one reference tile.
constexpr int most_brick_rows = 65534;

constexpr int even(int bricks) { return 2 * std::max(1, bricks / 2); }

}  // namespace

Margins plane_margins(const Params& params, const FrameFormat& format, int plane) {
  return {format.plane_width(plane), format.plane_height(plane), max_window(params),
          rows_above(params)};
}

void require_addressable(const Params& params, const FrameFormat& format) {
  if (!filters_any(params.noise, format)) return;  // the samples are copied without kernels
  const Margins largest = plane_margins(params, format, 0);
  lull::require_addressable(largest);
  if (reference_tiles_of(largest.width) >
      most_bricks / 2)  // a batch may have two complete rows of reference tiles
    throw InvalidArgument("planes of " + std::to_string(format.width) +
                          " samples in a row on a GPU (its kernels count the groups of " +
                          std::to_string(most_bricks / 2 * reference_tile_side) +
                          " columns); choose the device cpu, or divide the picture");
  if (params.hard.clusters || params.wiener.clusters) require_numbered_places(largest);
}

BatchBricks batch_tiles(const BatchSize& size, const ReferenceGrid& grid, bool whole_rows) {
  const auto along = [&](int samples) { return even(samples / (reference_tile_side * grid.step)); };
  BatchBricks bricks;
  bricks.x = whole_rows ? reference_tiles_of(grid.count_x)
                        : std::min(along(size.width), even(most_bricks / 2));
  bricks.y = std::min({along(size.height), even(most_bricks / bricks.x), most_brick_rows});
  return bricks;
}

}  // namespace lull::bm3d
