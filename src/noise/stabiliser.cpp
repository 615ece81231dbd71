#include "noise/stabiliser.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/float_range.h"

namespace lull {
namespace {

constexpr int knots = SampleCurve::knots;
constexpr double first_knot = static_cast<double>(SampleCurve::least);
constexpr double spacing = static_cast<double>(SampleCurve::spacing);
constexpr double range_min = static_cast<double>(filter_range_min);
constexpr double range_max = static_cast<double>(filter_range_max);

/// The values of a function at the knots of a SampleCurve (core/sample_curve.h), in double
/// precision.
using Table = std::vector<double>;

double place(int knot) { return first_knot + spacing * knot; }

double at(const Table& table, double v) {
  const double place = (v - first_knot) / spacing;
  const int below = static_cast<int>(std::clamp(place, 0.0, knots - 2.0));
  return table[below] + (place - below) * (table[below + 1] - table[below]);
}

SampleCurve rounded(const Table& table) {
  SampleCurve curve;
  for (int k = 0; k < knots; ++k) curve.values[k] = static_cast<float>(table[k]);
  return curve;
}

/// Piecewise linear interpolation of points with increasing x, constant outside the points. The
/// arguments of successive calls must increase.
class Interpolation {
 public:
  Interpolation(const std::vector<double>& x, const std::vector<double>& y) : x_(x), y_(y) {}
  double operator()(double v) {
    if (v <= x_.front()) return y_.front();
    if (v >= x_.back()) return y_.back();
    while (x_[next_] < v) ++next_;
    const double share = (v - x_[next_ - 1]) / (x_[next_] - x_[next_ - 1]);
    return std::lerp(y_[next_ - 1], y_[next_], share);
  }

 private:
  const std::vector<double>&x_, &y_;
  std::size_t next_ = 1;
};

std::vector<double> evenly(double from, double to, int count) {
  std::vector<double> points(count);
  for (int k = 0; k < count; ++k) points[k] = std::lerp(from, to, k / (count - 1.0));
  return points;
}

/// Raises values where necessary, so that the sequence is strictly increasing.
void make_increasing(std::vector<double>& values) {
  for (std::size_t k = 1; k < values.size(); ++k)
    values[k] = std::max(values[k], values[k - 1] + 1e-6);
}

struct Moments {
  double mean, deviation;
  double third;  // third central moment
};

/// Distribution of the noisy samples of an intensity: a Gaussian, clipped at the clipping limits.
/// The noise curve gives the standard deviation of the Gaussian.
class Samples {
 public:
  explicit Samples(const NoiseCurve& curve)
      : curve_(curve),
        low_(static_cast<double>(curve.low)),
        high_(static_cast<double>(curve.high)) {
    double sum = 0;
    for (int k = 0; k < points; ++k) {
      normal_[k] = (k - points / 2) * 0.05;
      weight_[k] = std::exp(-normal_[k] * normal_[k] / 2);
      sum += weight_[k];
    }
    for (double& weight : weight_) weight /= sum;
  }

  double low() const { return low_; }
  double high() const { return high_; }
  double sigma(double y) const { return static_cast<double>(curve_.at(static_cast<float>(y))); }

  /// Returns the moments of f(z) for noisy samples z of intensity y, by the trapezoidal rule.
  template <class Function>
  Moments moments(double y, const Function& f) const {
    const double s = sigma(y), middle = f(std::clamp(y, low_, high_));
    double mean = 0, square = 0, cube = 0;
    for (int k = 0; k < points; ++k) {
      const double v = f(std::clamp(y + s * normal_[k], low_, high_)) - middle;
      mean += weight_[k] * v;
      square += weight_[k] * v * v;
      cube += weight_[k] * v * v * v;
    }
    return {middle + mean, std::sqrt(std::max(square - mean * mean, 1e-12)),
            cube - mean * (3 * square - 2 * mean * mean)};
  }

