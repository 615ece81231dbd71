#pragma once
// Stabilises the variance of the samples of a sensor, and inverts the stabilisation without bias
// (Makitalo and Foi 2013, doi:10.1109/TIP.2012.2202675).

// All colours share the generalised Anscombe transform f(w) = 2/a sqrt(a w + 3/8 a^2 + b), scaled
// to 0..255. The value w is balance * x, where x is the scaled sample. The noise variance of green
// samples is a w + b.

// After the transform, red, green and blue are equal in neutral areas, as demosaicing requires. The
// noise levels of the colours differ.

// A filter estimates E[f(z) | y], where y is the true value and z the noisy value. The inverse for
// a colour returns the value y for which this expectation equals the result of the filter. The
// expectation includes clipping at black and white.

#include <array>
#include <cstdint>

#include "core/image.h"
#include "core/sample_curve.h"
#include "raw/sensor.h"

namespace lull::raw {

class SensorVst {
 public:
  /// `typical` is a mosaic of the sensor. sigma() returns means over the samples of this mosaic.
  SensorVst(const Sensor& sensor, const ColourNoise& noise, PlaneView<const std::uint16_t> typical);

  /// Returns the stabilised value, on the 0..255 scale, of a sample with the scaled value x
  /// (sensor.h).
  float forward(int colour, float x) const {
    return static_cast<float>(stabilised(balance_[colour] * static_cast<double>(x)));
  }
  /// Returns the function that converts a filtered value to the scaled value of a sample of this
  /// colour.
  const SampleCurve& inverse(int colour) const { return inverse_[colour]; }
  /// Returns the standard deviations of red, green and blue samples after forward(): the root mean
  /// squares over the typical mosaic.
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
