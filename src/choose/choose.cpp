#include "choose/choose.h"

#include <array>
#include <charconv>
#include <string_view>

#include "core/error.h"
#include "core/params/profile.h"
#include "cuda/device_list.h"
#include "match/clusters.h"
#include "nlm/features/features.h"
#include "nlm/nlm.h"
#include "noise/areas/area_session.h"
#include "noise/depth/vst_depth.h"
#include "noise/render/vst_render.h"
#include "noise/volume/cuda/vst_volume.h"
#include "noise/volume/vst_volume.h"

namespace lull {
namespace {

[[noreturn]] void refuse_name(const char* what, const std::string& name, const std::string& names) {
  throw InvalidArgument(std::string(what) + " = '" + name + "' (must be " + names +
                        "); choose one of these");
}

void choose_matcher(const SessionChoice& choice, bm3d::Params& params) {
  if (choice.matcher != "window" && choice.matcher != "cluster")
    refuse_name("matcher", choice.matcher, "window or cluster");
  if (choice.matcher == "window") {
    if (choice.clusters.empty()) return;
    throw InvalidArgument(
        "cluster = '" + choice.clusters +
        "' with the matcher window (only the matcher cluster has this parameter); leave one out");
  }
  const auto clusters =
      choice.clusters.empty() ? std::optional(ClusterParams{}) : parse_clusters(choice.clusters);
  if (!clusters) refuse_name("cluster", choice.clusters, "TILE:LEAF:TILINGS or paper");
  params.hard.clusters = params.wiener.clusters = clusters;
}
void refuse_matcher(const SessionChoice& choice) {
  if (choice.matcher != "window" || !choice.clusters.empty())
    throw InvalidArgument("a matcher for the method " + choice.method +
                          " (only bm3d and nlm of pictures have matchers); leave it out");
}

/// Returns the noise model of a bm3d session for renders: one noise level, because the session
/// stabilises the variance.
NoiseModel even_noise(const RenderNoise& noise) {
  const float sigma = light_filter_sigma * noise.strength;
  return NoiseModel({sigma, sigma, sigma});
}

/// Returns the profile with the given name. `names` lists the profiles of the method.
Profile profile_of(const SessionChoice& choice, const char* what, std::string_view names) {
  const auto profile = parse_name<Profile>(choice.profile);
  if (!profile || names.find(choice.profile) == names.npos)
    refuse_name(what, choice.profile, std::string(names));
  return *profile;
}

Profile picture_profile(const SessionChoice& choice) {
  return profile_of(choice, "profile", "fast, balanced, high, best or paper");
}

/// Returns whether the method is nlm with the cluster matcher. For this combination, open_chosen()
/// opens a bm3d session that averages the patches of each group.
bool averages_groups(const SessionChoice& choice) {
  return choice.method == "nlm" && !choice.render &&
         (choice.matcher != "window" || !choice.clusters.empty());
}

bm3d::Params picture_params(const SessionChoice& choice) {
  const Profile profile = picture_profile(choice);
  bm3d::Params params =
      choice.depth    ? bm3d::make_depth_params(profile, choice.noise, choice.temporal)
      : choice.render ? bm3d::make_params(profile, even_noise(*choice.render), choice.temporal)
                      : bm3d::make_params(profile, choice.noise, choice.temporal);
  params.guided = choice.guided;
  choose_matcher(choice, params);
  if (choice.adjust) choice.adjust(params);
  return params;
}

void refuse_time(const SessionChoice& choice) {
  if (choice.temporal != 0)
    throw InvalidArgument("temporal = " + std::to_string(choice.temporal) + " with the method " +
                          choice.method + " (slices have no time); leave it out");
}

Profile nlm_profile(const SessionChoice& choice) {
  return profile_of(choice, "profile", "fast, balanced, high or paper");
}

bm3d::Params group_means_params(const SessionChoice& choice) {
  (void)nlm_profile(choice);  // throws for `best`, which nlm does not have
  if (choice.depth)
    throw InvalidArgument(
        "a depth map with the matcher cluster (the matcher cluster does not support holes); leave "
        "one out");
  bm3d::Params params =
      bm3d::make_means_params(picture_profile(choice), choice.noise, choice.temporal);
  params.guided = choice.guided;
  choose_matcher(choice, params);
  return params;
}

nlm::FeatureParams feature_params(const SessionChoice& choice) {
  refuse_matcher(choice);
  return {.noise = *choice.render,
          .search_radius = nlm::feature_search_radius(nlm_profile(choice)),
          .temporal = choice.temporal};
}

nlm::Params nlm_params(const SessionChoice& choice, bool volumes) {
  const Profile profile = nlm_profile(choice);
  refuse_matcher(choice);
  if (volumes) refuse_time(choice);
  nlm::Params params = volumes ? nlm::make_volume_params(profile, choice.noise)
                               : nlm::make_params(profile, choice.noise, choice.temporal);
  params.guided = choice.guided;
  params.holes = choice.depth.has_value();
  return params;
}

bm4d::Params volume_params(const SessionChoice& choice) {
  const Profile profile = profile_of(choice, "profile of bm4d", "fast, balanced or high");
  refuse_matcher(choice);
  refuse_time(choice);
  if (choice.guided)
    throw InvalidArgument(
        "a guide with bm4d (bm4d matches cubes in the volume itself); leave it out");
  bm4d::Params params = bm4d::make_params(profile, choice.noise);
  if (choice.adjust_volumes) choice.adjust_volumes(params);
  return params;
}

/// Rejects options that renders or depth maps do not support.
void check_kind(const SessionChoice& choice) {
  if (!choice.render && !choice.depth) return;
  const char* kind = choice.render ? "a render" : "a depth map";
  const auto refuse = [&](const std::string& other, const char* why) {
    throw InvalidArgument(other + " with " + kind + " (" + why + "); leave one out");
  };
  if (choice.render && choice.depth) refuse("a depth map", "a frame cannot be both");
  if (choice.method != "bm3d" && choice.method != "nlm")
    refuse("the method " + choice.method, "this method is for volumes");
  if (choice.guided) refuse("a guide", "only pictures have guides");
  if (choice.results_on_device)
    refuse("results on a GPU", "these results are computed on the host");
}

/// Returns the format of the frames that the filter receives: the stabilised format if the session
/// stabilises the variance, and `format` if not.
FrameFormat filter_format(const SessionChoice& choice, const FrameFormat& format) {
  if (choice.volume_noise) return stabilised_format(format);
  if (choice.depth) return stabilised_depth_format(format);
  return choice.render ? stabilised_light_format(format) : format;
}

/// Returns a session that preserves constant areas and passes all other samples to `session`.
std::unique_ptr<Denoiser> preserve_areas(const SessionChoice& choice, const FrameFormat& format,
                                         std::unique_ptr<Denoiser> session) {
  std::array<float, 3> levels = choice.noise.levels_in_samples();
  if (choice.volume_noise) levels[0] = max_level(*choice.volume_noise);
  const bool volumes = choice.method == "bm4d" || choice.method == "nlm_volumes";
  return with_constant_areas([levels](const Frame&) { return levels; }, format, std::move(session),
                             {}, {.are_slices = volumes, .adds_noise = choice.temporal == 0});
}

/// Returns N for "cuda:N", 0 for "cuda", and no value for other names.
std::optional<int> parse_cuda_index(std::string_view device) {
  if (device == "cuda") return 0;
  if (!device.starts_with("cuda:")) return std::nullopt;
  const char *begin = device.data() + 5, *end = device.data() + device.size();
  int number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  const bool whole = error == std::errc() && stop == end && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace

bm3d::Backend choose_backend(const std::string& device, int streams, int threads) {
  bm3d::Backend backend{
      .kind = bm3d::BackendKind::cpu, .device = 0, .streams = streams, .threads = threads};
  if (device == "cpu") return backend;
  if (device == "reference") {
    backend.kind = bm3d::BackendKind::reference;
    return backend;
  }
  if (device == "auto") {
    if (!cuda::list_devices().devices.empty()) backend.kind = bm3d::BackendKind::cuda;
    return backend;
  }
  const std::optional<int> gpu = parse_cuda_index(device);
  if (!gpu) refuse_name("device", device, "auto, cpu, reference, cuda or cuda:N");
  const cuda::DeviceList list = cuda::list_devices();
  if (list.devices.empty())
    throw DeviceUnavailable("no GPU (" + list.reason + "); choose the device cpu");
  if (*gpu >= static_cast<int>(list.devices.size()))
    throw DeviceUnavailable("no GPU " + std::to_string(*gpu) + " (visible: 0 to " +
                            std::to_string(list.devices.size() - 1) + "); choose one of these");
  backend.kind = bm3d::BackendKind::cuda;
  backend.device = *gpu;
  return backend;
}

std::string device_name(const bm3d::Backend& backend) {
  if (backend.kind == bm3d::BackendKind::reference) return "reference";
  if (backend.kind == bm3d::BackendKind::cpu) return "cpu";
  return "cuda:" + std::to_string(backend.device);
}

ChosenSession open_chosen(const SessionChoice& choice, const FrameFormat& format) {
  ChosenSession chosen{.denoiser = {},
                       .margin = {},
                       .backend = choose_backend(choice.device, choice.streams, choice.threads)};
  chosen.backend.results_on_device = choice.results_on_device;
  check_kind(choice);
  const FrameFormat seen = filter_format(choice, format);
  if (choice.method == "nlm" && choice.render) {
    const nlm::FeatureParams params = feature_params(choice);
    chosen.denoiser = nlm::open_features(params, format, chosen.backend);
    chosen.margin = nlm::margin(params);
    return chosen;
  }
  const bool groups = averages_groups(choice);
  if (choice.method == "bm3d" || groups) {
    const bm3d::Params params = groups ? group_means_params(choice) : picture_params(choice);
    chosen.denoiser = bm3d::open(params, seen, chosen.backend);
    chosen.margin = bm3d::margin(params);
  } else if (choice.method == "bm4d") {
    const bm4d::Params params = volume_params(choice);
    chosen.denoiser = bm4d::open(params, seen, chosen.backend);
    chosen.margin = bm4d::margin(params);
  } else if (choice.method == "nlm" || choice.method == "nlm_volumes") {
    const nlm::Params params = nlm_params(choice, choice.method == "nlm_volumes");
    chosen.denoiser = nlm::open(params, seen, chosen.backend);
    chosen.margin = nlm::margin(params);
  } else {
    refuse_name("method", choice.method, "bm3d, bm4d, nlm or nlm_volumes");
  }
  if (choice.volume_noise)
    chosen.denoiser =
        choice.results_on_device
            ? cuda::with_vst_on_device(*choice.volume_noise, format, chosen.backend.device,
                                       std::move(chosen.denoiser))
            : with_vst(*choice.volume_noise, format, std::move(chosen.denoiser));
  if (choice.depth) chosen.denoiser = with_vst(*choice.depth, format, std::move(chosen.denoiser));
  if (choice.render)
    chosen.denoiser =
        with_render_vst({.sigma = choice.render->sigma}, format, std::move(chosen.denoiser),
                        nlm::open_repeat_finder(
                            nlm::FeatureParams{.noise = {}, .temporal = choice.temporal}, format),
                        choice.threads);
  if (!choice.depth && !choice.render && !choice.results_on_device)
    chosen.denoiser = preserve_areas(choice, format, std::move(chosen.denoiser));
  return chosen;
}

std::unique_ptr<RepeatFinder> open_repeat_finder(const SessionChoice& choice,
                                                 const FrameFormat& format) {
  if (averages_groups(choice)) return bm3d::open_repeat_finder(group_means_params(choice), format);
  if (choice.method == "nlm") return nlm::open_repeat_finder(nlm_params(choice, false), format);
  return bm3d::open_repeat_finder(picture_params(choice), format);
}

}  // namespace lull