 private:
  static constexpr int points = 201;  // points of the standard normal distribution, from -5 to 5
  NoiseCurve curve_;
  double low_, high_;
  std::array<double, points> normal_, weight_;
};

/// Continues the stabilising function f outside 0..255. Returns |f(z) - f(end)| for a sample z at
/// the distance `beyond` > 0 from an end (0 or 255), where f has the slope `slope`. A slope of at
/// most 1 continues unchanged. A larger slope continues over a distance of at most 4 * s, where `s`
/// is the noise level. Beyond this distance, a smaller slope maps the bound of the filter range, at
/// the distance `room`, to itself.
double outside(double beyond, double slope, double s, double room) {
  if (slope <= 1) return slope * beyond;
  // A steep f would leave the filter range. From `bend` on, f has a smaller slope, which maps the
  // bound of the range to itself.
  const double bend = std::min(4 * s, 0.9 * room / slope);
  if (beyond <= bend) return slope * beyond;
  return slope * bend + (beyond - bend) * (room - slope * bend) / (room - bend);
}

/// The stabilising function f, and the standard deviation of f(z) for unclipped samples z.
struct Forward {
  Table f;
  double sigma = 0;
};

/// Returns the stabilising function f whose derivative is sigma * slope. `slope` has one value for
/// each interval between knots.
Forward integral(const std::vector<double>& slope, const Samples& samples) {
  constexpr int black = SampleCurve::black, white = SampleCurve::white;
  double whole = 0;
  for (int k = black; k < white; ++k) whole += slope[k] * spacing;
  const double sigma = 255 / whole;
  Table f(knots);
  for (int k = black; k < white; ++k) f[k + 1] = f[k] + sigma * slope[k] * spacing;
  f[white] = 255;
  for (int k = 0; k < black; ++k)
    f[k] = -outside(-place(k), sigma * slope[black], samples.sigma(0), -range_min);
  for (int k = white + 1; k < knots; ++k)
    f[k] = 255 +
           outside(place(k) - 255, sigma * slope[white - 1], samples.sigma(255), range_max - 255);
  return {f, sigma};
}

Forward forward_of(const Samples& samples) {
  const auto intensities =
      evenly(std::max(samples.low(), 0.0), std::min(samples.high(), 255.0), 256);
  std::vector<double> means, slopes;
  for (const double y : intensities) {
    const Moments m = samples.moments(y, [](double z) { return z; });
    means.push_back(m.mean);
    slopes.push_back(1 / std::sqrt(samples.sigma(y) * m.deviation));
  }
  make_increasing(means);
  const auto integrate = [&] {
    Interpolation slope_at_mean(means, slopes);
    std::vector<double> slope(knots - 1);
    for (int k = 0; k < knots - 1; ++k) slope[k] = slope_at_mean(place(k) + spacing / 2);
    return integral(slope, samples);
  };
  // The formula for the slopes of the stabilising function f is exact only if f is linear. Two
  // rounds of correction halve the error of the standard deviation of stabilised samples.
  Forward forward = integrate();
  for (int round = 0; round < 2; ++round) {
    for (std::size_t j = 0; j < intensities.size(); ++j) {
      const Moments m = samples.moments(intensities[j], [&](double z) { return at(forward.f, z); });
      slopes[j] *= std::min(1.0, forward.sigma / m.deviation);
    }
    forward = integrate();
  }
  return forward;
}

/// Returns the inverse function, which converts the filter's result, an estimate of E[f(z)], to the
/// intensity y. Beyond the clipping limits, the inverse continues linearly, which avoids a bias of
/// the mean.
Table inverse_of(const Table& f, const Samples& samples, double skew_bias) {
  const auto intensities =
      evenly(std::max(samples.low(), range_min), std::min(samples.high(), range_max), 1024);
  std::vector<double> means;
  for (const double y : intensities) {
    const Moments m = samples.moments(y, [&](double z) { return at(f, z); });
    means.push_back(m.mean - skew_bias * m.third / (m.deviation * m.deviation));
  }
  make_increasing(means);
  const auto slope = [&](std::size_t from, std::size_t to) {
    // Maximum slope of the inverse. Without this limit, the slope could be very large, because
    // make_increasing() can make successive means nearly equal.
    constexpr double maximum = 16;
    return std::min((intensities[to] - intensities[from]) / (means[to] - means[from]), maximum);
  };
  // The inverse function continues linearly beyond the first and the last element of `means`. On a
  // side without a clipping limit, the continuation has the slope 1. This slope affects only
  // intensities outside the filter range, which do not occur in pictures.
  const std::size_t last = means.size() - 1;
  const double slope_at_low = std::isfinite(samples.low()) ? slope(0, 4) : 1;
  const double slope_at_high = std::isfinite(samples.high()) ? slope(last - 4, last) : 1;
  Interpolation of_mean(means, intensities);
  Table inverse(knots);
  for (int k = 0; k < knots; ++k) {
    const double v = place(k);
    inverse[k] = of_mean(v);
    if (v < means.front()) inverse[k] += (v - means.front()) * slope_at_low;
    if (v > means.back()) inverse[k] += (v - means.back()) * slope_at_high;
  }
  return inverse;
}

/// Returns the clipping limits for the results of the inverse function. Clipping also moves results
/// whose distance from a limit is less than a fifth of the noise level (core/clip_limits.h).
ClipLimits clip_limits_of(const NoiseCurve& curve) {
  constexpr float share = 0.2f;
  ClipLimits ends;
  if (std::isfinite(curve.low)) {
    ends.low.at = curve.low;
    ends.low.reach = share * curve.at(curve.low);
  }
  if (std::isfinite(curve.high)) {
    ends.high.at = curve.high;
    ends.high.reach = share * curve.at(curve.high);
  }
  return ends;
}

}  // namespace

Stabiliser::Stabiliser(const NoiseCurve& curve, double skew_bias) {
  const Samples samples(curve);
  const Forward forward = forward_of(samples);
  forward_ = rounded(forward.f);
  inverse_ = rounded(inverse_of(forward.f, samples, skew_bias));
  sigma_ = static_cast<float>(forward.sigma);
  clip_limits_ = clip_limits_of(curve);
}

float stabilised_sigma(const NoiseCurve& curve) { return Stabiliser(curve).sigma(); }

}  // namespace lull
