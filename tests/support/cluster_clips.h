#pragma once
// Clips for the tests of cluster matching, and the groups that the reference backend finds in them.

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "core/plane.h"
#include "match/clusters.h"
#include "match/grid.h"
#include "match/motion_grid.h"
#include "match/reference/matcher.h"

namespace lull::test_support {

inline Plane<float> random_picture(int width, int height, int levels, unsigned seed) {
  std::mt19937 rng{seed};
  Plane<float> picture(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      picture.view()(x, y) = static_cast<float>(x * 2 + static_cast<int>(rng() % levels));
  return picture;
}

/// Frames of integers in the order of group.h, with the motion of their bundles.
struct Clip {
  std::vector<Plane<float>> planes;
  std::vector<std::vector<Motion>> motion;

  Clip(int width, int height, int frames, int levels, unsigned seed = 1) {
    for (int f = 0; f < frames; ++f)
      planes.push_back(random_picture(width, height, levels, seed + f));
  }
  int offset(std::size_t f) const { return (static_cast<int>(f) + 1) / 2 * (f % 2 == 1 ? -1 : 1); }
};

/// The members by the position of the reference patch.
using GroupLists = std::map<std::pair<int, int>, std::vector<std::uint32_t>>;

inline std::vector<std::uint32_t> members_of(const Group& group) {
  return {group.members.begin(), group.members.begin() + group.count};
}

inline GroupLists by_reference(const Clip& clip, const MatchParams& params) {
  std::vector<FramePlane> guides;
  for (std::size_t f = 0; f < clip.planes.size(); ++f)
    guides.push_back({clip.offset(f), {clip.planes[f].view()}});
  const auto matcher = reference::make_matcher();
  matcher->begin(guides, params, square_8);
  const auto own = clip.planes[0].view();
  const ReferenceGrid grid(own.width, own.height, params.step);
  const MotionGrid bundles{own.width, own.height, params.step};
  GroupLists groups;
  for (int j = 0; j < grid.count_y; ++j)
    for (int i = 0; i < grid.count_x; ++i) {
      for (std::size_t f = 1; f < guides.size(); ++f)
        if (!clip.motion.empty()) guides[f].frame.motion = clip.motion[f][bundles.bundle(i, j)];
      groups[{grid.x(i), grid.y(j)}] =
          members_of(matcher->find(guides, grid.x(i), grid.y(j), params, square_8));
    }
  return groups;
}

inline MatchParams cluster_params(const ClusterParams& clusters, int step = 3, int group = 16) {
  MatchParams params{.group = group, .step = step, .tau = 3000};
  params.clusters = clusters;
  return params;
}

inline constexpr ClusterParams all_kinds[] = {{},        paper_clusters, {32, 48, 2},
                                              {8, 8, 1}, {33, 20, 3},    {128, 128, 4}};

}  // namespace lull::test_support
