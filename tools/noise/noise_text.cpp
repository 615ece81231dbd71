#include "tools/noise/noise_text.h"

#include <algorithm>
#include <cstdio>

namespace lull::tools {
namespace {

std::string text_of(double value) {
  char text[32];
  // The text shows noise levels below 0.1, common in some units, with two significant digits.
  const char* format = value <= 0      ? "%.0f"
                       : value < 0.095 ? "%.2g"
                       : value < 9.95  ? "%.1f"
                                       : "%.0f";
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Formats a number with three significant digits.
std::string exact_text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Describes the correlation of the noise by the noise level of means of 8x8 samples. For white
/// noise, this level would be an eighth of the noise level of samples. A lower level indicates fine
/// noise, and a higher level indicates coarse noise.
std::string describe_correlation(const NoiseEstimate& estimate, double unit) {
  if (estimate.noise.is_white()) return "white";
  const double white = static_cast<double>(estimate.level[0]) / 8;
  const double coarse = static_cast<double>(estimate.coarse);
  return (coarse < white ? "fine (" : "coarse (") + text_of(coarse * unit) + " at 8 px)";
}

std::string levels_of(const NoiseEstimate& estimate, Layout layout, double unit) {
  constexpr const char* names[3][3] = {{"", "", ""}, {"Y ", "Cb ", "Cr "}, {"R ", "G ", "B "}};
  std::string text;
  for (int i = 0; i < (layout == Layout::gray ? 1 : 3); ++i)
    text += (text.empty() ? "" : " ") + std::string(names[static_cast<int>(layout)][i]) +
            text_of(static_cast<double>(estimate.level[i]) * unit);
  return text;
}

/// Describes how the noise depends on brightness. Returns an empty string if the noise does not
/// depend on brightness.
std::string tendency_of(const NoiseModel& noise) {
  for (int i = 0; i < 3; ++i) {
    if (!noise.plane(i).curve) continue;
    const auto& sigma = noise.plane(i).curve->sigma;
    constexpr float clear = 1.25f;
    const float dark = sigma[NoiseCurve::knots / 8], bright = sigma[NoiseCurve::knots * 7 / 8];
    if (bright > clear * dark) return ", rises with brightness";
    if (dark > clear * bright) return ", falls with brightness";
    const auto [lowest, highest] = std::ranges::minmax(sigma);
    if (highest > clear * lowest) return ", varies with brightness";
  }
  return {};
}

/// Returns a string with the confidence of the estimate if the confidence is low, for example
/// because of texture, and otherwise an empty string.
std::string confidence_of(const NoiseEstimate& estimate) {
  constexpr float reliable = 0.8f;
  if (!estimate.certain || estimate.confidence >= reliable) return {};
  char text[32];
  std::snprintf(text, sizeof text, ", confidence %.0f %%",
                static_cast<double>(100 * estimate.confidence));
  return text;
}

/// Returns a string with the coding error (quantisation error of the compression), which filters
/// remove in addition to the noise.
std::string codec_error_of(const NoiseEstimate& estimate, Layout layout, double unit) {
  if (!(estimate.codec_error[0] > 0)) return {};
  NoiseEstimate error;
  error.level = estimate.codec_error;
  return ", codec error " + levels_of(error, layout, unit);
}

}  // namespace

double unit_of_channel(const io::MediaSource& source, std::size_t channel) {
  const io::VideoInfo& info = source.info();
  const bool has_range = info.stack && !info.volume && source.format().sample == SampleType::f32;
  return has_range && !info.values.native ? info.values_of(channel).span / 255 : 0;
}

std::string describe(const NoiseEstimate& estimate, Layout layout, double own_unit) {
  const double unit = own_unit > 0 ? own_unit : 1;
  const bool none = std::ranges::all_of(estimate.noise.sigmas(), [](float s) { return s == 0; });
  std::string text = none ? "none to speak of"
                          : describe_correlation(estimate, unit) + ", " +
                                levels_of(estimate, layout, unit) +
                                (own_unit > 0 ? " (the file's units)" : " (8-bit levels)") +
                                tendency_of(estimate.noise) +
                                codec_error_of(estimate, layout, unit) + confidence_of(estimate);
  if (!estimate.certain)
    text = "cannot tell" + (estimate.why.empty() ? "" : " (" + estimate.why + ")") + "; assumed " +
           text;
  return text;
}

std::string describe(const VolumeEstimate& estimate, double own_unit) {
  const double unit = own_unit > 0 ? own_unit : 1;
  const auto level = [&](float value) { return exact_text_of(static_cast<double>(value) * unit); };
  if (!(estimate.noise.sigma > 0)) return "none to speak of";
  std::string text = estimate.noise.kind == NoiseKind::rician ? "Rician, " : "Gaussian, ";
  text += level(estimate.level) + (own_unit > 0 ? " (the file's units)" : " (8-bit levels)");
  if (estimate.air > 0 || estimate.tissue > 0)
    text += std::string(", by ") + (estimate.air > 0 ? "background" : "") +
            (estimate.air > 0 && estimate.tissue > 0 ? " and " : "") +
            (estimate.tissue > 0 ? "tissue" : "");
  if (const auto& map = estimate.noise.map)
    text += ", " + level(map->min_value()) + " to " + level(map->max_value()) + " over the volume";
  return estimate.certain ? text : "cannot tell (" + estimate.why + "); assumed " + text;
}

std::string describe(const ScenePhotons& photons) {
  std::string text = "photon noise, gain " + exact_text_of(photons.noise.gain) + ", offset " +
                     exact_text_of(photons.noise.offset) + ", read noise " +
                     exact_text_of(photons.noise.read) + " (the file's units)";
  if (photons.bright > 0)
    text += ", rises with brightness from " + exact_text_of(photons.dark) + " to " +
            exact_text_of(photons.bright);
  return text;
}

std::string describe(const SeriesEstimate& series, double own_unit) {
  const double unit = own_unit > 0 ? own_unit : 1;
  std::vector<float> levels = series.levels;
  std::erase(levels, 0.0f);
  std::string text;
  if (levels.empty()) return text;
  const auto [lowest, highest] = std::ranges::minmax(levels);
  if (highest > 1.05f * lowest)
    text += ", " + exact_text_of(static_cast<double>(lowest) * unit) + " to " +
            exact_text_of(static_cast<double>(highest) * unit) + " by volume";
  if (series.components > 0)
    text += "; signal in " + std::to_string(series.components) + " of " +
            std::to_string(series.levels.size()) + " components of the volumes";
  return text;
}

std::vector<std::string> describe(const NoiseRecord& record) {
  std::vector<std::string> lines;
  for (const SceneNoise& scene : record.scenes) {
    std::string from;
    if (!scene.name.empty()) {
      from = scene.name + ": ";
    } else if (record.scenes.size() > 1) {
      char time[48];
      std::snprintf(time, sizeof time,
                    "from %.6g s: ", scene.from_s - record.scenes.front().from_s);
      from = time;
    }
    const double unit = record.unit > 0 ? record.unit : scene.unit;
    lines.push_back(from +
                    (scene.photons  ? describe(*scene.photons)
                     : scene.volume ? describe(*scene.volume, unit)
                                    : describe(scene.estimate, record.layout, unit)) +
                    (scene.series ? describe(*scene.series, unit) : ""));
  }
  return lines;
}

}  // namespace lull::tools
