// Defines the options for the noise, and the scales of --sigma.

#include <cmath>
#include <cstdio>
#include <limits>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

void set_sigma(DenoiseOptions& options, const std::string& text) {
  options.noise.sigma.reset();
  if (text == "auto") return;
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 1 && parts.size() != 3)
    reject("--sigma", text, "must be auto, one number, or Y:Cb:Cr");
  std::array<float, 3> sigma{};
  for (std::size_t i = 0; i < sigma.size(); ++i) {
    const auto value = number<float>(parts.size() == 1 ? parts[0] : parts[i]);
    if (!value || *value < 0 || std::signbit(*value))
      reject("--sigma", text, "must be auto, or a number from 0");
    sigma[i] = *value;
  }
  options.noise.sigma = sigma;
}

constexpr std::pair<std::string_view, float> strengths[] = {
    {"light", 0.7f}, {"medium", 1.0f}, {"strong", 1.4f}};

void set_strength(DenoiseOptions& options, const std::string& text) {
  for (const auto& [name, value] : strengths)
    if (name == text) {
      options.noise.strength = value;
      return;
    }
  const auto value = number<float>(text);
  if (!value || !(*value >= 0.1f && *value <= 10))
    reject("--strength", text, "must be light, medium, strong or a number from 0.1 to 10");
  options.noise.strength = *value;
}

/// Parses "poisson" or "poisson:GAIN:OFFSET:READ". lull estimates missing or empty numbers.
KnownPhotonNoise photons_or_reject(const std::string& text) {
  constexpr const char* form =
      "must be poisson or poisson:GAIN:OFFSET:READ, with a gain above 0 and a read noise from 0";
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 4) reject("--noise", text, form);
  KnownPhotonNoise known;
  std::optional<double>* const members[] = {&known.gain, &known.offset, &known.read};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;  // to be estimated
    const auto value = number<double>(parts[i]);
    if (!value || !std::isfinite(*value)) reject("--noise", text, form);
    *members[i - 1] = value;
  }
  if (known.gain.value_or(1) <= 0 || known.read.value_or(0) < 0) reject("--noise", text, form);
  return known;
}

void set_noise(DenoiseOptions& options, const std::string& text) {
  if (text.empty()) reject("--noise", text, "must be the name of a file, or a kind of noise");
  options.noise.kind.reset();
  options.noise.file.clear();
  options.noise.photons.reset();
  if (text == "poisson" || text.starts_with("poisson:"))
    options.noise.photons = photons_or_reject(text);
  else if (text == "gaussian")
    options.noise.kind = NoiseKind::gaussian;
  else if (text == "rician")
    options.noise.kind = NoiseKind::rician;
  else if (text != "auto")
    options.noise.file = text;
}

constexpr std::pair<std::string_view, SigmaScale> sigma_scales[] = {
    {"native", SigmaScale::native}, {"8bit", SigmaScale::eight_bits}, {"unit", SigmaScale::unit}};
constexpr std::pair<std::string_view, bool> area_choices[] = {{"preserve", true},
                                                              {"filter", false}};

