#pragma once

namespace lull {

/// A colour transform as a kernel argument.
struct ColourMatrix {
  float at[3][3];
  explicit ColourMatrix(const float (&matrix)[3][3]) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) at[i][j] = matrix[i][j];
  }
  __device__ float row(int i, float a, float b, float c) const {
    return at[i][0] * a + at[i][1] * b + at[i][2] * c;
  }
};

}  // namespace lull
