#include "match/reference/matcher.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <vector>

namespace lull {

double patch_distance(PlaneView<const float> a, int ax, int ay, PlaneView<const float> b, int bx,
                      int by, PatchShape shape) {
  double sum = 0;
  for (int y = 0; y < shape.side; ++y)
    for (int x = 0; x < shape.side; ++x) {
      const double difference =
          static_cast<double>(a(ax + x, ay + y)) - static_cast<double>(b(bx + x, by + y));
      sum += difference * difference;
    }
  return sum / (shape.side * shape.side);
}

namespace {

struct Candidate {
  double distance;
  std::uint32_t displacement;
};

/// Makes a group of the reference patch and the nearest candidates. The group has at most `most`
/// members. Candidates at equal distance keep their order. The number of members is a power of two.
Group group_of(std::vector<Candidate>& candidates, int most) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  Group group;
  const std::size_t found = std::min<std::size_t>(candidates.size() + 1, most);
  group.count = static_cast<int>(std::bit_floor(found));
  group.members[0] = pack_displacement(0, 0);
  for (int m = 1; m < group.count; ++m) group.members[m] = candidates[m - 1].displacement;
  return group;
}

}  // namespace

Group match(std::span<const FramePlane> guides, int x, int y, const MatchParams& params,
            PatchShape shape) {
  const PlaneView<const float> own = guides[0].frame.samples;
  std::vector<Candidate> candidates;
  for (const auto& [offset, plane] : guides) {
    const PlaneView<const float> guide = plane.samples;
    const int radius = (offset == 0 ? params.window : params.temporal_window) / 2;
    const int cx = x + plane.motion.x, cy = y + plane.motion.y;
    for (int v = cy - radius; v <= cy + radius; ++v)
      for (int u = cx - radius; u <= cx + radius; ++u) {
        if (u < 0 || v < 0 || u > guide.width - shape.side || v > guide.height - shape.side)
          continue;
        const bool same_place = u == cx && v == cy;
        if (same_place && offset == 0) continue;
        if (plane.holes != nullptr && plane.holes->any_in(u, v, shape.side)) continue;
        double distance = patch_distance(own, x, y, guide, u, v, shape);
        if (params.bias != nullptr && offset == 0 && within_lags(u - x, v - y))
          distance = std::max(
              0.0, distance + static_cast<double>((*params.bias)[lag_index(u - x, v - y)]));
        if (same_place)
          distance = std::max(0.0, distance - static_cast<double>(params.motion_bias));
        if (distance <= static_cast<double>(params.tau))
          candidates.push_back({distance, pack_displacement(u - x, v - y, offset)});
      }
  }
  return group_of(candidates, params.group);
}

Group propagate(std::span<const FramePlane> guides, int x, int y,
                std::span<const std::uint32_t> members, const MatchParams& params,
                PatchShape shape) {
  const PlaneView<const float> own = guides[0].frame.samples;
  std::vector<Candidate> candidates;
  const auto consider = [&](const SamplePlane& plane, int dx, int dy, int dt) {
    const int u = x + dx, v = y + dy;
    const std::uint32_t displacement = pack_displacement(dx, dy, dt);
    const auto is_same = [&](const Candidate& c) { return c.displacement == displacement; };
    if ((dx == 0 && dy == 0 && dt == 0) || u < 0 || v < 0 || u > own.width - shape.side ||
        v > own.height - shape.side || std::ranges::any_of(candidates, is_same))
      return;
    double distance = patch_distance(own, x, y, plane.samples, u, v, shape);
    if (dt != 0 && dx == plane.motion.x && dy == plane.motion.y)
      distance = std::max(0.0, distance - static_cast<double>(params.motion_bias));
    if (distance <= static_cast<double>(params.tau)) candidates.push_back({distance, displacement});
  };
  for (const auto& [offset, plane] : guides) {
    const int side = offset == 0 ? params.refine_window : params.refine_temporal_window;
    const Motion at = offset == 0 ? Motion{} : plane.motion;
    for (int row = 0; row < side; ++row)
      for (int column = 0; column < side; ++column)
        consider(plane, at.x + column - side / 2, at.y + row - side / 2, offset);
  }
  for (const std::uint32_t member : members) {
    const int dx = displacement_x(member), dy = displacement_y(member), dt = displacement_t(member);
    const SamplePlane& plane = frame_at(guides, dt);
    const Motion at = dt == 0 ? Motion{} : plane.motion;
    const int radius = (dt == 0 ? params.window : params.temporal_window) / 2;
    if (std::abs(dx - at.x) <= radius && std::abs(dy - at.y) <= radius) consider(plane, dx, dy, dt);
  }
  return group_of(candidates, params.group);
}

namespace reference {
namespace {

class ExhaustiveMatcher final : public Matcher {
 public:
  Group find(std::span<const FramePlane> guides, int x, int y, const MatchParams& params,
             PatchShape shape) const override {
    return match(guides, x, y, params, shape);
  }
};

}  // namespace

std::unique_ptr<Matcher> make_exhaustive_matcher() { return std::make_unique<ExhaustiveMatcher>(); }

}  // namespace reference
}  // namespace lull
