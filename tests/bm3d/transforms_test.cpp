#include "bm3d/transforms.h"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace lull::bm3d {
namespace {

// Two passes of 8 products and sums, each with an error of half an epsilon, of terms that add up to
// at most 8 |x|.
constexpr double tolerance = 32 * 8 * std::numeric_limits<double>::epsilon();

template <class Coefficient>
PatchValues<Coefficient> random_patch(std::mt19937& rng) {
  std::uniform_real_distribution<double> sample{-1, 1};
  PatchValues<Coefficient> values;
  for (auto& s : values) s = sample(rng);
  return values;
}

TEST(Dct, MatchesTheDefinition) {
  const auto basis = [](int k, int n) {
    return std::sqrt((k == 0 ? 1.0 : 2.0) / 8) * std::cos(std::numbers::pi * (2 * n + 1) * k / 16);
  };
  std::mt19937 rng{1};
  const auto values = random_patch<double>(rng);
  auto actual = values;
  transform_patch(real_transform(Transform::dct).forward, actual);
  for (int v = 0; v < 8; ++v)
    for (int u = 0; u < 8; ++u) {
      double sum = 0;
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) sum += basis(v, y) * basis(u, x) * values[y * 8 + x];
      EXPECT_NEAR(actual[v * 8 + u], sum, tolerance) << "coefficient " << v << ", " << u;
    }
}

TEST(Fourier, MatchesTheDefinition) {
  std::mt19937 rng{2};
  const auto values = random_patch<std::complex<double>>(rng);
  auto actual = values;
  transform_patch(fourier_transform().forward, actual);
  for (int v = 0; v < 8; ++v)
    for (int u = 0; u < 8; ++u) {
      std::complex<double> sum = 0;
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
          sum +=
              std::polar(1.0 / 8, -2 * std::numbers::pi * (u * x + v * y) / 8) * values[y * 8 + x];
      EXPECT_NEAR(std::abs(actual[v * 8 + u] - sum), 0, tolerance);
    }
}

// The expected values come from a decomposition step by step with the filters of the paper's table
// 6.1 (N = 1, N~ = 5), normalised to a unit sum of squares of the short filter.
TEST(Bior, MatchesTheFilterBank) {
  const double low[10] = {3, -3, -22, 22, 128, 128, 22, -22, -3, 3};
  for (int impulse = 0; impulse < 8; ++impulse) {
    std::vector<double> expected(8), signal(8);
    signal[impulse] = 1;
    for (int length = 8; length > 1; length /= 2) {
      std::vector<double> approximation(length / 2);
      for (int i = 0; i < length / 2; ++i) {
        for (int t = 0; t < 10; ++t)
          approximation[i] +=
              std::sqrt(2.0) / 256 * low[t] * signal[((2 * i + t - 4) % length + length) % length];
        expected[length / 2 + i] = (signal[2 * i] - signal[2 * i + 1]) / std::sqrt(2.0);
      }
      signal = approximation;
    }
    expected[0] = signal[0];
    for (int k = 0; k < 8; ++k) {
      // A row of unit norm is the filter bank's row divided by its norm, so both rows are parallel.
      const auto& row = bior_forward<double>.at[k];
      int largest = 0;
      for (int n = 1; n < 8; ++n)
        if (std::abs(row[n]) > std::abs(row[largest])) largest = n;
      static std::array<std::array<double, 8>, 8> bank;
      bank[k][impulse] = expected[k];
      if (impulse < 7) continue;
      const double scale = bank[k][largest] / row[largest];
      EXPECT_GT(scale, 0);
      for (int n = 0; n < 8; ++n)
        EXPECT_NEAR(row[n] * scale, bank[k][n], tolerance) << "row " << k << ", sample " << n;
    }
  }
}

TEST(PatchTransforms, InvertExactly) {
  std::mt19937 rng{3};
  for (const Transform kind : {Transform::dct, Transform::bior}) {
    const auto transform = real_transform(kind);
    const auto values = random_patch<double>(rng);
    auto there_and_back = values;
    transform_patch(transform.forward, there_and_back);
    transform_patch(transform.inverse, there_and_back);
    for (int i = 0; i < 64; ++i) EXPECT_NEAR(there_and_back[i], values[i], 8 * tolerance);
  }
  const auto transform = fourier_transform();
  const auto values = random_patch<std::complex<double>>(rng);
  auto there_and_back = values;
  transform_patch(transform.forward, there_and_back);
  transform_patch(transform.inverse, there_and_back);
  for (int i = 0; i < 64; ++i) EXPECT_NEAR(std::abs(there_and_back[i] - values[i]), 0, tolerance);
}

// White noise of variance 1 has variance 1 in every coefficient if each row has unit norm.
TEST(PatchTransforms, KeepTheVarianceOfNoise) {
  for (const auto& matrix : {dct_forward<double>, bior_forward<double>})
    for (const auto& row : matrix.at) {
      double energy = 0;
      for (const double v : row) energy += v * v;
      EXPECT_NEAR(energy, 1, tolerance);
    }
  for (const auto& row : fourier_transform().forward.at) {
    double energy = 0;
    for (const auto v : row) energy += std::norm(v);
    EXPECT_NEAR(energy, 1, tolerance);
  }
}

TEST(PatchTransforms, PutTheMeanFirst) {
  for (const Transform kind : {Transform::dct, Transform::bior}) {
    PatchValues<double> flat;
    flat.fill(5);
    transform_patch(real_transform(kind).forward, flat);
    EXPECT_NEAR(flat[0], 40, 40 * tolerance);
    for (int i = 1; i < 64; ++i) EXPECT_NEAR(flat[i], 0, 40 * tolerance) << i;
  }
}

TEST(GroupTransforms, AreOrthonormalAndInvert) {
  for (std::size_t count = 1; count <= 32; count *= 2) {
    // Columns of the matrices: transforms of unit impulses.
    std::vector<std::vector<double>> haar, wht;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<double> impulse(count);
      impulse[i] = 1;
      haar.push_back(impulse);
      wht.push_back(impulse);
      haar_forward(std::span{haar.back()});
      walsh_hadamard(std::span{wht.back()});
      EXPECT_NEAR(haar.back()[0], 1 / std::sqrt(double(count)), tolerance);
      EXPECT_NEAR(wht.back()[0], 1 / std::sqrt(double(count)), tolerance);
      auto back = haar.back();
      haar_inverse(std::span{back});
      for (std::size_t k = 0; k < count; ++k) EXPECT_NEAR(back[k], impulse[k], tolerance);
      for (const double v : wht.back())
        EXPECT_NEAR(std::abs(v), 1 / std::sqrt(double(count)), tolerance);
    }
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j) {
        double a = 0, b = 0;
        for (std::size_t k = 0; k < count; ++k) a += haar[i][k] * haar[j][k];
        for (std::size_t k = 0; k < count; ++k) b += wht[i][k] * wht[j][k];
        EXPECT_NEAR(a, i == j, tolerance);
        EXPECT_NEAR(b, i == j, tolerance);
      }
  }
}

TEST(Haar, TakesDifferencesOfNeighbours) {
  std::vector<double> v{1, 3, 5, 11};
  haar_forward(std::span{v});
  EXPECT_NEAR(v[0], 10, tolerance * 10);
  EXPECT_NEAR(v[1], -6, tolerance * 10);
  EXPECT_NEAR(v[2], -2 / std::sqrt(2.0), tolerance * 10);
  EXPECT_NEAR(v[3], -6 / std::sqrt(2.0), tolerance * 10);
}

}  // namespace
}  // namespace lull::bm3d
