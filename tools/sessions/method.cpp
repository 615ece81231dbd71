#include "tools/sessions/method.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "noise/areas/constant_areas.h"
#include "noise/depth/vst_depth.h"
#include "noise/render/vst_render.h"
#include "noise/volume/photon_vst.h"
#include "noise/volume/vst_volume.h"
#include "tools/options/option_table.h"

namespace lull::tools {
namespace {

/// Opens a detector of repeated frames for renders, which compares the samples of the input, before
/// variance stabilisation and division by the albedo.
std::unique_ptr<RepeatFinder> open_render_finder(int temporal, const FrameFormat& format) {
  return nlm::open_repeat_finder(nlm::FeatureParams{.noise = {}, .temporal = temporal}, format);
}

nlm::FeatureParams features_of(const Method& method) {
  return {.noise = *method.render,
          .search_radius = method.means->search_radius,
          .temporal = method.means->temporal,
          .scene_cut = method.means->scene_cut};
}

std::unique_ptr<Denoiser> open_filter(const Method& method, const FrameFormat& format,
                                      const bm3d::Backend& backend) {
  if (method.render && method.means)
    return nlm::open_features(features_of(method), format, backend);
  if (method.render)
    return with_render_vst(*method.render, format,
                           bm3d::open(method.pictures, stabilised_light_format(format), backend),
                           open_render_finder(method.pictures.temporal, format), backend.threads);
  if (method.means) return nlm::open(*method.means, format, backend);
  if (method.volumes) return bm4d::open(*method.volumes, format, backend);
  return bm3d::open(method.pictures, format, backend);
}

/// A detector of repeated frames for depth maps, which compares variance-stabilised depth maps.
class StabilisedDepthFinder final : public RepeatFinder {
 public:
  StabilisedDepthFinder(const DepthScale& scale, const FrameFormat& stabilised,
                        std::unique_ptr<RepeatFinder> finder)
      : scale_(scale), pool_(stabilised), finder_(std::move(finder)) {}

  RepeatState find(const Frame& frame) override {
    Frame stabilised = pool_.acquire();
    stabilised.copy_info(frame);
    stabilise_depth(scale_, frame, stabilised);
    const RepeatState repeat_state = finder_->find(stabilised);
    last_ = std::move(stabilised);  // the frame must exist until the next call
    return repeat_state;
  }
  void clear() override { finder_->clear(); }

