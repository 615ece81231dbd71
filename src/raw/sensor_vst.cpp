#include "raw/sensor_vst.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lull::raw {
namespace {

constexpr double dark = 20, bright = 235;  // stabilised values of black and of balanced white
constexpr double greatest = 340;           // stabilised value of the brightest samples
constexpr int grid = 1024;                 // intensities at which moments are computed

struct Moments {
  double mean = 0, variance = 0;
};

/// A quadrature rule for the standard normal distribution, with nodes from -5 to 5.
class Normal {
 public:
  static constexpr int points = 201;
  Normal() {
    double sum = 0;
    for (int k = 0; k < points; ++k) {
      at_[k] = (k - points / 2) * 0.05;
      weight_[k] = std::exp(-at_[k] * at_[k] / 2);
      sum += weight_[k];
    }
    for (double& weight : weight_) weight /= sum;
  }
  template <class Function>
  Moments moments(const Function& f) const {
    const double middle = f(0.0);
    double mean = 0, square = 0;
    for (int k = 0; k < points; ++k) {
      const double v = f(at_[k]) - middle;
      mean += weight_[k] * v;
      square += weight_[k] * v * v;
    }
    return {middle + mean, std::max(square - mean * mean, 1e-12)};
  }

 private:
  std::array<double, points> at_, weight_;
};

/// Returns the intensity of grid point `k`. The grid is denser at low intensities, where the
/// stabilising function has its strongest curvature.
double intensity(int k, double top) { return top * k * k / ((grid - 1.0) * (grid - 1)); }

/// Returns the inverse of the function from intensities to `means`. The inverse is linear below the
/// lowest mean, and constant (`top`) above the highest mean.
SampleCurve inverse_of(std::vector<double> means, double top) {
  for (int k = 1; k < grid; ++k) means[k] = std::max(means[k], means[k - 1] + 1e-7);
  constexpr int first = 40;  // enough points for a stable slope
  const double slope = intensity(first, top) / (means[first] - means[0]);
  SampleCurve curve;
  int next = 1;
  for (int i = 0; i < SampleCurve::knots; ++i) {
    const double v = static_cast<double>(SampleCurve::place(i));
    double y = top;
    if (v <= means.front()) {
      y = slope * (v - means.front());
    } else if (v < means.back()) {
      while (means[next] < v) ++next;
      y = std::lerp(intensity(next - 1, top), intensity(next, top),
                    (v - means[next - 1]) / (means[next] - means[next - 1]));
    }
    curve.values[i] = static_cast<float>(y);
  }
  return curve;
}

}  // namespace

SensorVst::SensorVst(const Sensor& sensor, const ColourNoise& noise,
                     PlaneView<const std::uint16_t> typical)
    : gain_(std::max(noise[1].gain, 1e-9)), offset_(std::max(noise[1].offset, 1e-12)) {
  for (int c = 0; c < 3; ++c) balance_[c] = static_cast<double>(sensor.balance[c]);
  const auto f = [&](double w) {
    return 2 / gain_ * std::sqrt(std::max(gain_ * w + 0.375 * gain_ * gain_ + offset_, 0.0));
  };
  low_ = f(-3 * std::sqrt(offset_));
  scale_ = (bright - dark) / (f(1.1) - low_);
  const double brightest = f(*std::ranges::max_element(balance_));
  scale_ = std::min(scale_, (greatest - dark) / (brightest - low_));
  for (int c = 0; c < 3; ++c) set_colour(c, sensor, noise[c], typical);
}

double SensorVst::stabilised(double balanced) const {
  const double inside = gain_ * balanced + 0.375 * gain_ * gain_ + offset_;
  return dark + scale_ * (2 / gain_ * std::sqrt(std::max(inside, 0.0)) - low_);
}

void SensorVst::set_colour(int colour, const Sensor& sensor, const SensorNoise& noise,
                           PlaneView<const std::uint16_t> typical) {
  double black = 0;
  int sites = 0;
  for (int site = 0; site < 4; ++site)
    if (sensor.pattern.colours[site] == colour) {
      black += static_cast<double>(sensor.black[site]);
      ++sites;
    }
  black /= sites;
  const double range = static_cast<double>(sensor.white) - black, lowest = -black / range;
  const double top = 1 + 3 * std::sqrt(noise.variance(1));
  const Normal normal;
  std::vector<double> means(grid), variances(grid);
  for (int k = 0; k < grid; ++k) {
    const double y = intensity(k, top), deviation = std::sqrt(std::max(noise.variance(y), 1e-14));
    const Moments m = normal.moments([&](double n) {
      return stabilised(balance_[colour] * std::clamp(y + deviation * n, lowest, 1.0));
    });
    means[k] = m.mean;
    variances[k] = m.variance;
  }
  // Averages the noise variance over the samples in at most 1024 rows. Skips clipped samples,
  // because they have no noise.
  double sum = 0, count = 0;
  for (int y = 0; y < typical.height; y += 1 + typical.height / 1024)
    for (int x = 0; x < typical.width; ++x) {
      if (sensor.pattern.at(x, y) != colour) continue;
      const double v = (typical(x, y) - black) / range;
      if (v >= 1) continue;
      const double place = std::sqrt(std::max(v, 0.0) / top) * (grid - 1);
      sum += variances[std::min(static_cast<int>(place), grid - 1)];
      ++count;
    }
  sigma_[colour] = static_cast<float>(std::sqrt(count > 0 ? sum / count : variances[grid / 2]));
  inverse_[colour] = inverse_of(std::move(means), top);
}

}  // namespace lull::raw
