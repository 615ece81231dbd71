#pragma once
// Engines of non-local means on synthetic planes, for tests that compare a backend with the
// reference.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nlm/engine.h"
#include "support/pictures.h"

namespace lull::nlm::test_support {

using namespace lull::test_support;

inline constexpr float test_sigma = 20;

using FrameEngineMaker = std::function<std::unique_ptr<FrameEngine>(const FramePlan&)>;
using VolumeEngineMaker = std::function<std::unique_ptr<VolumeEngine>(const VolumePlan&)>;

/// Noisy planes with the same content: plane c of frame f is a texture displaced by 2 f samples.
inline Plane<float> noisy_plane(int width, int height, int frame, int plane) {
  const Plane<float> wide = texture_picture(width + 16, height, plane * 0.7);
  PlaneView<const float> cut = wide.view();
  cut.data += 2 * frame;
  cut.width = width;
  return with_noise(cut, static_cast<double>(test_sigma), 10 * frame + plane + 1);
}

/// Returns a FramePlan for the planes of noisy_plane().
inline FramePlan frame_plan(const Params& params, int width, int height, int planes = 1,
                            int guides = 1, bool is_self_guided = true, int slots = 1) {
  FramePlan plan{.params = params,
                 .width = width,
                 .height = height,
                 .planes = planes,
                 .guides = guides,
                 .is_self_guided = is_self_guided,
                 .slots = slots};
  for (int c = 0; c < guides; ++c)
    plan.guide_weight[c] = 1 / (test_sigma * test_sigma * static_cast<float>(guides));
  return plan;
}

/// Filters the first of `plan.slots` frames with all of them. `motion` holds the motion of each
/// cell to each of the other frames; empty means no motion.
inline std::vector<Plane<float>> run_frames(FrameEngine& engine, const FramePlan& plan,
                                            const std::vector<std::vector<Motion>>& motion = {},
                                            const Holes* holes = nullptr) {
  std::vector<CandidateFrame> frames;
  for (int f = 0; f < plan.slots; ++f) {
    std::vector<Plane<float>> planes, guides;
    PlaneViews samples, guide_views;
    for (int c = 0; c < plan.planes; ++c) {
      planes.push_back(noisy_plane(plan.width, plan.height, f, c));
      samples[c] = std::as_const(planes.back()).view();
    }
    for (int c = 0; !plan.is_self_guided && c < plan.guides; ++c) {
      guides.push_back(noisy_plane(plan.width, plan.height, f, c + 5));
      guide_views[c] = std::as_const(guides.back()).view();
    }
    engine.load(f, samples, guide_views, holes);
    frames.push_back({f, motion.empty() ? std::span<const Motion>{} : motion[f]});
  }
  std::vector<Plane<float>> results;
  std::array<PlaneView<float>, 3> views;
  for (int c = 0; c < plan.planes; ++c) {
    results.emplace_back(plan.width, plan.height);
    views[c] = results.back().view();
    for (int y = 0; y < plan.height; ++y) std::fill_n(views[c].row(y), plan.width, -1e6f);
  }
  engine.estimate(frames, views);
  return results;
}

/// Returns a pattern of holes: a disc, dots, a border.
inline Holes some_holes(int width, int height) {
  std::vector<bool> hole;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      hole.push_back((x - 20) * (x - 20) + (y - 10) * (y - 10) < 14 ||
                     (x % 13 == 5 && y % 11 == 3) || x == width - 1);
  return {width, height, hole};
}

/// Returns a volume: a texture that grows brighter along z, with noise.
inline Plane<float> noisy_slice(int width, int height, int z) {
  Plane<float> clean = texture_picture(width, height, 0.15 * z);
  return with_noise(std::as_const(clean).view(), static_cast<double>(test_sigma), z + 1);
}

/// Filters all slices of noisy_slice(), whose numbers begin with `first`, in batches of `together`.
inline std::vector<Plane<float>> run_volume(VolumeEngine& engine, const VolumePlan& plan, int first,
                                            int slices, int together) {
  const int reach = plan.params.reach_slices(), end = first + slices;
  std::vector<Plane<float>> results;
  engine.begin(first);
  int loaded = first;
  for (int z = first; z < end; z += together) {
    const SliceSpan wanted{z, std::min(z + together, end)};
    for (; loaded < std::min(wanted.end + reach, end); ++loaded) {
      const Plane<float> samples = noisy_slice(plan.width, plan.height, loaded);
      const Plane<float> guide = noisy_slice(plan.width, plan.height, loaded + 1);
      engine.load(loaded, samples.view(), guide.view());
    }
    std::vector<PlaneView<float>> views;
    for (int i = 0; i < wanted.size(); ++i) {
      results.emplace_back(plan.width, plan.height);
      views.push_back(results.back().view());
    }
    engine.estimate(wanted, {first, end}, views);
  }
  return results;
}

/// Returns the maximum difference of two samples; NaN if a sample is NaN.
inline double max_difference(const std::vector<Plane<float>>& a,
                             const std::vector<Plane<float>>& b) {
  double most = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    for (int y = 0; y < a[i].height(); ++y)
      for (int x = 0; x < a[i].width(); ++x) {
        const double d = std::abs(static_cast<double>(a[i].view()(x, y)) -
                                  static_cast<double>(b[i].view()(x, y)));
        if (!(d <= most)) most = d;
      }
  return most;
}

/// Parameters of every kind for which kernels may have special code.
struct NamedParams {
  std::string name;
  Params params;
};
inline std::vector<NamedParams> picture_params() {
  const NoiseModel noise({test_sigma, test_sigma, test_sigma});
  std::vector<NamedParams> all;
  const auto add = [&](std::string name, int block, int step, int patch, int search,
                       const std::function<void(Params&)>& change = {}) {
    Params p = make_params(Profile::balanced, noise);
    p.block = block, p.step = step, p.patch_radius = patch, p.search_radius = search;
    if (change) change(p);
    all.push_back({std::move(name), p});
  };
  add("blocks of 4 at a step of 2", 4, 2, 0, 3);
  add("the same, without the mean term", 4, 2, 0, 2, [](Params& p) { p.mean_term = 0; });
  add("the same, exponential", 4, 2, 0, 2, [](Params& p) { p.weights = Weights::exponential; });
  add("blocks of 8", 8, 2, 0, 2);
  add("larger patches", 4, 2, 2, 2);
  add("odd patches around blocks", 4, 2, 1, 2);
  add("a step of 1", 4, 1, 0, 2);
  add("a step of 1, exponential", 4, 1, 0, 1, [](Params& p) { p.weights = Weights::exponential; });
  add("blocks that do not overlap", 4, 4, 0, 2);
  add("blocks of 2", 2, 1, 1, 3);
  add("each sample by itself", 1, 1, 1, 4);
  Params paper = make_params(Profile::paper, noise);
  paper.search_radius = 3;
  all.push_back({"the papers' way", paper});
  return all;
}
inline std::vector<NamedParams> volume_params() {
  const NoiseModel noise({test_sigma, test_sigma, test_sigma});
  Params paper = make_volume_params(Profile::paper, noise);
  paper.search_radius = 2;
  Params wide = make_volume_params(Profile::balanced, noise);
  wide.patch_radius = 2, wide.search_radius = 1;
  Params blocks = make_volume_params(Profile::balanced, noise);
  blocks.block = 4, blocks.step = 2, blocks.search_radius = 1;
  Params apart = blocks;
  apart.block = apart.step = 2;
  return {{"balanced", make_volume_params(Profile::balanced, noise)},
          {"blocks that do not overlap", apart},
          {"the papers' way", paper},
          {"larger patches", wide},
          {"blocks", blocks}};
}

}  // namespace lull::nlm::test_support