 private:
  DepthScale scale_;
  FramePool pool_;
  Frame last_;
  std::unique_ptr<RepeatFinder> finder_;
};

std::unique_ptr<RepeatFinder> open_finder(const Method& method, const FrameFormat& format) {
  if (method.means) return nlm::open_repeat_finder(*method.means, format);
  return method.volumes ? nullptr : bm3d::open_repeat_finder(method.pictures, format);
}

/// Returns whether the sessions of the method preserve constant areas. Sessions for depth maps and
/// renders do not preserve constant areas. The search for constant areas needs the noise level of
/// the input. For renders, the method contains only the noise level after variance stabilisation.
bool has_area_search(const Method& method) {
  return method.preserves_areas && !method.depth && !method.render;
}

}  // namespace

Method choose_method(const DenoiseOptions& options, const NoiseModel& noise,
                     const io::VideoInfo& input) {
  const bool volumes = is_volume(options, input);
  const int temporal = volumes ? 0 : temporal_radius(options, input);
  const bool groups = averages_groups(options.method);
  if (groups && volumes)
    throw InvalidArgument("--matcher cluster with --method nlm for the volume '" +
                          options.input.file +
                          "' (clusters exist in pictures only); give --temporal 0 to filter it "
                          "slice by slice, or leave it out");
  Method method = groups ? Method(make_means_params(options, noise, temporal))
                  : uses_nlm(options.method)
                      ? Method(make_nlm_params(options, noise, volumes, temporal))
                  : volumes ? Method(make_volume_params(options, noise))
                            : Method(make_params(options, noise, temporal));
  if (uses_features(options.method)) {
    RenderNoise& render = method.render.emplace();
    if (options.noise.sigma) render.sigma = (*options.noise.sigma)[0];
    if (method.means) {
      render.strength = options.noise.strength;
      if (first_given(options, for_nlm, for_bm3d).empty())
        method.means->search_radius = nlm::feature_search_radius(chosen_profile(options));
    }
  }
  method.preserves_areas = options.method.preserves_areas;
  method.frames = input.stack ? input.slices : input.frames_estimate;
  method.memory = options.input.source.limits.memory;
  return method;
}

Margin margin_of(const Method& method) {
  if (method.means) return nlm::margin(*method.means);
  return method.volumes ? bm4d::margin(*method.volumes) : bm3d::margin(method.pictures);
}

std::unique_ptr<Denoiser> open_method(const Method& method, const FrameFormat& format,
                                      const bm3d::Backend& backend) {
  if (method.depth) {
    const FrameFormat stabilised = stabilised_depth_format(format);
    return with_vst(*method.depth, format, open_filter(method, stabilised, backend));
  }
  if (method.volume_levels) {
    Method scaled = method;
    scaled.volume_levels.reset();
    return with_volume_levels(*method.volume_levels, format,
                              open_method(scaled, stabilised_format(format), backend));
  }
  if (!method.volume_noise) return open_filter(method, format, backend);
  return with_vst(*method.volume_noise, format,
                  open_filter(method, stabilised_format(format), backend), backend.results);
}

std::unique_ptr<RepeatFinder> open_repeat_finder(const Method& method, const FrameFormat& format) {
  if (method.render)
    return open_render_finder(method.means ? method.means->temporal : method.pictures.temporal,
                              format);
  if (method.volume_noise && method.volume_noise->photons) {
    auto finder = open_finder(method, stabilised_format(format));
    if (!finder) return nullptr;
    return with_photon_vst(*method.volume_noise->photons, format, std::move(finder));
  }
  if (!method.depth) return open_finder(method, format);
  const FrameFormat stabilised = stabilised_depth_format(format);
  auto finder = open_finder(method, stabilised);
  if (!finder) return nullptr;
  return std::make_unique<StabilisedDepthFinder>(*method.depth, stabilised, std::move(finder));
}

std::array<float, 3> levels_for_areas(const Method& method) {
  std::array<float, 3> levels = method.noise().levels_in_samples();
  if (method.volume_levels)
    levels[0] = std::ranges::max(method.volume_levels->levels);
  else if (method.volume_noise)
    levels[0] = max_level(*method.volume_noise);
  return levels;
}

bool has_constant_areas(const Method& method, const Frame& frame) {
  if (!has_area_search(method) || !frame.pixels) return false;
  const std::array<float, 3> levels = levels_for_areas(method);
  for (int i = 0; i < frame.format.planes(); ++i)
    if (levels[i] > 0 && !find_areas(frame, i, levels[i], method.is_volume()).none()) return true;
  return false;
}

std::unique_ptr<Denoiser> preserve_areas(std::unique_ptr<Denoiser> denoiser, const Method& method,
                                         LevelsOfFrame levels, const FrameFormat& format,
                                         const ResultSamples& results) {
  if (!has_area_search(method)) return denoiser;
  return with_constant_areas(
      std::move(levels), format, std::move(denoiser), results,
      {.are_slices = method.is_volume(), .adds_noise = !method.is_temporal()});
}

std::unique_ptr<Denoiser> preserve_areas(std::unique_ptr<Denoiser> denoiser, const Method& method,
                                         const FrameFormat& format, const ResultSamples& results) {
  const std::array<float, 3> levels = levels_for_areas(method);
  return preserve_areas(
      std::move(denoiser), method, [levels](const Frame&) { return levels; }, format, results);
}

}  // namespace lull::tools
