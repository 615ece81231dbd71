// Defines the options for the input.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

/// Parses a non-negative decimal integer. Returns nullopt for other strings.
std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto value = number<std::int64_t>(std::string(text));
  return text.starts_with('-') ? std::nullopt : value;
}

/// Parses a frame rate such as "30000/1001", "25" or "23.976" exactly.
std::optional<Rational> rate(std::string_view text) {
  constexpr std::int64_t max = std::numeric_limits<int>::max();  // limit of FFmpeg's fractions
  Rational result{0, 1};
  std::string digits(text);
  if (const std::size_t slash = text.find('/'); slash != text.npos) {
    result.den = whole_number(text.substr(slash + 1)).value_or(0);
    digits = text.substr(0, slash);
  } else if (const std::size_t point = text.find('.'); point != text.npos) {
    digits.erase(point, 1);
    if (text.size() - point - 1 > 6) return std::nullopt;
    for (std::size_t i = point + 1; i < text.size(); ++i) result.den *= 10;
  }
  result.num = whole_number(digits).value_or(0);
  if (result.num < 1 || result.den < 1 || result.num > max || result.den > max) return std::nullopt;
  return result;
}

void set_size(DenoiseOptions& options, const std::string& text) {
  const std::size_t x = text.find('x');
  const std::string_view sides(text);
  const std::int64_t width = whole_number(sides.substr(0, x)).value_or(0);
  const std::int64_t height = x == text.npos ? 0 : whole_number(sides.substr(x + 1)).value_or(0);
  constexpr int max = 1 << 20;
  if (width < 1 || height < 1 || width > max || height > max)
    reject("--size", text, "must be WIDTHxHEIGHT in samples");
  options.input.raw.width = static_cast<int>(width);
  options.input.raw.height = static_cast<int>(height);
  options.input.sized = true;
}

void set_white(DenoiseOptions& options, const std::string& text) {
  options.input.white = 0;
  if (text == "auto") return;
  options.input.white = number_or_reject<double>("--white", text);
  if (!(options.input.white > 0)) reject("--white", text, "must be auto, or a number above 0");
}

void set_rate(DenoiseOptions& options, const std::string& text) {
  const auto value = rate(text);
  if (!value) reject("--rate", text, "must be frames per second: 25, 23.976 or 30000/1001");
  options.input.source.rate = *value;
}

/// Parses frame ranges such as "10-200,300-". The first frame of the input has the number 0, and
/// the numbers must increase. A range includes its last frame.
void set_frames(DenoiseOptions& options, const std::string& text) {
  const std::string why = "must be rising ranges of frame numbers from 0: 10-200,300- or 7";
  std::vector<io::FrameRange>& ranges = options.input.source.selection.ranges;
  ranges.clear();
  for (const std::string& item : split(text, ',')) {
    const std::string_view part(item);
    const std::size_t dash = part.find('-');
    io::FrameRange range;
    const auto first = whole_number(part.substr(0, dash));
    range.first = first.value_or(-1);
    if (dash == part.npos) {
      range.last = range.first;
    } else if (dash + 1 < part.size()) {
      range.last = whole_number(part.substr(dash + 1)).value_or(-1);
    }
    const bool rising = ranges.empty() || range.first > ranges.back().last;
    if (range.first < 0 || range.last < range.first || !rising) reject("--frames", text, why);
    ranges.push_back(range);
  }
}

/// Parses a time such as "12.5", "1:30" or "1:02:03.250". Returns microseconds, or nullopt for
/// other strings.
std::optional<std::int64_t> time_us(std::string_view text) {
  constexpr std::int64_t second = 1000000, max_seconds = std::int64_t{1} << 40;
  std::int64_t seconds = 0, fraction = 0;
  if (const std::size_t point = text.find('.'); point != text.npos) {
    std::string digits(text.substr(point + 1));
    if (digits.empty() || digits.size() > 6) return std::nullopt;
    digits.resize(6, '0');
    const auto value = whole_number(digits);
    if (!value) return std::nullopt;
    fraction = *value;
    text = text.substr(0, point);
  }
  int parts = 0;
  for (bool more = true; more; ++parts) {
    const std::size_t colon = text.find(':');
    const auto value = whole_number(text.substr(0, colon));
    more = colon != text.npos;
    if (!value || parts > 2 || *value > max_seconds || (parts > 0 && *value > 59))
      return std::nullopt;
    seconds = 60 * seconds + *value;
    if (seconds > max_seconds) return std::nullopt;
    if (more) text.remove_prefix(colon + 1);
  }
  return seconds * second + fraction;
}

