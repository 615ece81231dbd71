#include "tools/raw/raw_plan.h"

#include <algorithm>
#include <cstdio>

#include "burst/burst.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "raw/mosaic_samples.h"
#include "raw/noise_search.h"
#include "time/frame_relation.h"
#include "tools/sessions/method.h"

namespace lull::tools {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw InvalidArgument(option + " with a raw photograph (" + why + "); leave it out");
}

raw::Sensor sensor_of(const io::RawFacts& facts) {
  return {.pattern = {facts.colours},
          .black = facts.black,
          .white = facts.white,
          .balance = facts.balance};
}

raw::ColourNoise noise_of(const std::vector<double>& profile) {
  raw::ColourNoise noise;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t at = profile.size() == 6 ? 2 * c : 0;
    noise[c] = {profile[at], std::max(profile[at + 1], 0.0)};
  }
  return noise;
}

std::string text_of(const raw::SensorNoise& noise) {
  char text[96];
  std::snprintf(text, sizeof text, "gain %.3g, offset %.3g of white", noise.gain, noise.offset);
  return text;
}

Method method_of(const DenoiseOptions& options, const RawPlan& plan, const NoiseModel& noise) {
  return choose_method(options, noise, plan.info);
}

/// Refuses options for the encoder, which the writers of DNG files and developed pictures ignore.
void check_raw_encoding(const OutputOptions& output) {
  const char* option = !output.format.empty()          ? "--output-format"
                       : !output.vcodec.empty()        ? "--vcodec"
                       : output.crf.has_value()        ? "--crf"
                       : !output.vopts.empty()         ? "--vopts"
                       : !output.pix_fmt.empty()       ? "--pix-fmt"
                       : output.bits != 0              ? "--bits"
                       : output.dither != Dither::none ? "--dither"
                                                       : nullptr;
  if (option) refuse(option, "its outputs have no encoder, and a fixed sample type");
}

/// Refuses noise options that do not apply to raw photographs.
void check_raw_noise(const NoiseOptions& noise) {
  if (noise.sigma || !noise.file.empty() || noise.kind || noise.photons)
    refuse(noise.sigma ? "--sigma" : "--noise",
           "its noise follows from the sensor's gain and offset; --strength removes more or less");
  if (noise.repair != repair_auto) refuse("--repair", "its defects are always found in the mosaic");
}

/// Refuses options that apply only to volumes and floating-point pictures.
void check_raw_kind(const DenoiseOptions& options) {
  if (options.input.stack || !options.input.mask.empty())
    refuse("--stack or --mask", "it is no volume");
  if (!options.noise.map.empty() || !options.input.phase.empty())
    refuse("--noise-map or --phase", "it is no volume");
  if (options.output.datatype != io::DataType::same ||
      options.method.series != SeriesChoice::automatic)
    refuse("--datatype or --series", "it is no volume");
  if (options.input.source.axis || !options.input.source.series_uid.empty())
    refuse("--axis or --series-uid", "it is no volume");
  if (options.input.white != 0 || !options.input.layers.empty())
    refuse("--white or --layer", "it is no picture of floats");
}

}  // namespace

void check_raw(const DenoiseOptions& options) {
  check_raw_noise(options.noise);
  if (uses_features(options.method) || has_guide_file(options.method))
    refuse("--guide or --feature", "they belong to renders and videos");
  if (options.input.depth.on) refuse("--depth", "it is no depth map");
  check_raw_kind(options);
  check_raw_encoding(options.output);
  if (!options.input.source.selection.all())
    refuse("--frames, --start or --duration", "--keep K selects one photograph");
  if (options.run.segment_frames > 0 || !options.run.job.folder.empty())
    refuse("--segment-frames or a shared job", "each photograph is a file of its own already");
  if (!options.run.page.file.empty())
    refuse("--report", "its pages show developed pictures; develop the result first");
  if (options.output.scale != 1) refuse("--scale", "enlarge the developed picture");
  if (options.output.has_grain() || !options.output.residuals.empty())
    refuse("--grain, --grain-table or --residuals", "they belong to videos and volumes");
  if (options.method.choice == MethodChoice::bm4d || averages_groups(options.method))
    refuse("--method", "raw photographs are denoised with bm3d or nlm");
  if (!io::is_raw_output(options.output.file))
    throw InvalidArgument("'" + options.output.file +
                          "' (a denoised raw photograph is written as DNG, or developed as TIFF, "
                          "PNG or OpenEXR); use .dng");
}

