#pragma once
// The options of `lull denoise`, in one table: the parser, --help and whatever is made from them.

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
  std::vector<int> gpus;  // cuda: which of the visible ones, without repetition; empty: all
};

enum class Hwaccel { none, cuda };  // what decodes: the CPU, or a GPU where it can

/// What becomes of interlaced video: an error, the fields of either parity filtered as a video of
/// their own, whole frames as if it were none.
enum class Interlaced { refuse, fields, frames };
enum class SecondSearch { window, kept, luma, none };

/// What denoises: pictures, also over time, or volumes, or either; automatic: volumes where the
/// input is one.
enum class MethodChoice { automatic, bm3d, bm4d, nlm };

/// Units of --sigma; automatic: the file's own for volumes and stacks of floats, else 8 bits.
enum class SigmaScale { automatic, native, eight_bits, unit };

/// What denoises where a GPU was asked for that is not there, too small, or fails on the way;
/// cpu_at_start: but not if it fails on the way.
enum class Fallback { none, cpu_at_start, cpu };

/// A job that several processes share (lull plan).
struct SharedJob {
  std::string folder;                      // empty: none
  std::optional<io::FrameRange> segments;  // which of them to make; empty: all
  bool plans = false;                      // this process plans it
  std::shared_ptr<io::JobPlan> plan = {};  // read from the folder, or being made
  std::int64_t start_picture = 0;          // io::SourceOptions::start_picture
  int accepted_damage = 0;                 // --max-decode-errors of the plan
};

/// What tells of a run beside its messages.
struct PageOptions {
  std::string file;                  // a page of HTML; empty: none
  std::string reference;             // a clean version of the input; empty: none
  std::vector<std::int64_t> frames;  // that are shown, rising, from 0; empty: some
};

/// Depth maps (--depth and what implies it).
struct DepthOptions {
  bool on = false;
  std::optional<double> invalid;  // what marks holes beside what is not finite; NaN: nothing else
  DepthNoise noise = DepthNoise::constant;
  std::optional<double> reference;  // the depth whose noise is --sigma; empty: the median
};

/// Where a feature of renders comes from: a layer of the input, or a file.
struct FeatureChoice {
  Feature feature;
  std::string layer, file;  // one of them is empty
};

/// What jobs and messages call these inputs.
inline constexpr const char* guide_name = "--guide";
[[nodiscard]] inline std::string option_of(Feature feature) {
  return "--feature " + std::string(feature_names[static_cast<std::size_t>(feature)]);
}

struct DenoiseOptions {
  std::string input, output;
  std::vector<std::string> operands;  // names without -i and -o, in order; assign_operands()
  bool overwrite = false, quiet = false;
  bool follow_links = true;  // io::SinkOptions::follow_links; no option sets it
  io::Access access;         // io::SinkOptions::access; no option sets it

  std::optional<std::array<float, 3>> sigma;  // empty: what is found, or in noise_file
  SigmaScale sigma_scale = SigmaScale::automatic;
  std::string noise_file;  // empty: none
  /// Takes the place of a noise file; null: none. No option sets it.
  std::shared_ptr<const NoiseRecord> known_noise;
  std::optional<NoiseKind> noise_kind;  // of volumes; empty: by their background
  DepthOptions depth;
  std::string noise_map;  // where its map is written to; empty: nowhere
  float strength = 1;     // times the noise
  bm3d::Profile profile = bm3d::Profile::balanced;
  std::optional<int> temporal;  // frames on either side; empty: by what is denoised
  bool align = false;           // frames of a burst lie moved and turned against each other
  std::vector<std::function<void(bm3d::Params&)>> overrides;  // on top of the profile
  /// Options given that only the second phase of fixed transforms has, which `best` is without.
  std::vector<std::string> wiener_alone;
  bool search_step = false;                        // whether it was given
  std::optional<SecondSearch> second_search;       // empty: by the profile
  std::optional<std::array<bool, 2>> by_clusters;  // of each phase: not by windows
  std::optional<ClusterParams> clusters;           // empty: as they are by themselves
  MethodChoice method = MethodChoice::automatic;
  bool stack = false;         // the frames are slices of a volume, whatever the input says
  std::string mask;           // a volume whose voxels other than 0 are wanted; empty: all are
  bool zero_outside = false;  // of a mask, in place of what is there
  std::vector<std::function<void(bm4d::Params&)>> volume_overrides;  // the same for bm4d
  std::vector<std::function<void(nlm::Params&)>> nlm_overrides;      // and for nlm
  std::string guide;  // the clip whose patches are compared; auto: features; empty: the input
  std::vector<FeatureChoice> features;  // of renders; beside them those of --guide auto
  /// Given options that only one method has.
  std::vector<std::string> bm3d_alone, bm4d_alone, nlm_alone;

