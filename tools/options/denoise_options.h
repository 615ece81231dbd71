#pragma once
// The options of `lull denoise`, and the parameters derived from them.

#include <string>
#include <utility>
#include <vector>

#include "tools/options/input_options.h"
#include "tools/options/method_options.h"
#include "tools/options/noise_options.h"
#include "tools/options/output_options.h"
#include "tools/options/run_options.h"

namespace lull::tools {

struct DenoiseOptions {
  InputOptions input;
  NoiseOptions noise;
  MethodOptions method;
  OutputOptions output;
  RunOptions run;
  /// The operands: file names on the command line that are not values of -i or -o.
  /// assign_operands() uses them as input and output.
  std::vector<std::string> operands;
  /// All given options, as pairs of the name in the option table and the value. First come the
  /// options of the settings file and of the environment. The options of the command line follow,
  /// in the order of the option table.
  std::vector<std::pair<std::string, std::string>> given;
};

/// Uses the first operand as the input and the next operand as the output, unless -i or -o
/// specifies them.
/// @throws InvalidArgument  there are too many operands
void assign_operands(DenoiseOptions& options);

/// Checks the combination of all options.
/// @throws InvalidArgument  an option is missing, or options contradict each other
void check(const DenoiseOptions& options);

// check() calls one function for each group of options.

/// Checks the method and its parameters.
void check_method(const DenoiseOptions& options);
void check_grain(const DenoiseOptions& options);
void check_depth(const DenoiseOptions& options);
void check_scale_and_align(const DenoiseOptions& options);
void check_nlm(const DenoiseOptions& options);
/// Checks the options for averaging the patches of groups, a variant of --method nlm
/// (averages_groups()).
void check_group_means(const DenoiseOptions& options);
/// @throws InvalidArgument  always, because --grain keep requires an input that lull can read twice
[[noreturn]] void refuse_grain_of_pipe(const std::string& input);

/// Returns whether the value of --repair is a file with a list of defects.
[[nodiscard]] inline bool names_defect_file(const NoiseOptions& options) {
  return options.repair != repair_auto && options.repair != repair_off;
}
/// Converts the sigma of the options to the 0..255 scale.
/// @throws InvalidArgument  the converted sigma is out of range
void rescale_sigma(DenoiseOptions& options, const io::ValueScale& values);

/// Returns a message for `--sigma-scale 8bit` or `--sigma-scale unit`: which value in the file has
/// the value 255 (8bit) or 1 (unit) on this scale. Returns an empty string for other scales, for
/// depth maps, and if ValueScale::native is false.
[[nodiscard]] std::string scale_note(const DenoiseOptions& options, const io::ValueScale& values);

/// Returns whether the options allow patches from other frames. Whether lull uses such patches also
/// depends on the input.
[[nodiscard]] bool may_be_temporal(const DenoiseOptions& options);
/// Returns the temporal radius: the value of --temporal, or the default for the input.
[[nodiscard]] int temporal_radius(const DenoiseOptions& options, const io::VideoInfo& input);
/// Returns whether the run can filter a TIFF page as a slice of a stack, because no option applies
/// only to pictures.
[[nodiscard]] bool may_be_slice(const DenoiseOptions& options);

/// Returns whether lull denoises the input as a volume.
/// @throws InvalidArgument  the user requests a volume method, but the input is not a volume
[[nodiscard]] bool is_volume(const DenoiseOptions& options, const io::VideoInfo& input);
/// Returns the number of volumes in a 4-D NIfTI file, or 1 for all other inputs.
[[nodiscard]] std::int64_t volumes_of(const io::VideoInfo& input);
/// Returns whether lull may denoise the input as a series, by principal components over its
/// volumes.
/// @throws InvalidArgument  the user requests --series pca, but the input is not a series, or
///     another option is incompatible with --series pca
[[nodiscard]] bool may_be_series(const DenoiseOptions& options, const io::VideoInfo& input);
/// Returns whether lull may treat the input as a volume although the file does not describe a
/// stack.
[[nodiscard]] bool may_be_volume(const DenoiseOptions& options);
/// Returns a message if lull filters slice by slice because of an option that bm4d does not
/// support. Otherwise, returns an empty string.
[[nodiscard]] std::string method_note(const DenoiseOptions& options, const io::VideoInfo& input);
/// Returns a message if lull filters slice by slice because of thick slices. Otherwise, returns an
/// empty string.
[[nodiscard]] std::string thickness_note(const DenoiseOptions& options, const io::VideoInfo& input);
/// Returns whether lull must estimate the noise. For renders, the noise comes from the feature
/// buffers instead.
[[nodiscard]] inline bool finds_noise(const DenoiseOptions& options) {
  const NoiseOptions& noise = options.noise;
  return !noise.sigma && noise.file.empty() && !noise.known && !uses_features(options.method);
}

/// Returns the profile of --profile or --preset, or the default profile for the input.
[[nodiscard]] Profile chosen_profile(const DenoiseOptions& options);
/// Returns the parameters of bm3d, with the noise multiplied by the strength. The caller must first
/// call check().
/// @throws InvalidArgument  a parameter is out of range
[[nodiscard]] bm3d::Params make_params(const DenoiseOptions& options, const NoiseModel& noise,
                                       int temporal = 0);
/// Returns the parameters for averaging the patches of groups, a variant of non-local means
/// (averages_groups()).
/// @throws InvalidArgument  a parameter is out of range
[[nodiscard]] bm3d::Params make_means_params(const DenoiseOptions& options, const NoiseModel& noise,
                                             int temporal);
/// Returns the parameters of bm4d.
/// @throws InvalidArgument  a value is out of range, or bm4d does not support a given option
[[nodiscard]] bm4d::Params make_volume_params(const DenoiseOptions& options,
                                              const NoiseModel& noise);
/// Returns the parameters of non-local means for volumes or pictures.
/// @throws InvalidArgument  a parameter is out of range
[[nodiscard]] nlm::Params make_nlm_params(const DenoiseOptions& options, const NoiseModel& noise,
                                          bool volumes, int temporal);

}  // namespace lull::tools
