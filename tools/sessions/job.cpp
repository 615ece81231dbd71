#include "tools/sessions/job.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "bm3d/names.h"
#include "cuda/device_list.h"
#include "match/clusters.h"
#include "tools/noise/clipping_text.h"
#include "tools/sessions/device_choice.h"

namespace lull::tools {
namespace {

constexpr const char* noise_fact = "the noise";
constexpr const char* repair_fact = "the repaired defects";
constexpr const char* clipping_fact = "the clipping (low:high:level of 0..255)";

std::string text_of(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
}
std::string text_of(int value) { return std::to_string(value); }
std::string text_of(bm3d::Transform value) { return std::string(lull::name_of(value)); }
std::string text_of(bm3d::GroupTransform value) { return std::string(lull::name_of(value)); }
std::string text_of(const std::optional<ClusterParams>& clusters) {
  return clusters ? "cluster " + lull::text_of(*clusters) : "window";
}

template <class Params, class Phase, class Value>
std::string both(const Params& params, Value Phase::*member) {
  return text_of(params.hard.*member) + ":" + text_of(params.wiener.*member);
}

/// Computes an FNV-1a hash.
class Hash {
 public:
  void add(float value) { hash_ = (hash_ ^ std::bit_cast<std::uint32_t>(value)) * 16777619; }
  std::string text() const { return std::to_string(hash_); }

