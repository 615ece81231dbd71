#include "bm3d/transforms.h"

#include <numbers>

#include "core/error.h"

namespace lull::bm3d {

PatchTransform<double> real_transform(Transform transform, int side) {
  if (transform == Transform::bior) {
    if (side != patch)
      throw InvalidArgument("Bior1.5 for patches of side " + std::to_string(side) +
                            " (it exists for a side of 8 only); choose dct");
    return {bior_forward<double>, bior_inverse<double>};
  }
  if (side == patch) return {dct_forward<double>, dct_inverse<double>};
  PatchTransform<double> result{{}, {}, side};
  for (int k = 0; k < side; ++k)
    for (int n = 0; n < side; ++n)
      result.forward.at[k][n] = result.inverse.at[n][k] =
          std::sqrt((k == 0 ? 1.0 : 2.0) / side) *
          std::cos(std::numbers::pi * (2 * n + 1) * k / (2 * side));
  return result;
}

PatchTransform<std::complex<double>> fourier_transform(int side) {
  PatchTransform<std::complex<double>> result{{}, {}, side};
  for (int k = 0; k < side; ++k)
    for (int n = 0; n < side; ++n) {
      const double angle = 2 * std::numbers::pi * ((k * n) % side) / side;
      result.forward.at[k][n] = std::polar(1 / std::sqrt(static_cast<double>(side)), -angle);
      result.inverse.at[k][n] = std::conj(result.forward.at[k][n]);
    }
  return result;
}

AxisTransform axis_rows(const PatchTransform<double>& transform) {
  AxisTransform rows;
  for (int k = 0; k < patch; ++k)
    for (int n = 0; n < patch; ++n) rows[k][n] = transform.forward.at[k][n];
  return rows;
}

}  // namespace lull::bm3d
