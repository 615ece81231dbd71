#include "tools/options/denoise_options.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "bm3d/names.h"
#include "core/error.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

using bm3d::Params;
using bm3d::PhaseParams;
using VolumeParams = bm4d::Params;
using VolumePhase = bm4d::PhaseParams;

template <class Enum>
Enum name_or_reject(std::string_view option, const std::string& text) {
  const auto value = bm3d::parse<Enum>(text);
  if (value) return *value;
  std::vector<std::string> names;
  for (const auto& [candidate, name] : bm3d::names_of<Enum>) names.emplace_back(name);
  reject_word(option, text, names);
}

/// Parses "A" (both phases) or "A:B"; `read` converts one part to the member's type.
/// `VolumeMember`: the corresponding member of bm4d; null: there is none.
template <auto Member, auto VolumeMember, class Read>
void set_phases(DenoiseOptions& options, std::string_view option, const std::string& text,
                Read&& read) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 2) reject(option, text, "must be one value, or A:B for the two phases");
  if (parts.size() == 2) options.wiener_only.push_back(std::string(option) + " A:B");
  const auto first = read(option, parts.front()), second = read(option, parts.back());
  options.overrides.emplace_back([=](Params& params) {
    params.hard.*Member = first;
    params.wiener.*Member = second;
  });
  if constexpr (VolumeMember != nullptr)
    options.volume_overrides.emplace_back([=](VolumeParams& params) {
      params.hard.*VolumeMember = first;
      params.wiener.*VolumeMember = second;
    });
  else
    options.bm3d_only.emplace_back(option);
}

template <auto Member, auto VolumeMember>
void set_number(DenoiseOptions& options, std::string_view option, const std::string& text) {
  const auto value = number_or_reject<float>(option, text);
  options.overrides.emplace_back([=](Params& params) { params.*Member = value; });
  if constexpr (VolumeMember != nullptr)
    options.volume_overrides.emplace_back(
        [=](VolumeParams& params) { params.*VolumeMember = value; });
  else
    options.bm3d_only.emplace_back(option);
}

void set_batch(DenoiseOptions& options, const std::string& text) {
  const std::vector<std::string> parts = split(text, 'x');
  const auto width = parts.size() == 2 ? number<int>(parts[0]) : std::nullopt;
  const auto height = parts.size() == 2 ? number<int>(parts[1]) : std::nullopt;
  if (!width || !height) reject("--batch", text, "must be WIDTHxHEIGHT in samples");
  options.overrides.emplace_back(
      [size = bm3d::BatchSize{*width, *height}](Params& params) { params.batch = size; });
  options.bm3d_only.emplace_back("--batch");
}

void set_device(DenoiseOptions& options, const std::string& text) {
  options.device = {};
  if (text == "auto") return;
  if (text == "cpu" || text == "reference") {
    options.device.kind = text == "cpu" ? DeviceKind::cpu : DeviceKind::reference;
    return;
  }
  const std::string why = "must be auto, cpu, reference, cuda or cuda:0,2";
  if (text.rfind("cuda", 0) != 0)
    reject("--device", text, why,
           did_you_mean(text, {"auto", "cpu", "reference", "cuda"}, "see lull devices"));
  options.device.kind = DeviceKind::cuda;
  if (text == "cuda") return;
  if (text[4] != ':') reject("--device", text, why);
  std::vector<int>& gpus = options.device.gpus;
  for (const std::string& part : split(text.substr(5), ',')) {
    const auto gpu = number<int>(part);
    if (!gpu || *gpu < 0) reject("--device", text, why);
    if (std::find(gpus.begin(), gpus.end(), *gpu) != gpus.end())
      reject("--device", text, "GPU " + part + " is listed twice");
    gpus.push_back(*gpu);
  }
}

constexpr std::pair<std::string_view, Hwaccel> hwaccels[] = {{"none", Hwaccel::none},
                                                             {"cuda", Hwaccel::cuda}};
constexpr std::pair<std::string_view, SecondSearch> second_searches[] = {
    {"window", SecondSearch::window},
    {"kept", SecondSearch::kept},
    {"luma", SecondSearch::luma},
    {"none", SecondSearch::none}};

constexpr std::pair<std::string_view, Interlaced> interlacings[] = {
    {"refuse", Interlaced::refuse}, {"fields", Interlaced::fields}, {"frames", Interlaced::frames}};
