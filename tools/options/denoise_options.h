#pragma once
// The options of `lull denoise` in one table, from which lull makes the parser, the help texts and
// the manual.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm4d/params.h"
#include "io/jobs.h"
#include "io/media.h"
#include "nlm/params.h"
#include "noise/depth/depth_scale.h"
#include "noise/noise_model.h"
#include "noise/render/features.h"
#include "noise/volume/volume_noise.h"
#include "tools/report/log.h"
#include "tools/report/progress.h"

namespace lull::tools {

struct NoiseRecord;  // tools/noise/noise_record.h

enum class DeviceKind { automatic, reference, cpu, cuda };

struct DeviceChoice {
  DeviceKind kind = DeviceKind::automatic;
  std::vector<int> gpus;  // for cuda: indices of visible GPUs without repetition; empty: all
};

enum class Hwaccel { none, cuda };  // cuda: a GPU decodes if it can

/// Treatment of interlaced video. refuse: an error; fields: the fields of each parity are filtered
/// as a video of their own; frames: complete frames are filtered as progressive ones.
enum class Interlaced { refuse, fields, frames };
enum class SecondSearch { window, kept, luma, none };

/// The denoising method. bm3d: pictures, also over time; bm4d: volumes; nlm: both. automatic: by
/// the input.
enum class MethodChoice { automatic, bm3d, bm4d, nlm };

/// Unit of --sigma. automatic: the units of the file for volumes and float stacks, else 8 bits.
enum class SigmaScale { automatic, native, eight_bits, unit };

/// Whether the CPU denoises if a requested GPU is missing or too small, or fails during the run.
/// cpu_at_start: not if the GPU fails during the run.
enum class Fallback { none, cpu_at_start, cpu };

/// A job that several processes share (lull plan).
struct SharedJob {
  std::string folder;                      // empty: no shared job
  std::optional<io::FrameRange> segments;  // segments to denoise; empty: all
  bool plans = false;                      // this process plans the job
  std::shared_ptr<io::JobPlan> plan = {};  // read from the folder, or planned by this process
  std::int64_t start_picture = 0;          // io::SourceOptions::start_picture
  int accepted_damage = 0;                 // --max-decode-errors of the plan
};

/// The page of --report.
struct PageOptions {
  std::string file;                  // HTML file; empty: no page
  std::string reference;             // a clean version of the input; empty: none
  std::vector<std::int64_t> frames;  // frames to show, ascending, from 0; empty: lull chooses
};

/// Depth maps (--depth and the options that imply it).
struct DepthOptions {
  bool on = false;
  /// The value that marks holes, in addition to values that are not finite; NaN: no other value.
  std::optional<double> invalid;
  DepthNoise noise = DepthNoise::constant;
  /// The depth at which the noise level is --sigma; empty: the median depth.
  std::optional<double> reference;
};

/// The source of a feature of renders: a layer of the input, or a file.
struct FeatureChoice {
  Feature feature;
  std::string layer, file;  // one of them is empty
};

/// Names of these inputs in jobs and messages.
inline constexpr const char* guide_name = "--guide";
[[nodiscard]] inline std::string option_of(Feature feature) {
  return "--feature " + std::string(feature_names[static_cast<std::size_t>(feature)]);
}

struct DenoiseOptions {
  std::string input, output;
  std::vector<std::string>
      operands;  // file names given without -i and -o, in order; see assign_operands()
  bool overwrite = false, quiet = false;
  bool follow_links = true;  // io::SinkOptions::follow_links; no option sets it
  io::Access access;         // io::SinkOptions::access; no option sets it

