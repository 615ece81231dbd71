#include "nlm/reference/stages.h"

namespace lull::nlm::reference {

double distance(const Params& p, std::span<const float> weight, const SourcePlanes& world, int r_x,
                int r_y, int wanted, const Source& candidate, int d_x, int d_y) {
  const int first = -p.patch_radius, end = p.block + p.patch_radius;
  const int slices = p.patch_slices() / 2, samples = p.patch_samples();
  const int e_x = candidate.motion_x + d_x, e_y = candidate.motion_y + d_y;
  double all = 0;
  for (std::size_t c = 0; c < weight.size(); ++c) {
    double sum = 0, squares = 0;
    for (int k = -slices; k <= slices; ++k)
      for (int y = r_y + first; y < r_y + end; ++y)
        for (int x = r_x + first; x < r_x + end; ++x) {
          const int plane = static_cast<int>(c);
          const double difference = world.guide(plane, wanted, k, x, y) -
                                    world.guide(plane, candidate.id, k, x + e_x, y + e_y);
          sum += difference;
          squares += difference * difference;
        }
    const double mean = sum / samples;
    all += static_cast<double>(weight[c]) *
           (squares / samples + static_cast<double>(p.mean_term) * mean * mean);
  }
  return all;
}

namespace {

/// Returns whether the patch of a candidate overlaps a hole.
bool reaches_hole(const Params& p, const SourcePlanes& world, const Source& candidate, int r_x,
                  int r_y, int d_x, int d_y) {
  if (!p.holes) return false;
  const int first = -p.patch_radius, end = p.block + p.patch_radius;
  const int e_x = candidate.motion_x + d_x, e_y = candidate.motion_y + d_y;
  for (int y = r_y + e_y + first; y < r_y + e_y + end; ++y)
    for (int x = r_x + e_x + first; x < r_x + e_x + end; ++x)
      if (world.is_hole(candidate.id, x, y)) return true;
  return false;
}

}  // namespace

std::array<double, 3> result(const Params& p, std::span<const float> weight,
                             const SourcePlanes& world, int planes, int x, int y, int wanted,
                             std::span<const Source> sources) {
  const WeightCurve curve(p);
  const int s = p.search_radius;
  // The sample (x, y) is in the blocks of several patches. Along x, the origins of these patches
  // are the multiples of the step from x - block + 1 to x. last_origin() returns the last of these
  // multiples. In C++, the remainder of a negative number is negative or 0, so last_origin() adds
  // the step to the remainder.
  const auto last_origin = [&](int at) { return at - ((at % p.step) + p.step) % p.step; };
  std::array<double, 3> mean{};
  for (int r_y = last_origin(y); r_y > y - p.block; r_y -= p.step)
    for (int r_x = last_origin(x); r_x > x - p.block; r_x -= p.step) {
      double weights = 0;
      std::array<double, 3> sums{};
      for (const Source& source : sources)
        for (int d_y = -s; d_y <= s; ++d_y)
          for (int d_x = -s; d_x <= s; ++d_x) {
            const bool itself = source.id == wanted && d_x == 0 && d_y == 0;
            if (!itself && reaches_hole(p, world, source, r_x, r_y, d_x, d_y)) continue;
            const double w = curve(distance(p, weight, world, r_x, r_y, wanted, source, d_x, d_y));
            if (w == 0) continue;
            weights += w;
            for (int c = 0; c < planes; ++c)
              sums[c] += w * world.sample(c, source.id, x + source.motion_x + d_x,
                                          y + source.motion_y + d_y);
          }
      for (int c = 0; c < planes; ++c) mean[c] += sums[c] / weights / p.estimates();
    }
  return mean;
}

ContinuedPlane::ContinuedPlane(PlaneView<const float> plane, Border border)
    : width_(plane.width), height_(plane.height), border_(border) {
  for (int y = 0; y < height_; ++y)
    samples_.insert(samples_.end(), plane.row(y), plane.row(y) + width_);
}

}  // namespace lull::nlm::reference
