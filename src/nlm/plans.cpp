#include "nlm/plans.h"

#include "noise/filtered_samples.h"

namespace lull::nlm {
namespace {

/// The amount by which filtered samples underestimate the mean of skewed noise
/// (noise/stabiliser.h). There is no measurement for non-local means, so the value lies between the
/// values measured for BM3D (bm3d/stabilisers.cpp).
constexpr double skew_bias = 0.03;

/// Sets the parameters for a separate guide. Such a guide has hardly any noise, so distances need
/// no correction.
Params guided(const Params& params) {
  Params p = params;
  if (params.guided) p.correction = 0;
  return p;
}

}  // namespace

std::vector<PlaneSet> plane_sets(const FrameFormat& format, const NoiseModel& noise) {
  std::vector<int> luma, chroma;
  for (int i = 0; i < format.planes(); ++i)
    if (noise.sigma(i) > 0) (i == 0 ? luma : chroma).push_back(i);
  std::vector<int> all = luma;
  all.insert(all.end(), chroma.begin(), chroma.end());
  if (all.empty()) return {};
  if (format.layout == Layout::rgb) return {{all, all}};
  if (luma.empty()) return {{chroma, chroma}};
  if (!format.subsampled()) return {{all, luma}};
  std::vector<PlaneSet> sets{{luma, luma}};
  if (!chroma.empty()) sets.push_back({chroma, chroma});
  return sets;
}

SessionPlan session_plan(const Params& params, const FrameFormat& format) {
  const int main = main_plane(format.layout == Layout::rgb);
  return {.radius = params.temporal,
          .phases = 1,
          .scene_cut = params.scene_cut,
          .main_sigma = params.noise.levels_in_samples()[main],
          .gathers = true};
}

FramePlan frame_plan(const Params& params, const FrameFormat& format, const PlaneSet& set) {
  const int first = set.planes.front();
  const bool coarse = first != 0 && format.layout == Layout::yuv;
  FramePlan plan{.params = guided(params),
                 .width = format.plane_width(first),
                 .height = format.plane_height(first),
                 .planes = static_cast<int>(set.planes.size()),
                 .guides = static_cast<int>(set.guides.size()),
                 .is_self_guided = !params.guided,
                 .slots = session_plan(params, format).slots(),
                 .shift_x = coarse ? format.chroma_shift_x : 0,
                 .shift_y = coarse ? format.chroma_shift_y : 0};
  for (int k = 0; k < plan.guides; ++k) {
    const float sigma = params.noise.sigma(set.guides[k]);
    plan.guide_weight[k] = 1 / (static_cast<float>(plan.guides) * sigma * sigma);
  }
  return plan;
}

VolumePlan volume_plan(const Params& params, const FrameFormat& format, int plane) {
  const float sigma = params.noise.sigma(plane);
  return {.params = guided(params),
          .width = format.plane_width(plane),
          .height = format.plane_height(plane),
          .guide_weight = 1 / (sigma * sigma),
          .is_self_guided = !params.guided};
}

Stabilisers stabilisers_of(const Params& params) {
  return make_stabilisers(params.noise, skew_bias);
}

}  // namespace lull::nlm
