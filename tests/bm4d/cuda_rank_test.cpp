// Tests the groups that a GPU forms in the second phase without a search, compared with a ranking
// of the listed candidates.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <vector>

#include "bm4d/byte_volume.h"
#include "bm4d/cuda/kernels.h"
#include "bm4d/propagation.h"
#include "bm4d/volumes.h"
#include "cuda/shared_memory.h"
#include "support/device.h"
#include "support/gpu.h"

namespace lull::bm4d {
namespace {

using namespace test_support;
using lull::test_support::on_device;
using lull::test_support::on_host;

/// Lists of random displacements. Some displacements are equal.
class Bm4dCudaRank : public lull::test_support::GpuTest {
 protected:
  static void expect_groups(const Size& size, const PhaseParams& first, const PhaseParams& params,
                            const std::function<int(int, int, int)>& value) {
    ByteVolume volume(size, value);
    Params all = small_params();
    all.hard = first, all.wiener = params;
    const VolumePlan plan{all, size.width, size.height, 20};
    KeptGroups kept(plan);
    KeptLayers layers(all, 1);
    cuda::KeptLists lists{.params = first,
                          .columns = reference_count(size.width, first.step, first.cube),
                          .rows = reference_count(size.height, first.step, first.cube)};
    const std::size_t in_layer = static_cast<std::size_t>(lists.columns) * lists.rows * first.group;
    std::vector<std::uint32_t> members(layers.depth() * in_layer);
    std::mt19937 rng{11};
    const auto displacement = [&] {
      return static_cast<int>(rng() % first.window) - first.radius();
    };
    // The first and the last layers are missing.
    const int begin = ByteVolume::base + 1;
    for (int z = begin; z < begin + 3 * first.step; z += first.step) {
      std::uint32_t* to = members.data() + layers.add(z) * in_layer;
      for (KeptList& list : kept.add_layer(z)) {
        Group group{.count = std::min(first.group, rng() % 4 == 0 ? 8 : first.group)};
        for (int m = 1; m < group.count; ++m) {
          const int x = displacement(), y = rng() % 2 == 0 ? 1 : displacement();
          group.members[m] = pack_offset(x, y, rng() % 2 == 0 ? 0 : displacement());
        }
        list = kept_list(group);
        to[0] = static_cast<std::uint32_t>(group.count) << 24;
        std::copy_n(group.members.begin() + 1, group.count - 1, to + 1);
        to += first.group;
      }
    }
    const cuda::ReferenceCubes cubes{
        .params = params,
        .z = ByteVolume::base,
        .layers = (size.slices - params.cube) / params.step + 1,
        .available = {ByteVolume::base, volume.end()},
        .columns = reference_count(size.width, params.step, params.cube),
        .rows = reference_count(size.height, params.step, params.cube)};
    ASSERT_LE(cubes.layers, max_layers);
    for (int k = 0; k < cubes.layers; ++k) {
      const auto around = layers.around(cubes.z + k * params.step);
      std::ranges::copy(around, lists.around[k]);
    }
    const auto on_gpu = on_device(members);
    lists.groups = on_gpu.get();
    const auto groups = on_device(
        std::vector<std::uint32_t>(static_cast<std::size_t>(cubes.count()) * params.group));
    cuda::rank_groups(volume.guide(params.cube).samples, volume.margins(), cubes, lists,
                      groups.get(), nullptr);
    const std::vector<std::uint32_t> ranked = on_host(groups);
    // Thread blocks as on GPUs with less shared memory.
    for (const cuda::RankPlan& plan : {cuda::RankPlan{1, 4}, {1, 2}, {2, 1}}) {
      if (plan.bytes(params) > lull::cuda::device_limits().dynamic_limit()) continue;
      const auto again = on_device(std::vector<std::uint32_t>(groups.size()));
      cuda::detail::rank_groups(plan, volume.guide(params.cube).samples, volume.margins(), cubes,
                                lists, again.get(), nullptr);
      ASSERT_EQ(on_host(again), ranked) << plan.layers << " layers, " << plan.rows << " rows";
    }
    for (int k = 0; k < cubes.count(); ++k) {
      const int column = k % cubes.columns, row = k / cubes.columns % cubes.rows;
      const reference::Place at{reference_position(column, size.width, params.step, params.cube),
                                reference_position(row, size.height, params.step, params.cube),
                                cubes.z + k / (cubes.columns * cubes.rows) * params.step};
      std::array<std::uint32_t, max_listed> buffer;
      const auto listed_there = kept.candidates(at.x, at.y, at.z, cubes.available, buffer);
      const auto expected = expected_group(volume, at, params, listed_there);
      const auto from = ranked.begin() + static_cast<std::ptrdiff_t>(k) * params.group;
      ASSERT_EQ(std::vector<std::uint32_t>(from, from + params.group), expected)
          << at.x << " " << at.y << " " << at.z;
    }
  }
};

TEST_F(Bm4dCudaRank, FindsTheNearestListedCandidates) {
  struct Case {
    int first_window, first_step, window, step, cube, group;
  };
  for (const auto& [first_window, first_step, window, step, cube, group] :
       std::vector<Case>{{7, 4, 7, 3, 4, 16},  // as in the profiles
                         {11, 3, 9, 3, 4, 16},
                         {11, 2, 11, 2, 3, 16},
                         {5, 3, 5, 3, 4, 32},
                         {15, 4, 15, 4, 4, 16},
                         {3, 1, 15, 3, 3, 8},
                         {11, 3, 3, 2, 4, 16},
                         {11, 3, 11, 3, 4, 1}})
    for (const Size& size : {Size{37, 22, 19}, Size{9, 30, 12}, Size{5, 4, 16}}) {
      SCOPED_TRACE(::testing::Message() << first_window << " " << window << " " << step << " "
                                        << cube << " " << group << " " << size.width);
      std::mt19937 rng{7};
      const PhaseParams first{.window = first_window, .step = first_step};
      const PhaseParams params{.cube = cube, .window = window, .group = group, .step = step};
      expect_groups(size, first, params, [&](int x, int y, int z) {
        return static_cast<int>(rng() % 60) + 3 * x + 2 * y + z;
      });
      expect_groups(size, first, params, [](int, int, int) { return 9; });
      expect_groups(size, first, params, [](int x, int y, int z) { return (x / 3 + y + z) % 3; });
      expect_groups(size, first, params,
                    [](int x, int y, int z) { return (x * 7 + y * 3 + z) % 2 * 255; });
    }
}

}  // namespace
}  // namespace lull::bm4d