std::int64_t time_or_reject(std::string_view option, const std::string& text) {
  const auto value = time_us(text);
  if (!value) reject(option, text, "must be seconds or [hours:]minutes:seconds, to a microsecond");
  return *value;
}

std::int64_t limit_or_reject(std::string_view option, const std::string& text, std::int64_t max) {
  const std::int64_t value = whole_number(text).value_or(0);
  if (value < 1 || value > max)
    reject(option, text, "must be a whole number from 1 to " + std::to_string(max));
  return value;
}

/// Parses an amount of memory, such as "2G", "512M", "1.5G" or bytes, in units of powers of 1024.
void set_max_memory(DenoiseOptions& options, const std::string& text) {
  constexpr std::string_view units = "KMGT";
  std::string digits = text;
  double unit = 1;
  if (!digits.empty() && units.find(digits.back()) != units.npos) {
    unit = std::exp2(10.0 * static_cast<double>(units.find(digits.back()) + 1));
    digits.pop_back();
  }
  const auto value = number<double>(digits);
  const double bytes = value.value_or(0) * unit;
  if (!(bytes >= 1 << 20 && bytes <= std::exp2(60)))
    reject("--max-memory", text, "must be bytes, or a number and K, M, G or T, from 1M");
  options.input.source.limits.memory = static_cast<std::int64_t>(bytes);
}

void set_protocols(DenoiseOptions& options, const std::string& text) {
  for (const std::string& name : split(text, ',')) {
    if (name.empty())
      reject("--allow-protocol", text, "must be names, with commas between several");
    options.input.source.protocols.push_back(name);
  }
}

using io::Drops;

constexpr std::pair<std::string_view, bool Drops::*> drop_kinds[] = {
    {"audio", &Drops::audio}, {"subtitle", &Drops::subtitles},
    {"data", &Drops::data},   {"attachment", &Drops::attachments},
    {"video", &Drops::video}, {"chapters", &Drops::chapters},
    {"tags", &Drops::tags}};

void add_drop(Drops& drops, const std::string& text) {
  constexpr std::int64_t max = std::numeric_limits<int>::max();
  if (const auto index = whole_number(text); index && *index <= max)
    return drops.streams.push_back(static_cast<int>(*index));
  const auto* kind =
      std::ranges::find(drop_kinds, text, &std::pair<std::string_view, bool Drops::*>::first);
  if (kind == std::end(drop_kinds))
    reject("--drop", text,
           "must be the number of a stream, or audio, subtitle, data, attachment, video, chapters "
           "or tags");
  drops.*kind->second = true;
}

void set_drops(DenoiseOptions& options, const std::string& text) {
  options.output.drops = {};
  for (const std::string& part : split(text, ',')) add_drop(options.output.drops, part);
}

void set_video(DenoiseOptions& options, const std::string& text) {
  options.input.all_videos = text == "all";
  options.input.source.video.reset();
  if (options.input.all_videos) return;
  const auto stream = whole_number(text);
  if (!stream || *stream > std::numeric_limits<int>::max())
    reject("--video", text, "must be the number of a stream, see lull probe, or all");
  options.input.source.video = static_cast<int>(*stream);
}

void set_layers(DenoiseOptions& options, const std::string& text) {
  options.input.layers.clear();
  for (const std::string& name : split(text, ',')) {
    if (name.empty()) reject("--layer", text, "must be names, with commas between several");
    options.input.layers.push_back(name);
  }
}

constexpr std::pair<std::string_view, Interlaced> interlacings[] = {
    {"refuse", Interlaced::refuse}, {"fields", Interlaced::fields}, {"frames", Interlaced::frames}};
