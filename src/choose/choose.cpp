#include "choose/choose.h"

#include <charconv>
#include <string_view>

#include "bm3d/names.h"
#include "bm4d/names.h"
#include "core/error.h"
#include "cuda/device_list.h"
#include "match/clusters.h"
#include "nlm/names.h"
#include "nlm/nlm.h"
#include "noise/volume/even_volume.h"

namespace lull {
namespace {

[[noreturn]] void refuse_name(const char* what, const std::string& name, const char* names) {
  throw InvalidArgument(std::string(what) + " = '" + name + "' (must be " + names +
                        "); choose one of these");
}

void choose_matcher(const SessionChoice& choice, bm3d::Params& params) {
  if (choice.matcher != "window" && choice.matcher != "cluster")
    refuse_name("matcher", choice.matcher, "window or cluster");
  if (choice.matcher == "window") {
    if (choice.clusters.empty()) return;
    throw InvalidArgument("cluster = '" + choice.clusters +
                          "' with the matcher window (which has none); leave one out");
  }
  const auto clusters =
      choice.clusters.empty() ? std::optional(ClusterParams{}) : parse_clusters(choice.clusters);
  if (!clusters) refuse_name("cluster", choice.clusters, "TILE:LEAF:TILINGS or paper");
  params.hard.clusters = params.wiener.clusters = clusters;
}
void refuse_matcher(const SessionChoice& choice) {
  if (choice.matcher != "window" || !choice.clusters.empty())
    throw InvalidArgument("a matcher with the method " + choice.method +
                          " (only bm3d has them); leave it out");
}

bm3d::Params picture_params(const SessionChoice& choice) {
  const auto profile = bm3d::parse<bm3d::Profile>(choice.profile);
  if (!profile) refuse_name("profile", choice.profile, "fast, balanced, high or paper");
  bm3d::Params params = bm3d::make_params(*profile, choice.noise, choice.temporal);
  choose_matcher(choice, params);
  if (choice.adjust) choice.adjust(params);
  return params;
}

void refuse_time(const SessionChoice& choice) {
  if (choice.temporal != 0)
    throw InvalidArgument("temporal = " + std::to_string(choice.temporal) + " with the method " +
                          choice.method + " (slices have no time); leave it out");
}
void refuse_results_on_device(const SessionChoice& choice) {
  if (choice.results_on_device)
    throw InvalidArgument("results of " + choice.method +
                          " in the memory of a GPU; leave them in the host's");
}

nlm::Params nlm_params(const SessionChoice& choice, bool volumes) {
  const auto profile = nlm::parse(nlm::profile_names, choice.profile);
  if (!profile) refuse_name("profile", choice.profile, "fast, balanced, high or paper");
  refuse_results_on_device(choice);
  refuse_matcher(choice);
  if (!volumes) return nlm::make_params(*profile, choice.noise, choice.temporal);
  refuse_time(choice);
  return nlm::make_volume_params(*profile, choice.noise);
}

bm4d::Params volume_params(const SessionChoice& choice) {
  const auto profile = bm4d::parse_profile(choice.profile);
  if (!profile) refuse_name("profile of bm4d", choice.profile, "fast, balanced or high");
  refuse_results_on_device(choice);
  refuse_matcher(choice);
  refuse_time(choice);
  bm4d::Params params = bm4d::make_params(*profile, choice.noise);
  if (choice.adjust_volumes) choice.adjust_volumes(params);
  return params;
}

/// N of "cuda:N", 0 of "cuda"; nothing of other names.
std::optional<int> gpu_of(std::string_view device) {
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
  const std::optional<int> gpu = gpu_of(device);
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
  const FrameFormat seen = choice.uneven ? even_format(format) : format;
  if (choice.method == "bm3d") {
    const bm3d::Params params = picture_params(choice);
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
  if (choice.uneven)
    chosen.denoiser = made_even(*choice.uneven, format, std::move(chosen.denoiser));
  return chosen;
}

}  // namespace lull
