#include "bm3d/reference/bayes.h"

#include <numeric>

namespace lull::bm3d {
namespace {

/// Returns 3 p - 2 p^2. Its product with p is the sharpened matrix 3 p^2 - 2 p^3.
Matrix sharpened(const Matrix& p) {
  Matrix s = product(p, p);
  for (std::size_t i = 0; i < s.values.size(); ++i) s.values[i] = 3 * p.values[i] - 2 * s.values[i];
  return s;
}

double mean_of(const Matrix& a) {
  return std::accumulate(a.values.begin(), a.values.end(), 0.0) /
         static_cast<double>(a.values.size());
}

/// Returns (a - level) / sigma.
Matrix normalised(Matrix a, double level, double sigma) {
  for (double& value : a.values) value = (value - level) / sigma;
  return a;
}

}  // namespace

Matrix gather_wide(std::span<const FramePlane> planes, int x, int y, const Group& group,
                   PatchShape shape) {
  Matrix patches(group.count, shape.samples());
  for (int m = 0; m < group.count; ++m) {
    const std::uint32_t member = group.members[m];
    const SamplePlane& plane = frame_at(planes, displacement_t(member));
    const int u = x + displacement_x(member), v = y + displacement_y(member);
    const int area = shape.side * shape.side;
    for (int i = 0; i < shape.samples(); ++i) {
      const bool first = i < area;
      const PlaneView<const float> samples = first ? plane.samples : plane.partner;
      const Motion shift = first ? Motion{} : plane.second_half;
      patches(m, i) = static_cast<double>(
          samples(u + shift.x + i % shape.side, v + shift.y + i % area / shape.side));
    }
  }
  return patches;
}

Matrix spectral_weights(const Matrix& gram, double threshold, int sharpenings) {
  Matrix shifted = gram;
  for (int i = 0; i < gram.rows; ++i) shifted(i, i) += threshold;
  Matrix weights = inverse(shifted), factors = product(gram, weights);
  for (int k = 0; k < sharpenings; ++k) {
    const Matrix more = sharpened(factors);
    weights = product(weights, more);
    factors = product(factors, more);
  }
  return weights;
}

Matrix bayes_estimate(const Matrix& noisy, const Matrix& basic, double sigma,
                      const BayesParams& params) {
  const double level = mean_of(noisy);
  // Patches are rows in the code, but columns in the formulas, so B^T B of the formulas is b b^T in
  // the code.
  const Matrix y = normalised(noisy, level, sigma), b = normalised(basic, mean_of(basic), sigma);
  const Matrix across = transposed(b);
  Matrix gram = product(b, across), shared = product(y, across);
  const double share = 1.0 / noisy.rows;
  for (double& value : gram.values) value *= share;
  for (double& value : shared.values) value *= share;
  const Matrix weights =
      spectral_weights(gram, static_cast<double>(params.threshold), params.sharpenings);
  Matrix estimate = product(product(shared, weights), b);
  for (double& value : estimate.values) value = value * sigma + level;
  return estimate;
}

}  // namespace lull::bm3d