constexpr OptionRow input_rows[] = {
    {"--interlaced", "refuse|fields|frames", OptionGroup::video, planned | in_preview,
     "interlaced video: refuse it, filter the two fields as separate videos (whatever the input "
     "declares), or filter whole frames (default: refuse)",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.interlaced = choose("--interlaced", v, interlacings);
     }},
    {"--input-format", "NAME", OptionGroup::files, planned | in_preview | in_noise | in_probe,
     "container of the input: y4m, nut or another of FFmpeg's (default: detected from the content)",
     [](DenoiseOptions& o, const std::string& v) { o.input.source.format = v; }},
    {"--raw-format", "PIXFMT", OptionGroup::files, planned | in_preview | in_noise | in_probe,
     "the input is raw samples without a header, in this pixel format of FFmpeg; needs --size",
     [](DenoiseOptions& o, const std::string& v) { o.input.raw.pix_fmt = v; }},
    {"--size", "WxH", OptionGroup::files, planned | in_preview | in_noise | in_probe,
     "frame size of a raw input in samples", set_size},
    {"--rate", "R", OptionGroup::files, planned | in_preview | in_noise | in_probe,
     "frames per second of a raw input or a sequence: 25 or 30000/1001 (default: 25)", set_rate},
    {"--white", "X|auto", OptionGroup::renders, planned | in_preview | in_noise | in_probe,
     "float pictures (OpenEXR, TIFF): the value of white; samples up to it are filtered at full "
     "precision, samples above 1.5 times this value are preserved unchanged; auto: 1, or a larger "
     "power of two if most of the first picture is brighter (default: auto)",
     set_white},
    {"--layer",
     "NAME,NAME",
     OptionGroup::renders,
     planned | in_preview | in_noise | in_probe,
     "OpenEXR: denoise only these layers or views and copy the others, for example right or "
     "diffuse; may be given several times (default: all layers with colours; IDs, depth, motion "
     "and other data are never denoised)",
     set_layers,
     {},
     true},
    {"--output-format", "NAME", OptionGroup::files, planned | in_noise | in_probe,
     "container of the output: y4m, raw, nut or another of FFmpeg's (default: by the extension of "
     "the output; for -: nut or raw if the input is, otherwise y4m)",
     [](DenoiseOptions& o, const std::string& v) { o.output.format = v; }},
    {"--drop",
     "KIND|N",
     OptionGroup::files,
     planned | in_preview | in_noise | in_probe,
     "do not copy these streams: one by its number, or all of a kind: audio, subtitle, data, "
     "attachment (covers too), video (other than the denoised stream), chapters, tags (of the "
     "file); may be given several times",
     set_drops,
     {},
     true},
    {"--video", "N|all", OptionGroup::video, planned | in_preview | in_noise | in_probe,
     "denoise the video stream with this number (see lull probe), or each video stream with its "
     "own noise; other video streams are copied (default: the stream that FFmpeg prefers)",
     set_video},
    {"--keep-times", "", OptionGroup::video, planned | in_probe,
     "keep the timestamps of the input, and gaps where its clock jumps forward (default: the "
     "output begins at 0, and jumps of the clock are bridged)",
     [](DenoiseOptions& o, const std::string&) { o.input.source.keep_times = true; }},
    {"--frames", "A-B,C-", OptionGroup::basic, planned | in_noise | in_probe | only_on_command_line,
     "process only these frames, counted from 0, both ends included; they are joined without gaps, "
     "and audio is cut with them",
     set_frames},
    {"--start", "TIME", OptionGroup::basic, planned | in_noise | in_probe | only_on_command_line,
     "start at this time after the first frame, in seconds or h:m:s",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.source.selection.start_us = time_or_reject("--start", v);
     },
     "start at this time: in seconds, or h:m:s"},
    {"--duration", "TIME", OptionGroup::basic, planned | in_noise | in_probe | only_on_command_line,
     "process only this long",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.source.selection.duration_us = time_or_reject("--duration", v);
     },
     "process only this long"},

    {"--max-pixels", "N", OptionGroup::run, planned | in_preview | in_noise | in_probe,
     "largest frame that is accepted, width times height (default: 2^28)",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.source.limits.pixels = limit_or_reject("--max-pixels", v, std::int64_t{1} << 40);
     }},
    {"--max-frames", "N", OptionGroup::run, planned | in_preview | in_noise | in_probe,
     "fail if the input has more frames (default: no limit)",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.source.limits.frames = limit_or_reject("--max-frames", v, std::int64_t{1} << 60);
     }},
    {"--max-streams", "N", OptionGroup::run, planned | in_preview | in_noise | in_probe,
     "fail if the input has more streams (default: 1000)",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.source.limits.streams =
           static_cast<int>(limit_or_reject("--max-streams", v, std::int64_t{1} << 30));
     }},
    {"--max-memory", "SIZE", OptionGroup::run,
     planned | in_preview | in_bids | in_noise | in_probe | of_machine,
     "limit of host memory for frames and for data in flight between input and output: 2G, 512M; "
     "inputs that need more fail (default: half of the free memory)",
     set_max_memory},
    {"--allow-protocol", "NAME,NAME", OptionGroup::run,
     in_plan | in_preview | in_noise | in_probe | in_join | only_on_command_line,
     "read addresses of these protocols of FFmpeg, for example https; without this option, inputs "
     "are files and pipes, and refer only to files",
     set_protocols},
};

