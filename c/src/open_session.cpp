// Opens a denoiser for the parameters of a program.

#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "c/src/log.h"
#include "c/src/session.h"
#include "tools/options/option_table.h"
#include "tools/sessions/device_choice.h"
#include "tools/sessions/method.h"
#include "tools/sessions/open_denoiser.h"

namespace lull::c {
namespace {

/// Returns the noise that is given as "sigma" or as an estimate.
Noise given_noise_of(const lull_params& params, const InputFormat& input) {
  const tools::NoiseOptions& options = params.options.noise;
  if (params.noise && options.sigma)
    throw InvalidArgument(
        "sigma with a noise estimate (both specify the noise); set sigma to auto, or leave one "
        "out");
  if (options.kind == NoiseKind::rician && !input.is_volume)
    throw InvalidArgument(
        "noise rician for frames that are not slices (only volumes have Rician noise); set "
        "format->content to LULL_VOLUME if they are");
  if (params.noise) return *params.noise;
  if (!options.sigma)
    throw InvalidArgument(
        "no noise level (neither sigma nor a noise estimate is set); set sigma, or pass an "
        "estimate to lull_params_set_noise()");
  Noise noise;
  noise.estimate.noise = NoiseModel(*options.sigma);
  if (options.kind == NoiseKind::rician)
    noise.volume = VolumeNoise{.kind = NoiseKind::rician, .sigma = (*options.sigma)[0]};
  return noise;
}

/// Returns the noise for which the samples are stabilised before filtering; nothing if they are not
/// stabilised.
std::optional<VolumeNoise> noise_to_stabilise(const lull_params& params, const Noise& noise,
                                              const InputFormat& input) {
  if (!noise.volume || !input.is_volume) return std::nullopt;
  VolumeNoise volume = *noise.volume;
  if (params.options.noise.kind) volume.kind = *params.options.noise.kind;
  if (volume.is_plain() || !(volume.sigma > 0)) return std::nullopt;
  return volume;
}

std::string device_text(const std::vector<bm3d::Backend>& backends) {
  std::string text = tools::name_of(backends.front());
  for (std::size_t i = 1; i < backends.size(); ++i)
    text += "," + std::to_string(backends[i].device);
  return text;
}

/// Returns whether the session takes frames and leaves results in GPU memory. Frames that several
/// devices may process must be in host memory.
bool works_on_gpu(const tools::Method& method, const tools::RunOptions& run,
                  const std::vector<bm3d::Backend>& backends) {
  return backends.size() == 1 && backends.front().kind == BackendKind::cuda &&
         run.fallback == tools::Fallback::none && !method.volume_noise;
}

/// Selects the method as the command `lull` does for a file with such frames.
tools::Method method_for(const tools::DenoiseOptions& options, const lull_params& params,
                         const InputFormat& input) {
  std::string of_volumes = tools::first_given(options, tools::for_bm4d, tools::for_bm3d);
  if (options.method.choice == tools::MethodChoice::bm4d) of_volumes = "method bm4d";
  if (!input.is_volume && !of_volumes.empty())
    throw InvalidArgument(of_volumes +
                          " for frames that are not slices (only volumes have it); set "
                          "format->content to LULL_VOLUME if they are");
  tools::check_method(options);
  const Noise noise = given_noise_of(params, input);
  tools::Method method = tools::choose_method(options, noise.estimate.noise, input.info());
  method.volume_noise = noise_to_stabilise(params, noise, input);
  return method;
}

}  // namespace

OpenedSession open_denoiser(const InputFormat& input, const lull_params& params,
                            bool results_on_gpu) try {
  tools::DenoiseOptions options = params.options;
  options.input.stack = input.is_volume;
  const tools::Method method = method_for(options, params, input);
  tools::ChosenDevices devices = tools::choose_devices(options.run);
  if (results_on_gpu && options.run.device.kind == tools::DeviceKind::automatic)
    devices.backends.resize(1);
  for (bm3d::Backend& backend : devices.backends) {
    backend.results = {.bits = options.output.bits,
                       .full_range = input.frame.layout != Layout::yuv,
                       .dither = options.output.dither};
    backend.results_on_device =
        results_on_gpu && works_on_gpu(method, options.run, devices.backends);
  }
  tools::OpenedDenoiser opened =
      tools::open_denoiser(method, input.frame, devices.backends, options.run.fallback,
                           [](const std::string& text) { log(LULL_LOG_WARNING, text); });
  if (!opened.backends.front().results_on_device)
    opened.denoiser = tools::preserve_areas(std::move(opened.denoiser), method, input.frame,
                                            opened.backends.front().results);
  if (!devices.reason.empty()) log(LULL_LOG_INFO, devices.reason);
  const bool on_gpu = works_on_gpu(method, options.run, opened.backends);
  return {.input = input,
          .denoiser = std::move(opened.denoiser),
          .margin = tools::margin_of(method),
          .device = device_text(opened.backends),
          .gpu = on_gpu ? std::optional(opened.backends.front().device) : std::nullopt,
          .host = bm3d::frame_memory(opened.backends.front()),
          .results = result_format(input.frame, opened.backends.front().results),
          .is_volume = method.is_volume()};
} catch (const InvalidArgument& error) {
  throw InvalidArgument(in_own_words(error.what()));
}

}  // namespace lull::c