  std::optional<std::array<float, 3>> sigma;  // empty: estimated, or in noise_file
  SigmaScale sigma_scale = SigmaScale::automatic;
  std::string noise_file;  // empty: none
  /// Noise that was estimated already, used instead of a noise file; null: none. No option sets it.
  std::shared_ptr<const NoiseRecord> known_noise;
  std::optional<NoiseKind> noise_kind;  // for volumes; empty: from their background
  DepthOptions depth;
  std::string noise_map;  // file of the noise map to write; empty: none
  float strength = 1;     // factor for the noise level
  bm3d::Profile profile = bm3d::Profile::balanced;
  std::optional<int> temporal;  // temporal radius; empty: by the input
  bool align = false;           // frames of a burst are shifted and rotated and must be aligned
  std::vector<std::function<void(bm3d::Params&)>> overrides;  // applied to the profile
  /// Given options that affect only a Wiener phase with fixed transforms. If the profile best uses
  /// patches from neighbouring frames, it has no such phase.
  std::vector<std::string> wiener_only;
  bool search_step = false;                   // whether --search-step was given
  std::optional<SecondSearch> second_search;  // empty: by the profile
  /// By phase: matching by clusters instead of windows. Empty: by the profile.
  std::optional<std::array<bool, 2>> by_clusters;
  std::optional<ClusterParams> clusters;  // empty: default values
  MethodChoice method = MethodChoice::automatic;
  bool stack = false;         // the user states that the frames are slices of a volume
  std::string mask;           // volume that is 0 outside of the region of interest; empty: no mask
  bool zero_outside = false;  // the result is 0 outside of the mask; else it keeps the input
  std::vector<std::function<void(bm4d::Params&)>> volume_overrides;  // for bm4d
  std::vector<std::function<void(nlm::Params&)>> nlm_overrides;      // for nlm
  std::string guide;  // clip in which patches are matched; auto: features; empty: the input
  std::vector<FeatureChoice> features;  // of renders; --guide auto adds its own
  /// Given options that only one method has.
  std::vector<std::string> bm3d_only, bm4d_only, nlm_only;

  DeviceChoice device;
  Hwaccel hwaccel = Hwaccel::none;
  int streams = bm3d::default_streams;
  int threads = 0;

  std::optional<std::int64_t> keep;   // only this frame is written, counted from 0
  std::optional<std::int64_t> at_us;  // for `lull preview`: time of the frame
  /// For `lull preview` of a volume: x, y, z and optionally the number of the volume.
  std::vector<std::int64_t> at_voxel;

  std::string vcodec, pix_fmt;
  std::optional<double> crf;
  std::vector<std::pair<std::string, std::string>> vopts;
  bool lossless = false;
  double scale = 1;  // factor for width and height of the result
  bool strict_metadata = false;
  io::Drops drops;
  Interlaced interlaced = Interlaced::refuse;
  bool keep_grain =
      false;  // film grain parameters go into the stream, and the player adds the grain
  std::string grain_table;  // file of the grain table to write; empty: none

  io::SourceOptions source;   // set by the options for inputs
  io::RawVideo raw;           // used if its pix_fmt is set
  bool sized = false;         // --size was given
  double white = 0;           // white of float samples; 0: from the first frame
  std::string output_format;  // container; empty: by the output's name
  io::DataType datatype = io::DataType::same;

