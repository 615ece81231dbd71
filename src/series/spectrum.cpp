#include "series/spectrum.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lull::series {

Spectrum analyse_spectrum(std::span<const double> values, double count,
                          std::optional<double> variance) {
  const auto volumes = static_cast<int>(values.size());
  std::vector<double> rest(volumes + 1);  // rest[k]: sum of the eigenvalues from k on
  for (int k = volumes - 1; k >= 0; --k) rest[k] = rest[k + 1] + std::max(values[k], 0.0);
  const double width = 1 + std::sqrt(volumes / count);
  Spectrum spectrum;
  for (int k = 0; k < volumes && k + 1 < count; ++k) {
    // Noise has (count - k) (volumes - k) degrees of freedom outside of k components.
    const double free = (count - 1 - k) * (volumes - k);
    spectrum.components = k;
    spectrum.variance = variance.value_or(rest[k] * count / free);
    spectrum.edge = spectrum.variance * width * width;
    if (values[k] <= spectrum.edge) return spectrum;
  }
  spectrum.components = volumes;
  return spectrum;
}

}  // namespace lull::series