constexpr std::string_view files = "Files", method = "Method", devices = "Devices";

constexpr OptionRow table[] = {
    {"INPUT", "FILE", files, "same as -i",
     [](DenoiseOptions& o, const std::string& v) { o.operands.push_back(v); }},
    {"OUTPUT", "FILE", files, "same as -o",
     [](DenoiseOptions& o, const std::string& v) { o.operands.push_back(v); }},
    {"-i,--input", "FILE", files,
     "input: a video, a still picture or a stack of slices; - reads standard input; in.%04d.png, "
     "in.####.tif or 'shot_*.tif' (quoted) is a sequence of pictures",
     [](DenoiseOptions& o, const std::string& v) { o.input = v; }},
    {"-o,--output", "FILE", files,
     "output; its extension selects the container (a stack keeps its kind); out.%04d.png writes "
     "one file per frame; - is standard output, null discards the frames, hash prints their "
     "digests (./null is a file)",
     [](DenoiseOptions& o, const std::string& v) { o.output = v; }},
    {"-y,--overwrite", "", files, "replace an existing output",
     [](DenoiseOptions& o, const std::string&) { o.overwrite = true; },
     "replace an existing output"},
    {"-q,--quiet", "", files, "print errors only, and no progress unless --progress is given",
     [](DenoiseOptions& o, const std::string&) { o.quiet = true; }, "print errors only"},

    {"-p,--profile", "fast|balanced|high|best|paper", method,
     "trade-off between speed and quality; best: the same as high, except over time in white noise "
     "(bm3d), where groups are filtered by their own covariance at several times the cost; paper: "
     "the parameters of Honzatko and Krulis 2017, for nlm of Marques and Pardo 2013, for nlm "
     "volumes of Cuomo 2014 (default: balanced)",
     [](DenoiseOptions& o, const std::string& v) {
       o.profile = name_or_reject<bm3d::Profile>("--profile", v);
     },
     "fast, balanced, high or best (default: balanced)"},
    {"--window", "A[:B]", method,
     "side of the search window in samples, odd, 1 to 127; for volumes (bm4d) in voxels, 3 to 15",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::window, &VolumePhase::window>(o, "--window", v,
                                                              number_or_reject<int>);
     }},
    {"--group", "A[:B]", method, "maximum number of patches in a group: 1, 2, 4, 8, 16 or 32",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::group, &VolumePhase::group>(o, "--group", v, number_or_reject<int>);
     }},
    {"--step", "A[:B]", method,
     "distance between reference patches in samples, 1 to 8; for volumes 1 to the side of a cube",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::step, &VolumePhase::step>(o, "--step", v, number_or_reject<int>);
     }},
    {"--tau", "A[:B]", method,
     "match threshold: maximum mean squared difference of two patches, on the 0..255 scale",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::tau, nullptr>(o, "--tau", v, number_or_reject<float>);
     }},
    {"--transform", "A[:B]", method, "2D transform of a patch: dct, bior or dft",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::transform, nullptr>(o, "--transform", v,
                                                    name_or_reject<bm3d::Transform>);
     }},
    {"--group-transform", "A[:B]", method, "1D transform across a group: haar or wht",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::group_transform, nullptr>(o, "--group-transform", v,
                                                          name_or_reject<bm3d::GroupTransform>);
     }},
    {"--kaiser", "A[:B]", method,
     "beta of the Kaiser window in the aggregation, 0 (no window) to 4",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::kaiser, &VolumePhase::kaiser>(o, "--kaiser", v,
                                                              number_or_reject<float>);
     }},
    {"--lambda", "X", method, "hard threshold of the first phase, in units of sigma",
     [](DenoiseOptions& o, const std::string& v) {
       set_number<&Params::lambda, &VolumeParams::lambda>(o, "--lambda", v);
     }},
    {"--lambda-mean", "X", method,
     "threshold for the mean over a group, relative to the threshold of the other coefficients",
     [](DenoiseOptions& o, const std::string& v) {
       set_number<&Params::lambda_mean, &VolumeParams::lambda_mean>(o, "--lambda-mean", v);
     }},
    {"--mu2", "X", method, "noise factor of the Wiener filter: c^2 / (c^2 + mu2 sigma^2)",
     [](DenoiseOptions& o, const std::string& v) {
       set_number<&Params::mu2, &VolumeParams::mu2>(o, "--mu2", v);
       o.wiener_only.emplace_back("--mu2");
     }},
    {"--guide", "FILE", method,
     "match patches in FILE, filter the input; FILE has the same size and length, for example a "
     "result of another filter; auto: the input is a render, and its feature layers are the guide "
     "(bm3d and nlm)",
     [](DenoiseOptions& o, const std::string& v) {
       if (v.empty()) reject("--guide", v, "must be the name of a file");
       o.guide = v;
       if (v != "auto") o.bm3d_only.emplace_back("--guide");
     }},
    {"--guide-noise", "X", method,
     "share of the noisy picture in the guide of the second phase, 0 to 1",
     [](DenoiseOptions& o, const std::string& v) {
       set_number<&Params::guide_noise, nullptr>(o, "--guide-noise", v);
       o.wiener_only.emplace_back("--guide-noise");
     }},
    {"--search-step", "N", method,
     "first phase: search only every N samples, 1 to 16; patches in between reuse their "
     "neighbours' matches; values up to --step search everywhere (default: 4 with high and best "
     "over time in white noise, otherwise everywhere)",
     [](DenoiseOptions& o, const std::string& v) {
       const int step = count_or_reject("--search-step", v, 1, bm3d::max_search_step);
       o.search_step = true;
       o.overrides.emplace_back([=](Params& params) { params.search_step = step; });
       o.bm3d_only.emplace_back("--search-step");
     }},
    {"--near-window", "A[:B]", method,
     "side of the window that patches still search when they reuse their neighbours' matches, odd, "
     "up to 31; 1: no search (default: 1)",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::refine_window, nullptr>(o, "--near-window", v,
                                                        number_or_reject<int>);
     }},
    {"--near-temporal-window", "A[:B]", method,
     "the same for neighbouring frames, around the predicted position, up to 15; 0: no search "
     "(default: 0)",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::refine_temporal_window, nullptr>(o, "--near-temporal-window", v,
                                                                 number_or_reject<int>);
     }},
    {"--second-search", "window|kept|luma|none", method,
     "how the second phase forms its groups. window: by a full search. kept: from the groups that "
     "the first phase found around each patch or cube. none: the groups of the first phase, "
     "unchanged (pictures whose phases have equal step and window). luma: none for luma, kept for "
     "subsampled chroma. (default in white noise: none for fast up to sigma 40, luma for balanced "
     "up to sigma 25, kept for both above that, over time and for bm4d; otherwise, for depth maps, "
     "and with --guide or --matcher cluster: window)",
     [](DenoiseOptions& o, const std::string& v) {
       const SecondSearch how = choose("--second-search", v, second_searches);
       o.second_search = how;
       o.volume_overrides.emplace_back([=](VolumeParams& params) {
         if (how == SecondSearch::none || how == SecondSearch::luma)
           throw InvalidArgument("--second-search " + v +
                                 " with --method bm4d (cubes are always ranked in the basic "
                                 "estimate); choose kept or window");
         params.second_search = how == SecondSearch::window;
       });
     }},
    {"--phases", "1|2|3", method,
     "stop after this phase; 1: the basic estimate is the result (default: 2; 3 for best over "
     "time)",
     [](DenoiseOptions& o, const std::string& v) {
       const int phases = count_or_reject("--phases", v, 1, 3);
       o.overrides.emplace_back([=](Params& params) { params.phases = phases; });
       o.volume_overrides.emplace_back([=](VolumeParams& params) { params.phases = phases; });
     }},
    {"--temporal", "R|auto", method,
     "also search R frames before and after, 0 to 8; auto: 2 for video with balanced and high, 4 "
     "with best and with --align, 0 for stills and slices, and with fast and paper (default: auto)",
     [](DenoiseOptions& o, const std::string& v) {
       o.temporal.reset();
       if (v == "auto") return;
       const auto radius = number<int>(v);
       if (!radius || *radius < 0 || *radius > max_temporal)
         reject("--temporal", v, "must be auto, or from 0 to 8");
       o.temporal = radius;
     },
     "also search R frames before and after (video: 2)"},
    {"--temporal-window", "A[:B]", method,
     "side of the search window in neighbouring frames, centred on the predicted position, odd, 1 "
     "to 63",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::temporal_window, nullptr>(o, "--temporal-window", v,
                                                          number_or_reject<int>);
     }},
    {"--place-bonus", "A[:B]", method,
     "amount subtracted from the distance (mean squared difference) of the patch at the position "
     "that motion predicts",
     [](DenoiseOptions& o, const std::string& v) {
       set_phases<&PhaseParams::motion_bias, nullptr>(o, "--place-bonus", v,
                                                      number_or_reject<float>);
     }},
    {"--scene-cut", "off|T", method,
     "do not match patches across scene cuts; a cut is where more than this share of a frame, 0 to "
     "1, is not predicted by the previous frames (default: 0.5)",
     [](DenoiseOptions& o, const std::string& v) {
       const float share = v == "off" ? 0.0f : number_or_reject<float>("--scene-cut", v);
       if (v != "off" && !(share > 0 && share <= 1))
         reject("--scene-cut", v, "must be off, or a share above 0, up to 1");
       o.overrides.emplace_back([=](Params& params) { params.scene_cut = share; });
       o.nlm_overrides.emplace_back([=](nlm::Params& params) { params.scene_cut = share; });
       o.bm3d_only.emplace_back("--scene-cut");
     }},
    {"--align", "", method,
     "the frames are a hand-held burst: align all frames to frame --keep (shift, rotation, scale) "
     "before motion estimation; the burst counts as one scene unless --scene-cut is given",
     [](DenoiseOptions& o, const std::string&) {
       o.align = true;
       o.bm3d_only.emplace_back("--align");
     }},
    {"--interlaced", "refuse|fields|frames", method,
     "interlaced video: refuse it, filter the two fields as separate videos (whatever the input "
     "declares), or filter whole frames (default: refuse)",
     [](DenoiseOptions& o, const std::string& v) {
       o.interlaced = choose("--interlaced", v, interlacings);
     }},
    {"--batch", "WxH", method,
     "area of reference patches that is processed at a time; it bounds the memory on a GPU "
     "(default: 4096x1088)",
     set_batch},

    {"-d,--device", "DEVICE", devices,
     "auto, cpu, reference, cuda (all GPUs) or cuda:0,2 (these GPUs); auto: all GPUs if there are "
     "any, otherwise the CPU (default: auto)",
     set_device, "auto, cpu, cuda or cuda:0,1 (default: auto)"},
    {"--hwaccel", "none|cuda", devices,
     "cuda: decode on the GPU that denoises (the first one if there are several); formats that it "
     "cannot decode are decoded on the CPU (default: none)",
     [](DenoiseOptions& o, const std::string& v) { o.hwaccel = choose("--hwaccel", v, hwaccels); }},
    {"--streams", "N", devices,
     "frames in flight on each GPU with --temporal 0, 1 to 16 (default: 2)",
     [](DenoiseOptions& o, const std::string& v) {
       o.streams = count_or_reject("--streams", v, 1, 16);
     }},
    {"--threads", "N", devices, "CPU threads for decoding and denoising; 0: all cores (default: 0)",
     [](DenoiseOptions& o, const std::string& v) {
       o.threads = count_or_reject("--threads", v, 0, 1024);
     }},
};

}  // namespace

std::span<const OptionRow> denoise_option_table() {
  static const std::vector<OptionRow> all_rows = [] {
    std::vector<OptionRow> rows(std::begin(table), std::end(table));
    const auto method_rows = std::ranges::find(rows, method, &OptionRow::group);
    rows.insert(method_rows, noise_option_rows().begin(), noise_option_rows().end());
    const auto window = std::ranges::find(rows, "--window", &OptionRow::names);
    rows.insert(window + 1, matcher_option_rows().begin(), matcher_option_rows().end());
    for (const std::span<const OptionRow> more :
         {nlm_option_rows(), depth_option_rows(), encoding_option_rows(), volume_option_rows(),
          media_option_rows(), report_option_rows()})
      rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return all_rows;
}

void assign_operands(DenoiseOptions& options) {
  for (const std::string& name : options.operands) {
    if (options.input.empty()) {
      options.input = name;
    } else if (options.output.empty()) {
      options.output = name;
    } else {
      throw InvalidArgument("'" + name + "' is an unexpected argument (the input is '" +
                            options.input + "', the output is '" + options.output +
                            "'); leave one out");
    }
  }
  options.operands.clear();
}

}  // namespace lull::tools
