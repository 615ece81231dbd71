// Cluster matching on a GPU must give the groups of the reference backend, including ties.

#include <random>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "match/cuda/matcher.h"
#include "support/cluster_clips.h"
#include "support/device.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull {
namespace {

using namespace test_support;

/// One frame of a clip in device memory.
struct DeviceGuide {
  cuda::DeviceBuffer<float> plane;
  cuda::DeviceBuffer<std::uint8_t> samples;
  cuda::DeviceBuffer<std::int32_t> norms;
  cuda::DeviceBuffer<Motion> motion;

  DeviceGuide(PlaneView<const float> picture, const Margins& margins)
      : samples(margins.size()), norms(margins.size()) {
    std::vector<float> values(margins.size(), 0);
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) values[margins.at(x, y)] = picture(x, y);
    plane = on_device(values);
    make_guide_and_clear_sums(MixedPlane{plane.get()}, margins, 1, 0, samples.get(), norms.get(),
                              {}, nullptr);
  }
};

/// Returns the groups that a GPU finds. `cells` is the motion of the main plane's cells for each
/// frame and may be empty. `batch_tiles` is the number of reference tiles of a batch in each
/// direction. Memory is planned for a plane that is larger by `greatest` samples.
test_support::GroupLists by_gpu(const Clip& clip, const MatchParams& params,
                                const std::vector<std::vector<Motion>>& cells = {},
                                int batch_tiles = 1000, int greatest = 0) {
  const auto own = clip.planes[0].view();
  const Margins margins(own.width, own.height, params.window, patch);
  const Margins planned(own.width + greatest, own.height + greatest, params.window, patch);
  std::vector<DeviceGuide> guides;
  std::vector<SearchFrame> frames;
  guides.reserve(clip.planes.size());
  for (std::size_t f = 0; f < clip.planes.size(); ++f) {
    DeviceGuide& guide = guides.emplace_back(clip.planes[f].view(), margins);
    if (!cells.empty()) guide.motion = on_device(cells[f]);
    frames.push_back({clip.offset(f),
                      {{guide.samples.get(), guide.norms.get()},
                       cells.empty() || f == 0 ? nullptr : guide.motion.get()}});
  }
  const auto matcher = cuda::make_matcher(params, static_cast<int>(frames.size()) - 1, planned);
  const ReferenceGrid grid(own.width, own.height, params.step);
  const MotionGrid bundles{own.width, own.height, params.step};
  const int tiles_x = (grid.count_x + 3) / 4, tiles_y = (grid.count_y + 3) / 4;
  const int capacity = group_capacity(params);
  test_support::GroupLists groups;
  Batch batch;
  for (batch.y0 = 0; batch.y0 < tiles_y; batch.y0 += batch_tiles)
    for (batch.x0 = 0; batch.x0 < tiles_x; batch.x0 += batch_tiles) {
      batch.tiles_x = std::min(batch_tiles, tiles_x - batch.x0);
      batch.tiles_y = std::min(batch_tiles, tiles_y - batch.y0);
      const std::size_t references =
          static_cast<std::size_t>(batch.tiles_x) * batch.tiles_y * references_per_tile;
      const auto members = on_device(std::vector<std::uint32_t>(references * capacity, ~0u));
      const auto counts = on_device(std::vector<std::uint8_t>(references, 99));
      matcher->find({params, frames, margins, grid, bundles, batch},
                    {members.get(), counts.get(), capacity}, nullptr);
      const auto found = on_host(members);
      const auto log2_counts = on_host(counts);
      for (std::size_t r = 0; r < references; ++r) {
        const int reference_tile = static_cast<int>(r) / references_per_tile,
                  place = static_cast<int>(r) % references_per_tile;
        const int i = (batch.x0 + reference_tile % batch.tiles_x) * 4 + place % 4;
        const int j = (batch.y0 + reference_tile / batch.tiles_x) * 4 + place / 4;
        if (i >= grid.count_x || j >= grid.count_y) continue;
        groups[{grid.x(i), grid.y(j)}].assign(&found[r * capacity],
                                              &found[r * capacity] + (1 << log2_counts[r]));
      }
    }
  return groups;
}

void expect_equal(const test_support::GroupLists& expected, const test_support::GroupLists& actual,
                  const char* what) {
  ASSERT_EQ(expected.size(), actual.size());
  for (const auto& [place, members] : expected)
    ASSERT_EQ(members, actual.at(place))
        << what << ", reference at " << place.first << ", " << place.second;
}

using CudaClusters = test_support::GpuTest;

TEST_F(CudaClusters, MatchTheReference) {
  const Clip clip(97, 70, 1, 60);
  for (const ClusterParams& clusters : all_kinds)
    for (const int step : {1, 3, 8}) {
      const MatchParams params = cluster_params(clusters, step);
      expect_equal(by_reference(clip, params), by_gpu(clip, params), text_of(clusters).c_str());
    }
  for (const int group : {1, 2, 32}) {
    const MatchParams params = cluster_params({}, 3, group);
    expect_equal(by_reference(clip, params), by_gpu(clip, params), "group");
  }
}

