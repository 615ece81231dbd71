#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "bm3d/kaiser.h"
#include "bm3d/reference/stages.h"
#include "match/grid.h"
#include "support/pictures.h"

namespace lull::bm3d {
namespace {

using lull::test_support::psnr;
using lull::test_support::texture_picture;
using lull::test_support::with_noise;

PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

/// Returns a frame without neighbouring frames.
std::array<FramePlane, 1> alone(const Plane<float>& plane) { return {{{0, plane.view()}}}; }

Group group_of(std::initializer_list<std::pair<int, int>> members) {
  Group group;
  for (const auto& [dx, dy] : members) group.members[group.count++] = pack_displacement(dx, dy);
  return group;
}

TEST(Displacement, UnpacksToThePackedValues) {
  for (const int dx : {-2048, -63, -1, 0, 1, 63, 2047})
    for (const int dy : {-2048, -63, -1, 0, 1, 63, 2047})
      for (const int dt : {-4, -1, 0, 1, 4}) {
        EXPECT_EQ(displacement_x(pack_displacement(dx, dy, dt)), dx);
        EXPECT_EQ(displacement_y(pack_displacement(dx, dy, dt)), dy);
        EXPECT_EQ(displacement_t(pack_displacement(dx, dy, dt)), dt);
      }
}

TEST(ReferencePositions, CoverEverySampleAtEveryStep) {
  for (int length = patch; length < 40; ++length)
    for (int step = 1; step <= patch; ++step) {
      std::vector<bool> covered(length);
      int previous = -1;
      for (int i = 0; i < reference_count(length, step); ++i) {
        const int position = reference_position(i, length, step);
        ASSERT_GT(position, previous) << "length " << length << ", step " << step;
        ASSERT_LE(position - std::max(previous, 0), step);
        for (int k = 0; k < patch; ++k) covered.at(position + k) = true;
        previous = position;
      }
      EXPECT_EQ(previous, length - patch);
      EXPECT_TRUE(std::all_of(covered.begin(), covered.end(), [](bool c) { return c; }));
    }
}

// The expected group contains the nearest patches among all patches of the picture, sorted by the
// criteria of the interface. The samples are integers, so that ties are exact.
TEST(Match, EqualsBruteForceSearch) {
  std::mt19937 rng{5};
  std::uniform_int_distribution<int> level{0, 2};
  Plane<float> picture(31, 27);
  for (int y = 0; y < 27; ++y)
    for (int x = 0; x < 31; ++x) picture.view()(x, y) = static_cast<float>(10 * level(rng));
  const auto view = read(picture);
  for (const auto& [x, y] : {std::pair{0, 0}, {23, 19}, {11, 9}, {0, 19}, {20, 3}})
    for (const MatchParams& phase : {MatchParams{.window = 39, .group = 32, .tau = 1e9f},
                                     {.window = 9, .group = 16, .tau = 1e9f},
                                     {.window = 15, .group = 32, .tau = 120},
                                     {.window = 39, .group = 8, .tau = 100},
                                     {.window = 1, .group = 8, .tau = 1e9f},
                                     {.window = 19, .group = 1, .tau = 1e9f}}) {
      std::vector<std::tuple<bool, int, int, int>> all;  // (not the reference, distance, v, u)
      for (int v = 0; v + patch <= 27; ++v)
        for (int u = 0; u + patch <= 31; ++u) {
          if (std::abs(u - x) > phase.window / 2 || std::abs(v - y) > phase.window / 2) continue;
          int sum = 0;
          for (int j = 0; j < patch; ++j)
            for (int i = 0; i < patch; ++i) {
              const int d = static_cast<int>(view(u + i, v + j) - view(x + i, y + j));
              sum += d * d;
            }
          if (sum <= 64 * phase.tau) all.emplace_back(u != x || v != y, sum, v, u);
        }
      std::sort(all.begin(), all.end());
      int expected = 1;
      while (2 * expected <= std::min<int>(all.size(), phase.group)) expected *= 2;
      const Group group = match(alone(picture), x, y, phase);
      ASSERT_EQ(group.count, expected);
      for (int m = 0; m < group.count; ++m) {
        EXPECT_EQ(x + displacement_x(group.members[m]), std::get<3>(all[m])) << "member " << m;
        EXPECT_EQ(y + displacement_y(group.members[m]), std::get<2>(all[m])) << "member " << m;
      }
    }
}

TEST(Match, OrdersTheReferenceFirstAndTiesRowByRow) {
  Plane<float> flat(20, 20);
  for (int y = 0; y < 20; ++y) std::fill_n(flat.view().row(y), 20, 77.0f);
  const Group group = match(alone(flat), 6, 6, {.window = 5, .group = 8, .tau = 1});
  ASSERT_EQ(group.count, 8);
  const std::pair<int, int> expected[] = {{0, 0},  {-2, -2}, {-1, -2}, {0, -2},
                                          {1, -2}, {2, -2},  {-2, -1}, {-1, -1}};
  for (int m = 0; m < 8; ++m)
    EXPECT_EQ(group.members[m], pack_displacement(expected[m].first, expected[m].second)) << m;
}

// Among equal patches the bias alone decides. The bias cannot make a distance negative, and it does
// not apply to other frames.
TEST(Match, AddsTheBiasOnlyWithinTheReferenceFrame) {
  Plane<float> flat(20, 20);
  for (int y = 0; y < 20; ++y) std::fill_n(flat.view().row(y), 20, 77.0f);
  DistanceBias bias;
  bias.fill(5);
  bias[lag_index(1, 0)] = bias[lag_index(-1, 2)] = -100;
  bias[lag_index(0, 1)] = 1;
  MatchParams params{.window = 5, .group = 4, .tau = 4, .temporal_window = 1};
  params.bias = &bias;
  const Group group = match(alone(flat), 6, 6, params);
  ASSERT_EQ(group.count, 4);
  EXPECT_EQ(group.members[1], pack_displacement(1, 0));
  EXPECT_EQ(group.members[2], pack_displacement(-1, 2));
  EXPECT_EQ(group.members[3], pack_displacement(0, 1));
  const FramePlane frames[] = {{0, {flat.view()}}, {1, {flat.view()}}};
  const Group over_time = match(frames, 6, 6, params);
  ASSERT_EQ(over_time.count, 4);
  EXPECT_EQ(over_time.members[3], pack_displacement(0, 0, 1));
}

// The threshold applies to the mean squared difference; a patch exactly at the threshold is
// included.
TEST(Match, IncludesPatchesUpToTheThreshold) {
  Plane<float> picture(16, 8);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 16; ++x) picture.view()(x, y) = x < 8 ? 10.0f : 13.0f;
  const MatchParams on{.window = 39, .group = 32, .tau = 9};
  EXPECT_EQ(match(alone(picture), 0, 0, on).count, 8);              // all 9, rounded down
  const MatchParams below{.window = 39, .group = 32, .tau = 7.8f};  // 7 columns differ: 9 * 7 / 8
  EXPECT_EQ(match(alone(picture), 0, 0, below).count, 4);           // 7 found
}

// The rules for matching in other frames are checked candidate by candidate, with frames of
// integers.
TEST(Match, RanksOtherFramesByDistanceThenFrameThenPosition) {
  std::mt19937 rng{11};
  std::uniform_int_distribution<int> level{0, 1};
  std::vector<Plane<float>> planes;
  std::vector<FramePlane> frames;
  for (const int offset : {0, -1, 1, 2}) {
    Plane<float> plane(19, 17);
    for (int y = 0; y < 17; ++y)
      for (int x = 0; x < 19; ++x) plane.view()(x, y) = static_cast<float>(8 * level(rng));
    planes.push_back(std::move(plane));
    frames.push_back({offset, planes.back().view()});
  }
  for (const auto& [x, y] : {std::pair{0, 0}, {11, 9}, {5, 4}})
    for (const float bonus : {0.0f, 7.0f, 1000.0f}) {
      const MatchParams phase{
          .window = 7, .group = 32, .tau = 30, .temporal_window = 5, .motion_bias = bonus};
      // Elements: whether the candidate is not the reference patch, distance, rank of the frame, v,
      // u.
      std::vector<std::tuple<bool, double, int, int, int>> all;
      for (int f = 0; f < 4; ++f)
        for (int v = 0; v + patch <= 17; ++v)
          for (int u = 0; u + patch <= 19; ++u) {
            const int radius = f == 0 ? 3 : 2;
            if (std::abs(u - x) > radius || std::abs(v - y) > radius) continue;
            double sum = 0;
            for (int i = 0; i < patch * patch; ++i) {
              const double d = static_cast<double>(frames[f].frame.samples(u + i % 8, v + i / 8)) -
                               static_cast<double>(frames[0].frame.samples(x + i % 8, y + i / 8));
              sum += d * d / 64;
            }
            const bool place = u == x && v == y;
            if (place && f > 0) sum = std::max(0.0, sum - static_cast<double>(bonus));
            if (sum <= 30) all.emplace_back(f > 0 || !place, sum, f, v, u);
          }
      std::sort(all.begin(), all.end());
      int expected = 1;
      while (2 * expected <= std::min<int>(all.size(), 32)) expected *= 2;
      const Group group = match(frames, x, y, phase);
      ASSERT_EQ(group.count, expected);
      for (int m = 0; m < group.count; ++m) {
        const auto& [other, distance, f, v, u] = all[m];
        EXPECT_EQ(group.members[m], pack_displacement(u - x, v - y, frames[f].offset)) << m;
      }
    }
}

template <class Coefficient>
PatchTransform<Coefficient> transform_of(Transform kind) {
  if constexpr (std::is_same_v<Coefficient, double>)
    return real_transform(kind);
  else
    return fourier_transform();
}

template <class Coefficient>
void expect_identity_without_noise(Transform kind) {
  const Plane<float> picture = with_noise(texture_picture(32, 32).view(), 30);
  const Group group = group_of({{0, 0}, {3, 1}, {-4, 2}, {5, -5}});
  for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht}) {
    const auto original = gather<Coefficient>(alone(picture), 12, 12, group);
    auto stack = original;
    const double weight =
        hard_threshold(stack, transform_of<Coefficient>(kind), across, uniform_coefficients(0), 1);
    EXPECT_NEAR(weight, 1.0 / 256, 1e-12);  // all coefficients are nonzero
    for (int m = 0; m < 4; ++m)
      for (int i = 0; i < 64; ++i) EXPECT_NEAR(std::abs(stack[m][i] - original[m][i]), 0, 1e-10);

    stack = original;
    EXPECT_NEAR(wiener(stack, original, transform_of<Coefficient>(kind), across,
                       uniform_coefficients(1e-20)),
                1.0 / 256, 1e-12);
    for (int m = 0; m < 4; ++m)
      for (int i = 0; i < 64; ++i) EXPECT_NEAR(std::abs(stack[m][i] - original[m][i]), 0, 1e-10);
  }
}

