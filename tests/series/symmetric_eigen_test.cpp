#include "series/spectrum/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "series/test_series.h"

namespace lull::series {
namespace {

using test::with_threads;

std::vector<double> random_symmetric(int size) {
  test::Normal normal;
  std::vector<double> a(static_cast<std::size_t>(size) * size);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j <= i; ++j) a[i * size + j] = a[j * size + i] = normal();
  return a;
}

/// The definition: A v = value v, vectors are orthonormal, values descend.
void expect_eigen_system(const std::vector<double>& a, int size, double tolerance) {
  const EigenSystem system = eigen_of_symmetric(a, size);
  ASSERT_EQ(system.values.size(), static_cast<std::size_t>(size));
  for (int k = 0; k < size; ++k) {
    if (k > 0) {
      EXPECT_LE(system.values[k], system.values[k - 1]);
    }
    for (int i = 0; i < size; ++i) {
      double sum = 0;
      for (int j = 0; j < size; ++j) sum += a[i * size + j] * system.vector(k)[j];
      EXPECT_NEAR(sum, system.values[k] * system.vector(k)[i], tolerance) << k << ' ' << i;
    }
    for (int m = 0; m <= k; ++m) {
      double sum = 0;
      for (int i = 0; i < size; ++i) sum += system.vector(k)[i] * system.vector(m)[i];
      EXPECT_NEAR(sum, k == m ? 1 : 0, 1e-12) << k << ' ' << m;
    }
  }
}

TEST(SymmetricEigen, FulfilsTheDefinitionForRandomMatrices) {
  for (const int size : {1, 2, 3, 10, 61}) expect_eigen_system(random_symmetric(size), size, 1e-12);
}

TEST(SymmetricEigen, AcceptsZeroDiagonalAndRepeatedEigenvalues) {
  expect_eigen_system(std::vector<double>(25), 5, 0);
  std::vector<double> diagonal(36), ones(36, 1);
  for (int i = 0; i < 6; ++i) diagonal[i * 7] = i % 2;
  expect_eigen_system(diagonal, 6, 1e-15);
  expect_eigen_system(ones, 6, 1e-14);
  EXPECT_NEAR(eigen_of_symmetric(ones, 6).values[0], 6, 1e-14);
}

TEST(SymmetricEigen, KeepsSmallEigenvaluesOfACovariance) {
  // A covariance with a strong component: the others must not lose digits.
  constexpr int size = 40;
  std::vector<double> a(size * size);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) a[i * size + j] = 1e6 / size + (i == j ? 1 + 0.01 * i : 0);
  const EigenSystem system = eigen_of_symmetric(a, size);
  EXPECT_NEAR(system.values[0], 1e6 + 1 + 0.01 * 19.5, 1e-3);
  EXPECT_GT(system.values[size - 1], 1);
  EXPECT_LT(system.values[1], 1.4);
  double trace = 0;
  for (const double value : system.values) trace += value;
  EXPECT_NEAR(trace, 1e6 + size + 0.01 * 780, 1e-6);
}

TEST(SymmetricEigen, LargestPartOfAVectorIsPositive) {
  const EigenSystem system = eigen_of_symmetric({2, -1, -1, 2}, 2);
  EXPECT_NEAR(system.values[0], 3, 1e-15);
  for (int k = 0; k < 2; ++k) EXPECT_GT(std::max(system.vector(k)[0], system.vector(k)[1]), 0.7);
}

TEST(SymmetricEigen, IsEqualForAnyNumberOfThreads) {
  constexpr int size = 300;
  const auto a = random_symmetric(size);
  const EigenSystem one = with_threads(1, [&] { return eigen_of_symmetric(a, size); });
  const EigenSystem four = with_threads(4, [&] { return eigen_of_symmetric(a, size); });
  EXPECT_EQ(one.values, four.values);
  EXPECT_EQ(one.vectors, four.vectors);
}

TEST(SymmetricEigen, RejectsNan) {
  EXPECT_THROW((void)eigen_of_symmetric({1, std::numeric_limits<double>::quiet_NaN(), 0, 1}, 2),
               InternalError);
}

}  // namespace
}  // namespace lull::series
