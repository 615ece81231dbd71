// Compares the kernels of BM4D with the reference, and sessions on a GPU with those on the CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "bm4d/byte_volume.h"
#include "bm4d/cuda/kernels.h"
#include "bm4d/cuda/plane_volume.h"
#include "bm4d/volumes.h"
#include "core/error.h"
#include "core/slices.h"
#include "pipeline/part_scheduler.h"
#include "support/device.h"
#include "support/gpu.h"

namespace lull::bm4d {
namespace {

using namespace test_support;
using lull::test_support::on_device;
using lull::test_support::on_host;

constexpr Backend gpu_backend{.kind = BackendKind::cuda};

// The check must run before any call of the device.
TEST(Bm4dCudaPlan, RejectsSlicesThatKernelsCannotAddress) {
  Params params = make_params(Profile::balanced, {20, 20, 20});
  EXPECT_NO_THROW(cuda::require_addressable(params, {.width = 16384, .height = 16384}));
  EXPECT_THROW(cuda::require_addressable(params, {.width = 65536, .height = 32768}),
               InvalidArgument);
  params.hard.step = 1;
  params.hard.group = 16;
  ASSERT_TRUE(params.reranks_groups());
  EXPECT_THROW(cuda::require_addressable(params, {.width = 16384, .height = 16384}),
               InvalidArgument)
      << "groups that a layer keeps";
}

TEST(Bm4dCudaPlan, RejectsSlicesWithMoreRowsOfCubesThanAGridHasBlocks) {
  Params params = make_params(Profile::high, {20, 20, 20});
  ASSERT_EQ(params.hard.step, 2);
  EXPECT_NO_THROW(cuda::require_addressable(params, {.width = 64, .height = 262140}));
  EXPECT_THROW(cuda::require_addressable(params, {.width = 64, .height = 300000}), InvalidArgument);
  params.hard.step = params.wiener.step = 3;
  EXPECT_NO_THROW(cuda::require_addressable(params, {.width = 64, .height = 300000}));
  params.wiener.step = 1;
  EXPECT_THROW(cuda::require_addressable(params, {.width = 64, .height = 300000}), InvalidArgument);
  params.phases = 1;
  EXPECT_NO_THROW(cuda::require_addressable(params, {.width = 64, .height = 300000}));
}

class Bm4dCudaMatcher : public lull::test_support::GpuTest {
 protected:
  static void expect_groups(const Size& size, const PhaseParams& params,
                            const std::function<int(int, int, int)>& value) {
    ByteVolume volume(size, value);
    const cuda::Guide guide = volume.guide(params.cube);
    const cuda::ReferenceCubes cubes{
        .params = params,
        .z = ByteVolume::base + params.step,
        .layers = 3,
        .available = {ByteVolume::base, volume.end()},
        .columns = reference_count(size.width, params.step, params.cube),
        .rows = reference_count(size.height, params.step, params.cube)};
    const auto groups = on_device(
        std::vector<std::uint32_t>(static_cast<std::size_t>(cubes.count()) * params.group));
    cuda::detail::find_groups_generic(guide, volume.margins(), cubes, groups.get(), nullptr);
    const std::vector<std::uint32_t> alone = on_host(groups);
    const bool in_tiles =
        cuda::detail::find_groups_in_tiles(guide, volume.margins(), cubes, groups.get(), nullptr);
    const std::vector<std::uint32_t> tiled = on_host(groups);
    EXPECT_TRUE(in_tiles || params.window > 11);
    for (int k = 0; k < cubes.count(); ++k) {
      const int column = k % cubes.columns, row = k / cubes.columns % cubes.rows;
      const auto expected =
          expected_group(volume,
                         {reference_position(column, size.width, params.step, params.cube),
                          reference_position(row, size.height, params.step, params.cube),
                          cubes.z + k / (cubes.columns * cubes.rows) * params.step},
                         params, all_displacements(params.radius()));
      const auto group_of = [&](const std::vector<std::uint32_t>& all) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(k) * params.group;
        return std::vector<std::uint32_t>(begin, begin + params.group);
      };
      ASSERT_EQ(group_of(alone), expected) << "cube " << k;
      ASSERT_EQ(group_of(tiled), expected) << "cube " << k << " in tiles";
    }
  }
};

TEST_F(Bm4dCudaMatcher, FindsTheNearestCubes) {
  for (const int window : {3, 5, 7, 9, 11, 15})
    for (const int cube : {3, 4})
      for (const int step : {2, 3, 4}) {
        if (step > cube) continue;
        SCOPED_TRACE(::testing::Message() << window << " " << cube << " " << step);
        std::mt19937 rng{7};
        expect_groups(
            {23, 18, 17},
            {.cube = cube, .window = window, .group = window == 9 ? 16 : 32, .step = step},
            [&](int x, int y, int z) { return static_cast<int>(rng() % 60) + 3 * x + 2 * y + z; });
      }
}

TEST_F(Bm4dCudaMatcher, OrdersTiesByPositionAndDoesNotOverflow) {
  for (const int group : {1, 8, 16, 32}) {
    const PhaseParams params{.window = 11, .group = group, .step = 4};
    expect_groups({15, 14, 17}, params, [](int, int, int) { return 9; });
    expect_groups({15, 14, 17}, params, [](int x, int y, int z) { return (x / 3 + y + z) % 3; });
    expect_groups({15, 14, 17}, params,
                  [](int x, int y, int z) { return (x * 7 + y * 3 + z) % 2 * 255; });
    expect_groups({4, 5, 17}, params, [](int x, int, int z) { return x + z; });
  }
}

/// Both kinds of kernels filter the same groups; the sums divided by the weights are compared.
class Bm4dCudaFilter : public lull::test_support::GpuTest {
 protected:
  static constexpr int base = 6;

