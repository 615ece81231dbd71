#include "bm3d/reference/stages.h"

#include <algorithm>
#include <bit>
#include <cmath>

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
  for (auto& values : stack) transform_patch(transform.forward, values, transform.side);
  transform_group(stack, transform.samples(), across, true);
}

template <class Coefficient>
void from_spectrum(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                   GroupTransform across) {
  transform_group(stack, transform.samples(), across, false);
  for (auto& values : stack) transform_patch(transform.inverse, values, transform.side);
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

GroupVariances group_variances(const PatchCovariance& covariance, const Group& group,
                               GroupTransform across) {
  // The transform across the group H is orthonormal, so its inverse is H^T.
  const std::size_t count = group.count;
  std::vector<std::array<double, max_group>> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i].fill(0);
    rows[i][i] = 1;
    const std::span<double> row{rows[i].data(), count};
    if (across == GroupTransform::wht)
      walsh_hadamard(row);
    else
      haar_inverse(row);
  }
  const std::size_t samples = covariance.at(0, 0).size();
  GroupVariances variances(count, PerCoefficient{});
  for (std::size_t m = 0; m < count; ++m)
    for (std::size_t n = 0; n < count; ++n) {
      const std::uint32_t a = group.members[m], b = group.members[n];
      const int dx = displacement_x(a) - displacement_x(b);
      const int dy = displacement_y(a) - displacement_y(b);
      if (displacement_t(a) != displacement_t(b) || !covariance.reaches(dx, dy)) continue;
      const std::span<const double> shared = covariance.at(dx, dy);
      for (std::size_t i = 0; i < count; ++i) {
        const double factor = rows[i][m] * rows[i][n];
        if (factor == 0) continue;  // most elements of the Haar matrix H are 0
        for (std::size_t k = 0; k < samples; ++k) variances[i][k] += factor * shared[k];
      }
    }
  for (PerCoefficient& variance : variances)
    for (std::size_t k = 0; k < samples; ++k)
      variance[k] = std::max(variance[k], min_group_variance * covariance.at(0, 0)[k]);
  return variances;
}

template <class Coefficient>
double hard_threshold(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                      GroupTransform across, const PerCoefficient& threshold, double mean_factor,
                      const GroupVariances& variances) {
  to_spectrum(stack, transform, across);
  double retained = 0;
  for (std::size_t m = 0; m < stack.size(); ++m)
    for (int i = 0; i < transform.samples(); ++i) {
      const bool mean = m == 0 && i == 0;
      const double variance = variances.empty() ? 1 : variances[m][i];
      const double limit = std::sqrt(variance) * threshold[i];
      if (mean || std::abs(stack[m][i]) > (m == 0 ? mean_factor * limit : limit))
        retained += variance;
      else
        stack[m][i] = 0;
    }
  from_spectrum(stack, transform, across);
  return 1.0 / retained;
}

template <class Coefficient>
double wiener(GroupStack<Coefficient>& stack, GroupStack<Coefficient> basic,
              const PatchTransform<Coefficient>& transform, GroupTransform across,
              const PerCoefficient& noise, const GroupVariances& variances) {
  to_spectrum(stack, transform, across);
  to_spectrum(basic, transform, across);
  double energy = 0;
  for (std::size_t m = 0; m < stack.size(); ++m)
    for (int i = 0; i < transform.samples(); ++i) {
      const bool mean = m == 0 && i == 0;
      const double signal = std::norm(basic[m][i]);  // squared absolute value
      const double variance = variances.empty() ? 1 : variances[m][i];
      const double factor = mean ? 1.0 : signal / (signal + variance * noise[i]);
      stack[m][i] *= factor;
      energy += factor * factor * variance;
    }
  from_spectrum(stack, transform, across);
  return 1.0 / energy;
}

std::vector<double> means_weights(std::span<const GroupStack<double>> stacks,
                                  std::span<const double> sigmas, const MeansCurve& curve) {
  std::vector<double> weights(stacks[0].size());
  for (std::size_t m = 0; m < weights.size(); ++m) {
    double distance = 0;
    for (std::size_t c = 0; c < stacks.size(); ++c)
      for (int i = 0; i < patch * patch; ++i) {
        const double difference = (stacks[c][m][i] - stacks[c][0][i]) / sigmas[c];
        distance += difference * difference;
      }
    weights[m] = curve(distance / (patch * patch) / static_cast<double>(stacks.size()));
  }
  return weights;
}

PatchValues<double> weighted_mean(const GroupStack<double>& stack,
                                  std::span<const double> weights) {
  PatchValues<double> mean{};
  double sum = 0;
  for (std::size_t m = 0; m < stack.size(); ++m) {
    for (int i = 0; i < patch * patch; ++i) mean[i] += weights[m] * stack[m][i];
    sum += weights[m];
  }
  for (double& value : mean) value /= sum;
  return mean;
}

Accumulator::Accumulator(int width, int height)
    : width_(width),
      numerator_(static_cast<std::size_t>(width) * height),
      denominator_(static_cast<std::size_t>(width) * height) {}

template <class Coefficient>
void Accumulator::add(const PatchValues<Coefficient>& estimate, int x, int y, double weight,
                      const std::array<float, patch>& window, int side) {
  for (int i = 0; i < side * side; ++i) {
    const std::size_t at = static_cast<std::size_t>(y + i / side) * width_ + x + i % side;
    const double w = weight * static_cast<double>(window[i / side] * window[i % side]);
    numerator_[at] += w * std::real(estimate[i]);
    denominator_[at] += w;
  }
}

void Accumulator::add(std::span<const double> estimate, int x, int y, int side) {
  for (int i = 0; i < side * side; ++i) {
    const std::size_t at = static_cast<std::size_t>(y + i / side) * width_ + x + i % side;
    numerator_[at] += estimate[i];
    denominator_[at] += 1;
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
                               const PerCoefficient&, double, const GroupVariances&);
template double hard_threshold(GroupStack<std::complex<double>>&,
                               const PatchTransform<std::complex<double>>&, GroupTransform,
                               const PerCoefficient&, double, const GroupVariances&);
template double wiener(GroupStack<double>&, GroupStack<double>, const PatchTransform<double>&,
                       GroupTransform, const PerCoefficient&, const GroupVariances&);
template double wiener(GroupStack<std::complex<double>>&, GroupStack<std::complex<double>>,
                       const PatchTransform<std::complex<double>>&, GroupTransform,
                       const PerCoefficient&, const GroupVariances&);
template void Accumulator::add(const PatchValues<double>&, int, int, double,
                               const std::array<float, patch>&, int);
template void Accumulator::add(const PatchValues<std::complex<double>>&, int, int, double,
                               const std::array<float, patch>&, int);

}  // namespace lull::bm3d
