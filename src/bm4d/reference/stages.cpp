#include "bm4d/reference/stages.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace lull::bm4d::reference {
namespace {

/// Applies the DCT, or its inverse, to a cube along x, y and z. The inverse uses the transposed DCT
/// matrix.
void transform_cube(Cube& cube, int side, bool forward) {
  const AxisMatrix rows = dct_rows(side);
  for (const int stride : {1, side, side * side})
    for (int start = 0; start < side * side * side; ++start) {
      if (start / stride % side != 0) continue;
      std::array<double, max_cube> line{};
      for (int k = 0; k < side; ++k)
        for (int i = 0; i < side; ++i)
          line[k] += (forward ? rows[k][i] : rows[i][k]) * cube[start + i * stride];
      for (int k = 0; k < side; ++k) cube[start + k * stride] = line[k];
    }
}

/// Orthonormal Haar transform across the group. The mean comes first, then the detail coefficients
/// from coarse to fine.
void haar(GroupStack& stack, int samples, bool forward) {
  GroupStack next = stack;
  const auto level = [&](std::size_t length) {
    for (std::size_t i = 0; i < length / 2; ++i)
      for (int k = 0; k < samples; ++k) {
        const double a = stack[forward ? 2 * i : i][k];
        const double b = stack[forward ? 2 * i + 1 : length / 2 + i][k];
        next[forward ? i : 2 * i][k] = (a + b) / std::sqrt(2.0);
        next[forward ? length / 2 + i : 2 * i + 1][k] = (a - b) / std::sqrt(2.0);
      }
    std::copy_n(next.begin(), length, stack.begin());
  };
  if (forward)
    for (std::size_t length = stack.size(); length > 1; length /= 2) level(length);
  else
    for (std::size_t length = 2; length <= stack.size(); length *= 2) level(length);
}

void to_spectrum(GroupStack& stack, int side) {
  for (Cube& cube : stack) transform_cube(cube, side, true);
  haar(stack, side * side * side, true);
}

void from_spectrum(GroupStack& stack, int side) {
  haar(stack, side * side * side, false);
  for (Cube& cube : stack) transform_cube(cube, side, false);
}

double distance(const Slices& guide, const Place& a, const Place& b, int side) {
  double sum = 0;
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const double d = guide.at(a.x + x, a.y + y, a.z + z) - guide.at(b.x + x, b.y + y, b.z + z);
        sum += d * d;
      }
  return sum;
}

}  // namespace

Group find_group(const Slices& guide, SliceSpan available, const Place& at,
                 const PhaseParams& params) {
  const int radius = params.radius(), side = params.cube;
  std::vector<std::uint32_t> candidates;
  for (int dz = -radius; dz <= radius; ++dz)
    for (int dy = -radius; dy <= radius; ++dy)
      for (int dx = -radius; dx <= radius; ++dx) {
        const Place to{at.x + dx, at.y + dy, at.z + dz};
        const bool reference = dx == 0 && dy == 0 && dz == 0;
        if (!reference && to.x >= 0 && to.y >= 0 && to.z >= available.first &&
            to.x <= guide.width() - side && to.y <= guide.height() - side &&
            to.z <= available.end - side)
          candidates.push_back(pack_offset(dx, dy, dz));
      }
  return rank_group(guide, at, params, candidates);
}

Group rank_group(const Slices& guide, const Place& at, const PhaseParams& params,
                 std::span<const std::uint32_t> candidates) {
  std::vector<std::tuple<double, int, int, int>> found;  // distance, then position slice by slice
  for (const std::uint32_t to : candidates) {
    const int dx = offset_x(to), dy = offset_y(to), dz = offset_z(to);
    found.emplace_back(distance(guide, at, {at.x + dx, at.y + dy, at.z + dz}, params.cube), dz, dy,
                       dx);
  }
  std::ranges::sort(found);
  Group group{.count = 1};
  while (group.count * 2 <= std::min(params.group, static_cast<int>(found.size()) + 1))
    group.count *= 2;
  group.members[0] = pack_offset(0, 0, 0);
  for (int m = 1; m < group.count; ++m) {
    const auto& [away, dz, dy, dx] = found[m - 1];
    group.members[m] = pack_offset(dx, dy, dz);
  }
  return group;
}

GroupStack gather(const Slices& volume, const Place& at, const Group& group, int side) {
  GroupStack stack(group.count);
  for (int m = 0; m < group.count; ++m) {
    const std::uint32_t to = group.members[m];
    for (int i = 0; i < side * side * side; ++i)
      stack[m][i] = volume.at(at.x + offset_x(to) + i % side, at.y + offset_y(to) + i / side % side,
                              at.z + offset_z(to) + i / (side * side));
  }
  return stack;
}

double hard_threshold(GroupStack& stack, int side, double threshold, double mean_factor) {
  to_spectrum(stack, side);
  double retained = 0;
  for (std::size_t m = 0; m < stack.size(); ++m)
    for (int i = 0; i < side * side * side; ++i) {
      const bool mean = m == 0 && i == 0;
      if (mean || std::abs(stack[m][i]) > (m == 0 ? mean_factor * threshold : threshold))
        retained += 1;
      else
        stack[m][i] = 0;
    }
  from_spectrum(stack, side);
  return 1 / retained;
}

double wiener(GroupStack& stack, GroupStack basic, int side, double noise, double mean_factor) {
  to_spectrum(stack, side);
  to_spectrum(basic, side);
  double energy = 0;
  for (std::size_t m = 0; m < stack.size(); ++m)
    for (int i = 0; i < side * side * side; ++i) {
      const double power = basic[m][i] * basic[m][i], n = m == 0 ? mean_factor * noise : noise;
      // If `mean_factor` is 0, the Wiener factor is 1, to avoid 0 / 0.
      const double factor = (m == 0 && i == 0) || n == 0 ? 1 : power / (power + n);
      stack[m][i] *= factor;
      energy += factor * factor;
    }
  from_spectrum(stack, side);
  return 1 / energy;
}

}  // namespace lull::bm4d::reference
