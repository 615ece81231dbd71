// Options for depth maps, and checks of their combinations.

#include <cmath>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::string_view group = "Depth maps";

void set_invalid(DenoiseOptions& options, const std::string& text) {
  options.depth.on = true;
  options.depth.invalid = text == "nan" ? std::nan("") : number<double>(text).value_or(INFINITY);
  if (std::isinf(*options.depth.invalid)) reject("--invalid", text, "must be a number or nan");
}

void set_sigma_model(DenoiseOptions& options, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  options.depth.on = true;
  options.depth.reference.reset();
  options.depth.noise = DepthNoise::constant;
  if (text == "constant") return;
  options.depth.noise = DepthNoise::squared;
  if (parts[0] != "depth2" || parts.size() > 2)
    reject("--sigma-model", text, "must be constant, depth2 or depth2:Z");
  if (parts.size() == 1) return;
  const auto depth = number<double>(parts[1]);
  if (!depth || !(*depth > 0))
    reject("--sigma-model", text, "the depth whose noise is --sigma must be a number above 0");
  options.depth.reference = depth;
}

constexpr OptionRow rows[] = {
    {"--depth", "", group,
     "the input is a map of depths, distances or disparities, or a sequence of them: grey, in any "
     "unit, which is also the unit of --sigma; NaN and infinite samples are holes: they are "
     "preserved, and no patch that contains one is matched (default profile: high)",
     [](DenoiseOptions& o, const std::string&) { o.depth.on = true; }},
    {"--invalid", "VALUE|nan", group,
     "depth maps: samples with this value are holes as well; implies --depth", set_invalid},
    {"--sigma-model", "constant|depth2|depth2:Z", group,
     "depth maps: how noise depends on depth. constant: not at all. depth2: it grows with the "
     "square of the depth, as in triangulation (stereo, structured light); --sigma is the noise at "
     "depth Z, or at the median depth; depths of 0 and below are holes. Implies --depth (default: "
     "constant)",
     set_sigma_model},
};

/// Returns a given option that depth maps do not support; empty if there is none.
std::string other_than_depth(const DenoiseOptions& o) {
  if (o.method == MethodChoice::bm4d || !o.bm4d_only.empty()) return "--method bm4d";
  if (o.stack) return "--stack";
  if (!o.mask.empty()) return "--mask";
  if (!o.guide.empty()) return "--guide";
  if (!o.features.empty()) return "--feature";
  if (o.interlaced != Interlaced::refuse) return "--interlaced";
  if (!o.job.folder.empty()) return "--job";
  if (o.segment_frames > 0) return "--segment-frames";
  if (!o.page.file.empty()) return "--report";
  if (o.keep_grain || !o.grain_table.empty()) return "--grain";
  if (!o.noise_file.empty() || o.noise_kind || !o.noise_map.empty()) return "--noise";
  if (o.white != 0) return "--white";
  return {};
}

}  // namespace

std::span<const OptionRow> depth_option_rows() { return rows; }

void check_depth(const DenoiseOptions& options) {
  if (!options.depth.on) return;
  if (const std::string other = other_than_depth(options); !other.empty())
    throw InvalidArgument(other +
                          " with a depth map (--depth, --invalid and --sigma-model do not " +
                          "support it); leave one out");
}

}  // namespace lull::tools