  static std::vector<float> finished(bool in_tiles, const PhaseParams& params, bool wiener,
                                     const std::vector<float>& noisy,
                                     const std::vector<float>& basic, const Margins& margins,
                                     int slices) {
    const auto n = on_device(noisy), b = on_device(basic);
    const int depth = static_cast<int>(noisy.size() / margins.size());
    const auto ring = [&](auto* data) {
      return cuda::Ring<std::remove_pointer_t<decltype(data)>>{data, margins.size(), depth};
    };
    const auto bytes = on_device(std::vector<std::uint8_t>(noisy.size()));
    const auto norms = on_device(std::vector<std::int32_t>(noisy.size(), 0x3f3f3f3f));
    const auto numerator = on_device(std::vector<cuda::Sum>(noisy.size()));
    const auto weights = on_device(std::vector<std::uint32_t>(noisy.size()));
    const auto estimate = on_device(std::vector<float>(noisy.size()));
    const SliceSpan available{base, base + slices};
    const cuda::Guide guide{ring(bytes.get()), ring(norms.get())};
    cuda::make_guide(ring((wiener ? b : n).get()), available, margins, cuda::guide_quantiser(20),
                     guide.samples, nullptr);
    cuda::make_half_norms(guide, {available.first, available.end - params.cube + 1}, margins,
                          params.cube, nullptr);
    cuda::FilterPlan plan{.wiener = wiener, .cube = params.cube};
    plan.limit = wiener ? 400.0f : 58.0f;
    plan.limit_mean = plan.limit * (wiener ? 0.5f : 1.0f);
    plan.window = kaiser_window(2, params.cube);
    const AxisMatrix rows = dct_rows(params.cube);
    for (int k = 0; k < max_cube; ++k)
      for (int i = 0; i < max_cube; ++i) plan.rows[k][i] = static_cast<float>(rows[k][i]);
    const cuda::VolumeSums sums{ring(numerator.get()), ring(weights.get())};
    cuda::ReferenceCubes cubes{.params = params,
                               .z = base,
                               .layers = (slices - params.cube) / params.step + 1,
                               .available = available,
                               .columns = reference_count(margins.width, params.step, params.cube),
                               .rows = reference_count(margins.height, params.step, params.cube)};
    const auto groups = on_device(
        std::vector<std::uint32_t>(static_cast<std::size_t>(cubes.count()) * params.group));
    cuda::find_groups(guide, margins, cubes, groups.get(), nullptr);
    if (in_tiles)
      EXPECT_TRUE(cuda::detail::filter_groups_in_tiles(plan, ring(n.get()), ring(b.get()), margins,
                                                       cubes, groups.get(), sums, nullptr));
    else
      cuda::detail::filter_groups_generic(plan, ring(n.get()), ring(b.get()), margins, cubes,
                                          groups.get(), sums, nullptr);
    cuda::finish_basic({.sums = sums,
                        .slices = available,
                        .first = base,
                        .noisy = ring(n.get()),
                        .margins = margins,
                        .cube = params.cube,
                        .window = plan.window},
                       ring(estimate.get()), {}, {}, nullptr);
    return on_host(estimate);
  }
};

TEST_F(Bm4dCudaFilter, TiledKernelMatchesTheKernelForSingleGroups) {
  const Size size{33, 29, 19};
  const Margins margins(size.width, size.height, 15, 8);
  std::mt19937 rng{3};
  std::normal_distribution<float> noise{0, 20};
  std::vector<float> noisy((size.slices + 8) * margins.size()), basic(noisy.size());
  for (int z = 0; z < size.slices; ++z)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const std::size_t at = (base + z) * margins.size() + margins.at(x, y);
        basic[at] = static_cast<float>(clean_voxel(size, x, y, z));
        noisy[at] = basic[at] + noise(rng);
      }
  for (const auto& params : std::vector<PhaseParams>{{},
                                                     {.window = 7, .step = 2},
                                                     {.cube = 3, .window = 11, .step = 2},
                                                     {.cube = 3, .window = 3, .step = 3},
                                                     {.window = 7, .group = 8, .step = 1}})
    for (const bool wiener : {false, true}) {
      SCOPED_TRACE(::testing::Message() << params.cube << " " << params.step << " " << wiener);
      const auto alone = finished(false, params, wiener, noisy, basic, margins, size.slices);
      const auto tiled = finished(true, params, wiener, noisy, basic, margins, size.slices);
      double worst = 0, sum = 0;
      for (std::size_t i = 0; i < alone.size(); ++i) {
        const double d = std::abs(static_cast<double>(alone[i]) - static_cast<double>(tiled[i]));
        worst = std::max(worst, d), sum += d;
      }
      // Rounding may decide whether a coefficient at the threshold is kept.
      EXPECT_LT(worst, wiener ? 0.5 : 8);
      EXPECT_LT(sum / (size.width * size.height * size.slices), 0.08);
      EXPECT_GT(sum, 0);  // the two results come from different kernels
    }
}