RawPlan plan_raw(const DenoiseOptions& options, const io::RawPicture& first, std::size_t files) {
  RawPlan plan;
  plan.params.sensor = sensor_of(*first.facts);
  plan.params.result = options.output.raw_mosaic ? raw::Result::mosaic : raw::Result::linear;
  plan.info.still = files == 1;
  plan.info.frames_estimate = static_cast<std::int64_t>(files);
  const PlaneView<const std::uint16_t> mosaic = first.mosaic.plane<std::uint16_t>(0);
  if (!first.facts->noise_profile.empty()) {
    plan.noise = noise_of(first.facts->noise_profile);
    plan.noise_line = "noise: " + text_of(plan.noise[1]) + ", from the file's noise profile";
  } else {
    const std::optional<raw::SensorNoise> found = raw::find_noise(mosaic, plan.params.sensor);
    if (!found)
      throw BadData("'" + first.facts->path +
                    "' (no noise is found in its samples); it needs no denoising");
    plan.noise.fill(*found);
    plan.noise_line = "noise: " + text_of(*found) + ", estimated";
  }
  plan.params.vst = std::make_shared<raw::SensorVst>(plan.params.sensor, plan.noise, mosaic);
  return plan;
}

int raw_margin(const DenoiseOptions& options, const io::VideoInfo& info) {
  const Method method = choose_method(options, NoiseModel({1, 1, 1}), info);
  return margin_of(method).before;
}

std::unique_ptr<Denoiser> open_raw_session(const DenoiseOptions& options, const RawPlan& plan,
                                           const FrameFormat& mosaic, std::int64_t kept,
                                           std::vector<bm3d::Backend>& backends,
                                           const Notify& notify) {
  const auto open = [&](const Method& method, const FrameFormat& format) {
    OpenedDenoiser opened = open_denoiser(method, format, backends, options.run.fallback, notify);
    backends = opened.backends;
    return std::move(opened.denoiser);
  };
  const raw::RawFilters filters{.first =
                                    [&](const NoiseModel& noise, const FrameFormat& format) {
                                      Method method = method_of(options, plan, noise);
                                      method.disable_temporal();
                                      return open(method, format);
                                    },
                                .last =
                                    [&](const NoiseModel& noise, const FrameFormat& format) {
                                      const Method method = method_of(options, plan, noise);
                                      auto filter = open(method, format);
                                      if (!options.method.align) return filter;
                                      return burst::aligned(std::move(filter), format,
                                                            main_plane(true), kept,
                                                            margin_of(method).before);
                                    }};
  return raw::open_raw(plan.params, mosaic, filters);
}

io::DngLevels levels_of_results(const raw::RawParams& params) {
  if (params.result == raw::Result::linear) return {.black = {0, 0, 0}, .white = 65535};
  const raw::ResultLevels levels = raw::result_levels(params.sensor);
  return {.black = {levels.black.begin(), levels.black.end()},
          .white = static_cast<double>(levels.white)};
}

std::vector<double> remaining_noise(const RawPlan& plan, const Frame& result) {
  raw::Sensor sensor = plan.params.sensor;
  FramePool pool({.width = result.format.width,
                  .height = result.format.height,
                  .layout = Layout::gray,
                  .sample = SampleType::u16,
                  .bits = 16});
  Frame mosaic = result;
  if (result.format.planes() == 3) {
    mosaic = pool.acquire();
    for (int y = 0; y < result.format.height; ++y)
      for (int x = 0; x < result.format.width; ++x)
        mosaic.plane<std::uint16_t>(0)(x, y) =
            result.plane<std::uint16_t>(sensor.pattern.at(x, y))(x, y);
    sensor.black.fill(0);
    sensor.white = 65535;
  } else {
    const raw::ResultLevels levels = raw::result_levels(sensor);
    sensor.black = levels.black;
    sensor.white = levels.white;
  }
  const auto found = raw::find_noise(mosaic.plane<std::uint16_t>(0), sensor);
  // The function never returns less than a thousandth of the input noise, because find_noise()
  // cannot detect noise that is weaker than rounding errors and texture.
  std::vector<double> profile;
  for (const raw::SensorNoise& noise : plan.noise) {
    const double gain = found ? found->gain : 0, offset = found ? found->offset : 0;
    profile.push_back(std::clamp(gain, 1e-3 * noise.gain, noise.gain));
    profile.push_back(std::clamp(offset, 1e-3 * noise.offset, noise.offset));
  }
  return profile;
}

}  // namespace lull::tools
