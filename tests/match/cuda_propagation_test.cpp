// Compares propagated groups on the device with the definition in the same integers, including
// ties, and sessions that propagate with the reference backend.

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "match/cuda/kernels.h"
#include "match/group.h"
#include "match/kept_groups.h"
#include "support/device.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "support/sessions.h"
#include "support/textured_clip.h"

namespace lull {
namespace {

using namespace lull::test_support;

constexpr int width = 103, height = 81, frames = 3;
constexpr int offsets[frames] = {0, -1, 1};
constexpr Motion motion[frames] = {{}, {2, -1}, {-3, 1}};  // motion of the complete frame

struct Guides {
  std::vector<std::uint8_t> samples[frames];
  int at(int frame, int x, int y) const { return samples[frame][y * width + x]; }
  int product(int f, int x, int y, int g, int u, int v) const {
    int sum = 0;
    for (int j = 0; j < patch; ++j)
      for (int i = 0; i < patch; ++i) sum += at(f, x + i, y + j) * at(g, u + i, v + j);
    return sum;
  }
};

Guides make_guides(int levels) {
  std::mt19937 rng{20240607};
  Guides guides;
  for (auto& samples : guides.samples)
    for (int i = 0; i < width * height; ++i)
      samples.push_back(static_cast<std::uint8_t>(rng() % static_cast<unsigned>(levels)));
  return guides;
}

int frame_of(int dt) {
  return static_cast<int>(std::find(offsets, offsets + frames, dt) - offsets);
}

/// Returns the candidates in the order of propagation.h, without duplicates.
std::vector<std::uint32_t> candidates_of(int x, int y, int used_frames, const KeptGroups& kept,
                                         const MatchParams& phase) {
  std::vector<std::uint32_t> all;
  const auto add = [&](int dx, int dy, int dt) {
    const bool inside =
        x + dx >= 0 && y + dy >= 0 && x + dx <= width - patch && y + dy <= height - patch;
    const std::uint32_t displacement = pack_displacement(dx, dy, dt);
    if (inside && displacement != 0 && std::ranges::find(all, displacement) == all.end())
      all.push_back(displacement);
  };
  for (int f = 0; f < used_frames; ++f) {
    const int side = f == 0 ? phase.refine_window : phase.refine_temporal_window;
    for (int v = 0; v < side; ++v)
      for (int u = 0; u < side; ++u)
        add(motion[f].x + u - side / 2, motion[f].y + v - side / 2, offsets[f]);
  }
  std::array<std::uint32_t, max_propagated> members;
  const int count = kept.candidates_of(x, y, members);
  for (int m = 0; m < count; ++m) {
    const int dx = displacement_x(members[m]), dy = displacement_y(members[m]);
    const int f = frame_of(displacement_t(members[m]));
    const int radius = (f == 0 ? phase.window : phase.temporal_window) / 2;
    if (std::abs(dx - motion[f].x) <= radius && std::abs(dy - motion[f].y) <= radius)
      add(dx, dy, offsets[f]);
  }
  return all;
}

std::vector<std::uint32_t> defined(const Guides& guides, int x, int y, int used_frames,
                                   const KeptGroups& kept, const MatchParams& phase) {
  const auto half = [](double mean) { return static_cast<int>(0.5 * patch * patch * mean); };
  const int own_norm = guides.product(0, x, y, 0, x, y) / 2;
  std::vector<std::pair<int, std::uint32_t>> found;  // -score
  for (const std::uint32_t c : candidates_of(x, y, used_frames, kept, phase)) {
    const int f = frame_of(displacement_t(c));
    const int u = x + displacement_x(c), v = y + displacement_y(c);
    int score =
        65535 - own_norm - guides.product(f, u, v, f, u, v) / 2 + guides.product(0, x, y, f, u, v);
    score = std::clamp(score, 0, 65535);
    if (f != 0 && u - x == motion[f].x && v - y == motion[f].y && score != 0)
      score = std::min(65535, score + half(static_cast<double>(phase.motion_bias)));
    if (score >= 65535 - half(static_cast<double>(phase.tau))) found.emplace_back(-score, c);
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  std::size_t count = 1;
  while (2 * count <= std::min<std::size_t>(found.size() + 1, phase.group)) count *= 2;
  std::vector<std::uint32_t> members{0};
  for (std::size_t m = 1; m < count; ++m) members.push_back(found[m - 1].second);
  return members;
}

/// Kept groups of all sizes, in random order, within the windows, with many common members.
Group any_group(int x, int y, int used_frames, const MatchParams& phase, std::mt19937& rng) {
  Group group;
  group.members[0] = 0;
  const int count = 1 << rng() % 6;
  const auto within = [&](int side) { return static_cast<int>(rng() % side) - side / 2; };
  for (group.count = 1; group.count < count;) {
    const int f = static_cast<int>(rng() % static_cast<unsigned>(used_frames));
    const int side = f == 0 ? phase.window : phase.temporal_window;
    int dx = motion[f].x + within(side), dy = motion[f].y + within(side);
    if (rng() % 3 == 0) dx = motion[f].x + within(3), dy = motion[f].y;
    if (x + dx >= 0 && y + dy >= 0 && x + dx <= width - patch && y + dy <= height - patch)
      group.members[group.count++] = pack_displacement(dx, dy, offsets[f]);
  }
  return group;
}

/// Kept groups on the host, and one reference tile at a time on the device.
struct Kept {
  KeptGroups host;
  cuda::DeviceBuffer<std::uint32_t> displacements;
  cuda::DeviceBuffer<std::uint8_t> log2_counts;
  KeptGroupsView view;

  Kept(const ReferenceGrid& searched, int used_frames, const MatchParams& phase) {
    constexpr int capacity = 32;
    std::mt19937 rng{7};
    host.reserve(searched, capacity);
    view.searched = searched;
    const int tiles_y = (searched.count_y + reference_tile_side - 1) / reference_tile_side;
    const std::size_t places =
        static_cast<std::size_t>(view.tiles_x()) * tiles_y * references_per_tile;
    std::vector<std::uint32_t> members(places * capacity, 0xdeadbeef);
    std::vector<std::uint8_t> counts(places, 99);
    for (int j = 0; j < searched.count_y; ++j)
      for (int i = 0; i < searched.count_x; ++i) {
        const Group group = any_group(searched.x(i), searched.y(j), used_frames, phase, rng);
        host.keep(i, j, group);
        const int place = (j / reference_tile_side * view.tiles_x() + i / reference_tile_side) *
                              references_per_tile +
                          j % reference_tile_side * reference_tile_side + i % reference_tile_side;
        std::copy_n(group.members.begin(), group.count, members.begin() + place * capacity);
        counts[place] = 0;
        while (1 << counts[place] < group.count) ++counts[place];
      }
    displacements = on_device(members);
    log2_counts = on_device(counts);
    view.groups = {displacements.get(), log2_counts.get(), capacity};
  }
};

void expect_definition(int used_frames, int levels, int search_step, const MatchParams& phase) {
  const Guides guides = make_guides(levels);
  const Margins margins(width, height, 39, patch);
  const ReferenceGrid grid(width, height, phase.step);
  const MotionGrid motion_grid{width, height, phase.step};
  const std::size_t cells = static_cast<std::size_t>(motion_cells(width)) * motion_cells(height);

  std::vector<cuda::DeviceBuffer<std::uint8_t>> samples;
  std::vector<cuda::DeviceBuffer<std::int32_t>> norms;
  std::vector<cuda::DeviceBuffer<Motion>> device_motion;
  std::vector<SearchFrame> searched;
  for (int f = 0; f < used_frames; ++f) {
    std::vector<float> plane(margins.size(), 77);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        plane[margins.at(x, y)] = static_cast<float>(guides.at(f, x, y));
    const auto device_plane = on_device(plane);
    samples.push_back(on_device(std::vector<std::uint8_t>(margins.size(), 0)));
    norms.emplace_back(margins.size());
    make_guide_and_clear_sums(MixedPlane{device_plane.get()}, margins, 1, 0, samples.back().get(),
                              norms.back().get(), {}, nullptr);
    device_motion.push_back(on_device(std::vector<Motion>(cells, motion[f])));
    searched.push_back({offsets[f],
                        {{samples.back().get(), norms.back().get()},
                         f == 0 ? nullptr : device_motion.back().get()}});
    (void)on_host(norms.back());  // the plane must exist until this synchronisation
  }
  const Kept kept(ReferenceGrid(width, height, search_step), used_frames, phase);

  // A batch that is smaller than the picture and does not begin at its corner.
  const Batch batch{1, 2, (grid.count_x + 3) / 4 - 1, (grid.count_y + 3) / 4 - 2};
  const std::size_t references =
      static_cast<std::size_t>(batch.tiles_x) * batch.tiles_y * references_per_tile;
  const int capacity = group_capacity(phase);
  const auto device_found = on_device(std::vector<std::uint32_t>(references * capacity, 0));
  const auto device_counts = on_device(std::vector<std::uint8_t>(references, 99));
  propagate(searched, margins, grid, motion_grid, batch, phase, kept.view,
            {device_found.get(), device_counts.get(), capacity}, nullptr);
  const auto found = on_host(device_found);
  const auto log2_counts = on_host(device_counts);
  for (std::size_t k = 0; k < references; ++k) {
    const int reference_tile = static_cast<int>(k / references_per_tile);
    const int r = static_cast<int>(k % references_per_tile);
    const int i =
        (batch.x0 + reference_tile % batch.tiles_x) * reference_tile_side + r % reference_tile_side;
    const int j =
        (batch.y0 + reference_tile / batch.tiles_x) * reference_tile_side + r / reference_tile_side;
    if (i >= grid.count_x || j >= grid.count_y) continue;
    ASSERT_LE(log2_counts[k], 5);
    const auto* first = &found[k * capacity];
    const std::vector<std::uint32_t> group(first, first + (1 << log2_counts[k]));
    ASSERT_EQ(group, defined(guides, grid.x(i), grid.y(j), used_frames, kept.host, phase))
        << "reference " << i << ", " << j << ", group " << phase.group << ", tau " << phase.tau
        << ", near windows " << phase.refine_window << ", " << phase.refine_temporal_window;
  }
}

using CudaPropagation = GpuTest;

TEST_F(CudaPropagation, EqualsTheDefinition) {
  for (const int group : {1, 8, 16, 32})
    for (const int search_step : {3, 5, 6})
      for (const float tau : {1e3f, 900.0f})
        expect_definition(1, 75, search_step,
                          {.window = 25, .group = group, .step = 3, .tau = tau});
  expect_definition(1, 2, 5, {.window = 25, .group = 32, .step = 5, .tau = 0.5f});  // many ties
  expect_definition(1, 2, 4, {.window = 11, .group = 16, .step = 2, .tau = 1e3f});
}

TEST_F(CudaPropagation, SearchesTheRefinementWindow) {
  for (const int near : {3, 9, 13, 17, 31})
    for (const int step : {2, 5, 8})
      expect_definition(
          1, 60, 2 * step,
          {.window = 33, .group = 16, .step = step, .tau = 700, .refine_window = near});
  expect_definition(1, 2, 4, {.window = 39, .group = 32, .step = 2, .tau = 1, .refine_window = 13});
}

TEST_F(CudaPropagation, UsesPredictedPositionsInOtherFrames) {
  for (const int near : {0, 1, 3, 5})
    for (const float motion_bias : {0.0f, 200.0f, 900.0f})
      for (const int step : {2, 5})
        expect_definition(frames, 70, 5,
                          {.window = 15,
                           .group = 8,
                           .step = step,
                           .tau = 1000,
                           .temporal_window = 9,
                           .motion_bias = motion_bias,
                           .refine_window = near == 0 ? 1 : 7,
                           .refine_temporal_window = near});
  expect_definition(1, 70, 5,
                    {.window = 15,
                     .step = 3,
                     .tau = 900,
                     .refine_window = 7,
                     .refine_temporal_window = 3});  // no other frames
}

TEST_F(CudaPropagation, SessionsAgreeWithTheReference) {
  using bm3d::BackendKind;
  for (const int temporal : {0, 1})
    for (const Layout layout : {Layout::gray, Layout::yuv, Layout::rgb}) {
      const int shift = layout == Layout::yuv ? 1 : 0;
      const FrameFormat format{.width = 150,
                               .height = 90,
                               .layout = layout,
                               .chroma_shift_x = shift,
                               .chroma_shift_y = shift};
      const TexturedClip clip(format, 1 + 2 * temporal);
      bm3d::Params params = bm3d::make_params(bm3d::Profile::balanced, {20, 20, 20}, temporal);
      params.hard.window = params.wiener.window = 11;
      params.hard.temporal_window = params.wiener.temporal_window = 5;
      params.hard.step = 2, params.wiener.step = 3;
      params.search_step = 5;
      params.kept = 16;
      params.hard.refine_window = params.wiener.refine_window = 7;
      params.hard.refine_temporal_window = temporal == 0 ? 0 : 3;
      const auto run = [&](const bm3d::Params& p, const bm3d::Backend& backend) {
        return run_clip(*bm3d::open(p, format, backend), clip.noisy);
      };
      const auto expected = run(params, {.kind = BackendKind::reference});
      const auto actual = run(params, {.kind = BackendKind::cuda});
      bm3d::Params in_batches = params;
      in_batches.batch = {64, 48};
      const auto again = run(in_batches, {.kind = BackendKind::cuda, .streams = 1});
      for (std::size_t n = 0; n < clip.noisy.size(); ++n) {
        EXPECT_TRUE(same_samples(actual[n], again[n])) << n << ", R = " << temporal;
        for (int i = 0; i < format.planes(); ++i) {
          EXPECT_NEAR(clip.quality(actual[n], n, i), clip.quality(expected[n], n, i), 0.15)
              << n << ", plane " << i << ", R = " << temporal;
        }
      }
    }
}

TEST_F(CudaPropagation, SupportsTheFourierTransform) {
  const FrameFormat format{.width = 150, .height = 90};
  Frame noisy = make_frame(format);
  store_plane(with_noise(texture_picture(150, 90).view(), 20, 1).view(), noisy, 0);
  bm3d::Params params = bm3d::make_params(bm3d::Profile::fast, {20, 20, 20});
  params.hard.transform = params.wiener.transform = bm3d::Transform::dft;
  params.search_step = 12;
  const auto run = [&](bm3d::BackendKind kind) {
    return plane_of(run_clip(*bm3d::open(params, format, {.kind = kind}), {noisy}).at(0), 0);
  };
  const Plane<float> actual = run(bm3d::BackendKind::cuda);
  EXPECT_GT(psnr(actual.view(), run(bm3d::BackendKind::reference).view()), 40);
}

}  // namespace
}  // namespace lull
