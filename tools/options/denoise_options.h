#pragma once
// The options of `lull denoise`, and what follows from their combination.

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
  /// File names given without -i and -o, in order; see assign_operands().
  std::vector<std::string> operands;
  /// All given options with the names of their rows, in the given order.
  std::vector<std::pair<std::string, std::string>> given;
};

/// Assigns the operands to the input and the output that were not given with -i and -o, in this
/// order. @throws InvalidArgument  there are too many operands
void assign_operands(DenoiseOptions& options);

/// Checks the combination of all options.
/// @throws InvalidArgument  an option is missing, or options contradict each other
void check(const DenoiseOptions& options);

// Parts of check().

/// Checks the combinations of --grain and --grain-table with other options.
void check_grain(const DenoiseOptions& options);
/// Checks the combinations of depth maps with other options.
void check_depth(const DenoiseOptions& options);
/// Checks the combinations of --scale and --align with other options.
void check_scale_and_align(const DenoiseOptions& options);
/// Checks the combinations of --method nlm with other options.
void check_nlm(const DenoiseOptions& options);
/// Checks the combinations of nlm on groups with other options.
void check_group_means(const DenoiseOptions& options);
/// @throws InvalidArgument  always: the grain of an input that can be read only once cannot be kept
[[noreturn]] void refuse_grain_of_pipe(const std::string& input);

/// Whether --repair names a file of defects.
[[nodiscard]] inline bool names_defect_file(const NoiseOptions& options) {
  return options.repair != repair_auto && options.repair != repair_off;
}
/// Converts a given sigma to the 0..255 scale on which samples are filtered.
/// @throws InvalidArgument  the converted sigma is out of range
void rescale_sigma(DenoiseOptions& options, const io::ValueScale& values);

/// A message for files with their own units: which value of the file corresponds to 255 or 1, the
/// white of --sigma-scale. Empty if the file has no such units, or if --sigma-scale selects neither
/// 8bit nor unit.
[[nodiscard]] std::string scale_note(const DenoiseOptions& options, const io::ValueScale& values);

/// Whether patches may come from other frames, as far as known before the input is open.
[[nodiscard]] bool may_be_temporal(const DenoiseOptions& options);
/// The temporal radius: the value of --temporal, or the default for the input.
[[nodiscard]] int temporal_radius(const DenoiseOptions& options, const io::VideoInfo& input);

/// Whether the input is denoised as a volume.
/// @throws InvalidArgument  a volume method is requested, but the input is not a volume
[[nodiscard]] bool is_volume(const DenoiseOptions& options, const io::VideoInfo& input);
/// Returns the number of volumes of a 4-D NIfTI file; 1 for other inputs.
[[nodiscard]] std::int64_t volumes_of(const io::VideoInfo& input);
/// Whether the input may be denoised as a series, with principal components over its volumes.
/// @throws InvalidArgument  --series pca is given, but the input or other options do not allow it
[[nodiscard]] bool may_be_series(const DenoiseOptions& options, const io::VideoInfo& input);
/// Whether an input that is not marked as a stack may be denoised as a volume, as far as known
/// before it is open.
[[nodiscard]] bool may_be_volume(const DenoiseOptions& options);
/// A message if a volume is denoised as pictures because bm4d does not accept a given value; it
/// names the option. Empty otherwise.
[[nodiscard]] std::string method_note(const DenoiseOptions& options, const io::VideoInfo& input);
/// A message if a volume is denoised as pictures because its slices are thick. Empty otherwise.
[[nodiscard]] std::string thickness_note(const DenoiseOptions& options, const io::VideoInfo& input);
/// Whether lull must estimate the noise. (The noise of renders follows from their features.)
[[nodiscard]] inline bool finds_noise(const DenoiseOptions& options) {
  const NoiseOptions& noise = options.noise;
  return !noise.sigma && noise.file.empty() && !noise.known && !uses_features(options.method);
}

/// The given profile, or the default for the input.
[[nodiscard]] Profile chosen_profile(const DenoiseOptions& options);
/// The parameters from the profile, the overrides, and the noise multiplied by the strength.
/// `options` must have passed check().
/// @throws InvalidArgument  a parameter is out of range; the message names it
[[nodiscard]] bm3d::Params make_params(const DenoiseOptions& options, const NoiseModel& noise,
                                       int temporal = 0);
/// The parameters of nlm if averages_groups(). @throws InvalidArgument
[[nodiscard]] bm3d::Params make_means_params(const DenoiseOptions& options, const NoiseModel& noise,
                                             int temporal);
/// The parameters of bm4d.
/// @throws InvalidArgument  a value is out of range, or bm4d does not have a given option
[[nodiscard]] bm4d::Params make_volume_params(const DenoiseOptions& options,
                                              const NoiseModel& noise);
/// The parameters of nlm for volumes or for pictures. @throws InvalidArgument
[[nodiscard]] nlm::Params make_nlm_params(const DenoiseOptions& options, const NoiseModel& noise,
                                          bool volumes, int temporal);

}  // namespace lull::tools