class Bm4dCudaSession : public lull::test_support::GpuTest {};

TEST_F(Bm4dCudaSession, MatchesTheHostExceptForAFewGroups) {
  const Size size{40, 33, 24};
  const auto clean = clean_volume(size), noisy = noisy_volume(size, 20);
  for (const auto& change : std::vector<std::function<void(Params&)>>{
           [](Params&) {}, [](Params& p) { p.wiener.cube = p.wiener.step = 3, p.hard.group = 32; },
           [](Params& p) { p.phases = 1; }, [](Params& p) { p.second_search = true; },
           [](Params& p) {
             p.hard.window = p.wiener.window = 3, p.wiener.cube = p.wiener.step = 3;
           },
           [](Params& p) { p = make_params(Profile::fast, p.noise); },
           [](Params& p) { p = make_params(Profile::high, p.noise); },
           [](Params& p) { p.wiener.group = 32; },
           [](Params& p) { p.hard.window = 15, p.hard.step = 4, p.mu2_mean = 0; }}) {
    Params params = make_params(Profile::balanced, {20, 20, 20});
    change(params);
    const auto expected = denoise(params, noisy), result = denoise(params, noisy, gpu_backend);
    EXPECT_GT(psnr(expected, result), 42);
    EXPECT_NEAR(psnr(clean, expected), psnr(clean, result), 0.1);
    // The sums are integers, so the result is deterministic.
    const auto again = denoise(params, noisy, gpu_backend);
    for (std::size_t z = 0; z < noisy.size(); ++z) EXPECT_TRUE(same_samples(result[z], again[z]));
  }
}

