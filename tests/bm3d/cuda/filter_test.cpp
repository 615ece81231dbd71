// Compares filtering and aggregation on the device with the reference on equal groups.

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "bm3d/cuda/dft_cuda.h"
#include "bm3d/cuda/filter/covariance_cuda.h"
#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/kaiser.h"
#include "bm3d/reference/stages.h"
#include "support/coloured_noise.h"
#include "support/device.h"
#include "support/gpu.h"
#include "support/gpus.h"
#include "support/pictures.h"

namespace lull::bm3d {
namespace {

using test_support::on_device;
using test_support::on_host;

struct Case {
  Phase which = Phase::first;
  PhaseParams phase;
  Strength strength{2.7f, 1.0f};                                 // lambda or mu2
  float level = 0;                                               // added to the picture
  std::shared_ptr<const Autocorrelation> correlation = nullptr;  // of the noise; null: white
};

std::array<FramePlane, 1> alone(const Plane<float>& plane) { return {{{0, plane.view()}}}; }

class Scene {
 public:
  static constexpr int width = 53, height = 47;
  static constexpr float sigma = 20;

  explicit Scene(const Case& c) : case_(c), clean_(test_support::texture_picture(width, height)) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) clean_.view()(x, y) += c.level;
    noisy_ =
        c.correlation == nullptr
            ? test_support::with_noise(clean_.view(), sigma)
            : test_support::sum_of(
                  clean_.view(),
                  test_support::blurred_noise(width, height, sigma, true, true).samples.view());
    noise_ = {sigma, c.correlation};
    const int count_x = reference_count(width, c.phase.step);
    const int count_y = reference_count(height, c.phase.step);
    for (int j = 0; j < count_y; ++j)
      for (int i = 0; i < count_x; ++i)
        groups_.push_back(match(alone(noisy_), reference_position(i, width, c.phase.step),
                                reference_position(j, height, c.phase.step), c.phase.matching()));
  }

  Plane<float> by_reference() const {
    return case_.phase.transform == Transform::dft
               ? by_reference(fourier_transform())
               : by_reference(real_transform(case_.phase.transform));
  }

  Plane<float> by_device(const cuda::DeviceLimits& gpu = cuda::device_limits()) const {
    const PhaseParams& phase = case_.phase;
    const Margins margins(width, height, phase.window, patch);
    const auto noisy = upload(noisy_, margins), basic = upload(clean_, margins);
    const auto numerator = on_device(std::vector<unsigned long long>(margins.size(), 0));
    const auto denominator = on_device(std::vector<std::uint32_t>(margins.size(), 0));
    const auto estimate = on_device(std::vector<float>(margins.size(), -1));

    FilterArgs args;
    args.noisy[0] = noisy.get();
    args.basic[0] = basic.get();
    args.sums[0] = {numerator.get(), denominator.get()};
    args.sigma[0] = sigma;
    args.margins = margins;
    args.grid = ReferenceGrid(width, height, phase.step);
    args.batch = {0, 0, (args.grid.count_x + 3) / 4, (args.grid.count_y + 3) / 4};
    args.window = kaiser_window(phase.kaiser);
    std::vector<std::uint32_t> displacements;
    std::vector<std::uint8_t> counts;
    pack_groups(args, displacements, counts);
    const auto device_displacements = on_device(displacements);
    const auto device_counts = on_device(counts);
    args.groups = {device_displacements.get(), device_counts.get(),
                   group_capacity(phase.matching())};

    if (phase.transform == Transform::dft) {
      DftFilter(phase, case_.which, nullptr).run(args, case_.strength);
    } else {
      NoiseModel model;
      model.plane(0) = noise_;
      const Covariances covariances(model, phase.transform, nullptr);
      (case_.which == Phase::first ? filter_hard : filter_wiener)(
          args, phase, case_.strength, nullptr, gpu, {covariances.of(0)});
      cuda::check(cudaDeviceSynchronize());  // the tables are released after this
    }
    normalise({1, args.sums, {noisy.get()}, {estimate.get()}}, margins, args.window, nullptr);

    const auto values = on_host(estimate);
    Plane<float> result(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) result.view()(x, y) = values[margins.at(x, y)];
    return result;
  }

