// Tests coloured noise: the variance of each coefficient of a group is compared with measured
// noise, and the gain from knowing the variances is checked.

#include "support/coloured_noise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm3d/kaiser.h"
#include "bm3d/open/host_session.h"
#include "bm3d/phase_engine.h"
#include "bm3d/reference/stages.h"
#include "match/grid.h"
#include "support/coloured_clips.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

Group group_of(const std::vector<std::uint32_t>& members) {
  Group group;
  group.count = static_cast<int>(members.size());
  std::copy(members.begin(), members.end(), group.members.begin());
  return group;
}

/// The members overlap, touch or are apart; two of them are in another frame.
Group overlapping_group() {
  return group_of({pack_displacement(0, 0), pack_displacement(1, 0), pack_displacement(-2, 1),
                   pack_displacement(3, 5), pack_displacement(1, 0, 1), pack_displacement(9, -2),
                   pack_displacement(0, 0, 1), pack_displacement(-20, 11)});
}

/// Returns the mean square of each coefficient of a group over many positions in noise.
GroupVariances measured(const ColouredNoise& noise, const ColouredNoise& other, const Group& group,
                        Transform transform, GroupTransform across) {
  const std::array<FramePlane, 2> frames{
      {{0, {noise.samples.view()}}, {1, {other.samples.view()}}}};
  const auto forward = real_transform(transform).forward;
  GroupVariances sums(group.count, PerCoefficient{});
  int places = 0;
  for (int y = 12; y + 24 <= noise.samples.height(); y += 7)
    for (int x = 24; x + 24 <= noise.samples.width(); x += 7, ++places) {
      auto stack = gather<double>(frames, x, y, group);
      for (auto& values : stack) transform_patch(forward, values);
      for (int k = 0; k < 64; ++k) {
        std::array<double, max_group> line;
        for (int m = 0; m < group.count; ++m) line[m] = stack[m][k];
        const std::span<double> values{line.data(), static_cast<std::size_t>(group.count)};
        if (across == GroupTransform::wht)
          walsh_hadamard(values);
        else
          haar_forward(values);
        for (int i = 0; i < group.count; ++i) sums[i][k] += line[i] * line[i];
      }
    }
  for (auto& of_patch : sums)
    for (double& v : of_patch) v /= places * static_cast<double>(noise.sigma * noise.sigma);
  return sums;
}

TEST(GroupVariances, MatchMeasuredNoise) {
  const ColouredNoise noise = blurred_noise(1100, 1000, 5, true, true);
  const ColouredNoise other = blurred_noise(1100, 1000, 5, true, true, 6);
  const Group group = overlapping_group();
  for (const Transform transform : {Transform::dct, Transform::bior})
    for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht}) {
      const PatchCovariance covariance({noise.sigma, noise.correlation}, axis_rows(transform));
      const GroupVariances expected = group_variances(covariance, group, across);
      const GroupVariances actual = measured(noise, other, group, transform, across);
      // 20000 positions give a standard error of 1 % of each variance, slightly more because
      // positions overlap.
      for (int i = 0; i < group.count; ++i)
        for (int k = 0; k < 64; ++k)
          EXPECT_NEAR(actual[i][k], expected[i][k], 0.06 * expected[i][k] + 1e-5)
              << "transform " << int(transform) << ", across " << int(across) << ": " << i << ", "
              << k;
      // Patches that are one sample apart share most of the noise.
      if (across == GroupTransform::haar) {
        EXPECT_LT(expected[4][0], 0.3 * covariance.at(0, 0)[0]);
      }
    }
}

TEST(GroupVariances, AreOneForWhiteNoiseInDisjointPatches) {
  const PatchCovariance covariance({7, nullptr}, axis_rows(Transform::dct));
  const Group group = group_of({pack_displacement(0, 0), pack_displacement(8, 0),
                                pack_displacement(0, 9), pack_displacement(0, 0, 1)});
  for (const auto& of_patch : group_variances(covariance, group, GroupTransform::haar))
    for (int k = 0; k < 64; ++k) EXPECT_NEAR(of_patch[k], 1, 1e-9);
}

// All members are the same patch, so their differences contain no noise. A filter divides by the
// variance, which must stay above zero.
TEST(GroupVariances, HaveALowerBound) {
  const PatchCovariance covariance({7, slanted_correlation()}, axis_rows(Transform::bior));
  const Group group = group_of({0, 0, 0, 0});
  const GroupVariances variances = group_variances(covariance, group, GroupTransform::wht);
  for (int k = 0; k < 64; ++k) {
    EXPECT_NEAR(variances[0][k], 4 * covariance.at(0, 0)[k], 1e-9);
    for (int i = 1; i < 4; ++i)
      EXPECT_DOUBLE_EQ(variances[i][k], min_group_variance * covariance.at(0, 0)[k]);
  }
}

