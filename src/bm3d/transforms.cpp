#include "bm3d/transforms.h"

#include <numbers>

namespace lull::bm3d {

PatchTransform<double> real_transform(Transform transform) {
  if (transform == Transform::bior) return {bior_forward<double>, bior_inverse<double>};
  return {dct_forward<double>, dct_inverse<double>};
}

PatchTransform<std::complex<double>> fourier_transform() {
  PatchTransform<std::complex<double>> result;
  for (int k = 0; k < patch; ++k)
    for (int n = 0; n < patch; ++n) {
      const double angle = 2 * std::numbers::pi * ((k * n) % patch) / patch;
      result.forward.at[k][n] = std::polar(1 / std::sqrt(double{patch}), -angle);
      result.inverse.at[k][n] = std::conj(result.forward.at[k][n]);
    }
  return result;
}

}  // namespace lull::bm3d
