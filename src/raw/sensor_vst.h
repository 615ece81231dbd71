#pragma once
// Variance stabilisation of sensor samples, with an unbiased inverse (Makitalo and Foi 2013,
// doi:10.1109/TIP.2012.2202675).

// All colours share the generalised Anscombe transform f(w) = 2 / a * sqrt(a * w + 3/8 * a^2 + b),
// scaled to 0..255. w is the scaled sample times the white balance, and a * w + b is the noise
// variance of green.

// After the transform, R, G and B are equal in neutral areas, as demosaicing requires, but have
// different noise levels.

// A filter estimates E[f(z) | y] for noisy, clipped samples z of the true value y. The inverse for
// a colour returns the y for which E[f(z) | y] is equal to the filter's result.

#include <array>
#include <cstdint>

#include "core/image.h"
#include "core/sample_curve.h"
#include "raw/sensor.h"

namespace lull::raw {

class SensorVst {
 public:
  /// `typical` is a mosaic of the sensor. The noise levels of sigma() are averages over this
  /// mosaic.
  SensorVst(const Sensor& sensor, const ColourNoise& noise, PlaneView<const std::uint16_t> typical);

  /// Returns the stabilised value, on the 0..255 scale, of the scaled sample x (sensor.h).
  float forward(int colour, float x) const {
    return static_cast<float>(stabilised(balance_[colour] * static_cast<double>(x)));
  }
  /// Returns the function that maps a filtered value of a colour to the scaled sample.
  const SampleCurve& inverse(int colour) const { return inverse_[colour]; }
  /// Returns the noise levels of R, G and B samples after forward(). Each level is the root mean
  /// square over the unclipped samples of the mosaic that the constructor received.
  const std::array<float, 3>& sigma() const { return sigma_; }

 private:
  double stabilised(double balanced) const;
  void set_colour(int colour, const Sensor& sensor, const SensorNoise& noise,
                  PlaneView<const std::uint16_t> typical);

  double gain_ = 0, offset_ = 0, low_ = 0, scale_ = 1;
  std::array<double, 3> balance_{};
  std::array<SampleCurve, 3> inverse_;
  std::array<float, 3> sigma_{};
};

}  // namespace lull::raw
