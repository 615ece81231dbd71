// Checks that the index types of the kernels hold all addresses of a session, for sizes and GPUs
// that are not available here.

#include "bm3d/cuda/address_range.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bm3d/cuda/filter/filter_plan.h"
#include "bm3d/phase_plan.h"
#include "core/error.h"
#include "match/cuda/match_plan.h"
#include "match/group.h"
#include "support/gpus.h"

namespace lull::bm3d {
namespace {

using filter_detail::FilterPlan;
using filter_detail::FilterWork;
using test_support::known_gpus;

constexpr std::int64_t int_max = std::numeric_limits<std::int32_t>::max();
constexpr Profile all_profiles[] = {Profile::fast, Profile::balanced, Profile::high, Profile::best,
                                    Profile::paper};
constexpr std::pair<int, int> all_sizes[] = {
    {8, 8}, {1920, 1080}, {3840, 2160}, {7680, 4320}, {8192, 8192}, {16384, 8640}, {16384, 16384}};

std::vector<FrameFormat> layouts(int width, int height) {
  const FrameFormat yuv{.width = width, .height = height, .layout = Layout::yuv};
  FrameFormat yuv420 = yuv;
  yuv420.chroma_shift_x = yuv420.chroma_shift_y = 1;
  return {{.width = width, .height = height},
          yuv,
          yuv420,
          {.width = width, .height = height, .layout = Layout::rgb}};
}

/// Variants of a profile: with windows or clusters, and with each group transform.
std::vector<Params> variants(Profile profile, int temporal) {
  std::vector<Params> all;
  for (const bool clusters : {false, true})
    for (const auto across : {GroupTransform::haar, GroupTransform::wht}) {
      Params params = make_params(profile, {20, 20, 20}, temporal);
      for (PhaseParams* phase : {&params.hard, &params.wiener}) {
        phase->group_transform = across;
        if (clusters) phase->clusters = ClusterParams{};
      }
      search_where_needed(params);
      all.push_back(params);
    }
  return all;
}

std::string refusal(const Params& params, const FrameFormat& format) {
  try {
    require_addressable(params, format);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

/// The range of samples that the kernels of a session address.
struct AddressRange {
  std::int64_t plane = 0;     // number of samples of the largest plane, including padding
  std::int64_t distance = 0;  // maximum distance between equal positions in two frames, in samples
};

AddressRange address_range(const Params& params, const FrameFormat& format) {
  const auto plane = static_cast<std::int64_t>(plane_margins(params, format, 0).size());
  const int slots = params.temporal > 0 ? session_plan(params, format).slots() : 1;
  return {.plane = plane, .distance = plane * (slots - 1)};
}

/// Returns the plan of a phase's filter for groups that contain patches of the two most distant
/// frames.
FilterPlan plan_of_farthest(const Params& params, Phase phase, const FrameFormat& format,
                            const cuda::DeviceLimits& device) {
  const AddressRange range = address_range(params, format);
  const PhaseParams& p = phase == Phase::first ? params.hard : params.wiener;
  FilterWork work{.phase = phase,
                  .count_x = reference_count(format.width, p.step),
                  .count_y = reference_count(format.height, p.step),
                  .over_time = params.temporal > 0,
                  .wide_offsets = !fits_narrow_offsets(range.distance, range.plane)};
  for (int t = -params.temporal; t <= params.temporal; ++t) work.present[t + max_temporal] = true;
  return plan_filter(work, p, device);
}

/// Returns true if the index type of a filter kernel holds this offset in both directions.
bool holds(Staging staging, std::int64_t offset) {
  return staging == Staging::direct ? std::in_range<PatchOffset<Staging::direct>>(offset)
         : staging == Staging::sums ? std::in_range<PatchOffset<Staging::sums>>(offset)
                                    : std::in_range<PatchOffset<Staging::shared>>(offset);
}

TEST(AddressRange, FitsTheIndicesOfTheFilterKernels) {
  for (const auto& [width, height] : all_sizes)
    for (const FrameFormat& format : layouts(width, height))
      for (const Profile profile : all_profiles)
        for (int temporal = 0; temporal <= max_temporal; ++temporal)
          for (const Params& params : variants(profile, temporal)) {
            if (refusal(params, format) != "") continue;
            const AddressRange range = address_range(params, format);
            ASSERT_LE(range.plane, int_max);
            const std::int64_t farthest = range.distance + range.plane - 1;
            for (const Phase phase : {Phase::first, Phase::second})
              for (const auto& [capability, device] : known_gpus) {
                const FilterPlan plan = plan_of_farthest(params, phase, format, device);
                ASSERT_TRUE(holds(plan.staging, farthest) && holds(plan.staging, -farthest))
                    << width << "x" << height << ", R = " << temporal << ", profile "
                    << static_cast<int>(profile) << ", staging " << static_cast<int>(plan.staging)
                    << ", sm_" << capability;
                ASSERT_TRUE(plan.staging != Staging::shared || temporal == 0);
              }
          }
}

TEST(AddressRange, AcceptsEverySizeUpTo8K) {
  for (const auto& [width, height] : {std::pair{1920, 1080}, {3840, 2160}, {7680, 4320}})
    for (const FrameFormat& format : layouts(width, height))
      for (const Profile profile : all_profiles)
        for (int temporal = 0; temporal <= max_temporal; ++temporal)
          for (const Params& params : variants(profile, temporal))
            EXPECT_EQ(refusal(params, format), "") << "R = " << temporal;
}

// 16 planes of 8K span more than 2^31 bytes, but fewer samples, so sums stay in shared memory.
TEST(AddressRange, KeepsSumsInSharedMemoryAt8K) {
  const FrameFormat format{.width = 7680, .height = 4320};
  for (const int temporal : {1, 2, 4, 8}) {
    const Params params = make_params(Profile::balanced, {20, 20, 20}, temporal);
    for (const Phase phase : {Phase::first, Phase::second})
      EXPECT_EQ(plan_of_farthest(params, phase, format, test_support::gpu(90)).staging,
                Staging::sums)
          << temporal;
  }
  const AddressRange range = address_range(make_params(Profile::balanced, {20, 20, 20}, 4), format);
  EXPECT_GT(range.distance * static_cast<std::int64_t>(sizeof(float)), int_max);
  EXPECT_LT(range.distance + range.plane, int_max);
}

TEST(AddressRange, SumsInDeviceMemoryIf32BitsAreTooFew) {
  const FrameFormat format{.width = 16384, .height = 16384};
  for (const auto& [temporal, staging] :
       {std::pair{1, Staging::sums}, {2, Staging::direct}, {8, Staging::direct}}) {
    const Params params = make_params(Profile::balanced, {20, 20, 20}, temporal);
    EXPECT_EQ(refusal(params, format), "");
    for (const Phase phase : {Phase::first, Phase::second})
      EXPECT_EQ(plan_of_farthest(params, phase, format, test_support::gpu(90)).staging, staging)
          << temporal;
  }
}

TEST(AddressRange, RejectsSizesBeyondTheIndices) {
  const FrameFormat large{.width = 16384, .height = 16384};
  for (const Profile profile : all_profiles)
    for (const int temporal : {0, 3})
      EXPECT_EQ(refusal(make_params(profile, {20, 20, 20}, temporal), large), "");
  Params clusters = make_params(Profile::high, {20, 20, 20}, 0);
  clusters.hard.clusters = clusters.wiener.clusters = ClusterParams{};
  EXPECT_NE(refusal(clusters, large).find("the matcher cluster"), std::string::npos);
  const FrameFormat larger{.width = 50000, .height = 50000};
  for (const int temporal : {0, 1})
    EXPECT_NE(refusal(make_params(Profile::fast, {20, 20, 20}, temporal), larger)
                  .find("planes of 50000x50000 samples on a GPU"),
              std::string::npos);
}

TEST(AddressRange, RejectsRowsWithMoreGroupsThan32BitsCanCount) {
  const Params params = make_params(Profile::fast, {20, 20, 20}, 0);
  EXPECT_EQ(refusal(params, {.width = 8000000, .height = 16}), "");
  EXPECT_NE(refusal(params, {.width = 9000000, .height = 16})
                .find("planes of 9000000 samples in a row on a GPU"),
            std::string::npos);
  EXPECT_EQ(refusal(make_params(Profile::fast, {0, 0, 0}, 0), {.width = 9000000, .height = 16}), "")
      << "samples pass through";
}

TEST(BatchTiles, HaveTheWantedSize) {
  const ReferenceGrid grid(7680, 4320, 5);
  const BatchBricks part = batch_tiles({4096, 1088}, grid, false);
  EXPECT_EQ(std::pair(part.x, part.y), std::pair(204, 54));
  const BatchBricks rows = batch_tiles({4096, 1088}, grid, true);
  EXPECT_EQ(std::pair(rows.x, rows.y), std::pair(reference_tiles_of(grid.count_x), 54));
  const BatchBricks small = batch_tiles({16, 16}, grid, false);
  EXPECT_EQ(std::pair(small.x, small.y), std::pair(2, 2));
}

TEST(BatchTiles, FitIn32BitCountsOfMembersAndIntoAGrid) {
  constexpr int huge = std::numeric_limits<int>::max();
  for (const auto& [width, height] : all_sizes)
    for (const int step : {1, 2, 5, 8})
      for (const bool whole_rows : {false, true})
        for (const BatchSize& size : {BatchSize{}, {huge, huge}, {16, huge}, {huge, 16}}) {
          const ReferenceGrid grid(width, height, step);
          const BatchBricks bricks = batch_tiles(size, grid, whole_rows);
          EXPECT_LE(std::int64_t{bricks.x} * bricks.y * references_per_tile * max_group, int_max);
          EXPECT_EQ(bricks.y % 2, 0);
          EXPECT_GE(bricks.y, 2);
          EXPECT_LE(bricks.y, 65535) << "the limit of thread blocks along y";
          EXPECT_TRUE(whole_rows || (bricks.x % 2 == 0 && bricks.x >= 2));
        }
}

}  // namespace
}  // namespace lull::bm3d