/// Runs one phase on `noisy`. Groups are matched in `guide`. `filter` filters a group and returns
/// its weight.
template <class GroupFilter>
Plane<float> phase_of(PlaneView<const float> noisy, PlaneView<const float> guide,
                      const PhaseParams& params, const GroupFilter& filter) {
  const std::array<FramePlane, 1> frames{{{0, {noisy}}}}, guides{{{0, {guide}}}};
  const auto window = kaiser_window(params.kaiser);
  Accumulator sums(noisy.width, noisy.height);
  for (int j = 0; j < reference_count(noisy.height, params.step, patch); ++j)
    for (int i = 0; i < reference_count(noisy.width, params.step, patch); ++i) {
      const int x = reference_position(i, noisy.width, params.step, patch);
      const int y = reference_position(j, noisy.height, params.step, patch);
      const Group group = match(guides, x, y, params.matching());
      auto stack = gather<double>(frames, x, y, group);
      const double weight = filter(stack, x, y, group);
      for (int m = 0; m < group.count; ++m)
        sums.add(stack[m], x + displacement_x(group.members[m]),
                 y + displacement_y(group.members[m]), weight, window);
    }
  Plane<float> result(noisy.width, noisy.height);
  sums.divide(result.view());
  return result;
}

/// Runs both phases with the given standard deviations and with the group variances that
/// `variances` returns.
template <class Variances>
Plane<float> both_phases(PlaneView<const float> noisy, const Params& params,
                         const std::array<PerCoefficient, 2>& deviations,
                         const Variances& variances) {
  PerCoefficient limits = deviations[0], noise = deviations[1];
  for (double& limit : limits) limit *= static_cast<double>(params.lambda);
  for (double& v : noise) v *= v * static_cast<double>(params.mu2);
  const auto filter_of = [](const PhaseParams& phase) { return real_transform(phase.transform); };
  const Plane<float> basic = phase_of(
      noisy, noisy, params.hard, [&](GroupStack<double>& stack, int, int, const Group& group) {
        return hard_threshold(stack, filter_of(params.hard), params.hard.group_transform, limits,
                              1.0, variances(params.hard, group));
      });
  const std::array<FramePlane, 1> pilots{{{0, {basic.view()}}}};
  return phase_of(noisy, basic.view(), params.wiener,
                  [&](GroupStack<double>& stack, int x, int y, const Group& group) {
                    return wiener(stack, gather<double>(pilots, x, y, group),
                                  filter_of(params.wiener), params.wiener.group_transform, noise,
                                  variances(params.wiener, group));
                  });
}

// A table with one variance for each coefficient of a patch ignores that the members of a group
// share noise.
TEST(GroupVariances, GiveBetterPsnrThanATablePerCoefficient) {
  const Plane<float> clean = texture_picture(96, 96);
  const ColouredNoise noise = averaged_noise(96, 96, 15, 4);
  const Plane<float> noisy = sum_of(clean.view(), noise.samples.view());
  const PlaneNoise model{noise.sigma, noise.correlation};
  Params params = make_params(Profile::high, {noise.sigma, 0, 0});
  const PatchCovariance of_hard(model, axis_rows(params.hard.transform)),
      of_wiener(model, axis_rows(params.wiener.transform));
  const auto deviations = [&](const PatchCovariance& of) {
    PerCoefficient values;
    for (int i = 0; i < 64; ++i)
      values[i] = static_cast<double>(noise.sigma) * std::sqrt(of.at(0, 0)[i]);
    return values;
  };
  const PerCoefficient sigma = uniform_coefficients(static_cast<double>(noise.sigma));
  const Plane<float> exact = both_phases(
      noisy.view(), params, {sigma, sigma}, [&](const PhaseParams& phase, const Group& group) {
        return group_variances(&phase == &params.hard ? of_hard : of_wiener, group,
                               phase.group_transform);
      });
  const Plane<float> by_table =
      both_phases(noisy.view(), params, {deviations(of_hard), deviations(of_wiener)},
                  [](const PhaseParams&, const Group&) { return GroupVariances{}; });
  EXPECT_GT(psnr(exact.view(), clean.view()), psnr(by_table.view(), clean.view()) + 0.5);  // 0.81
}

/// Returns the result of the first phase of a plan.
Plane<float> basic_estimate(PhaseEngine& engine, const PhasePlan& plan,
                            PlaneView<const float> noisy) {
  Plane<float> result(noisy.width, noisy.height);
  const auto sums = engine.make_sums(noisy.width, noisy.height);
  const PhaseFrame frame{0, {.guide = {noisy}, .noisy = {noisy}, .sums = {sums.get()}}};
  engine.run({plan, plan.sets[0], {&frame, 1}, plan.noise.sigma(0)});
  engine.finish(plan, *sums, result.view());
  return result;
}