 private:
  template <class Coefficient>
  Plane<float> by_reference(const PatchTransform<Coefficient>& transform) const {
    const PhaseParams& phase = case_.phase;
    Accumulator sums(width, height);
    std::optional<PatchCovariance> covariance;
    if (!noise_.is_white()) covariance.emplace(noise_, axis_rows(phase.transform));
    const int count_x = reference_count(width, phase.step);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const int x = reference_position(static_cast<int>(k) % count_x, width, phase.step);
      const int y = reference_position(static_cast<int>(k) / count_x, height, phase.step);
      auto stack = gather<Coefficient>(alone(noisy_), x, y, groups_[k]);
      GroupVariances variances;
      if (covariance) variances = group_variances(*covariance, groups_[k], phase.group_transform);
      const double weight =
          case_.which == Phase::first
              ? hard_threshold(stack, transform, phase.group_transform,
                               uniform_coefficients(case_.strength.value * sigma),
                               static_cast<double>(case_.strength.mean_factor), variances)
              : wiener(stack, gather<Coefficient>(alone(clean_), x, y, groups_[k]), transform,
                       phase.group_transform,
                       uniform_coefficients(case_.strength.value * sigma * sigma), variances);
      for (int m = 0; m < groups_[k].count; ++m)
        sums.add(stack[m], x + displacement_x(groups_[k].members[m]),
                 y + displacement_y(groups_[k].members[m]), weight, kaiser_window(phase.kaiser));
    }
    Plane<float> estimate(width, height);
    sums.divide(estimate.view());
    return estimate;
  }

  static cuda::DeviceBuffer<float> upload(const Plane<float>& plane, const Margins& margins) {
    std::vector<float> values(margins.size(), std::nanf(""));  // nothing may depend on the margins
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) values[margins.at(x, y)] = plane.view()(x, y);
    return on_device(values);
  }

  void pack_groups(const FilterArgs& args, std::vector<std::uint32_t>& displacements,
                   std::vector<std::uint8_t>& counts) const {
    const int capacity = group_capacity(case_.phase.matching());
    const std::size_t references =
        static_cast<std::size_t>(args.batch.tiles_x) * args.batch.tiles_y * references_per_tile;
    displacements.assign(references * capacity, 0);
    counts.assign(references, 0);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const int i = static_cast<int>(k) % args.grid.count_x;
      const int j = static_cast<int>(k) / args.grid.count_x;
      const std::size_t index =
          (static_cast<std::size_t>(j / 4) * args.batch.tiles_x + i / 4) * references_per_tile +
          j % 4 * 4 + i % 4;
      std::copy_n(groups_[k].members.begin(), groups_[k].count, &displacements[index * capacity]);
      counts[index] =
          static_cast<std::uint8_t>(std::countr_zero(static_cast<unsigned>(groups_[k].count)));
    }
  }

  Case case_;
  Plane<float> clean_, noisy_;
  PlaneNoise noise_;
  std::vector<Group> groups_;
};

double rms_difference(const Plane<float>& a, const Plane<float>& b) {
  return 255 / std::pow(10, test_support::psnr(a.view(), b.view()) / 20);
}

using CudaFilter = test_support::GpuTest;

// The filter computes in half precision. Each step of the forward and inverse transforms has a
// relative error of 2^-12 at a contrast of 128. The errors are averaged over the estimates of a
// sample.
constexpr double tolerance = 0.08;
// A coefficient that is this close to the threshold may be decided differently.
constexpr double tolerance_hard = 0.35;

TEST_F(CudaFilter, ZeroThresholdMatchesTheReference) {
  for (const Transform transform : {Transform::dct, Transform::bior, Transform::dft})
    for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht}) {
      const Scene scene({Phase::first,
                         {.window = 25,
                          .group = 32,
                          .tau = 9000,
                          .transform = transform,
                          .group_transform = across},
                         {0.0f}});
      EXPECT_LT(rms_difference(scene.by_device(), scene.by_reference()), tolerance)
          << static_cast<int>(transform) << static_cast<int>(across);
    }
}

TEST_F(CudaFilter, HardThresholdMatchesTheReference) {
  for (const Transform transform : {Transform::dct, Transform::bior, Transform::dft})
    for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht})
      for (const int group : {1, 4, 16, 32}) {
        const Scene scene({Phase::first,
                           {.window = 25,
                            .group = group,
                            .tau = 2500,
                            .transform = transform,
                            .group_transform = across},
                           {2.7f, 0.8f}});
        EXPECT_LT(rms_difference(scene.by_device(), scene.by_reference()), tolerance_hard)
            << static_cast<int>(transform) << static_cast<int>(across) << " group " << group;
      }
}

