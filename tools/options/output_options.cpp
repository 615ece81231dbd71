// Defines the output options: file, encoder, pixel format and size.

#include "core/error.h"
#include "scale/enlarger.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

// Parses encoder options in the form k=v:k=v. In a value, "\:" stands for a colon.
void set_vopts(DenoiseOptions& options, const std::string& text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ':')
      parts.back() += text[++i];
    else if (text[i] == ':')
      parts.emplace_back();
    else
      parts.back() += text[i];
  }
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      reject("--vopts", text, "must be key=value, with colons between several");
    options.output.vopts.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
}

constexpr std::pair<std::string_view, io::Axis> axes[] = {
    {"x", io::Axis::x}, {"y", io::Axis::y}, {"z", io::Axis::z}};
constexpr std::pair<std::string_view, io::DataType> data_types[] = {
    {"same", io::DataType::same},
    {"int16", io::DataType::int16},
    {"float32", io::DataType::float32}};

constexpr std::pair<std::string_view, Dither> dithers[] = {
    {"none", Dither::none}, {"ordered", Dither::ordered}, {"noise", Dither::noise}};

constexpr std::pair<std::string_view, bool> grains[] = {{"keep", true}, {"drop", false}};

constexpr std::pair<std::string_view, bool> raw_results[] = {{"linear", false}, {"mosaic", true}};

constexpr OptionRow output_rows[] = {
    {"--keep", "K", OptionGroup::basic, planned | only_on_command_line,
     "write only frame K, counted from 0: one picture of a burst",
     [](DenoiseOptions& o, const std::string& v) {
       const auto frame = number<std::int64_t>(v);
       if (!frame || *frame < 0) reject("--keep", v, "must be a frame number from 0");
       o.output.keep = frame;
     }},
    {"--scale", "F", OptionGroup::basic, planned,
     "enlarge the result F times in width and height, 1 to 4, with detail from similar patches; "
     "aspect ratios are preserved (default: 1)",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.scale = number_or_reject<double>("--scale", v);
       if (!(o.output.scale >= scale::min_factor && o.output.scale <= scale::max_factor))
         reject("--scale", v, "must be from 1 to 4");
     },
     "enlarge the result F times, 1 to 4"},
    {"--vcodec", "NAME", OptionGroup::files, planned,
     "encoder, by FFmpeg's name (default: selected by the output's name: libx264, libx265 above 8 "
     "bits, FFV1 with --lossless; a still picture keeps its format)",
     [](DenoiseOptions& o, const std::string& v) { o.output.vcodec = v; }},
    {"--crf", "X", OptionGroup::files, planned, "constant rate factor, on the encoder's own scale",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.crf = number_or_reject<double>("--crf", v);
     },
     "quality of the encoder, lower is better (x264: 18)"},
    {"--vopts", "K=V:K=V", OptionGroup::files, planned,
     "further options of the encoder or the container; write \\: for a colon in a value",
     set_vopts},
    {"--pix-fmt", "NAME", OptionGroup::files, planned,
     "pixel format of the result, by FFmpeg's name (default: that of the input, or the closest one "
     "that the output supports)",
     [](DenoiseOptions& o, const std::string& v) { o.output.pix_fmt = v; }},
    {"--bits", "N", OptionGroup::files, planned,
     "bit depth of the result, 8 to 16: the pixel format has the layout of --pix-fmt, or of the "
     "input, with N bits (default: that of the input)",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.bits = number_or_reject<int>("--bits", v);
       if (o.output.bits < 8 || o.output.bits > 16) reject("--bits", v, "must be from 8 to 16");
     }},
    {"--dither", "none|ordered|noise", OptionGroup::files, planned,
     "how results are rounded to the output's bit depth: to nearest, or with a regular or an "
     "irregular pattern, which avoids visible steps in smooth areas at 8 bits (default: none)",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.dither = choose("--dither", v, dithers);
     }},
    {"--lossless", "", OptionGroup::files, planned,
     "encode with FFV1, or with the lossless mode of --vcodec",
     [](DenoiseOptions& o, const std::string&) { o.output.lossless = true; },
     "encode without loss (FFV1)"},

    {"--grain", "keep|drop", OptionGroup::video, planned,
     "keep: describe the removed noise in the AV1 stream, scene by scene, so that the player adds "
     "similar grain; needs --vcodec libaom-av1 and an input that can be read twice (default: drop)",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.keep_grain = choose("--grain", v, grains);
     }},
    {"--grain-table", "FILE", OptionGroup::video, in_plan | only_on_command_line,
     "write the removed noise as a film grain table for AV1 encoders (filmgrn1): its strength by "
     "brightness and its coarseness, scene by scene",
     [](DenoiseOptions& o, const std::string& v) { o.output.grain_table = v; }},

    {"--raw", "linear|mosaic", OptionGroup::files, 0,
     "what a DNG file made from a raw photograph contains: linear red, green and blue, or a Bayer "
     "mosaic like that of the input (default: linear)",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.raw_mosaic = choose("--raw", v, raw_results);
     }},
    {"--strict-metadata", "", OptionGroup::files, planned,
     "fail if the output cannot hold all streams and metadata of the input (without this option: "
     "one warning each)",
     [](DenoiseOptions& o, const std::string&) { o.output.strict_metadata = true; }},

    {"--axis", "x|y|z", OptionGroup::volumes, planned | in_preview,
     "axis along which the slices of a volume are stacked (default: z)",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.source.axis = choose("--axis", v, axes);
     }},
    {"--series-uid", "UID|NUMBER", OptionGroup::volumes, planned | in_preview,
     "DICOM: the series to denoise, by its Series Instance UID or its number, if a folder contains "
     "several",
     [](DenoiseOptions& o, const std::string& v) { o.input.source.series_uid = v; }},
    {"--datatype", "same|int16|float32", OptionGroup::volumes, planned | in_bids,
     "sample type of a volume's output (default: same)",
     [](DenoiseOptions& o, const std::string& v) {
       o.output.datatype = choose("--datatype", v, data_types);
     }},
};

}  // namespace

