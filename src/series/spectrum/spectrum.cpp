#include "series/spectrum/spectrum.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lull::series {
namespace {

/// Limits for the upper edge of the noise spectrum if the noise level varies. Without these limits,
/// a single volume with a very low noise level would raise the edge too much.
constexpr double max_widening = 1.5, max_excess = 0.05;
/// Eigenvalues below this share of the median contain no noise. Such eigenvalues result from
/// linearly dependent volumes.
constexpr double dependent = 1e-3;
/// Limit for the excess of the largest noise eigenvalue over the Marchenko-Pastur edge, in units of
/// the scale of the Tracy-Widom distribution. The limit is the rounded 0.99 quantile of this
/// distribution (Johnstone 2001, doi:10.1214/aos/1009210544).
constexpr double fluctuation = 2;

/// Returns the number of eigenvalues above 0. Linearly dependent volumes cause eigenvalues of 0,
/// which contain neither signal nor noise.
int noisy_values(std::span<const double> values, double count) {
  auto volumes = static_cast<int>(values.size());
  if (count <= volumes) return volumes;  // there are so few voxels that the others are 0
  const double least = dependent * values[values.size() / 2];
  while (volumes > 0 && values[volumes - 1] <= least) --volumes;
  return volumes;
}

/// Returns the maximum excess of the largest noise eigenvalue over the Marchenko-Pastur edge, for
/// variance 1 (Johnstone 2001).
double fluctuation_of(double volumes, double count) {
  return fluctuation * (std::sqrt(count) + std::sqrt(volumes)) *
         std::cbrt(1 / std::sqrt(count) + 1 / std::sqrt(volumes)) / count;
}

}  // namespace

Spectrum analyse_spectrum(std::span<const double> values, double count,
                          std::optional<double> variance) {
  if (values.empty()) return {};
  const int volumes = noisy_values(values, count);
  std::vector<double> rest(volumes + 1);  // rest[k]: sum of the eigenvalues from index k on
  for (int k = volumes - 1; k >= 0; --k) rest[k] = rest[k + 1] + std::max(values[k], 0.0);
  const double width = std::sqrt(volumes / count);
  const double least = volumes > 0 ? std::max(values[volumes - 1], 0.0) : 0;
  Spectrum spectrum;
  for (int k = 0; k < volumes && k + 1 < count; ++k) {
    // After the removal of k components, the noise of `count` voxels has (count - k) * (volumes -
    // k) degrees of freedom.
    const double free = (count - 1 - k) * (volumes - k);
    spectrum.components = k;
    spectrum.variance = variance.value_or(rest[k] * count / free);
    if (!(spectrum.variance > 0)) return spectrum;
    // If the noise level varies, the eigenvalues of the noise spread more widely on both sides of
    // the noise variance.
    const double below = 1 - std::sqrt(least / spectrum.variance);
    const double above = 1 + std::clamp(below, width, max_widening * width + max_excess);
    spectrum.edge = spectrum.variance * (above * above + fluctuation_of(volumes, count));
    if (values[k] <= spectrum.edge) return spectrum;
  }
  spectrum.components = volumes;
  return spectrum;
}

}  // namespace lull::series