  DeviceChoice device;
  Hwaccel hwaccel = Hwaccel::none;
  int streams = bm3d::default_streams;
  int threads = 0;

  std::optional<std::int64_t> keep;    // the only frame that is written, from 0
  std::optional<std::int64_t> at_us;   // of `lull preview`: the time of its frame
  std::vector<std::int64_t> at_voxel;  // of `lull preview` of a volume: x, y, z, and maybe which

  std::string vcodec, pix_fmt;
  std::optional<double> crf;
  std::vector<std::pair<std::string, std::string>> vopts;
  bool lossless = false;
  double scale = 1;  // of width and height of the result
  bool strict_metadata = false;
  io::Drops drops;
  Interlaced interlaced = Interlaced::refuse;
  bool keep_grain = false;  // in the stream, for the player to put back
  std::string grain_table;  // where what was taken away is written to; empty: nowhere

  io::SourceOptions source;   // what the input's rows set
  io::RawVideo raw;           // counts with a pix_fmt
  bool sized = false;         // --size was given
  double white = 0;           // of float samples; 0: by the first frame
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
  /// All that was given, by the names of the table's rows, in their order.
  std::vector<std::pair<std::string, std::string>> given;
};

/// A row of the table. `apply` reads the text of the value (empty for a flag) into the options.
/// It throws InvalidArgument.
struct OptionRow {
  std::string_view names;  // "-i,--input"; a name without dash is an operand
  std::string_view value;  // what stands for the value in the help; empty: a flag
  std::string_view group;  // heading in the help
  std::string_view help;
  void (*apply)(DenoiseOptions& options, const std::string& value);
  std::string_view brief = {};  // a short line for --help; empty: in --help-all alone
  bool repeatable = false;      // `value` has commas between what each gave
};

[[nodiscard]] std::span<const OptionRow> denoise_option_table();

/// The rows of `lull preview`: its own, and those of the table that its frame depends on.
[[nodiscard]] std::vector<OptionRow> preview_option_rows();

/// The part of the table that says which noise is taken away.
[[nodiscard]] std::span<const OptionRow> noise_option_rows();
/// The part of the table that is about depth maps.
[[nodiscard]] std::span<const OptionRow> depth_option_rows();
/// The part of the table that says in which form results are written.
[[nodiscard]] std::span<const OptionRow> encoding_option_rows();
/// The part of the table that says what is reported, and what happens in trouble.
[[nodiscard]] std::span<const OptionRow> report_option_rows();
/// The part of the table that is about volumes.
[[nodiscard]] std::span<const OptionRow> volume_option_rows();
/// The part of the table that is about non-local means.
[[nodiscard]] std::span<const OptionRow> nlm_option_rows();
[[nodiscard]] std::span<const OptionRow> matcher_option_rows();
/// The part of the table that says how inputs are read, and how streams are cut and limited.
[[nodiscard]] std::span<const OptionRow> media_option_rows();
/// What these rows say. @throws InvalidArgument  something is missing or contradicts itself
[[nodiscard]] io::SourceOptions source_options(const DenoiseOptions& options);

/// Makes the operands what was not given with -i and -o: the input first, then the output.
/// @throws InvalidArgument  there are too many
void assign_operands(DenoiseOptions& options);

/// The same of what --grain and --grain-table go together with; check() calls it.
void check_grain(const DenoiseOptions& options);
/// The same of what depth maps go together with.
void check_depth(const DenoiseOptions& options);
/// The same of what --scale and --align go together with.
void check_scale_and_align(const DenoiseOptions& options);
/// The same of what --method nlm goes together with.
void check_nlm(const DenoiseOptions& options);
/// Whether nlm averages the groups that clusters find, in place of windows.
[[nodiscard]] bool averages_groups(const DenoiseOptions& options);
/// The parameters of that. @throws InvalidArgument
[[nodiscard]] bm3d::Params make_means_params(const DenoiseOptions& options, const NoiseModel& noise,
                                             int temporal);
