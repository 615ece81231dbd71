#pragma once
// Photon noise of cameras and photomultipliers of microscopes. A sample is
//     gain * k + offset + read * n.
// k has a Poisson distribution whose mean is the expected number of photons. n is standard normal.
// The variance of samples with mean m is gain * (m - offset) + read^2.

#include <vector>

namespace lull {

/// Parameters of photon noise, in the units of the samples.
struct PhotonNoise {
  double gain = 1;    // samples per photon, > 0
  double offset = 0;  // mean of samples without light
  double read = 0;    // standard deviation of the noise without light, >= 0

  /// Returns the variance of samples with the mean `mean`.
  double variance(double mean) const;
  bool operator==(const PhotonNoise&) const = default;
};

/// Returns the noise of the samples after their conversion to (sample - low) * factor. `factor` is
/// > 0.
[[nodiscard]] PhotonNoise rescaled(const PhotonNoise& noise, double low, double factor);

/// Checks the parameters of photon noise.
/// @throws InvalidArgument
void validate(const PhotonNoise& noise);

/// The generalised Anscombe transform and its exact unbiased inverse (Makitalo and Foi 2013,
/// doi:10.1109/TIP.2012.2202675). The forward function applies f, and then the linear map that
/// takes f(0) to 0 and f(255) to 255:
///     f(z) = 2 * sqrt(max((z - offset) / gain + 3/8 + (read / gain)^2, 0))
class PhotonStabiliser {
 public:
  /// @param noise  parameters on the 0..255 scale that validate() accepts
  explicit PhotonStabiliser(const PhotonNoise& noise);

  /// Returns the standard deviation of the stabilised noise, on the 0..255 scale.
  float sigma() const { return static_cast<float>(scale_); }
  /// NaN stays NaN.
  float forward(float sample) const;
  /// Converts the filter's result `stabilised`, an estimate of E[f(z)], to the mean of the samples
  /// z. This function is not the inverse of f, because E[f(z)] is not f(E[z]). The returned mean
  /// may be below `offset`, the mean without light. A lower bound at `offset` would bias the mean
  /// of dark areas.
  float inverse(float stabilised) const;

 private:
  double transform(double photons) const;
  double expected_result(double photons) const;
  double photons_of(double d) const;
  void make_table();

  PhotonNoise noise_;
  double variance_;            // variance of the read noise, in units of gain^2
  double low_ = 0;             // f(0)
  double scale_ = 1;           // 255 / (f(255) - f(0))
  double first_ = 0;           // expected result of the filter without light
  double step_ = 0;            // distance of the knots of the table
  std::vector<double> table_;  // expected photons by the result, from first_ on
};

}  // namespace lull
