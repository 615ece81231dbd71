#pragma once
// The transforms of collaborative filtering in double precision, written for clarity: 2D transforms
// of a patch as matrix products, and recursive 1D transforms across a group.

#include <array>
#include <cmath>
#include <complex>
#include <span>

#include "bm3d/params.h"
#include "bm3d/transform_tables.h"
#include "noise/patch_covariance.h"

namespace lull::bm3d {

/// A 2D transform of a patch: C = F X F^T for the patch X, and the inverse X = G C G^T, where G is
/// the inverse of F. Coefficients are real (double), or complex for the DFT.
template <class Coefficient>
struct PatchTransform {
  /// The transform uses only the first `side` rows and columns.
  Matrix8<Coefficient> forward, inverse;
  int side = patch;  // side of the patch, at most 8

  constexpr int samples() const { return side * side; }
};

/// Coefficients or samples of one patch, row by row, in the first side * side elements.
template <class Coefficient>
using PatchValues = std::array<Coefficient, max_patch_samples>;

/// Returns the orthonormal DCT-II or the transform Bior1.5. The rows of Bior1.5 have the norm 1,
/// but are not orthogonal. Bior1.5 exists only for a side of 8.
[[nodiscard]] PatchTransform<double> real_transform(Transform transform, int side = patch);
/// Returns the orthonormal discrete Fourier transform, with the full spectrum.
[[nodiscard]] PatchTransform<std::complex<double>> fourier_transform(int side = patch);
/// Returns the rows of a real transform, in the first `side` rows and columns.
[[nodiscard]] AxisTransform axis_rows(const PatchTransform<double>& transform);
[[nodiscard]] inline AxisTransform axis_rows(Transform transform) {
  return axis_rows(real_transform(transform));
}

/// Replaces the matrix `values` by `matrix` * `values` * `matrix`^T.
template <class Coefficient>
void transform_patch(const Matrix8<Coefficient>& matrix, PatchValues<Coefficient>& values,
                     int side = patch) {
  PatchValues<Coefficient> rows{};  // values matrix^T
  for (int y = 0; y < side; ++y)
    for (int k = 0; k < side; ++k)
      for (int x = 0; x < side; ++x) rows[y * side + k] += values[y * side + x] * matrix.at[k][x];
  values = {};
  for (int k = 0; k < side; ++k)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) values[k * side + x] += matrix.at[k][y] * rows[y * side + x];
}

/// Performs the orthonormal Haar transform of 2^n values. The result contains the approximation,
/// then the details from coarse to fine.
template <class Coefficient>
void haar_forward(std::span<Coefficient> values) {
  std::array<Coefficient, 64> next;
  for (std::size_t length = values.size(); length > 1; length /= 2) {
    for (std::size_t i = 0; i < length / 2; ++i) {
      next[i] = (values[2 * i] + values[2 * i + 1]) / std::sqrt(2.0);
      next[length / 2 + i] = (values[2 * i] - values[2 * i + 1]) / std::sqrt(2.0);
    }
    for (std::size_t i = 0; i < length; ++i) values[i] = next[i];
  }
}

template <class Coefficient>
void haar_inverse(std::span<Coefficient> values) {
  std::array<Coefficient, 64> next;
  for (std::size_t length = 2; length <= values.size(); length *= 2) {
    for (std::size_t i = 0; i < length / 2; ++i) {
      next[2 * i] = (values[i] + values[length / 2 + i]) / std::sqrt(2.0);
      next[2 * i + 1] = (values[i] - values[length / 2 + i]) / std::sqrt(2.0);
    }
    for (std::size_t i = 0; i < length; ++i) values[i] = next[i];
  }
}

/// Performs the orthonormal Walsh-Hadamard transform of 2^n values. This transform is its own
/// inverse.
template <class Coefficient>
void walsh_hadamard(std::span<Coefficient> values) {
  for (std::size_t half = 1; half < values.size(); half *= 2)
    for (std::size_t start = 0; start < values.size(); start += 2 * half)
      for (std::size_t i = start; i < start + half; ++i) {
        const Coefficient a = values[i], b = values[i + half];
        values[i] = (a + b) / std::sqrt(2.0);
        values[i + half] = (a - b) / std::sqrt(2.0);
      }
}

}  // namespace lull::bm3d