TEST_F(CudaFilter, WienerFilterMatchesTheReference) {
  for (const Transform transform : {Transform::dct, Transform::bior, Transform::dft})
    for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht})
      for (const int group : {1, 8, 16, 32}) {
        const Scene scene({Phase::second,
                           {.window = 19,
                            .group = group,
                            .step = 4,
                            .tau = 2500,
                            .transform = transform,
                            .group_transform = across,
                            .kaiser = 2.0f},
                           {0.5f}});
        EXPECT_LT(rms_difference(scene.by_device(), scene.by_reference()), tolerance)
            << static_cast<int>(transform) << static_cast<int>(across) << " group " << group;
      }
}

TEST_F(CudaFilter, LargestWindowsMatchTheReferenceWithoutSharedMemory) {
  const Scene scene({Phase::second, {.window = 127, .group = 32, .step = 8, .tau = 2500}, {0.5f}});
  EXPECT_LT(rms_difference(scene.by_device(), scene.by_reference()), tolerance);
}

TEST_F(CudaFilter, MatchesTheReferenceWithTheLimitsOfOtherGpus) {
  for (const Phase which : {Phase::first, Phase::second})
    for (const int group : {16, 32})
      for (const int window : {25, 49})
        for (const int capability : {75, 86, 90}) {
          const Scene scene(
              {which, {.window = window, .group = group, .step = 3, .tau = 2500}, {0.5f, 1.0f}});
          EXPECT_LT(
              rms_difference(scene.by_device(test_support::gpu(capability)), scene.by_reference()),
              which == Phase::first ? tolerance_hard : tolerance)
              << "window " << window << ", group " << group << ", sm_" << capability;
        }
}

TEST_F(CudaFilter, MatchesTheReferenceAtHighBrightness) {
  const Scene scene({Phase::second, {.window = 25, .group = 16, .tau = 2500}, {0.5f}, 100.0f});
  EXPECT_LT(rms_difference(scene.by_device(), scene.by_reference()), tolerance);
}

/// Returns the autocorrelation of the noise that Scene adds.
std::shared_ptr<const Autocorrelation> blurred() {
  return test_support::blurred_noise(8, 8, 1, true, true).correlation;
}

// The kernels read the variances of groups of 2, 4, 8, 16 and 32 members in different ways. (The
// tolerance also covers that variances and their roots are in half precision.)
TEST_F(CudaFilter, HardThresholdMatchesTheReferenceInColouredNoise) {
  for (const Transform transform : {Transform::dct, Transform::bior})
    for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht})
      for (const int group : {1, 2, 4, 8, 16, 32}) {
        const Scene scene({Phase::first,
                           {.window = 25,
                            .group = group,
                            .tau = 2500,
                            .transform = transform,
                            .group_transform = across},
                           {2.7f, 0.8f},
                           0,
                           blurred()});
        EXPECT_LT(rms_difference(scene.by_device(), scene.by_reference()), tolerance_hard)
            << static_cast<int>(transform) << static_cast<int>(across) << " group " << group;
      }
}

TEST_F(CudaFilter, WienerFilterMatchesTheReferenceInColouredNoise) {
  for (const Transform transform : {Transform::dct, Transform::bior})
    for (const GroupTransform across : {GroupTransform::haar, GroupTransform::wht})
      for (const int group : {1, 2, 4, 8, 16, 32}) {
        const Scene scene({Phase::second,
                           {.window = 19,
                            .group = group,
                            .step = 4,
                            .tau = 2500,
                            .transform = transform,
                            .group_transform = across,
                            .kaiser = 2.0f},
                           {0.5f},
                           0,
                           blurred()});
        EXPECT_LT(rms_difference(scene.by_device(), scene.by_reference()), tolerance)
            << static_cast<int>(transform) << static_cast<int>(across) << " group " << group;
      }
}

// The noise has the maximum correlation reach. The test uses every size of the tiles in shared
// memory that a GPU allows.
TEST_F(CudaFilter, ColouredNoiseMatchesTheReferenceWithTheLimitsOfOtherGpus) {
  for (const Phase which : {Phase::first, Phase::second})
    for (const int group : {16, 32})
      for (const int window : {25, 85})
        for (const int capability : {75, 86, 90}) {
          const Scene scene({which,
                             {.window = window, .group = group, .step = 3, .tau = 2500},
                             {0.5f, 1.0f},
                             0,
                             test_support::slanted_correlation()});
          EXPECT_LT(
              rms_difference(scene.by_device(test_support::gpu(capability)), scene.by_reference()),
              which == Phase::first ? tolerance_hard : tolerance)
              << "window " << window << ", group " << group << ", sm_" << capability;
        }
}

}  // namespace
}  // namespace lull::bm3d