TEST(CollaborativeFilter, IsTheIdentityWithoutNoise) {
  expect_identity_without_noise<double>(Transform::dct);
  expect_identity_without_noise<double>(Transform::bior);
  expect_identity_without_noise<std::complex<double>>(Transform::dft);
}

// The overall mean of the group survives every threshold: a flat, dark group must not become black.
TEST(HardThreshold, KeepsTheMeanOfTheGroup) {
  const Plane<float> picture = with_noise(texture_picture(32, 32).view(), 30);
  const Group group = group_of({{0, 0}, {3, 1}});
  for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht}) {
    auto stack = gather<double>(alone(picture), 12, 12, group);
    double mean = 0;
    for (const auto& values : stack)
      for (const double v : values) mean += v / 128;
    EXPECT_EQ(
        hard_threshold(stack, real_transform(Transform::dct), across, uniform_coefficients(1e9), 1),
        1.0);
    for (const auto& values : stack)
      for (const double v : values) EXPECT_NEAR(v, mean, 1e-10);
  }
}

// Comparison with the definition: each coefficient of the 3D transform is one sum over the group.
TEST(CollaborativeFilter, EqualsTheDefinition) {
  const Plane<float> noisy = with_noise(texture_picture(24, 24).view(), 25);
  const Plane<float> basic = texture_picture(24, 24);
  const Group group = group_of({{0, 0}, {2, 0}, {0, 3}, {-5, 4}});
  const auto input = gather<double>(alone(noisy), 8, 8, group);
  const auto pilot = gather<double>(alone(basic), 8, 8, group);
  const double haar[4][4] = {{.5, .5, .5, .5},
                             {.5, .5, -.5, -.5},
                             {std::sqrt(.5), -std::sqrt(.5), 0, 0},
                             {0, 0, std::sqrt(.5), -std::sqrt(.5)}};
  const auto& dct = dct_forward<double>;
  const auto coefficient = [&](const GroupStack<double>& stack, int g, int v, int u) {
    double sum = 0;
    for (int m = 0; m < 4; ++m)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
          sum += haar[g][m] * dct.at[v][y] * dct.at[u][x] * stack[m][y * 8 + x];
    return sum;
  };
  constexpr double threshold = 67, noise = 625;
  GroupStack<double> hard(4), shrunk(4);
  int retained = 0;
  double energy = 0;
  for (int g = 0; g < 4; ++g)
    for (int v = 0; v < 8; ++v)
      for (int u = 0; u < 8; ++u) {
        const bool mean = g == 0 && v == 0 && u == 0;
        const double c = coefficient(input, g, v, u), s = coefficient(pilot, g, v, u);
        const bool keep = mean || std::abs(c) > threshold;
        const double factor = mean ? 1 : s * s / (s * s + noise);
        retained += keep;
        energy += factor * factor;
        for (int m = 0; m < 4; ++m)
          for (int i = 0; i < 64; ++i) {
            const double basis = haar[g][m] * dct.at[v][i / 8] * dct.at[u][i % 8];
            hard[m][i] += keep ? c * basis : 0;
            shrunk[m][i] += c * factor * basis;
          }
      }
  auto stack = input;
  EXPECT_NEAR(hard_threshold(stack, real_transform(Transform::dct), GroupTransform::haar,
                             uniform_coefficients(threshold), 1),
              1.0 / retained, 1e-12);
  for (int m = 0; m < 4; ++m)
    for (int i = 0; i < 64; ++i) EXPECT_NEAR(stack[m][i], hard[m][i], 1e-9);
  stack = input;
  EXPECT_NEAR(wiener(stack, pilot, real_transform(Transform::dct), GroupTransform::haar,
                     uniform_coefficients(noise)),
              1.0 / energy, 1e-9);
  for (int m = 0; m < 4; ++m)
    for (int i = 0; i < 64; ++i) EXPECT_NEAR(stack[m][i], shrunk[m][i], 1e-9);
}