// Noise that two patches share must not count as similarity of their content.
TEST(ColouredNoise, CpuMatchingImprovesWithTheDistanceBias) {
  const Plane<float> clean = texture_picture(160, 128);
  const ColouredNoise noise = averaged_noise(160, 128, 15, 3);
  const Plane<float> noisy = sum_of(clean.view(), noise.samples.view());
  NoiseModel model(std::array<float, 3>{noise.sigma, 0, 0});
  model.plane(0).correlation = noise.correlation;
  PhasePlan plan =
      plan_phase(Phase::first, make_params(Profile::high, model), gray_floats(160, 128));
  ASSERT_NE(plan.sets[0].bias, nullptr);
  EXPECT_EQ(plan_phase(Phase::second, make_params(Profile::high, model), gray_floats(160, 128))
                .sets[0]
                .bias,
            nullptr);
  const auto engine = make_cpu_engine(2), reference = make_reference_engine();
  const Plane<float> with = basic_estimate(*engine, plan, noisy.view());
  EXPECT_GT(psnr(with.view(), basic_estimate(*reference, plan, noisy.view()).view()), 48);
  plan.sets[0].bias = nullptr;
  const Plane<float> without = basic_estimate(*engine, plan, noisy.view());
  EXPECT_GT(psnr(with.view(), clean.view()), psnr(without.view(), clean.view()) + 0.05);
}

TEST(ColouredNoise, CpuResultsDoNotDependOnTheThreadCount) {
  const ColouredNoise noise = blurred_noise(8, 8, 15, true, false);
  const std::vector<Frame> clip = noisy_clip(2, 117, 64, noise);
  std::vector<Plane<float>> expected;
  for (const int threads : {1, 2, 5}) {
    const auto session = open(coloured_params(noise, 1), gray_floats(117, 64),
                              {.kind = BackendKind::cpu, .threads = threads});
    const std::vector<Frame> results = run_clip(*session, clip);
    ASSERT_EQ(results.size(), 2u);
    for (std::size_t n = 0; n < results.size(); ++n) {
      Plane<float> result = plane_of(results[n], 0);
      if (threads == 1) {
        expected.push_back(std::move(result));
        continue;
      }
      for (int y = 0; y < 64; ++y)
        ASSERT_EQ(std::memcmp(result.view().row(y), expected[n].view().row(y), 117 * sizeof(float)),
                  0)
            << threads << " threads, row " << y;
    }
  }
}

// Several planes with a different noise in each: this covers sets of planes, composite guides and
// the opponent colour space.
TEST(ColouredNoise, CpuAgreesWithTheReferenceInColour) {
  for (const FrameFormat& format : {rgb_floats(80, 64), yuv420_floats(80, 64)}) {
    const auto [frame, model] = coloured_frame(format);
    Params params = make_params(Profile::balanced, model);
    params.hard.window = params.wiener.window = 13;
    params.mu2 = 0.7f;  // the profile's value removes the texture of a plane this small
    const auto actual = run_clip(*open(params, format, {.kind = BackendKind::cpu}), {frame});
    const auto expected =
        run_clip(*open(params, format, {.kind = BackendKind::reference}), {frame});
    for (int i = 0; i < 3; ++i) {
      const Plane<float> a = plane_of(actual.at(0), i), e = plane_of(expected.at(0), i);
      const Plane<float> clean = texture_picture(a.width(), a.height(), i);
      EXPECT_GT(psnr(a.view(), e.view()), 42) << "plane " << i;
      EXPECT_NEAR(psnr(a.view(), clean.view()), psnr(e.view(), clean.view()), 0.2) << "plane " << i;
      EXPECT_GT(psnr(a.view(), clean.view()), psnr(plane_of(frame, i).view(), clean.view()) + 2)
          << "plane " << i;
    }
  }
}

// Members in other frames share no noise with the reference patch. An implementation that ignores
// this thresholds differently.
TEST(ColouredNoise, CpuAgreesWithTheReferenceOverTime) {
  const ColouredNoise noise = blurred_noise(8, 8, 15, true, false);
  const std::vector<Frame> clip = noisy_clip(5, 72, 56, noise);
  const Params params = coloured_params(noise, 2);
  const FrameFormat format = gray_floats(72, 56);
  const auto actual = run_clip(*open(params, format, {.kind = BackendKind::cpu}), clip);
  const auto expected = run_clip(*open(params, format, {.kind = BackendKind::reference}), clip);
  ASSERT_EQ(actual.size(), expected.size());
  const Plane<float> clean = texture_picture(72, 56);
  for (std::size_t n = 0; n < actual.size(); ++n) {
    const Plane<float> a = plane_of(actual[n], 0), e = plane_of(expected[n], 0);
    EXPECT_GT(psnr(a.view(), e.view()), 45) << n;
    EXPECT_NEAR(psnr(a.view(), clean.view()), psnr(e.view(), clean.view()), 0.15) << n;
  }
}

}  // namespace
}  // namespace lull::bm3d