// Every group has a weight of 1 here, and all cubes are equal.
TEST_F(Bm4dCudaSession, KeepsFlatVolumes) {
  for (const double value : {-100.0, 0.0, 128.0, 300.0}) {
    const auto flat = volume_of({64, 64, 40}, [&](int, int, int) { return value; });
    EXPECT_LT(
        max_difference(flat, denoise(make_params(Profile::high, {2, 2, 2}), flat, gpu_backend)),
        0.01);
  }
}

TEST_F(Bm4dCudaSession, AxesOfAnyLengthGiveEachVoxelAResult) {
  for (const Size& size :
       {Size{1, 1, 1}, Size{2, 3, 8}, Size{9, 8, 2}, Size{5, 5, 4}, Size{33, 4, 9}}) {
    const auto noisy = noisy_volume(size, 20);
    const auto expected = denoise(small_params(), noisy);
    EXPECT_LT(max_difference(expected, denoise(small_params(), noisy, gpu_backend)), 30);
  }
}

// There are more slices between the two wanted ends than a session keeps.
TEST_F(Bm4dCudaSession, WideGapInAMaskDoesNotChangeResult) {
  const Size size{24, 20, 260};
  const auto is_wanted = [](std::size_t z) { return z < 6 || z >= 250; };
  const auto clean = clean_volume(size);
  auto noisy = noisy_volume(size, 20);
  for (std::size_t z = 0; z < noisy.size(); ++z)
    noisy[z].mask = std::make_shared<SliceMask>(
        size.width, size.height, std::vector<bool>(size.width * size.height, is_wanted(z)), false);
  const auto wanted = [&](const std::vector<Frame>& slices) {
    std::vector<Frame> some;
    for (std::size_t z = 0; z < slices.size(); ++z)
      if (is_wanted(z)) some.push_back(slices[z]);
    return some;
  };
  const Params params = make_params(Profile::balanced, {20, 20, 20});
  const auto expected = wanted(denoise(params, noisy));
  const auto result = wanted(denoise(params, noisy, gpu_backend));
  EXPECT_GT(psnr(expected, result), 42);
  EXPECT_NEAR(psnr(wanted(clean), expected), psnr(wanted(clean), result), 0.1);
  const auto again = wanted(denoise(params, noisy, gpu_backend));
  for (std::size_t k = 0; k < result.size(); ++k)
    EXPECT_TRUE(same_samples(result[k], again[k])) << k;
}

TEST_F(Bm4dCudaSession, SharedVolumeMatchesSingleSession) {
  Params params = small_params();
  params.hard.window = params.wiener.window = 3;
  const auto noisy = noisy_volume({20, 17, 70}, 20);
  const auto whole = denoise(params, noisy, gpu_backend);
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (int i = 0; i < 2; ++i) sessions.push_back(open(params, noisy[0].format, gpu_backend));
  const auto shared =
      pipeline::shard_parts(std::move(sessions), {.margin = margin(params), .frames = 11});
  const auto results = run_clip(*shared, noisy);
  ASSERT_EQ(results.size(), whole.size());
  for (std::size_t z = 0; z < whole.size(); ++z)
    EXPECT_TRUE(same_samples(whole[z], results[z])) << z;
}

}  // namespace
}  // namespace lull::bm4d
