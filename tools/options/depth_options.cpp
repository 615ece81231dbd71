// Defines and checks the options for depth maps.

#include <cmath>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

void set_invalid(DenoiseOptions& options, const std::string& text) {
  options.input.depth.on = true;
  options.input.depth.invalid =
      text == "nan" ? std::nan("") : number<double>(text).value_or(INFINITY);
  if (std::isinf(*options.input.depth.invalid))
    reject("--invalid", text, "must be a number or nan");
}

void set_sigma_model(DenoiseOptions& options, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  options.input.depth.on = true;
  options.input.depth.reference.reset();
  options.input.depth.noise = DepthNoise::constant;
  if (text == "constant") return;
  options.input.depth.noise = DepthNoise::squared;
  if (parts[0] != "depth2" || parts.size() > 2)
    reject("--sigma-model", text, "must be constant, depth2 or depth2:Z");
  if (parts.size() == 1) return;
  const auto depth = number<double>(parts[1]);
  if (!depth || !(*depth > 0))
    reject("--sigma-model", text, "the depth whose noise is --sigma must be a number above 0");
  options.input.depth.reference = depth;
}

constexpr OptionRow depth_rows[] = {
    {"--depth", "", OptionGroup::renders, planned | in_preview,
     "the input is a map of depths, distances or disparities, or a sequence of them: grey, in any "
     "unit, which is also the unit of --sigma; NaN and infinite samples are holes: they are "
     "preserved, and no patch that contains one is matched (default profile: high)",
     [](DenoiseOptions& o, const std::string&) { o.input.depth.on = true; }},
    {"--invalid", "VALUE|nan", OptionGroup::renders, planned | in_preview,
     "depth maps: samples with this value are holes as well; implies --depth", set_invalid},
    {"--sigma-model", "constant|depth2|depth2:Z", OptionGroup::renders, planned | in_preview,
     "depth maps: how noise depends on depth. constant: not at all. depth2: it grows with the "
     "square of the depth, as in triangulation (stereo, structured light); --sigma is the noise at "
     "depth Z, or at the median depth; depths of 0 and below are holes. Implies --depth (default: "
     "constant)",
     set_sigma_model},
};

/// Returns the first given option that depth maps do not support, or an empty string.
std::string other_than_depth(const DenoiseOptions& o) {
  if (o.method.choice == MethodChoice::bm4d || !first_given(o, for_bm4d, for_bm3d).empty())
    return "--method bm4d";
  if (o.input.stack) return "--stack";
  if (!o.input.mask.empty()) return "--mask";
  if (!o.method.guide.empty()) return "--guide";
  if (!o.method.features.empty()) return "--feature";
  if (o.input.interlaced != Interlaced::refuse) return "--interlaced";
  if (!o.run.job.folder.empty()) return "--job";
  if (o.run.segment_frames > 0) return "--segment-frames";
  if (!o.run.page.file.empty()) return "--report";
  if (o.output.has_grain()) return "--grain";
  if (names_defect_file(o.noise)) return "--repair";
  if (!o.noise.file.empty() || o.noise.kind || !o.noise.map.empty()) return "--noise";
  if (o.input.white != 0) return "--white";
  if (o.output.dither != Dither::none) return "--dither";
  return {};
}

}  // namespace

std::span<const OptionRow> depth_option_rows() { return depth_rows; }

void check_depth(const DenoiseOptions& options) {
  if (!options.input.depth.on) return;
  if (const std::string other = other_than_depth(options); !other.empty())
    throw InvalidArgument(other +
                          " with a depth map (--depth, --invalid and --sigma-model do not " +
                          "support it); leave one out");
}

}  // namespace lull::tools
