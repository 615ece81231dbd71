// Compares filtering and aggregation of the cpu backend with the reference on the same groups.

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "bm3d/cpu/kernels.h"
#include "bm3d/cpu/weight_sums.h"
#include "bm3d/kaiser.h"
#include "bm3d/reference/stages.h"
#include "noise/patch_covariance.h"
#include "support/coloured_noise.h"
#include "support/pictures.h"

namespace lull::bm3d::cpu {
namespace {

using lull::test_support::texture_picture;
using lull::test_support::with_noise;

constexpr int size = 48;

constexpr float mean_factor = 0.8f;

/// Contribution of one group to the picture: its numerator and its weight.
struct Contribution {
  std::vector<double> numerator = std::vector<double>(size * size);
  double weight = 0;
};

template <class Coefficient>
Contribution by_reference(const PatchTransform<Coefficient>& transform, const PhaseParams& phase,
                          PlaneView<const float> noisy, const PlaneView<const float>* basic, int x,
                          int y, const Group& group, double strength,
                          const GroupVariances& variances) {
  // All frames of this test show the same picture.
  const PlaneView<const float> pilot = basic == nullptr ? noisy : *basic;
  const std::array<FramePlane, 3> frames{{{0, noisy}, {-1, noisy}, {1, noisy}}};
  const std::array<FramePlane, 3> pilots{{{0, pilot}, {-1, pilot}, {1, pilot}}};
  auto stack = gather<Coefficient>(frames, x, y, group);
  Contribution result;
  result.weight = basic == nullptr
                      ? hard_threshold(stack, transform, phase.group_transform,
                                       uniform_coefficients(strength), mean_factor, variances)
                      : wiener(stack, gather<Coefficient>(pilots, x, y, group), transform,
                               phase.group_transform, uniform_coefficients(strength), variances);
  const auto window = kaiser_window(phase.kaiser);
  for (int m = 0; m < group.count; ++m)
    for (int i = 0; i < patch * patch; ++i) {
      const int u = x + displacement_x(group.members[m]) + i % patch;
      const int v = y + displacement_y(group.members[m]) + i / patch;
      const double w = static_cast<double>(window[i / patch]) * window[i % patch];
      result.numerator[v * size + u] += result.weight * w * std::real(stack[m][i]);
    }
  return result;
}

Contribution by_reference(const PhaseParams& phase, PlaneView<const float> noisy,
                          const PlaneView<const float>* basic, int x, int y, const Group& group,
                          double strength, const PlaneNoise& noise) {
  GroupVariances variances;
  if (!noise.is_white())
    variances = group_variances(PatchCovariance(noise, axis_rows(phase.transform)), group,
                                phase.group_transform);
  if (phase.transform == Transform::dft)
    return by_reference(fourier_transform(), phase, noisy, basic, x, y, group, strength, variances);
  return by_reference(real_transform(phase.transform), phase, noisy, basic, x, y, group, strength,
                      variances);
}

/// Returns a random group of patches around (x, y) in up to `temporal` frames before and after; the
/// reference patch comes first.
Group random_group(int count, int temporal, std::mt19937& rng) {
  Group group;
  group.count = count;
  std::uniform_int_distribution<int> offset{-9, 9}, frame{-temporal, temporal};
  for (int m = 0; m < count; ++m) {
    const int dy = offset(rng), dx = offset(rng);
    group.members[m] = pack_displacement(dx, dy, temporal > 0 ? frame(rng) : 0);
  }
  group.members[0] = pack_displacement(0, 0);
  return group;
}

class CpuFilter : public ::testing::Test {
 protected:
  /// Compares the sums over the picture. The tolerance covers rounding: the values are sums of 64
  /// times the group's patches of samples up to about 300, through some 30 operations, each with an
  /// error of epsilon / 2 of the maximum; weights are at most 1. A coefficient that is within
  /// rounding of the threshold may be decided differently, so the strengths are chosen such that no
  /// coefficient is that close.
  void expect_same(const PhaseParams& phase, int count, bool second, float strength,
                   const PlaneNoise& noise = {1}, int temporal = 0) {
    const Group group = random_group(count, temporal, rng_);
    const int x = 20, y = 17;
    const PlaneView<const float> noisy = noisy_.view(), clean = clean_.view();
    const FilterTables tables = second ? make_wiener_tables(phase, noise, strength)
                                       : make_hard_tables(phase, noise, strength, mean_factor);
    Plane<float> numerator(size, size), weights(size, size);
    for (int v = 0; v < size; ++v) {
      std::fill_n(numerator.view().row(v), size, 0.0f);
      std::fill_n(weights.view().row(v), size, 0.0f);
    }
    Buffer<float> scratch;
    PlaneTile tile{.wiener = second, .frame = {}};
    tile.frame[0] = {noisy.data,
                     clean.data,
                     numerator.view().data,
                     weights.view().data,
                     numerator.view().stride,
                     noisy.stride,
                     clean.stride};
    tile.frame[-1] = tile.frame[1] = tile.frame[0];
    filter_group(tables, tile, x, y, group, scratch.reserve(filter_scratch_size));
    const Contribution expected = by_reference(phase, noisy, second ? &clean : nullptr, x, y, group,
                                               static_cast<double>(strength), noise);
    const std::string what = "transform " + std::to_string(int(phase.transform)) + ", across " +
                             std::to_string(int(phase.group_transform)) + ", count " +
                             std::to_string(count) + ", second " + std::to_string(second);
    EXPECT_NEAR(weights.view()(x, y) / expected.weight, multiplicity(group),
                1e-4 * multiplicity(group))
        << what;
    const double tolerance = 1e-5 * 300 * count * expected.weight + 1e-6;
    for (int v = 0; v < size; ++v)
      for (int u = 0; u < size; ++u)
        ASSERT_NEAR(numerator.view()(u, v), expected.numerator[v * size + u], tolerance)
            << what << " at " << u << ", " << v;
  }

