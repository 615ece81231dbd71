// Compares matching on the device with brute force in the same integers: the groups must be equal,
// including ties.

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "match/cuda/kernels.h"
#include "match/group.h"
#include "noise/holes.h"
#include "support/device.h"
#include "support/gpu.h"
#include "support/gpus.h"

namespace lull {
namespace {

using test_support::on_device;
using test_support::on_host;

struct Picture {
  int width, height;
  std::vector<std::uint8_t> samples;
  int at(int x, int y) const { return samples[y * width + x]; }
};

enum class Content { noise, smooth, constant, stripes };

Picture make_picture(int width, int height, Content content) {
  std::mt19937 rng{20240607};
  Picture picture{width, height, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int v = 200;
      if (content == Content::noise) v = static_cast<int>(rng() % 80);
      if (content == Content::smooth) v = (x * 3 + y * 2 + static_cast<int>(rng() % 9)) % 256;
      if (content == Content::stripes) v = x / 2 % 2 == 0 ? 255 : 0;
      picture.samples.push_back(static_cast<std::uint8_t>(v));
    }
  return picture;
}

int half_norm(const Picture& p, int x, int y) {
  int sum = 0;
  for (int j = 0; j < patch; ++j)
    for (int i = 0; i < patch; ++i) sum += p.at(x + i, y + j) * p.at(x + i, y + j);
  return sum / 2;
}

/// Returns the group by the definition of the score (match.cu), candidate by candidate.
std::vector<std::uint32_t> brute_force(const Picture& p, int x, int y, const MatchParams& phase,
                                       const Holes* holes) {
  const int min_score = 65535 - static_cast<int>(0.5 * patch * patch * phase.tau);
  const int radius = phase.window / 2;
  std::vector<std::tuple<int, int, std::uint32_t>> found;  // -score, position, displacement
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const int cx = x + dx, cy = y + dy;
      if (cx < 0 || cy < 0 || cx > p.width - patch || cy > p.height - patch) continue;
      int product = 0;
      for (int j = 0; j < patch; ++j)
        for (int i = 0; i < patch; ++i) product += p.at(x + i, y + j) * p.at(cx + i, cy + j);
      int score = std::clamp(65535 - half_norm(p, x, y) - half_norm(p, cx, cy) + product, 0, 65535);
      const bool self = dx == 0 && dy == 0;
      if (!self && holes != nullptr && holes->any_in(cx, cy, patch)) continue;
      if (phase.bias != nullptr && within_lags(dx, dy) && score != 0)
        score = std::clamp(score - static_cast<int>(std::lrint(
                                       32 * static_cast<double>((*phase.bias)[lag_index(dx, dy)]))),
                           0, 65535);
      if (!self && (score < min_score || score == 0)) continue;
      const int place = self ? -1 : (dy + radius) * phase.window + dx + radius;
      found.emplace_back(self ? -70000 : -score, place, pack_displacement(dx, dy));
    }
  std::sort(found.begin(), found.end());
  std::size_t count = 1;
  while (2 * count <= std::min<std::size_t>(found.size(), phase.group)) count *= 2;
  std::vector<std::uint32_t> members;
  for (std::size_t k = 0; k < count; ++k) members.push_back(std::get<2>(found[k]));
  return members;
}

/// Compares the groups that a plan for the limits of `gpu` finds with those of brute force.
void expect_brute_force(const Picture& p, const MatchParams& phase, const cuda::DeviceLimits& gpu,
                        const Holes* holes = nullptr) {
  const Margins margins(p.width, p.height, phase.window, patch);
  std::vector<float> plane(margins.size(), 0);
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) plane[margins.at(x, y)] = static_cast<float>(p.at(x, y));
  const auto device_plane = on_device(plane);
  const auto samples = on_device(std::vector<std::uint8_t>(margins.size(), 0));
  const cuda::DeviceBuffer<std::int32_t> norms(margins.size());
  make_guide_and_clear_sums(MixedPlane{device_plane.get()}, margins, 1, 0, samples.get(),
                            norms.get(), {}, nullptr);

  Guide guide{samples.get(), norms.get()};
  const auto invalid =
      on_device(holes != nullptr ? holes->reached(patch) : std::vector<std::uint8_t>(1, 0));
  const cuda::DeviceBuffer<std::int32_t> candidate_norms(margins.size());
  if (holes != nullptr) {
    invalidate_candidates(norms.get(), invalid.get(), margins, candidate_norms.get(), nullptr);
    guide.candidate_norms = candidate_norms.get();
  }

  const ReferenceGrid grid(p.width, p.height, phase.step);
  const Batch batch{0, 0, (grid.count_x + 3) / 4, (grid.count_y + 3) / 4};
  const std::size_t references =
      static_cast<std::size_t>(batch.tiles_x) * batch.tiles_y * references_per_tile;
  const auto displacements =
      on_device(std::vector<std::uint32_t>(references * group_capacity(phase), 0));
  const auto counts = on_device(std::vector<std::uint8_t>(references, 0));
  match(guide, margins, grid, batch, phase, plan_match(phase, gpu),
        {displacements.get(), counts.get(), group_capacity(phase)}, nullptr);
  const auto found = on_host(displacements);
  const auto log2_counts = on_host(counts);