TEST_F(CudaClusters, OrderTiesByPosition) {
  for (const int levels : {1, 2}) {
    const Clip clip(70, 66, 1, levels);
    for (const ClusterParams& clusters : all_kinds) {
      const MatchParams params = cluster_params(clusters);
      expect_equal(by_reference(clip, params), by_gpu(clip, params), text_of(clusters).c_str());
    }
  }
}

TEST_F(CudaClusters, MatchTheReferenceOnFlatAndTinyPictures) {
  for (const auto& [width, height] :
       {std::pair{72, 60}, {8, 8}, {9, 8}, {8, 30}, {15, 11}, {200, 150}}) {
    Clip flat(width, height, 1, 1);
    for (int y = 0; y < height; ++y) std::fill_n(flat.planes[0].view().row(y), width, 128.0f);
    for (const ClusterParams& clusters : all_kinds) {
      const MatchParams params = cluster_params(clusters, 3, 32);
      const Clip clip(width, height, 1, 90);
      expect_equal(by_reference(clip, params), by_gpu(clip, params), "noise");
      expect_equal(by_reference(flat, params), by_gpu(flat, params), "flat");
    }
  }
}

TEST_F(CudaClusters, BatchesAndPlaneSizesDoNotChangeGroups) {
  const Clip clip(97, 70, 1, 60);
  const MatchParams params = cluster_params({});
  expect_equal(by_reference(clip, params), by_gpu(clip, params, {}, 2, 61), "batches");
}

TEST_F(CudaClusters, AddTheBiasOfColouredNoise) {
  const Clip clip(80, 60, 1, 60);
  DistanceBias bias{};
  std::mt19937 rng{8};
  for (float& b : bias) b = static_cast<float>(static_cast<int>(rng() % 1200) - 300);
  MatchParams params = cluster_params({64, 64, 2});
  params.bias = &bias;
  params.tau = 1400;
  expect_equal(by_reference(clip, params), by_gpu(clip, params), "bias");
}

TEST_F(CudaClusters, FollowMotionOverTime) {
  for (const int frames : {2, 5, 9}) {
    Clip clip(75, 60, frames, 60);
    for (const ClusterParams& clusters : {ClusterParams{32, 40, 2}, ClusterParams{64, 64, 4}}) {
      MatchParams params = cluster_params(clusters);
      params.motion_bias = 300;
      clip.motion.clear();
      expect_equal(by_reference(clip, params), by_gpu(clip, params), "still");

      std::mt19937 rng{4};
      std::vector<std::vector<Motion>> cells(frames);
      const MotionGrid grid{75, 60, params.step};
      clip.motion.resize(frames);
      for (int f = 0; f < frames; ++f) {
        for (int i = 0; i < motion_cells(75) * motion_cells(60); ++i)
          cells[f].push_back({static_cast<std::int16_t>(static_cast<int>(rng() % 60) - 30),
                              static_cast<std::int16_t>(static_cast<int>(rng() % 9) - 4)});
        bundle_motion(cells[f], grid, clip.motion[f]);
      }
      expect_equal(by_reference(clip, params), by_gpu(clip, params, cells), "moving");
    }
  }
}

TEST_F(CudaClusters, SessionsAgreeWithTheHost) {
  for (const Layout layout : {Layout::rgb, Layout::yuv})
    for (const int temporal : {0, 1}) {
      const int shift = layout == Layout::yuv ? 1 : 0;
      const FrameFormat format{.width = 93,
                               .height = 62,
                               .layout = layout,
                               .chroma_shift_x = shift,
                               .chroma_shift_y = shift};
      std::vector<Frame> clip;
      for (unsigned n = 0; n < 3; ++n) {
        clip.push_back(make_frame(format));
        for (int i = 0; i < 3; ++i) {
          const Plane<float> clean =
              texture_picture(format.plane_width(i), format.plane_height(i), i);
          store_plane(with_noise(clean.view(), 20, 3 * n + i + 1).view(), clip.back(), i);
        }
      }
      bm3d::Params params = bm3d::make_params(bm3d::Profile::fast, {20, 20, 20}, temporal);
      params.hard.clusters = params.wiener.clusters = ClusterParams{};
      params.batch = {64, 32};
      const auto run = [&](BackendKind kind) {
        const auto session = bm3d::open(params, format, {.kind = kind, .threads = 2});
        return run_clip(*session, clip);
      };
      const auto actual = run(BackendKind::cuda), expected = run(BackendKind::cpu);
      ASSERT_EQ(actual.size(), clip.size());
      for (std::size_t n = 0; n < clip.size(); ++n)
        for (int i = 0; i < 3; ++i)
          EXPECT_GT(psnr(plane_of(actual[n], i).view(), plane_of(expected[n], i).view()), 40)
              << "temporal " << temporal << ", plane " << i;
    }
}

}  // namespace
}  // namespace lull