constexpr OptionRow noise_rows[] = {
    {"-s,--sigma", "S|Y:Cb:Cr|auto", OptionGroup::basic, planned | in_preview | in_bids,
     "standard deviation of the noise on the 0..255 scale, at any bit depth: one value for all "
     "planes, or one for each (Y:Cb:Cr or R:G:B); planes with 0 are copied unchanged; auto: "
     "estimate it from the input (default: auto)",
     set_sigma, "noise level: 5 weak, 25 strong (default: estimated)"},
    {"--sigma-scale", "native|8bit|unit", OptionGroup::volumes, planned | in_preview,
     "unit of --sigma: the file's own units, 0..255 or 0..1 (default: native for volumes, "
     "float TIFF stacks and depth maps, otherwise 8bit)",
     [](DenoiseOptions& o, const std::string& v) {
       o.noise.scale = choose("--sigma-scale", v, sigma_scales);
     }},
    {"--noise", "FILE|gaussian|rician|poisson[:GAIN:OFFSET:READ]|auto", OptionGroup::basic,
     planned | in_preview | in_bids | in_noise,
     "use the noise estimate in FILE, written by lull noise -o FILE, instead of an estimate from "
     "this input: one estimate for all clips of a camera; or the kind of noise of a volume: rician "
     "(MRI magnitude), poisson (photon noise of microscopy: gain in units of the file per photon, "
     "offset and read noise in these units; what is not given is estimated), gaussian, or auto, "
     "which is Rician if the background shows it, and poisson in TIFF stacks, OME-Zarr and --stack "
     "if the "
     "noise rises with the brightness (default: auto; a file of that name is ./auto)",
     set_noise},
    {"--strength", "X|light|medium|strong", OptionGroup::basic, planned | in_preview | in_bids,
     "multiply the noise level by X: light is 0.7, medium 1, strong 1.4 (default: medium)",
     set_strength, "light, medium or strong (default: medium)"},
    {"--constant-areas", "preserve|filter", OptionGroup::video, planned | in_preview | in_bids,
     "connected samples of exactly one value that cannot be the result of noise: the background of "
     "a masked volume, padding, saturation, letterboxes. preserve: they remain as they are, bit "
     "for "
     "bit, and do not affect the samples beside them; filter: they are filtered like all other "
     "samples (default: preserve)",
     [](DenoiseOptions& o, const std::string& v) {
       o.method.preserves_areas = choose("--constant-areas", v, area_choices);
     }},
    {"--repair", "auto|off|FILE", OptionGroup::video, in_plan | in_preview | in_noise,
     "replace defective samples of a sensor by estimates from their neighbours, before the noise "
     "is estimated and removed. auto: stuck and dead pixels, impulses, and offsets of rows and "
     "columns that are certain in excerpts of the input; FILE: the pixels of a text with lines X Y "
     "or X Y "
     "FIRST-FRAME LAST-FRAME, or those that are not 0 in a picture (default: auto)",
     [](DenoiseOptions& o, const std::string& v) {
       if (v.empty()) reject("--repair", v, "must be auto, off, or the name of a file");
       o.noise.repair = v;
     }},
};

}  // namespace

std::span<const OptionRow> noise_option_rows() { return noise_rows; }

NoiseModel given_noise(const NoiseOptions& options) {
  return NoiseModel(options.sigma.value_or(std::array<float, 3>{1, 1, 1}));
}

NoiseModel with_strength(const NoiseOptions& options, const NoiseModel& noise) {
  // With a strength of 1, the function skips the multiplication, because noise levels must stay
  // bit-identical.
  return options.strength == 1 ? noise : scaled(noise, options.strength);
}

void rescale_sigma(DenoiseOptions& options, const io::ValueScale& values) {
  if (!options.noise.sigma || options.input.depth.on) return;  // a depth map has its own scale
  double unit = values.full / 255;  // size of one unit of --sigma in the file's values
  if (options.noise.scale == SigmaScale::unit) unit = values.full;
  if (options.noise.scale == SigmaScale::native ||
      (options.noise.scale == SigmaScale::automatic && values.native))
    unit = 1;
  if (unit * 255 == values.span) return;
  for (float& sigma : *options.noise.sigma) {
    const double scaled = sigma * unit / values.span * 255;
    if (!(scaled <= std::numeric_limits<float>::max()))
      throw InvalidArgument("--sigma exceeds all values of the input; see --sigma-scale");
    sigma = static_cast<float>(scaled);
  }
}

std::string scale_note(const DenoiseOptions& options, const io::ValueScale& values) {
  const bool unit = options.noise.scale == SigmaScale::unit;
  if (options.input.depth.on || !values.native ||
      (!unit && options.noise.scale != SigmaScale::eight_bits))
    return {};
  char text[96];
  std::snprintf(text, sizeof text, "--sigma-scale %s: %s is %.4g in the file's own units",
                unit ? "unit" : "8bit", unit ? "1" : "255", values.full);
  return text;
}

}  // namespace lull::tools
