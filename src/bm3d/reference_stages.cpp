#include "bm3d/reference_stages.h"

#include <algorithm>
#include <bit>

namespace lull::bm3d {
namespace {

template <class Coefficient>
void transform_group(GroupStack<Coefficient>& stack, GroupTransform across, bool forward) {
  std::array<Coefficient, max_group> line;
  const std::span<Coefficient> values{line.data(), stack.size()};
  for (int i = 0; i < patch * patch; ++i) {
    for (std::size_t m = 0; m < stack.size(); ++m) values[m] = stack[m][i];
    if (across == GroupTransform::wht)
      walsh_hadamard(values);
    else if (forward)
      haar_forward(values);
    else
      haar_inverse(values);
    for (std::size_t m = 0; m < stack.size(); ++m) stack[m][i] = values[m];
  }
}

template <class Coefficient>
void to_spectrum(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                 GroupTransform across) {
  for (auto& block : stack) transform_patch(transform.forward, block);
  transform_group(stack, across, true);
}

template <class Coefficient>
void from_spectrum(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                   GroupTransform across) {
  transform_group(stack, across, false);
  for (auto& block : stack) transform_patch(transform.inverse, block);
}

}  // namespace

double patch_distance(PlaneView<const float> a, int ax, int ay, PlaneView<const float> b, int bx,
                      int by) {
  double sum = 0;
  for (int y = 0; y < patch; ++y)
    for (int x = 0; x < patch; ++x) {
      const double difference =
          static_cast<double>(a(ax + x, ay + y)) - static_cast<double>(b(bx + x, by + y));
      sum += difference * difference;
    }
  return sum / (patch * patch);
}

Group match(std::span<const FramePlane> guides, int x, int y, const PhaseParams& phase) {
  struct Candidate {
    double distance;
    std::uint32_t displacement;
  };
  const PlaneView<const float> own = guides[0].samples;
  std::vector<Candidate> candidates;
  for (const auto& [offset, guide, motion] : guides) {
    const int radius = (offset == 0 ? phase.window : phase.temporal_window) / 2;
    const int cx = x + motion.x, cy = y + motion.y;
    for (int v = std::max(0, cy - radius); v <= std::min(guide.height - patch, cy + radius); ++v)
      for (int u = std::max(0, cx - radius); u <= std::min(guide.width - patch, cx + radius); ++u) {
        const bool same_place = u == cx && v == cy;
        if (same_place && offset == 0) continue;
        double distance = patch_distance(own, x, y, guide, u, v);
        if (same_place) distance = std::max(0.0, distance - static_cast<double>(phase.place_bonus));
        if (distance <= static_cast<double>(phase.tau))
          candidates.push_back({distance, pack_displacement(u - x, v - y, offset)});
      }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });

  Group group;
  const std::size_t found = std::min<std::size_t>(candidates.size() + 1, phase.group);
  group.count = static_cast<int>(std::bit_floor(found));
  group.members[0] = pack_displacement(0, 0);
  for (int m = 1; m < group.count; ++m) group.members[m] = candidates[m - 1].displacement;
  return group;
}

template <class Coefficient>
GroupStack<Coefficient> gather(std::span<const FramePlane> planes, int x, int y,
                               const Group& group) {
  GroupStack<Coefficient> stack(group.count);
  for (int m = 0; m < group.count; ++m) {
    const std::uint32_t member = group.members[m];
    const int u = x + displacement_x(member), v = y + displacement_y(member);
    const auto& plane = *std::find_if(
        planes.begin(), planes.end(),
        [&](const FramePlane& candidate) { return candidate.offset == displacement_t(member); });
    for (int i = 0; i < patch * patch; ++i)
      stack[m][i] = static_cast<double>(plane.samples(u + i % patch, v + i / patch));
  }
  return stack;
}

template <class Coefficient>
double hard_threshold(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                      GroupTransform across, double threshold, double mean_threshold) {
  to_spectrum(stack, transform, across);
  int retained = 0;
  for (std::size_t m = 0; m < stack.size(); ++m)
    for (int i = 0; i < patch * patch; ++i) {
      const bool mean = m == 0 && i == 0;
      if (mean || std::abs(stack[m][i]) > (m == 0 ? mean_threshold : threshold))
        ++retained;
      else
        stack[m][i] = 0;
    }
  from_spectrum(stack, transform, across);
  return 1.0 / retained;
}

template <class Coefficient>
double wiener(GroupStack<Coefficient>& stack, GroupStack<Coefficient> basic,
              const PatchTransform<Coefficient>& transform, GroupTransform across, double noise) {
  to_spectrum(stack, transform, across);
  to_spectrum(basic, transform, across);
  double energy = 0;
  for (std::size_t m = 0; m < stack.size(); ++m)
    for (int i = 0; i < patch * patch; ++i) {
      const bool mean = m == 0 && i == 0;
      const double signal = std::norm(basic[m][i]);  // squared magnitude
      const double factor = mean ? 1.0 : signal / (signal + noise);
      stack[m][i] *= factor;
      energy += factor * factor;
    }
  from_spectrum(stack, transform, across);
  return 1.0 / energy;
}

Accumulator::Accumulator(int width, int height)
    : width_(width),
      numerator_(static_cast<std::size_t>(width) * height),
      denominator_(static_cast<std::size_t>(width) * height) {}

template <class Coefficient>
void Accumulator::add(const Block<Coefficient>& estimate, int x, int y, double weight,
                      const std::array<float, patch>& window) {
  for (int i = 0; i < patch * patch; ++i) {
    const std::size_t at = static_cast<std::size_t>(y + i / patch) * width_ + x + i % patch;
    const double w = weight * static_cast<double>(window[i / patch] * window[i % patch]);
    numerator_[at] += w * std::real(estimate[i]);
    denominator_[at] += w;
  }
}

void Accumulator::divide(PlaneView<float> estimate) const {
  for (int y = 0; y < estimate.height; ++y)
    for (int x = 0; x < estimate.width; ++x) {
      const std::size_t at = static_cast<std::size_t>(y) * width_ + x;
      const double weight = denominator_[at];
      estimate(x, y) = weight > 0 ? static_cast<float>(numerator_[at] / weight) : 0;
    }
}

void Accumulator::clear() {
  std::fill(numerator_.begin(), numerator_.end(), 0.0);
  std::fill(denominator_.begin(), denominator_.end(), 0.0);
}

template GroupStack<double> gather(std::span<const FramePlane>, int, int, const Group&);
template GroupStack<std::complex<double>> gather(std::span<const FramePlane>, int, int,
                                                 const Group&);
template double hard_threshold(GroupStack<double>&, const PatchTransform<double>&, GroupTransform,
                               double, double);
template double hard_threshold(GroupStack<std::complex<double>>&,
                               const PatchTransform<std::complex<double>>&, GroupTransform, double,
                               double);
template double wiener(GroupStack<double>&, GroupStack<double>, const PatchTransform<double>&,
                       GroupTransform, double);
template double wiener(GroupStack<std::complex<double>>&, GroupStack<std::complex<double>>,
                       const PatchTransform<std::complex<double>>&, GroupTransform, double);
template void Accumulator::add(const Block<double>&, int, int, double,
                               const std::array<float, patch>&);
template void Accumulator::add(const Block<std::complex<double>>&, int, int, double,
                               const std::array<float, patch>&);

}  // namespace lull::bm3d