  /// Returns the number of members that are the reference patch itself, in any frame.
  static double multiplicity(const Group& group) {
    return static_cast<double>(std::count_if(
        group.members.begin(), group.members.begin() + group.count,
        [](auto member) { return displacement_x(member) == 0 && displacement_y(member) == 0; }));
  }

  std::mt19937 rng_{77};
  Plane<float> clean_ = texture_picture(size, size);
  Plane<float> noisy_ = with_noise(texture_picture(size, size).view(), 20);
};

TEST_F(CpuFilter, MatchesTheReferenceOnEqualGroups) {
  for (const Transform transform : {Transform::dct, Transform::bior, Transform::dft})
    for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht})
      for (const int count : {1, 2, 4, 8, 16, 32})
        for (const float kaiser : {0.0f, 2.0f}) {
          const PhaseParams phase{
              .transform = transform, .group_transform = across, .kaiser = kaiser};
          expect_same(phase, count, false, 54.0f);
          expect_same(phase, count, true, 400.0f);
        }
}

// The variance of each coefficient depends on the positions and frames of all members.
TEST_F(CpuFilter, MatchesTheReferenceInColouredNoise) {
  PlaneNoise noise{1, lull::test_support::blurred_noise(8, 8, 1, true, false).correlation};
  for (const bool far : {false, true}) {
    if (far) noise.correlation = lull::test_support::slanted_correlation();
    for (const Transform transform : {Transform::dct, Transform::bior})
      for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht})
        for (const int count : {1, 2, 4, 8, 16, 32})
          for (const int temporal : {0, 1}) {
            const PhaseParams phase{.transform = transform, .group_transform = across};
            expect_same(phase, count, false, 30.0f, noise, temporal);
            expect_same(phase, count, true, 200.0f, noise, temporal);
          }
  }
}

TEST_F(CpuFilter, MatchesTheReferenceAtExtremeStrengths) {
  const PhaseParams phase;
  for (const int count : {1, 8, 32}) {
    expect_same(phase, count, false, 0.0f);
    expect_same(phase, count, false, 1e7f);
    expect_same(phase, count, true, 1e-3f);
    expect_same(phase, count, true, 1e12f);
  }
}

// All coefficients are 0, but the Wiener factor of the mean is still 1.
TEST_F(CpuFilter, MatchesTheReferenceOnBlackPictures) {
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) clean_.view()(x, y) = noisy_.view()(x, y) = 0;
  for (const Transform transform : {Transform::dct, Transform::bior, Transform::dft})
    for (const int count : {1, 2, 16}) {
      expect_same({.transform = transform}, count, false, 54.0f);
      expect_same({.transform = transform}, count, true, 400.0f);
    }
}

