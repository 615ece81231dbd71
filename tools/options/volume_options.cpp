// Defines and checks the options for volumes.

#include <algorithm>
#include <array>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::pair<std::string_view, bool> outsides[] = {{"keep", false}, {"zero", true}};

constexpr std::pair<std::string_view, SeriesChoice> series_choices[] = {
    {"auto", SeriesChoice::automatic}, {"pca", SeriesChoice::pca}, {"each", SeriesChoice::each}};

constexpr OptionRow volume_rows[] = {
    {"--stack", "", OptionGroup::volumes, planned | in_preview | in_noise,
     "the frames of the input, a sequence of pictures or a raw pipe, are the slices of a volume",
     [](DenoiseOptions& o, const std::string&) { o.input.stack = true; }},
    {"--mask", "FILE", OptionGroup::volumes, in_plan | in_preview | only_on_command_line,
     "denoise only where this volume (NIfTI, TIFF stack, OME-Zarr) of the same size is not 0; for "
     "a series, "
     "one volume or as many as the series has",
     [](DenoiseOptions& o, const std::string& v) { o.input.mask = v; }},
    {"--outside", "keep|zero", OptionGroup::volumes, planned | in_preview,
     "voxels outside --mask: keep them unchanged, or set them to 0 (default: keep)",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.zero_outside = choose("--outside", v, outsides);
     }},
    {"--series", "auto|pca|each", OptionGroup::volumes, planned | in_noise | in_bids,
     "4-D NIfTI: pca filters principal components over the volumes, each filters every volume "
     "alone "
     "(default: auto, which is pca from 8 volumes with common content)",
     [](DenoiseOptions& o, const std::string& v) {
       o.method.series = choose("--series", v, series_choices);
     }},
    {"--phase", "FILE", OptionGroup::volumes, in_noise | in_bids | only_on_command_line,
     "phase (NIfTI) of an input of magnitudes (MRI): filter the complex samples, whose noise is "
     "Gaussian, and write their magnitude",
     [](DenoiseOptions& o, const std::string& v) { o.input.phase = file_or_reject("--phase", v); }},
    {"--phase-turn", "X", OptionGroup::volumes, in_noise | only_on_command_line,
     "value of a full turn in the file of --phase (default: by the range of its values: radians, "
     "degrees, 0..4096, -4096..4096)",
     [](DenoiseOptions& o, const std::string& v) {
       const auto turn = number_or_reject<double>("--phase-turn", v);
       if (!(turn > 0)) throw InvalidArgument("--phase-turn " + v + " (must be above 0)");
       o.input.phase_turn = turn;
     }},
    {"--phase-out", "FILE", OptionGroup::volumes, only_on_command_line,
     "write the phase of the filtered complex samples, as NIfTI in the unit of --phase",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.phase = file_or_reject("--phase-out", v);
     }},
    {"--noise-map", "FILE", OptionGroup::volumes, in_plan | in_noise | only_on_command_line,
     "write the noise level of each voxel of a volume, in the units of the volume",
     [](DenoiseOptions& o, const std::string& v) {
       o.noise.map = file_or_reject("--noise-map", v);
     }},
    {"--residuals", "FILE", OptionGroup::volumes, in_plan | only_on_command_line,
     "write what is removed from a volume, input minus output, as floats",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.residuals = file_or_reject("--residuals", v);
     }},
    {"--cube", "A[:B]", OptionGroup::tuning, planned | in_preview | in_bids | for_bm4d,
     "side of a cube in voxels, 3 or 4 (bm4d)",
     [](DenoiseOptions& o, const std::string& v) {
       const auto [a, b] = phases_or_reject("--cube", v);
       const int first = count_or_reject("--cube", a, 3, 4);
       const int second = count_or_reject("--cube", b, 3, 4);
       o.method.volume_overrides.emplace_back([=](bm4d::Params& params) {
         params.hard.cube = first;
         params.wiener.cube = second;
       });
     }},
    {"--mu2-mean", "X", OptionGroup::tuning, planned | in_preview | in_bids | for_bm4d,
     "noise factor of the Wiener filter for the mean over a group, relative to --mu2 (bm4d)",
     [](DenoiseOptions& o, const std::string& v) {
       const auto value = number_or_reject<float>("--mu2-mean", v);
       o.method.volume_overrides.emplace_back(
           [=](bm4d::Params& params) { params.mu2_mean = value; });
     }},
};

std::string only_of_bm4d(const DenoiseOptions& options) {
  return first_given(options, for_bm4d, for_bm3d);
}

/// Returns the first given option that bm4d does not support, or an empty string.
std::string unsupported_by_bm4d(const DenoiseOptions& options) {
  if (std::string given = first_given(options, for_bm3d, for_bm4d); !given.empty()) return given;
  if (has_guide_file(options.method)) return "--guide";
  if (chosen_profile(options) == Profile::paper) return "--profile paper";
  if (options.method.temporal.value_or(0) > 0)
    return "--temporal " + std::to_string(*options.method.temporal);
  if (options.input.interlaced == Interlaced::fields) return "--interlaced fields";
  return {};
}

/// Returns the first given option that is incompatible with the decomposition of a series into
/// components, or an empty string.
std::string refused_by_series(const DenoiseOptions& options) {
  if (options.input.depth.on) return "--depth";
  if (has_guide_file(options.method)) return "--guide";
  if (uses_features(options.method)) return "--feature";
  if (names_defect_file(options.noise)) return "--repair";
  if (options.method.align) return "--align";
  if (options.noise.photons) return "--noise poisson";
  return {};
}

