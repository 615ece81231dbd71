// Tests the stages of the reference against the formulas of the paper.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "linear/pictures.h"
#include "linear/reference/stages.h"

namespace lull::linear::reference {
namespace {

Matrix random_patches(int k, int n, double level) {
  std::mt19937 rng{3};
  std::normal_distribution<double> values{level, 20};
  Matrix patches(k, n);
  for (double& value : patches.values) value = values(rng);
  return patches;
}

/// Returns C for members at these positions, with patches of side x side samples in one frame.
Matrix noise_of(std::vector<Place> members, const PlaneNoise& noise, int side) {
  Groups groups;
  groups.reset(64, 64, {.side = side, .group = 16, .step = 1, .window = 9});
  return shared_noise({groups, 1, std::move(members)}, noise);
}

std::vector<Place> row_of_members(int k) {
  std::vector<Place> members;
  for (int i = 0; i < k; ++i) members.push_back({0, i, i % 3});
  return members;
}

/// Theta as in the paper: from the Gram matrix of the patches themselves, without a floor.
Matrix theta_of_paper(const Matrix& y, const Matrix& noise, double assumed, double removed) {
  Matrix q = product(y, transposed(y));
  for (std::size_t i = 0; i < q.values.size(); ++i) q.values[i] += assumed * noise.values[i];
  const Matrix p = inverse(q);
  Matrix one(y.rows, 1);
  one.values.assign(y.rows, 1);
  const Matrix sums = product(p, one);
  const double total = product(transposed(one), sums)(0, 0);
  Matrix affine = product(sums, transposed(sums));
  for (std::size_t i = 0; i < affine.values.size(); ++i)
    affine.values[i] = p.values[i] - affine.values[i] / total;
  Matrix theta = product(noise, affine);
  for (int i = 0; i < theta.rows; ++i)
    for (int j = 0; j < theta.rows; ++j) theta(i, j) = (i == j) - removed * theta(i, j);
  return theta;
}

TEST(ReferenceTheta, IsThatOfThePaper) {
  for (const PlaneNoise& noise : {white(20), averaged(20)}) {
    const Matrix y = random_patches(12, 36, 130);
    const Matrix shared = noise_of(row_of_members(12), noise, 6);
    for (const auto& [assumed, removed] : {std::pair{0.25, 1.25}, {1.0, 1.0}, {0.1, 0.1}}) {
      const Matrix theta = theta_of(y, shared, assumed, removed);
      const Matrix expected = theta_of_paper(y, shared, assumed, removed);
      for (std::size_t i = 0; i < theta.values.size(); ++i)
        EXPECT_NEAR(theta.values[i], expected.values[i], 2e-3);  // the floor
    }
  }
}

TEST(ReferenceTheta, HasRowsThatSumToOne) {
  for (const double removed : {0.0, 1e-6, 0.3, 1.25})
    for (const PlaneNoise& noise : {white(30), averaged(30)}) {
      const Matrix theta =
          theta_of(random_patches(9, 16, 100), noise_of(row_of_members(9), noise, 4), 0.3, removed);
      for (int i = 0; i < 9; ++i) {
        double sum = 0;
        for (int j = 0; j < 9; ++j) sum += theta(i, j);
        EXPECT_NEAR(sum, 1, 1e-9);
      }
    }
}

TEST(ReferenceTheta, IsTheMeanForEqualPatches) {
  Matrix patches(8, 16);
  for (double& value : patches.values) value = 50;
  const Matrix theta = theta_of(patches, noise_of(row_of_members(8), white(10), 4), 1, 1);
  for (const double value : theta.values) EXPECT_NEAR(value, 1.0 / 8, 1e-6);
  for (const double weight : weights_of(theta)) EXPECT_NEAR(weight, std::sqrt(8.0), 1e-4);
}

TEST(ReferenceTheta, KeepsPatchesWithoutNoise) {
  const Matrix theta =
      theta_of(random_patches(8, 36, 100), noise_of(row_of_members(8), white(0.01f), 6), 1, 1);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) EXPECT_NEAR(theta(i, j), i == j, 1e-3);
}

TEST(ReferenceNoise, IsSharedByNeighboursOnly) {
  const Matrix shared = noise_of({{0, 0, 0}, {0, 1, 0}, {0, 0, -2}, {0, 3, 0}}, averaged(2), 3);
  EXPECT_NEAR(shared(0, 0), 36, 1e-5);
  EXPECT_NEAR(shared(0, 1), 24, 1e-5);  // 2 of 3 columns are shared
  EXPECT_NEAR(shared(2, 0), 12, 1e-5);  // 1 of 3 rows
  EXPECT_NEAR(shared(0, 3), 0, 1e-5);
  EXPECT_NEAR(shared(1, 3), 12, 1e-5);
}

TEST(ReferenceNoise, IsNotSharedByFrames) {
  const Matrix shared = noise_of({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}, averaged(2), 3);
  EXPECT_NEAR(shared(0, 1), 0, 1e-5);
  EXPECT_NEAR(shared(1, 2), 24, 1e-5);
}

TEST(ReferenceNoise, OfPairsIsThatOfBothHalves) {
  Groups groups;
  groups.reset(64, 64, {.side = 3, .group = 16, .step = 1, .window = 9},
               {.frames = {{.partner = 1}, {.partner = 2}, {}}});
  // The second half of the first member is in the frame of the first half of the second one.
  const Matrix shared = shared_noise({groups, 2, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}}, averaged(2));
  EXPECT_NEAR(shared(0, 0), 72, 1e-5);
  EXPECT_NEAR(shared(0, 1), 0, 1e-5);
  EXPECT_NEAR(shared(1, 2), 48, 1e-5);
}

TEST(ReferenceNoise, RemainsAsFarAsItWasNotRemoved) {
  Matrix y(1, 4), z(1, 4);
  y.values = {10, -10, 10, -10};
  EXPECT_NEAR(remaining_noise(y, y, 20, 0.3), 1, 1e-12);
  EXPECT_NEAR(remaining_noise(y, z, 20, 0.3), 0.5, 1e-12);
  EXPECT_NEAR(remaining_noise(y, z, 11, 0.3), 0.3, 1e-12);
}

TEST(ReferenceAverage, WeighsEstimates) {
  Average average(3, 2);
  Matrix patches(2, 4);
  patches.values = {1, 1, 1, 1, 4, 4, 4, 4};
  average.add(patches, 0, 0, 0, 0, 2, 1);
  average.add(patches, 1, 0, 1, 0, 2, 2);
  Plane<float> result(3, 2);
  average.divide(result.view());
  for (int y = 0; y < 2; ++y) {
    EXPECT_FLOAT_EQ(result.view()(0, y), 1);
    EXPECT_FLOAT_EQ(result.view()(1, y), 3);
    EXPECT_FLOAT_EQ(result.view()(2, y), 4);
  }
}

}  // namespace
}  // namespace lull::linear::reference
