#pragma once
// Eigenvalues and eigenvectors of real symmetric matrices, in double precision.

#include <cstddef>
#include <vector>

namespace lull::series {

struct EigenSystem {
  std::vector<double> values;  // in descending order
  /// Orthonormal eigenvectors, row by row. The element with the largest absolute value is positive.
  std::vector<double> vectors;

  const double* vector(std::size_t k) const { return vectors.data() + k * values.size(); }
};

/// Returns the eigenvalues and eigenvectors of a symmetric matrix of `size` x `size` numbers, in
/// O(size^3). The method is Householder reduction and implicit QL (Golub and Van Loan, "Matrix
/// Computations", sections 8.3.1 and 8.3.3). The result does not depend on the number of threads.
/// @throws InternalError  the matrix contains NaN or infinity
[[nodiscard]] EigenSystem eigen_of_symmetric(std::vector<double> matrix, int size);

}  // namespace lull::series