TEST(Accumulator, GivesTheWeightedMean) {
  const auto window = kaiser_window(2.0f);
  std::array<float, patch> flat;
  flat.fill(1);
  PatchValues<double> low, high;
  low.fill(10);
  high.fill(40);
  Plane<float> out(12, 8);

  Accumulator sums(12, 8);  // columns: 0..7 low, 4..11 high and again 2..9 high
  for (int round = 0; round < 2; ++round) {
    sums.add(low, 0, 0, 1.0, flat);
    sums.add(high, 4, 0, 0.5, flat);
    sums.add(high, 2, 0, 0.5, flat);
    sums.divide(out.view());
    for (int y = 0; y < 8; ++y) {
      EXPECT_FLOAT_EQ(out.view()(1, y), 10);
      EXPECT_FLOAT_EQ(out.view()(3, y), (10 + 0.5f * 40) / 1.5f);
      EXPECT_FLOAT_EQ(out.view()(7, y), (10 + 2 * 0.5f * 40) / 2.0f);
      EXPECT_FLOAT_EQ(out.view()(11, y), 40);
    }
    sums.clear();
  }

  Accumulator windowed(12, 8);
  windowed.add(low, 0, 0, 1.0, window);
  windowed.add(high, 4, 0, 1.0, window);
  windowed.add(high, 4, 0, 1.0, window);
  windowed.divide(out.view());
  const float a = window[5], b = 2 * window[1];  // column 5; the row's factor cancels
  EXPECT_NEAR(out.view()(5, 3), (a * 10 + b * 40) / (a + b), 1e-4);
  EXPECT_FLOAT_EQ(out.view()(0, 0), 10);  // covered only by the minimum weight of the window
}

TEST(KaiserWindow, MatchesKnownValues) {
  for (const float v : kaiser_window(0)) EXPECT_EQ(v, 1);
  const auto window = kaiser_window(2);
  for (int i = 0; i < patch; ++i) EXPECT_EQ(window[i], window[patch - 1 - i]);
  EXPECT_NEAR(window[0], 1 / 2.2795853, 1e-6);  // 1 / I0(2)
  EXPECT_NEAR(window[3], 0.985822, 1e-5);       // I0(2 sqrt(48) / 7) / I0(2)
  EXPECT_TRUE(std::is_sorted(window.begin(), window.begin() + 4));
}

}  // namespace
}  // namespace lull::bm3d
