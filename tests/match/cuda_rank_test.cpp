// Groups ranked anew on the device against the definition in the same integers, to the last tie;
// and sessions without a second search against the reference.

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "match/cuda/kernels.h"
#include "match/group.h"
#include "support/device.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull {
namespace {

using namespace lull::testing;

constexpr int width = 83, height = 61, frames = 3;
constexpr int offsets[frames] = {0, -1, 1};

struct Guides {
  std::vector<std::uint8_t> samples[frames];
  int at(int frame, int x, int y) const { return samples[frame][y * width + x]; }
};

Guides make_guides(int levels) {
  std::mt19937 rng{20240607};
  Guides guides;
  for (auto& samples : guides.samples)
    for (int i = 0; i < width * height; ++i)
      samples.push_back(static_cast<std::uint8_t>(rng() % static_cast<unsigned>(levels)));
  return guides;
}

int frame_of(std::uint32_t member) {
  return static_cast<int>(std::find(offsets, offsets + frames, displacement_t(member)) - offsets);
}

/// kept_groups.h, member by member.
std::vector<std::uint32_t> ranked(const Guides& guides, int x, int y,
                                  const std::vector<std::uint32_t>& kept, const Motion* motion,
                                  const MatchParams& phase) {
  std::vector<std::pair<int, std::uint32_t>> near;
  for (std::size_t m = 1; m < kept.size(); ++m) {
    const int f = frame_of(kept[m]);
    const int dx = displacement_x(kept[m]), dy = displacement_y(kept[m]);
    int sum = 0;
    for (int v = 0; v < patch; ++v)
      for (int u = 0; u < patch; ++u) {
        const int d = guides.at(0, x + u, y + v) - guides.at(f, x + dx + u, y + dy + v);
        sum += d * d;
      }
    if (f != 0 && dx == motion[f].x && dy == motion[f].y)
      sum = std::max(0, sum - static_cast<int>(64 * phase.place_bonus));
    if (sum <= static_cast<int>(64 * phase.tau)) near.emplace_back(sum, kept[m]);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t count = 1;
  while (2 * count <= std::min<std::size_t>(near.size() + 1, phase.group)) count *= 2;
  std::vector<std::uint32_t> members{kept[0]};
  for (std::size_t m = 1; m < count; ++m) members.push_back(near[m - 1].second);
  return members;
}

/// Kept groups of all sizes, in any order, anywhere in the picture.
std::vector<std::uint32_t> any_group(int x, int y, int used_frames, const Motion* motion,
                                     std::mt19937& rng) {
  std::vector<std::uint32_t> members{pack_displacement(0, 0)};
  const std::size_t count = std::size_t{1} << rng() % 6;
  while (members.size() < count) {
    const int f = static_cast<int>(rng() % static_cast<unsigned>(used_frames));
    int dx = static_cast<int>(rng() % 25) - 12, dy = static_cast<int>(rng() % 25) - 12;
    if (f != 0 && rng() % 3 == 0) dx = motion[f].x, dy = motion[f].y;
    const bool inside =
        x + dx >= 0 && y + dy >= 0 && x + dx <= width - patch && y + dy <= height - patch;
    if (inside) members.push_back(pack_displacement(dx, dy, offsets[f]));
  }
  return members;
}

void expect_definition(int used_frames, int levels, const MatchParams& phase) {
  const Guides guides = make_guides(levels);
  const Margins margins(width, height, 39, patch);
  const ReferenceGrid grid(width, height, phase.step);
  const MotionGrid motion_grid{width, height, phase.step};
  const Motion motion[frames] = {{}, {2, -1}, {-3, 1}};  // of the whole frame
  const std::size_t cells = static_cast<std::size_t>(motion_cells(width)) * motion_cells(height);

  std::vector<cuda::DeviceBuffer<std::uint8_t>> device_samples;
  std::vector<cuda::DeviceBuffer<Motion>> device_motion;
  std::vector<SearchFrame> searched;
  for (int f = 0; f < used_frames; ++f) {
    std::vector<std::uint8_t> plane(margins.size(), 77);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        plane[margins.at(x, y)] = static_cast<std::uint8_t>(guides.at(f, x, y));
    device_samples.push_back(on_device(plane));
    device_motion.push_back(on_device(std::vector<Motion>(cells, motion[f])));
    searched.push_back(
        {offsets[f],
         {{device_samples.back().get(), nullptr}, f == 0 ? nullptr : device_motion.back().get()}});
  }

  // A batch that is not the whole picture, and not at its corner.
  const Batch batch{1, 2, (grid.count_x + 3) / 4 - 1, (grid.count_y + 3) / 4 - 2};
  const std::size_t references =
      static_cast<std::size_t>(batch.bricks_x) * batch.bricks_y * brick_references;
  std::mt19937 rng{7};
  std::vector<std::vector<std::uint32_t>> kept(references);
  std::vector<std::uint32_t> displacements(references * 32, 0xdeadbeef);
  std::vector<std::uint8_t> counts(references);
  const auto place = [&](std::size_t index) {
    const int brick = static_cast<int>(index / brick_references);
    const int r = static_cast<int>(index % brick_references);
    return std::pair{(batch.x0 + brick % batch.bricks_x) * brick_side + r % brick_side,
                     (batch.y0 + brick / batch.bricks_x) * brick_side + r / brick_side};
  };
  for (std::size_t k = 0; k < references; ++k) {
    const auto [i, j] = place(k);
    kept[k] = any_group(grid.x(i), grid.y(j), used_frames, motion, rng);
    std::copy(kept[k].begin(), kept[k].end(), displacements.begin() + 32 * static_cast<long>(k));
    while (std::size_t{1} << counts[k] < kept[k].size()) ++counts[k];
  }
  const auto device_kept = on_device(displacements);
  const auto device_kept_counts = on_device(counts);
  const int capacity = group_capacity(phase);
  const auto device_found = on_device(std::vector<std::uint32_t>(references * capacity, 0));
  const auto device_counts = on_device(std::vector<std::uint8_t>(references, 99));
  rank_anew(searched, margins, grid, motion_grid, batch, phase,
            {device_kept.get(), device_kept_counts.get(), 32},
            {device_found.get(), device_counts.get(), capacity}, nullptr);
  const auto found = on_host(device_found);
  const auto log2_counts = on_host(device_counts);
  for (std::size_t k = 0; k < references; ++k) {
    const auto [i, j] = place(k);
    if (i >= grid.count_x || j >= grid.count_y) continue;
    ASSERT_LE(log2_counts[k], 5);
    const auto* first = &found[k * capacity];
    const std::vector<std::uint32_t> group(first, first + (1 << log2_counts[k]));
    ASSERT_EQ(group, ranked(guides, grid.x(i), grid.y(j), kept[k], motion, phase))
        << "reference " << i << ", " << j << ", group " << phase.group << ", tau " << phase.tau;
  }
}

using CudaRank = GpuTest;

TEST_F(CudaRank, IsTheDefinition) {
  for (const int group : {1, 8, 16, 32})
    for (const float tau : {1e6f, 1000.0f, 900.0f})
      expect_definition(1, 75, {.group = group, .step = 3, .tau = tau});
  expect_definition(1, 2, {.group = 32, .step = 5, .tau = 0.5f});  // many ties
  expect_definition(1, 256, {.group = 16, .step = 6, .tau = 1e6f});
}

TEST_F(CudaRank, KnowsWhereMotionPredictsPatchesInOtherFrames) {
  for (const float bonus : {0.0f, 200.0f, 1e6f})
    expect_definition(frames, 75, {.group = 8, .step = 5, .tau = 2000, .place_bonus = bonus});
}

TEST_F(CudaRank, SessionsWithoutASecondSearchAgreeWithTheReference) {
  using bm3d::BackendKind;
  for (const int temporal : {0, 1})
    for (const Layout layout : {Layout::gray, Layout::yuv, Layout::rgb}) {
      const int shift = layout == Layout::yuv ? 1 : 0;
      const FrameFormat format{.width = 150,
                               .height = 90,
                               .layout = layout,
                               .chroma_shift_x = shift,
                               .chroma_shift_y = shift};
      std::vector<Frame> noisy, clean;
      for (int n = 0; n < 1 + 2 * temporal; ++n) {
        noisy.push_back(make_frame(format));
        clean.push_back(make_frame(format));
        for (int i = 0; i < format.planes(); ++i) {
          const Plane<float> plane =
              texture_picture(format.plane_width(i), format.plane_height(i), 0.05 * n + i);
          store_plane(plane.view(), clean.back(), i);
          store_plane(with_noise(plane.view(), 20, 10 * n + i + 1).view(), noisy.back(), i);
        }
      }
      bm3d::Params params = bm3d::make_params(bm3d::Profile::balanced, {20, 20, 20}, temporal);
      params.hard.window = params.wiener.window = 11;
      params.hard.temporal_window = params.wiener.temporal_window = 5;
      params.kept = 32;
      const auto run = [&](const bm3d::Params& p, const bm3d::Backend& backend) {
        return run_clip(*bm3d::open(p, format, backend), noisy);
      };
      const auto expected = run(params, {.kind = BackendKind::reference});
      const auto actual = run(params, {.kind = BackendKind::cuda});
      bm3d::Params in_batches = params;
      in_batches.batch = {64, 48};
      const auto again = run(in_batches, {.kind = BackendKind::cuda, .streams = 1});
      for (std::size_t n = 0; n < noisy.size(); ++n) {
        EXPECT_TRUE(same_samples(actual[n], again[n])) << n << ", R = " << temporal;
        for (int i = 0; i < format.planes(); ++i) {
          const auto quality = [&](const Frame& frame) {
            return psnr(plane_of(frame, i).view(), plane_of(clean[n], i).view());
          };
          EXPECT_NEAR(quality(actual[n]), quality(expected[n]), 0.15)
              << n << ", plane " << i << ", R = " << temporal;
        }
      }
    }
}

TEST_F(CudaRank, TheFourierTransformTakesKeptGroupsToo) {
  const FrameFormat format{.width = 150, .height = 90};
  Frame noisy = make_frame(format);
  store_plane(with_noise(texture_picture(150, 90).view(), 20, 1).view(), noisy, 0);
  bm3d::Params params = bm3d::make_params(bm3d::Profile::fast, {20, 20, 20});
  params.hard.transform = params.wiener.transform = bm3d::Transform::dft;
  params.kept = 32;
  const auto run = [&](bm3d::BackendKind kind) {
    return plane_of(run_clip(*bm3d::open(params, format, {.kind = kind}), {noisy}).at(0), 0);
  };
  const Plane<float> actual = run(bm3d::BackendKind::cuda);
  EXPECT_GT(psnr(actual.view(), run(bm3d::BackendKind::reference).view()), 40);
}

}  // namespace
}  // namespace lull