/// Returns a message about the first option value that bm4d does not accept, or an empty string.
std::string out_of_range(const DenoiseOptions& options) {
  try {
    (void)make_volume_params(options, given_noise(options.noise));
    return {};
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

/// Returns whether the slice spacing is much larger than the voxel size within a slice. In such
/// volumes, the filter finds better matches for 2-D patches than for cubes
/// (docs/measurements/volumes.md).
bool has_thick_slices(const io::VideoInfo& input) {
  constexpr double thick = 4;
  return input.spacing[2] >= thick * std::max(input.spacing[0], input.spacing[1]);
}

bool looks_like_volume(const InputOptions& options, const io::VideoInfo& input) {
  constexpr int min_slices = 8;  // in volumes with fewer slices, cubes have too few matches
  const std::int64_t slices = input.stack ? input.slices : input.frames_estimate;
  if (input.over_time) return false;
  return (input.stack || options.stack) && (slices >= min_slices || (options.stack && slices == 0));
}

}  // namespace

std::span<const OptionRow> volume_option_rows() { return volume_rows; }

bm4d::Params make_volume_params(const DenoiseOptions& options, const NoiseModel& noise) {
  if (const std::string option = unsupported_by_bm4d(options); !option.empty())
    throw InvalidArgument(option + " with --method bm4d (bm4d does not support it); leave one out");
  bm4d::Params params =
      bm4d::make_params(chosen_profile(options), with_strength(options.noise, noise).sigmas());
  for (const auto& override_one : options.method.volume_overrides) override_one(params);
  try {
    bm4d::validate(params);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(error.what() + std::string(", or --method bm3d"));
  }
  return params;
}

bool may_be_volume(const DenoiseOptions& options) {
  if (options.input.depth.on) return false;
  if (options.method.choice == MethodChoice::nlm)
    return options.input.stack && !options.method.temporal;
  return options.input.stack && options.method.choice != MethodChoice::bm3d &&
         out_of_range(options).empty();
}

std::string thickness_note(const DenoiseOptions& options, const io::VideoInfo& input) {
  const bool chosen =
      options.method.choice != MethodChoice::automatic || !only_of_bm4d(options).empty();
  if (chosen || !looks_like_volume(options.input, input) || !has_thick_slices(input)) return {};
  return "the slices are at least 4 times as thick as the voxels are wide: denoising slice by "
         "slice (bm3d); --method bm4d uses cubes";
}

std::string method_note(const DenoiseOptions& options, const io::VideoInfo& input) {
  const bool chosen =
      options.method.choice != MethodChoice::automatic || !only_of_bm4d(options).empty();
  if (chosen || !looks_like_volume(options.input, input) || !unsupported_by_bm4d(options).empty())
    return {};
  if (has_thick_slices(input)) return {};
  const std::string why = out_of_range(options);
  if (why.empty()) return {};
  return "'" + options.input.file +
         "' is denoised slice by slice, with --method bm3d: " + why.substr(0, why.rfind(';')) +
         "; values in range allow volume denoising";
}

std::int64_t volumes_of(const io::VideoInfo& input) {
  const bool series = input.volume && input.slices > 0;
  return series ? input.frames_estimate / input.slices : 1;
}

bool may_be_series(const DenoiseOptions& options, const io::VideoInfo& input) {
  constexpr std::int64_t min_volumes = 8;  // with fewer volumes, the gain is small
  const std::int64_t volumes = volumes_of(input);
  const std::string other = refused_by_series(options);
  if (!options.input.phase.empty()) {
    if (!other.empty())
      throw InvalidArgument("--phase with " + other + " (complex samples do not support it); " +
                            "leave one out");
    return true;
  }
  if (options.method.series != SeriesChoice::pca)
    return options.method.series == SeriesChoice::automatic && volumes >= min_volumes &&
           other.empty();
  if (volumes < 2)
    throw InvalidArgument("--series pca for '" + options.input.file +
                          "' (it is not a 4-D NIfTI file with at least 2 volumes); leave it out");
  if (!other.empty())
    throw InvalidArgument("--series pca with " + other +
                          " (components have neither a guide nor defects); leave one out");
  return true;
}

bool is_volume(const DenoiseOptions& options, const io::VideoInfo& input) {
  if (options.input.depth.on) return false;
  const bool stack = input.stack || options.input.stack;
  if (options.method.choice == MethodChoice::bm3d) return false;
  if (options.method.choice == MethodChoice::nlm)
    return looks_like_volume(options.input, input) && !has_thick_slices(input) &&
           !options.method.temporal;
  const bool requested =
      options.method.choice == MethodChoice::bm4d || !only_of_bm4d(options).empty();
  if (requested && !stack)
    throw InvalidArgument(
        (only_of_bm4d(options).empty() ? "--method bm4d" : only_of_bm4d(options)) + " for '" +
        options.input.file + "' (its frames are not slices of a volume); give --stack if they are");
  if (requested) return true;
  return looks_like_volume(options.input, input) && !has_thick_slices(input) &&
         out_of_range(options).empty();
}

bool may_be_slice(const DenoiseOptions& options) {
  const OutputOptions& output = options.output;
  const bool only_picture = options.input.depth.on || options.method.align ||
                            !options.method.guide.empty() || !options.method.features.empty() ||
                            output.scale != 1 || output.keep;
  const bool has_encoder_options = !output.format.empty() || !output.vcodec.empty() ||
                                   !output.pix_fmt.empty() || !output.vopts.empty() || output.crf ||
                                   output.bits != 0 || output.dither != Dither::none ||
                                   output.lossless || output.has_grain();
  return !only_picture && !has_encoder_options;
}

}  // namespace lull::tools
