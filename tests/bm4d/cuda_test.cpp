// The kernels of BM4D against the reference, and sessions on a GPU against those on the CPU.

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "bm4d/cuda/kernels.h"
#include "bm4d/reference/stages.h"
#include "bm4d/volumes.h"
#include "pipeline/part_dealer.h"
#include "support/device.h"
#include "support/gpu.h"

namespace lull::bm4d {
namespace {

using namespace testing;
using lull::testing::on_device;
using lull::testing::on_host;

constexpr Backend gpu_backend{.kind = BackendKind::cuda};

class Bm4dCudaMatch : public lull::testing::GpuTest {
 protected:
  /// The groups of all layers, with slices from a place of the ring on that is not its first.
  static void expect_equal_groups(const Size& size, const PhaseParams& params,
                                  const std::function<int(int, int, int)>& value) {
    const int base = 5;  // where the volume begins
    cuda::Space space{size.width, size.height, (size.width + 31) / 32 * 32};
    const int depth = size.slices + 1;
    std::vector<std::uint8_t> bytes(depth * space.slice());
    reference::Slices guide(size.width, size.height);
    for (int z = 0; z < size.slices; ++z)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const int v = value(x, y, z);
          guide.at(x, y, base + z) = v;
          bytes[(base + z) % depth * space.slice() + y * space.pitch + x] =
              static_cast<std::uint8_t>(v);
        }
    const auto device = on_device(bytes);
    const cuda::ReferenceCubes cubes{
        .params = params,
        .z = base + params.step,
        .layers = 2,
        .there = {base, base + size.slices},
        .columns = reference_count(size.width, params.step, params.cube),
        .rows = reference_count(size.height, params.step, params.cube)};
    const auto groups = on_device(
        std::vector<std::uint32_t>(static_cast<std::size_t>(cubes.count()) * params.group));
    cuda::find_groups({device.get(), space.slice(), depth}, space, cubes, groups.get(), nullptr);
    const std::vector<std::uint32_t> found = on_host(groups);
    for (int k = 0; k < cubes.count(); ++k) {
      const int column = k % cubes.columns, row = k / cubes.columns % cubes.rows;
      const reference::Place at{reference_position(column, size.width, params.step, params.cube),
                                reference_position(row, size.height, params.step, params.cube),
                                cubes.z + k / (cubes.columns * cubes.rows) * params.step};
      const Group expected = reference::find_group(guide, cubes.there, at, params);
      const std::uint32_t* group = found.data() + static_cast<std::size_t>(k) * params.group;
      ASSERT_EQ(group[0], static_cast<std::uint32_t>(expected.count) << 24) << k;
      for (int m = 1; m < expected.count; ++m)
        ASSERT_EQ(group[m], expected.members[m]) << "cube " << k << ", member " << m;
    }
  }
};

TEST_F(Bm4dCudaMatch, FindsTheGroupsOfTheReference) {
  for (const int window : {3, 7, 9, 11, 15})
    for (const int cube : {3, 4}) {
      SCOPED_TRACE(::testing::Message() << window << " " << cube);
      std::mt19937 rng{7};
      expect_equal_groups(
          {23, 18, 12}, {.cube = cube, .window = window, .group = 32, .step = 3},
          [&](int x, int y, int z) { return static_cast<int>(rng() % 60) + 3 * x + 2 * y + z; });
    }
}

TEST_F(Bm4dCudaMatch, TiesGoByPlaceAndExtremesDoNotOverflow) {
  const PhaseParams params{.window = 11, .group = 16, .step = 4};
  expect_equal_groups({15, 14, 12}, params, [](int, int, int) { return 9; });
  expect_equal_groups({15, 14, 12}, params,
                      [](int x, int y, int z) { return (x / 3 + y + z) % 3; });
  expect_equal_groups({15, 14, 12}, params,
                      [](int x, int y, int z) { return (x * 7 + y * 3 + z) % 2 * 255; });
  expect_equal_groups({4, 5, 12}, params, [](int x, int, int z) { return x + z; });
}

class Bm4dCudaSession : public lull::testing::GpuTest {};

TEST_F(Bm4dCudaSession, ResultsAreThoseOfTheCpuButForAFewGroups) {
  const Size size{40, 33, 24};
  const auto clean = clean_volume(size), noisy = noisy_volume(size, 20);
  for (const auto& change : std::vector<std::function<void(Params&)>>{
           [](Params&) {}, [](Params& p) { p.wiener.cube = p.wiener.step = 3, p.hard.group = 32; },
           [](Params& p) { p.phases = 1; }, [](Params& p) { p.wiener.group = 32; },
           [](Params& p) { p.hard.window = 15, p.hard.step = 4, p.mu2_mean = 0; }}) {
    Params params = make_params(Profile::balanced, {20, 20, 20});
    change(params);
    const auto expected = denoise(params, noisy), result = denoise(params, noisy, gpu_backend);
    EXPECT_GT(psnr(expected, result), 42);
    EXPECT_NEAR(psnr(clean, expected), psnr(clean, result), 0.1);
    // Sums are made in integers.
    const auto again = denoise(params, noisy, gpu_backend);
    for (std::size_t z = 0; z < noisy.size(); ++z) EXPECT_TRUE(same_samples(result[z], again[z]));
  }
}

// Every group has a weight of 1 here and every cube is like all others.
TEST_F(Bm4dCudaSession, FlatVolumesStayAsTheyAre) {
  for (const double value : {-100.0, 0.0, 128.0, 300.0}) {
    const auto flat = volume_of({64, 64, 40}, [&](int, int, int) { return value; });
    EXPECT_LT(farthest(flat, denoise(make_params(Profile::high, {2, 2, 2}), flat, gpu_backend)),
              0.01);
  }
}

TEST_F(Bm4dCudaSession, AxesOfAnyLengthGiveEachVoxelAResult) {
  for (const Size& size :
       {Size{1, 1, 1}, Size{2, 3, 8}, Size{9, 8, 2}, Size{5, 5, 4}, Size{33, 4, 9}}) {
    const auto noisy = noisy_volume(size, 20);
    const auto expected = denoise(small_params(), noisy);
    EXPECT_LT(farthest(expected, denoise(small_params(), noisy, gpu_backend)), 30);
  }
}

TEST_F(Bm4dCudaSession, SessionsThatShareAVolumeGiveTheBytesOfOne) {
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