 private:
  std::uint32_t hash_ = 2166136261;
};

/// Returns the string that a job records for noise: the noise levels, and hashes of
/// autocorrelations and noise curves.
std::string text_of(const NoiseModel& noise) {
  std::string text;
  Hash correlations, curves;
  for (int i = 0; i < 3; ++i) {
    const PlaneNoise& plane = noise.plane(i);
    text += (text.empty() ? "" : ":") + text_of(plane.sigma);
    if (!plane.is_white())
      for (const float lag : *plane.correlation) correlations.add(lag);
    if (plane.sigma == 0 || !plane.curve) continue;
    curves.add(static_cast<float>(i));
    for (const float sigma : plane.curve->sigma) curves.add(sigma);
    curves.add(plane.curve->low), curves.add(plane.curve->high);
  }
  if (!noise.is_white()) text += " coloured " + correlations.text();
  if (noise.has_curves()) text += " curved " + curves.text();
  return text;
}

std::string text_of(const VolumeNoise& noise) {
  std::string text = noise.kind == NoiseKind::rician ? "rician" : "gaussian";
  text += " " + text_of(noise.sigma) + " from " + text_of(noise.zero);
  if (!noise.map) return text;
  Hash levels;
  for (const float level : noise.map->values) levels.add(level);
  return text + " mapped " + levels.text();
}

/// Returns the device type for the recorded settings of a job. Devices of one type compute
/// bit-identical results.
std::string device_of(const std::vector<bm3d::Backend>& backends) {
  switch (backends.front().kind) {
    case bm3d::BackendKind::reference:
      return "reference";
    case bm3d::BackendKind::cpu:
      return "cpu (" + cpu_target() + ")";
    case bm3d::BackendKind::cuda:
      break;
  }
  std::set<std::string> models;
  for (const cuda::DeviceInfo& gpu : cuda::list_devices().devices)
    for (const bm3d::Backend& backend : backends)
      if (backend.device == gpu.index) models.insert(gpu.name);
  std::string text;
  for (const std::string& model : models) text += (text.empty() ? "" : ", ") + model;
  return "cuda (" + text + ")";
}

std::vector<io::JobFact> volume_facts(const bm4d::Params& params,
                                      const std::vector<bm3d::Backend>& backends) {
  using Phase = bm4d::PhaseParams;
  return {{"--method", "bm4d"},
          {"--sigma (of 0..255)", text_of(params.noise)},
          {"--cube", both(params, &Phase::cube)},
          {"--window", both(params, &Phase::window)},
          {"--group", both(params, &Phase::group)},
          {"--step", both(params, &Phase::step)},
          {"--kaiser", both(params, &Phase::kaiser)},
          {"--lambda", text_of(params.lambda)},
          {"--lambda-mean", text_of(params.lambda_mean)},
          {"--mu2", text_of(params.mu2)},
          {"--mu2-mean", text_of(params.mu2_mean)},
          {"--second-search", params.second_search ? "window" : "kept"},
          {"--phases", text_of(params.phases)},
          {"the device", device_of(backends)}};
}

const char* second_search(const bm3d::Params& params) {
  if (params.kept == 0) return "window";
  switch (params.same_groups) {
    case bm3d::SameGroups::none:
      return "kept";
    case bm3d::SameGroups::luma:
      return "luma";
    case bm3d::SameGroups::all:
      return "none";
  }
  return {};
}

const char* text_of(Interlaced interlaced) {
  return interlaced == Interlaced::fields ? "fields" : "whole frames";
}

std::vector<io::JobFact> means_facts(const DenoiseOptions& options, const nlm::Params& params,
                                     const std::vector<bm3d::Backend>& backends) {
  const bool exponential = params.weights == nlm::Weights::exponential;
  return {{"--method", params.is_volume() ? "nlm, of volumes" : "nlm"},
          {"--sigma (of 0..255)", text_of(params.noise)},
          {"the block", text_of(params.block) + " at a step of " + text_of(params.step)},
          {"--patch-radius", text_of(params.patch_radius)},
          {"--search-radius", text_of(params.search_radius)},
          {"--nlm-h", text_of(params.h)},
          {"--weights", exponential ? "exp" : "poly"},
          {"the corrections", text_of(params.correction) + ":" + text_of(params.mean_term)},
          {"--temporal", text_of(params.temporal)},
          {"--scene-cut", text_of(params.scene_cut)},
          {"--scale", text_of(static_cast<float>(options.output.scale))},
          {"--interlaced", text_of(options.input.interlaced)},
          {"the device", device_of(backends)}};
}

std::vector<io::JobFact> picture_facts(const DenoiseOptions& options, const bm3d::Params& params,
                                       const std::vector<bm3d::Backend>& backends) {
  using Phase = bm3d::PhaseParams;
  return {{"--sigma (of 0..255)", text_of(params.noise)},
          {"--window", both(params, &Phase::window)},
          {"--matcher", both(params, &Phase::clusters)},
          {"--group", both(params, &Phase::group)},
          {"--step", both(params, &Phase::step)},
          {"--tau", both(params, &Phase::tau)},
          {"--transform", both(params, &Phase::transform)},
          {"--group-transform", both(params, &Phase::group_transform)},
          {"--kaiser", both(params, &Phase::kaiser)},
          {"--lambda", text_of(params.lambda)},
          {"--lambda-mean", text_of(params.lambda_mean)},
          {"--mu2", text_of(params.mu2)},
          {"--guide-noise", text_of(params.guide_noise)},
          {"--search-step", text_of(params.search_step)},
          {"--near-window", both(params, &Phase::refine_window)},
          {"--near-temporal-window", both(params, &Phase::refine_temporal_window)},
          {"--second-search", second_search(params)},
          {"--phases", text_of(params.phases)},
          {"the filter", params.linear_combinations ? "linear combinations" : "phases"},
          {"--temporal", text_of(params.temporal)},
          {"--temporal-window", both(params, &Phase::temporal_window)},
          {"--place-bonus", both(params, &Phase::motion_bias)},
          {"--scene-cut", text_of(params.scene_cut)},
          {"--scale", text_of(static_cast<float>(options.output.scale))},
          {"--interlaced", text_of(options.input.interlaced)},
          {"the device", device_of(backends)}};
}

/// Adds --guide, the feature buffers from layers, and the noise of the render to the recorded
/// settings. Feature buffers from files are in io::SegmentOptions::additional.
void add_features(const MethodOptions& options, const RenderNoise& noise,
                  std::vector<io::JobFact>& facts) {
  facts.push_back({guide_name, options.guide.empty() ? "none" : options.guide});
  for (const FeatureChoice& choice : options.features)
    if (choice.file.empty()) facts.push_back({option_of(choice.feature), ":" + choice.layer});
  facts.push_back({"the noise of the render (sigma, strength)",
                   text_of(noise.sigma) + ":" + text_of(noise.strength)});
}

}  // namespace

std::vector<io::JobFact> job_facts(const DenoiseOptions& options, const Method& method,
                                   const NoiseRecord& noise, const RepairPlan& repair,
                                   const std::vector<bm3d::Backend>& backends) {
  std::vector<io::JobFact> facts = method.means     ? means_facts(options, *method.means, backends)
                                   : method.volumes ? volume_facts(*method.volumes, backends)
                                                    : picture_facts(options, method, backends);
  if (method.pictures.means)
    facts.push_back({"--nlm-h, of groups", text_of(method.pictures.means->h)});
  facts.push_back({"--constant-areas", method.preserves_areas ? "preserve" : "filter"});
  if (method.render) add_features(options.method, *method.render, facts);
  if (method.volume_noise) facts.push_back({"--noise", text_of(*method.volume_noise)});
  const NoiseModel& given = noise.scenes.front().estimate.noise;
  if (!options.noise.sigma)
    facts.push_back({noise_fact, to_json(noise)});
  else if (given.has_curves())
    facts.push_back({clipping_fact, to_text(clipping_of(given))});
  if (!repair.none()) facts.push_back({repair_fact, to_json(repair)});
  return facts;
}

std::optional<RepairPlan> repair_of_job(const DenoiseOptions& options, const FrameFormat& format) {
  const auto find = [&](const std::vector<io::JobFact>& facts, const std::string& name) {
    const auto fact = std::ranges::find(facts, repair_fact, &io::JobFact::name);
    return fact == facts.end() ? RepairPlan{} : parse_repair(fact->value, format, name);
  };
  if (options.run.job.is_part()) return find(options.run.job.plan->facts, options.run.job.folder);
  if (!options.run.resume || options.run.segment_frames == 0) return std::nullopt;
  const std::vector<io::JobFact> facts = io::facts_of_interrupted_job(options.output.file);
  if (facts.empty()) return std::nullopt;
  return find(facts, options.output.file + ".lull-job");
}

PlaneClipping clipping_of_job(const SharedJob& job) {
  for (const io::JobFact& fact : job.plan->facts)
    if (fact.name == clipping_fact) return parse_clipping(fact.value, job.folder);
  return {};
}

std::optional<NoiseRecord> noise_of_job(const DenoiseOptions& options) {
  if (options.run.job.is_part()) {
    for (const io::JobFact& fact : options.run.job.plan->facts)
      if (fact.name == noise_fact) return parse_noise(fact.value, options.run.job.folder);
    return std::nullopt;
  }
  if (!options.run.resume || options.run.segment_frames == 0) return std::nullopt;
  for (const io::JobFact& fact : io::facts_of_interrupted_job(options.output.file))
    if (fact.name == noise_fact) return parse_noise(fact.value, options.output.file + ".lull-job");
  return std::nullopt;
}

pipeline::PartContext part_context_of(const Method& method, const FrameFormat& format) {
  const Margin margin = margin_of(method);
  if (margin == Margin{}) return {};
  return {.margin = margin, .repeats = open_repeat_finder(method, format)};
}

}  // namespace lull::tools