  for (int j = 0; j < grid.count_y; ++j)
    for (int i = 0; i < grid.count_x; ++i) {
      const int index = (j / 4 * batch.tiles_x + i / 4) * references_per_tile + j % 4 * 4 + i % 4;
      const auto* first = &found[static_cast<std::size_t>(index) * group_capacity(phase)];
      const std::vector<std::uint32_t> group(first, first + (1 << log2_counts[index]));
      ASSERT_EQ(group, brute_force(p, grid.x(i), grid.y(j), phase, holes))
          << "reference (" << grid.x(i) << ", " << grid.y(j) << "), window " << phase.window
          << ", group " << phase.group << ", step " << phase.step << ", shared memory "
          << gpu.shared_memory;
    }
}

using CudaMatch = test_support::GpuTest;
// GPUs with little shared memory need several bands and special kernels.
constexpr cuda::DeviceLimits ample = test_support::gpu(80), scarce = test_support::gpu(86),
                             scarcest = test_support::gpu(75);

TEST_F(CudaMatch, MatchesBruteForceInNoise) {
  for (const int group : {1, 2, 8, 16, 32})
    expect_brute_force(make_picture(61, 43, Content::noise),
                       {.window = 39, .group = group, .step = 3, .tau = 2000}, ample);
}

TEST_F(CudaMatch, ExcludesPatchesWithHoles) {
  std::vector<bool> hole(61 * 43);
  for (int y = 0; y < 43; ++y)
    for (int x = 0; x < 61; ++x)
      hole[static_cast<std::size_t>(y) * 61 + x] =
          (x - 30) * (x - 30) + (y - 20) * (y - 20) < 40 || x == 60;
  const Holes holes(61, 43, hole);
  for (const cuda::DeviceLimits& gpu : {ample, scarce, scarcest})
    for (const Content content : {Content::noise, Content::constant})
      expect_brute_force(make_picture(61, 43, content),
                         {.window = 39, .group = 16, .step = 3, .tau = 2000}, gpu, &holes);
}

TEST_F(CudaMatch, RespectsTheThreshold) {
  expect_brute_force(make_picture(61, 43, Content::smooth),
                     {.window = 39, .group = 32, .step = 3, .tau = 300}, ample);
  expect_brute_force(make_picture(61, 43, Content::smooth),
                     {.window = 39, .group = 16, .step = 3, .tau = 1500}, ample);
}

TEST_F(CudaMatch, OrdersTiesByPosition) {
  for (const int group : {16, 32}) {
    expect_brute_force(make_picture(50, 50, Content::constant),
                       {.window = 39, .group = group, .step = 3, .tau = 400}, ample);
    expect_brute_force(make_picture(50, 50, Content::stripes),
                       {.window = 39, .group = group, .step = 3, .tau = 400}, ample);
  }
}

TEST_F(CudaMatch, MatchesBruteForceForAnyWindowStepAndBand) {
  const Picture picture = make_picture(57, 41, Content::smooth);
  for (const int window : {1, 3, 7, 19, 25, 39, 65, 127})
    for (const int step : {1, 4, 8})
      for (const cuda::DeviceLimits& gpu : {ample, scarce, scarcest})
        expect_brute_force(picture, {.window = window, .group = 16, .step = step, .tau = 900}, gpu);
}

/// The bias is above tau in the centre and below zero elsewhere, and differs at each displacement.
DistanceBias varying_bias() {
  DistanceBias bias;
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
      bias[lag_index(dx, dy)] =
          static_cast<float>(900.0 / (1 + dx * dx + 2 * dy * dy) + 0.3 * dx * dy - 9.7);
  return bias;
}

TEST_F(CudaMatch, AddsTheBiasOfColouredNoise) {
  const DistanceBias bias = varying_bias();
  for (const Content content : {Content::smooth, Content::noise, Content::constant})
    for (const int window : {1, 7, 25, 39})
      for (const int step : {1, 4})
        for (const int group : {16, 32})
          for (const cuda::DeviceLimits& gpu : {ample, scarce, scarcest}) {
            MatchParams params{.window = window, .group = group, .step = step, .tau = 700};
            params.bias = &bias;
            expect_brute_force(make_picture(45, 41, content), params, gpu);
          }
}

TEST_F(CudaMatch, MatchesBruteForceOnTheSmallestPictures) {
  for (const auto& [width, height] :
       {std::pair(8, 8), std::pair(9, 8), std::pair(8, 31), std::pair(40, 9), std::pair(12, 12)})
    expect_brute_force(make_picture(width, height, Content::noise),
                       {.window = 39, .group = 16, .step = 3, .tau = 2000}, ample);
}

}  // namespace
}  // namespace lull