void check_scale_and_align(const DenoiseOptions& options) {
  const auto refuse_align = [](const char* other, const char* why) {
    throw InvalidArgument(std::string("--align with ") + other + " (" + why + "); leave one out");
  };
  if (options.method.align && options.method.temporal == 0)
    refuse_align("--temporal 0", "alignment requires neighbouring frames");
  if (options.method.align && options.input.interlaced == Interlaced::fields)
    refuse_align("--interlaced fields", "a burst consists of whole frames");
  if (options.method.align && options.input.depth.on)
    refuse_align("--depth", "depth maps are not photographs of a burst");
  if (options.method.align && !options.method.guide.empty())
    refuse_align("--guide", "the frames of the guide would not be aligned");
  if (options.method.align && !options.method.features.empty())
    refuse_align("--feature", "the features would not be aligned");
  if (options.output.scale == 1) return;
  const auto refuse = [](const std::string& other, const std::string& why) {
    throw InvalidArgument("--scale with " + other + " (" + why + "); leave one out");
  };
  if (options.input.interlaced == Interlaced::fields)
    refuse("--interlaced fields", "lines of two fields would be mixed");
  if (options.output.has_grain())
    refuse(options.output.keep_grain ? "--grain keep" : "--grain-table",
           "grain is measured at the size of the input");
  if (!options.input.mask.empty()) refuse("--mask", "volumes cannot be enlarged");
  if (!options.input.phase.empty()) refuse("--phase", "volumes cannot be enlarged");
  if (options.input.depth.on) refuse("--depth", "depths cannot be interpolated across edges");
  if (!options.method.features.empty()) refuse("--feature", "features cannot be enlarged");
  if (!options.method.guide.empty())
    refuse("--guide", "enlarging matches patches in the result itself");
  if (options.method.choice == MethodChoice::bm4d || options.input.stack)
    refuse(options.input.stack ? "--stack" : "--method bm4d", "volumes cannot be enlarged");
}

void refuse_grain_of_pipe(const std::string& input) {
  throw InvalidArgument("--grain keep with the input '" + input +
                        "' (it must be read twice, and a pipe can be read only once); give a "
                        "file, or write a table with --grain-table and encode in a second step");
}

std::span<const OptionRow> output_option_rows() { return output_rows; }

}  // namespace lull::tools