/// Stores the position for `lull preview`: a time in a video, or a voxel of a volume.
void set_position(DenoiseOptions& o, const std::string& v) {
  if (v.find(',') == std::string::npos) {
    o.input.at_us = time_or_reject("--at", v);
    return;
  }
  o.input.at_voxel.clear();
  for (const std::string& part : split(v, ',')) {
    const auto coordinate = number<int>(part);
    if (!coordinate || *coordinate < 0)
      reject("--at", v, "must be X,Y,Z or X,Y,Z,V: whole numbers from 0");
    o.input.at_voxel.push_back(*coordinate);
  }
  if (o.input.at_voxel.size() < 3 || o.input.at_voxel.size() > 4)
    reject("--at", v, "must be a time, X,Y,Z or X,Y,Z,V");
}

}  // namespace

std::span<const OptionRow> input_option_rows() { return input_rows; }

std::vector<OptionRow> preview_option_rows() {
  std::vector<OptionRow> all{
      {"INPUT", "FILE", OptionGroup::basic, 0,
       "video, picture, sequence, render, depth map or stack of slices, as for lull denoise",
       [](DenoiseOptions& o, const std::string& v) { o.input.file = v; }},
      {"-o,--output", "FILE", OptionGroup::basic, only_on_command_line,
       "the PNG file (default: NAME.preview.png in the working folder for an input NAME.mkv)",
       [](DenoiseOptions& o, const std::string& v) { o.output.file = v; },
       "the PNG file (default: NAME.preview.png here)"},
      {"--at", "TIME|X,Y,Z[,V]", OptionGroup::basic, only_on_command_line,
       "the frame at this time after the first one, in seconds or h:m:s (default: a third of the "
       "duration); for a volume the voxel where the cuts intersect, and for a series the number "
       "of the volume, all counted from 0 (default: the centre)",
       set_position, "the frame at this time: seconds or h:m:s; for a volume a voxel"}};
  const std::vector<OptionRow> shared = options_for(in_preview);
  all.insert(all.end(), shared.begin(), shared.end());
  return all;
}

void check_one_picture(const InputOptions& options) {
  if (options.all_videos)
    throw InvalidArgument("--video all (the command shows one video stream); give its number");
  if (options.layers.size() > 1)
    throw InvalidArgument("--layer with several names (the command shows one picture); give one");
}

io::SourceOptions source_options(const InputOptions& options) {
  io::SourceOptions source = options.source;
  const io::Selection& part = source.selection;
  if (!part.ranges.empty() && (part.start_us > 0 || part.duration_us))
    throw InvalidArgument("--frames with --start or --duration; give one of them");
  const bool raw = !options.raw.pix_fmt.empty();
  if (raw && !options.sized)
    throw InvalidArgument("--raw-format without --size (raw video has no header); give --size WxH");
  if (!raw && options.sized)
    throw InvalidArgument(
        "--size without --raw-format (other inputs contain their size); leave it out");
  if (raw && !source.format.empty())
    throw InvalidArgument("--raw-format with --input-format; give one of them");
  if (raw) source.raw = options.raw;
  source.white = options.white;
  if (!options.layers.empty()) source.layer = options.layers.front();
  return source;
}

}  // namespace lull::tools
