#include "linear/search.h"

#include <array>

#include "linear/uniform_motion.h"

namespace lull::linear {
namespace {

/// Returns the motion vector of each bundle (8x4 reference patches).
std::vector<Motion> motion_of_bundles(const MotionGrid& grid, const ReferenceGrid& references,
                                      const std::vector<Motion>& cells) {
  std::vector<Motion> bundles;
  for (int j = 0; j < references.count_y; j += motion_rows)
    for (int i = 0; i < references.count_x; i += motion_columns)
      bundles.push_back(grid.vector(cells.data(), i, j, references.count_x, references.count_y));
  return bundles;
}

/// Returns true if the motion of a bundle (8x4 reference patches) is uniform (params.h): at least
/// half of its accelerations are 0. The bundle has one acceleration for each neighbouring frame
/// that has a partner (time/frame_pairs.h). `bundle` is the index of the bundle.
bool is_even(const std::vector<SearchedFrame>& frames, std::size_t bundle) {
  const auto motion = [&](int frame) {
    return frame == 0 ? Motion{} : frames[frame].motion[bundle];
  };
  int even = 0, uneven = 0;
  for (std::size_t f = 1; f < frames.size(); ++f) {
    if (frames[f].partner == no_frame) continue;
    const bool uniform = is_uniform(motion(static_cast<int>(f)), motion(frames[f].partner),
                                    motion(frames[0].partner));
    ++(uniform ? even : uneven);
  }
  return even >= uneven;
}

}  // namespace

Search plan_search(const MotionGrid& grid, const GroupSizes& sizes, float sigma,
                   std::span<const FrameMotion> frames) {
  const ReferenceGrid references(grid.width, grid.height, sizes.step, sizes.side);
  std::array<int, max_frames> offsets{};
  for (std::size_t f = 0; f < frames.size(); ++f) offsets[f] = frames[f].offset;
  const auto partners = partners_of({offsets.data(), frames.size()});
  Search search{.frames = {}, .has_pairs = {}, .bonus = bonus_share * sigma * sigma};
  for (std::size_t f = 0; f < frames.size(); ++f) {
    search.frames.push_back({.partner = partners[f], .motion = {}});
    if (f > 0) search.frames[f].motion = motion_of_bundles(grid, references, *frames[f].cells);
  }
  if (!sizes.pairs || search.frames[0].partner == no_frame) return search;
  const std::size_t bundles = search.frames[1].motion.size();
  for (std::size_t b = 0; b < bundles; ++b)
    search.has_pairs.push_back(is_even(search.frames, b) ? 1 : 0);
  return search;
}

}  // namespace lull::linear