// The weights are 1 at some patch positions, and all estimates have the same value. The division
// must give this value at all samples of a patch, for every width.
TEST(CpuAggregate, DividesByConvolvedWeights) {
  for (const int width : {8, 9, 31, 65})
    for (const float beta : {0.0f, 2.0f, 20.0f}) {
      const int height = 13;
      const auto window = kaiser_window(beta);
      Plane<float> numerator(width + 64, height), weights(width + 64, height + patch);
      for (int y = 0; y < height + patch; ++y)
        std::fill_n(weights.view().row(y), weights.view().stride, 0.0f);
      for (int y = 0; y < height; ++y)
        std::fill_n(numerator.view().row(y), numerator.view().stride, 0.0f);
      std::mt19937 rng{3};
      for (int y = 0; y + patch <= height; ++y)
        for (int x = 0; x + patch <= width; ++x) {
          const float weight = 0.01f + static_cast<float>(rng() % 100) / 100;
          weights.view()(x, y + patch) = weight;
          for (int i = 0; i < patch * patch; ++i)
            numerator.view()(x + i % patch, y + i / patch) +=
                100 * weight * window[i / patch] * window[i % patch];
        }
      Plane<float> estimate(width, height);
      for (int y = 0; y < height; ++y)
        std::fill_n(estimate.view().row(y), estimate.view().stride, -1.0f);
      std::vector<float> scratch(width + 128);
      const PlaneView<float> map = weights.view();
      normalise_rows({{numerator.view().data, width, height, numerator.view().stride},
                      {map.row(patch), width, height, map.stride},
                      window,
                      estimate.view()},
                     0, height, scratch.data());
      // Both sides sum up to 64 positive terms: 64 roundings of epsilon / 2 each.
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x)
          ASSERT_NEAR(estimate.view()(x, y), 100, 100 * 1.5e-5) << width << ": " << x << ", " << y;
        for (int x = width; x < estimate.view().stride; ++x)
          ASSERT_EQ(estimate.view().row(y)[x], -1.0f) << "beyond the row";
      }
    }
}

TEST(CpuAggregate, AddsTilesOfAnyWidth) {
  for (const int width : {1, 7, 16, 33}) {
    Plane<float> tile(width, 3), picture(width + 5, 3);
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < width; ++x) tile.view()(x, y) = static_cast<float>(x + 1);
      for (int x = 0; x < width + 5; ++x) picture.view()(x, y) = 10;
    }
    add_rows(tile.view(), {picture.view().data + 2, width, 3, picture.view().stride});
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < width + 5; ++x) {
        const int in_tile = x - 2;
        const float added = in_tile >= 0 && in_tile < width ? static_cast<float>(in_tile + 1) : 0;
        ASSERT_EQ(picture.view()(x, y), 10 + added) << width << ": " << x << ", " << y;
      }
  }
}

// Lists of weights replace planes of weights, so their sums must be the same floats: the same
// numbers, added in the same order. The number of tiles decides when a list becomes a plane.
TEST(WeightSums, EqualTheSumsOfAPlane) {
  constexpr int width = 300, height = 70, stride = 304 | 16, tile_height = 30;
  for (const int tiles : {1, 3, 60}) {
    const auto memory = std::make_shared<WeightMemory>();
    WeightSums sums(width, height, stride, memory);
    for (int round = 0; round < 2; ++round) {  // the second one begins with cleared sums
      Plane<float> plane(stride, height);
      for (int y = 0; y < height; ++y) std::fill_n(plane.view().row(y), stride, 0.0f);
      std::mt19937 rng(tiles);
      for (int t = 0; t < tiles; ++t) {
        const int tile_width = 30 + 20 * (t % 5), x = static_cast<int>(rng() % 150);
        const int y = static_cast<int>(rng() % (height - tile_height));
        Plane<float> tile(tile_width, tile_height);
        for (int j = 0; j < tile_height; ++j) {
          std::fill_n(tile.view().row(j), tile.view().stride, 0.0f);
          for (int i = 0; i < tile_width; ++i)
            if (rng() % 3 == 0) tile.view()(i, j) = static_cast<float>(rng()) * 1e-9f;
        }
        sums.add(tile.view(), x, y);
        add_rows(tile.view(), {&plane.view()(x, y), tile_width, tile_height, stride});
      }
      const PlaneView<const float> actual = sums.view();
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          ASSERT_EQ(actual(x, y), plane.view()(x, y)) << tiles << ": " << x << ", " << y;
      for (int i = 1; i <= rows_of_zeros * stride; ++i) ASSERT_EQ(actual.data[-i], 0.0f);
      sums.clear();
    }
  }
}

}  // namespace
}  // namespace lull::bm3d::cpu
