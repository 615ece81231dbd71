#include "series/spectrum.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lull::series {
namespace {

/// Bounds of the half width of a spectrum, relative to that of noise of one level: a volume that
/// depends on the others has an eigenvalue of 0, which is not due to noise.
constexpr double max_widening = 1.5, max_excess = 0.05;

}  // namespace

Spectrum analyse_spectrum(std::span<const double> values, double count,
                          std::optional<double> variance) {
  if (values.empty()) return {};
  const auto volumes = static_cast<int>(values.size());
  std::vector<double> rest(volumes + 1);  // rest[k]: sum of the eigenvalues from k on
  for (int k = volumes - 1; k >= 0; --k) rest[k] = rest[k + 1] + std::max(values[k], 0.0);
  const double width = std::sqrt(volumes / count), least = std::max(values.back(), 0.0);
  Spectrum spectrum;
  for (int k = 0; k < volumes && k + 1 < count; ++k) {
    // Noise has (count - k) (volumes - k) degrees of freedom outside of k components.
    const double free = (count - 1 - k) * (volumes - k);
    spectrum.components = k;
    spectrum.variance = variance.value_or(rest[k] * count / free);
    // Noise whose level varies has a wider spectrum, to both sides of its mean.
    const double below = 1 - std::sqrt(least / spectrum.variance);
    const double above = 1 + std::clamp(below, width, max_widening * width + max_excess);
    spectrum.edge = spectrum.variance * above * above;
    if (values[k] <= spectrum.edge) return spectrum;
  }
  spectrum.components = volumes;
  return spectrum;
}

}  // namespace lull::series
