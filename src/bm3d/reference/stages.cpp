#include "bm3d/reference/stages.h"

#include <algorithm>
#include <bit>

namespace lull::bm3d {
namespace {

template <class Coefficient>
void transform_group(GroupStack<Coefficient>& stack, int samples, GroupTransform across,
                     bool forward) {
  std::array<Coefficient, max_group> line;
  const std::span<Coefficient> values{line.data(), stack.size()};
  for (int i = 0; i < samples; ++i) {
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
  for (auto& block : stack) transform_patch(transform.forward, block, transform.side);
  transform_group(stack, transform.samples(), across, true);
}

template <class Coefficient>
void from_spectrum(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                   GroupTransform across) {
  transform_group(stack, transform.samples(), across, false);
  for (auto& block : stack) transform_patch(transform.inverse, block, transform.side);
}

}  // namespace

template <class Coefficient>
GroupStack<Coefficient> gather(std::span<const FramePlane> planes, int x, int y, const Group& group,
                               PatchShape shape) {
  GroupStack<Coefficient> stack(group.count);
  for (int m = 0; m < group.count; ++m) {
    const std::uint32_t member = group.members[m];
    const int u = x + displacement_x(member), v = y + displacement_y(member);
    const PlaneView<const float> plane = frame_at(planes, displacement_t(member)).samples;
    for (int i = 0; i < shape.samples(); ++i)
      stack[m][i] = static_cast<double>(plane(u + i % shape.side, v + i / shape.side));
  }
  return stack;
}

template <class Coefficient>
double hard_threshold(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                      GroupTransform across, const PerCoefficient& threshold, double mean_factor) {
  to_spectrum(stack, transform, across);
  int retained = 0;
  for (std::size_t m = 0; m < stack.size(); ++m)
    for (int i = 0; i < transform.samples(); ++i) {
      const bool mean = m == 0 && i == 0;
      if (mean || std::abs(stack[m][i]) > (m == 0 ? mean_factor * threshold[i] : threshold[i]))
        ++retained;
      else
        stack[m][i] = 0;
    }
  from_spectrum(stack, transform, across);
  return 1.0 / retained;
}

template <class Coefficient>
double wiener(GroupStack<Coefficient>& stack, GroupStack<Coefficient> basic,
              const PatchTransform<Coefficient>& transform, GroupTransform across,
              const PerCoefficient& noise) {
  to_spectrum(stack, transform, across);
  to_spectrum(basic, transform, across);
  double energy = 0;
  for (std::size_t m = 0; m < stack.size(); ++m)
    for (int i = 0; i < transform.samples(); ++i) {
      const bool mean = m == 0 && i == 0;
      const double signal = std::norm(basic[m][i]);  // squared magnitude
      const double factor = mean ? 1.0 : signal / (signal + noise[i]);
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
                      const std::array<float, patch>& window, int side) {
  for (int i = 0; i < side * side; ++i) {
    const std::size_t at = static_cast<std::size_t>(y + i / side) * width_ + x + i % side;
    const double w = weight * static_cast<double>(window[i / side] * window[i % side]);
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

template GroupStack<double> gather(std::span<const FramePlane>, int, int, const Group&, PatchShape);
template GroupStack<std::complex<double>> gather(std::span<const FramePlane>, int, int,
                                                 const Group&, PatchShape);
template double hard_threshold(GroupStack<double>&, const PatchTransform<double>&, GroupTransform,
                               const PerCoefficient&, double);
template double hard_threshold(GroupStack<std::complex<double>>&,
                               const PatchTransform<std::complex<double>>&, GroupTransform,
                               const PerCoefficient&, double);
template double wiener(GroupStack<double>&, GroupStack<double>, const PatchTransform<double>&,
                       GroupTransform, const PerCoefficient&);
template double wiener(GroupStack<std::complex<double>>&, GroupStack<std::complex<double>>,
                       const PatchTransform<std::complex<double>>&, GroupTransform,
                       const PerCoefficient&);
template void Accumulator::add(const Block<double>&, int, int, double,
                               const std::array<float, patch>&, int);
template void Accumulator::add(const Block<std::complex<double>>&, int, int, double,
                               const std::array<float, patch>&, int);

}  // namespace lull::bm3d