/// What that does not go together with.
void check_group_means(const DenoiseOptions& options);
/// What --matcher and --cluster say, into the parameters; and whether they agree.
void choose_matchers(const DenoiseOptions& options, bm3d::Params& params);
void check_matchers(const DenoiseOptions& options);
/// @throws InvalidArgument  says that the grain of what can be read but once cannot be kept
[[noreturn]] void refuse_grain_of_pipe(const std::string& input);

/// Whether another clip says which patches are alike.
[[nodiscard]] inline bool has_guide_file(const DenoiseOptions& options) {
  return !options.guide.empty() && options.guide != "auto";
}
/// Whether the input is a render whose features count.
[[nodiscard]] inline bool uses_features(const DenoiseOptions& options) {
  return options.guide == "auto" || !options.features.empty();
}
/// Whether nlm denoises: it is asked for, or suits what is asked for best.
[[nodiscard]] inline bool uses_nlm(const DenoiseOptions& options) {
  return options.method == MethodChoice::nlm ||
         (options.method == MethodChoice::automatic && uses_features(options));
}
/// What the table cannot check row by row.
/// @throws InvalidArgument  something is missing or contradicts itself
void check(const DenoiseOptions& options);

/// Brings sigma, if it is given, to the scale on which the samples of frames are filtered, 0..255.
/// @throws InvalidArgument  it is out of range there
void rescale_sigma(DenoiseOptions& options, const io::ValueScale& values);

/// What 255 or 1 stands for in a file whose own scale nobody stated; empty if that is not asked
/// for.
[[nodiscard]] std::string scale_note(const DenoiseOptions& options, const io::ValueScale& values);

/// Whether patches may come from other frames, as far as can be said before the input is open.
[[nodiscard]] bool may_be_temporal(const DenoiseOptions& options);
/// How many frames on either side of one its patches come from: what --temporal says, or else what
/// suits the input.
[[nodiscard]] int temporal_radius(const DenoiseOptions& options, const io::VideoInfo& input);

/// Whether the input is denoised as a volume. @throws InvalidArgument  it is asked for, but it is
/// none
[[nodiscard]] bool is_volume(const DenoiseOptions& options, const io::VideoInfo& input);
/// Whether it may be although the input does not say that it is a stack, as far as can be said
/// before it is open.
[[nodiscard]] bool may_be_volume(const DenoiseOptions& options);
/// Where a volume is denoised as pictures because bm4d does not take a value that was given: which,
/// in one line; empty otherwise.
[[nodiscard]] std::string method_note(const DenoiseOptions& options, const io::VideoInfo& input);
/// The same where it is because its slices are thick: no fault, but good to know.
[[nodiscard]] std::string thickness_note(const DenoiseOptions& options, const io::VideoInfo& input);
/// The parameters of bm4d. @throws InvalidArgument  also for options that bm4d does not have
[[nodiscard]] bm4d::Params make_volume_params(const DenoiseOptions& options,
                                              const NoiseModel& noise);
/// The parameters of nlm, in volumes or in pictures. @throws InvalidArgument
[[nodiscard]] nlm::Params make_nlm_params(const DenoiseOptions& options, const NoiseModel& noise,
                                          bool volumes, int temporal);
/// The profile that was given, or else what suits the input.
[[nodiscard]] bm3d::Profile chosen_profile(const DenoiseOptions& options);
/// As nlm names it.
[[nodiscard]] nlm::Profile nlm_profile(const DenoiseOptions& options);
/// Whether nobody says what the noise is. (Of renders their features do.)
[[nodiscard]] inline bool finds_noise(const DenoiseOptions& options) {
  return !options.sigma && options.noise_file.empty() && !options.known_noise &&
         !uses_features(options);
}
/// White noise of the sigma that is given; where none is, of some: to see whether all else fits.
[[nodiscard]] NoiseModel given_noise(const DenoiseOptions& options);

/// Profile, overrides and this noise, times the strength, together. `options` must have passed
/// check().
/// @throws InvalidArgument  naming the parameter outside its range
[[nodiscard]] bm3d::Params make_params(const DenoiseOptions& options, const NoiseModel& noise,
                                       int temporal = 0);

}  // namespace lull::tools