  ProgressOptions progress;
  LogOptions log;
  PageOptions page;
  int max_decode_errors = 0;
  int segment_frames = 0;  // 0: no segments
  bool resume = false;
  Fallback fallback = Fallback::none;
  SharedJob job;
  /// All given options with the names of their rows, in the given order.
  std::vector<std::pair<std::string, std::string>> given;
};

/// A row of the table. `apply` parses the value (empty for a flag), stores it in the options and
/// throws InvalidArgument if the value is invalid.
struct OptionRow {
  std::string_view names;  // "-i,--input"; a name without dash is an operand
  std::string_view value;  // placeholder of the value in the help; empty: a flag
  std::string_view group;  // heading in the help
  std::string_view help;
  void (*apply)(DenoiseOptions& options, const std::string& value);
  std::string_view brief = {};  // short text for --help; empty: only in --help-all
  bool repeatable = false;      // the values of all occurrences are joined with commas
};

[[nodiscard]] std::span<const OptionRow> denoise_option_table();

/// The options of `lull preview`: its own and those of the table that affect its frame.
[[nodiscard]] std::vector<OptionRow> preview_option_rows();

/// Returns the rows of denoise_option_table() about the noise.
[[nodiscard]] std::span<const OptionRow> noise_option_rows();
/// Returns the rows of denoise_option_table() about depth maps.
[[nodiscard]] std::span<const OptionRow> depth_option_rows();
/// Returns the rows of denoise_option_table() about the format of results.
[[nodiscard]] std::span<const OptionRow> encoding_option_rows();
/// Returns the rows of denoise_option_table() about reports and about behaviour after errors.
[[nodiscard]] std::span<const OptionRow> report_option_rows();
/// Returns the rows of denoise_option_table() about volumes.
[[nodiscard]] std::span<const OptionRow> volume_option_rows();
/// Returns the rows of denoise_option_table() about non-local means.
[[nodiscard]] std::span<const OptionRow> nlm_option_rows();
/// Returns the rows of denoise_option_table() about patch matching.
[[nodiscard]] std::span<const OptionRow> matcher_option_rows();
/// Returns the rows of denoise_option_table() about reading inputs and about the frames to process.
[[nodiscard]] std::span<const OptionRow> media_option_rows();
/// The reader options from the rows of media_option_rows().
/// @throws InvalidArgument  an option is missing, or options contradict each other
[[nodiscard]] io::SourceOptions source_options(const DenoiseOptions& options);

/// Assigns the operands to the input and the output that were not given with -i and -o, in this
/// order. @throws InvalidArgument  there are too many operands
void assign_operands(DenoiseOptions& options);

/// Checks the combinations of --grain and --grain-table with other options; called by check(), as
/// are the next three functions.
void check_grain(const DenoiseOptions& options);
/// Checks the combinations of depth maps with other options.
void check_depth(const DenoiseOptions& options);
/// Checks the combinations of --scale and --align with other options.
void check_scale_and_align(const DenoiseOptions& options);
/// Checks the combinations of --method nlm with other options.
void check_nlm(const DenoiseOptions& options);
/// Whether nlm averages groups that are matched by clusters, instead of search windows.
[[nodiscard]] bool averages_groups(const DenoiseOptions& options);
/// The parameters of nlm if averages_groups(). @throws InvalidArgument
[[nodiscard]] bm3d::Params make_means_params(const DenoiseOptions& options, const NoiseModel& noise,
                                             int temporal);
/// Checks the combinations of nlm on groups with other options.
void check_group_means(const DenoiseOptions& options);
/// Applies --matcher and --cluster to the parameters.
void choose_matchers(const DenoiseOptions& options, bm3d::Params& params);
/// Checks the combination of --matcher and --cluster with other options.
void check_matchers(const DenoiseOptions& options);
/// @throws InvalidArgument  always: the grain of an input that can be read only once cannot be kept
[[noreturn]] void refuse_grain_of_pipe(const std::string& input);

/// Whether patches are matched in another clip.
[[nodiscard]] inline bool has_guide_file(const DenoiseOptions& options) {
  return !options.guide.empty() && options.guide != "auto";
}
/// Whether the input is a render that is denoised with its features.
[[nodiscard]] inline bool uses_features(const DenoiseOptions& options) {
  return options.guide == "auto" || !options.features.empty();
}
/// Whether the method is nlm, as requested or because it is the best one for the other options.
[[nodiscard]] inline bool uses_nlm(const DenoiseOptions& options) {
  return options.method == MethodChoice::nlm ||
         (options.method == MethodChoice::automatic && uses_features(options));
}
/// Checks the combination of all options.
/// @throws InvalidArgument  an option is missing, or options contradict each other
void check(const DenoiseOptions& options);

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
/// Whether an input that is not marked as a stack may be denoised as a volume, as far as known
/// before it is open.
[[nodiscard]] bool may_be_volume(const DenoiseOptions& options);
/// A message if a volume is denoised as pictures because bm4d does not accept a given value; it
/// names the option. Empty otherwise.
[[nodiscard]] std::string method_note(const DenoiseOptions& options, const io::VideoInfo& input);
/// A message if a volume is denoised as pictures because its slices are thick. Empty otherwise.
[[nodiscard]] std::string thickness_note(const DenoiseOptions& options, const io::VideoInfo& input);
/// The parameters of bm4d.
/// @throws InvalidArgument  a value is out of range, or bm4d does not have a given option
[[nodiscard]] bm4d::Params make_volume_params(const DenoiseOptions& options,
                                              const NoiseModel& noise);
/// The parameters of nlm for volumes or for pictures. @throws InvalidArgument
[[nodiscard]] nlm::Params make_nlm_params(const DenoiseOptions& options, const NoiseModel& noise,
                                          bool volumes, int temporal);
/// The given profile, or the default for the input.
[[nodiscard]] bm3d::Profile chosen_profile(const DenoiseOptions& options);
/// The profile of nlm.
[[nodiscard]] nlm::Profile nlm_profile(const DenoiseOptions& options);
/// Whether lull must estimate the noise. (The noise of renders follows from their features.)
[[nodiscard]] inline bool finds_noise(const DenoiseOptions& options) {
  return !options.sigma && options.noise_file.empty() && !options.known_noise &&
         !uses_features(options);
}
/// White noise with the given sigma. Without one the level is arbitrary, and the model serves to
/// check the other parameters.
[[nodiscard]] NoiseModel given_noise(const DenoiseOptions& options);

/// The parameters from the profile, the overrides, and the noise multiplied by the strength.
/// `options` must have passed check().
/// @throws InvalidArgument  a parameter is out of range; the message names it
[[nodiscard]] bm3d::Params make_params(const DenoiseOptions& options, const NoiseModel& noise,
                                       int temporal = 0);

}  // namespace lull::tools
