// Defines the options for devices, progress, logs, reports, failures and shared jobs.

#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

void set_device(DenoiseOptions& options, const std::string& text) {
  options.run.device = {};
  if (text == "auto") return;
  if (text == "cpu" || text == "reference") {
    options.run.device.kind = text == "cpu" ? DeviceKind::cpu : DeviceKind::reference;
    return;
  }
  const std::string why = "must be auto, cpu, reference, cuda or cuda:0,2";
  if (text.rfind("cuda", 0) != 0)
    reject("--device", text, why,
           did_you_mean(text, {"auto", "cpu", "reference", "cuda"}, "see lull devices"));
  options.run.device.kind = DeviceKind::cuda;
  if (text == "cuda") return;
  if (text[4] != ':') reject("--device", text, why);
  std::vector<int>& gpus = options.run.device.gpus;
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
constexpr std::pair<std::string_view, ProgressMode> progress_modes[] = {
    {"bar", ProgressMode::bar},
    {"plain", ProgressMode::plain},
    {"json", ProgressMode::json},
    {"none", ProgressMode::none}};
constexpr std::pair<std::string_view, LogLevel> log_levels[] = {{"error", LogLevel::error},
                                                                {"warning", LogLevel::warning},
                                                                {"info", LogLevel::info},
                                                                {"debug", LogLevel::debug}};
constexpr std::pair<std::string_view, Fallback> fallbacks[] = {{"none", Fallback::none},
                                                               {"cpu", Fallback::cpu}};

/// Parses the number of a segment ("K") or a range of segments ("K-L", including L). The first
/// segment has the number 0.
io::FrameRange segments_of(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto first = number<std::int64_t>(text.substr(0, dash));
  const auto last = dash == text.npos ? first : number<std::int64_t>(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first)
    reject("--segment", text, "must be a number from 0, or a range of them, 4-7");
  return {*first, *last};
}

/// Parses a list of frame numbers such as "0,120,240".
std::vector<std::int64_t> frames_of_page(const std::string& text) {
  constexpr std::size_t max_frames = 16;
  std::vector<std::int64_t> frames;
  for (const std::string& part : split(text, ',')) {
    const auto frame = number<std::int64_t>(part);
    if (!frame || *frame < 0 || (!frames.empty() && *frame <= frames.back()))
      reject("--report-frames", text, "must be rising numbers of frames from 0, with commas");
    frames.push_back(*frame);
  }
  if (frames.size() > max_frames) reject("--report-frames", text, "must be 16 numbers at most");
  return frames;
}

constexpr OptionRow run_rows[] = {
    {"--config", "FILE", OptionGroup::run,
     in_plan | in_preview | in_bids | in_noise | in_probe | only_on_command_line,
     "read values of options from this TOML file, for example profile = \"high\"; options of the "
     "command line and variables such as LULL_PROFILE have precedence: docs/reference/settings.md",
     [](DenoiseOptions& o, const std::string& v) { o.run.config = file_or_reject("--config", v); }},
    {"-d,--device", "DEVICE", OptionGroup::basic, planned | in_preview | in_bids | of_machine,
     "auto, cpu, reference, cuda (all GPUs) or cuda:0,2 (these GPUs); auto: all GPUs if there are "
     "any, otherwise the CPU (default: auto)",
     set_device, "auto, cpu, cuda or cuda:0,1 (default: auto)"},
    {"--hwaccel", "none|cuda", OptionGroup::video, planned | of_machine,
     "cuda: decode on the GPU that denoises (the first one if there are several); formats that it "
     "cannot decode are decoded on the CPU (default: none)",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.hwaccel = choose("--hwaccel", v, hwaccels);
     }},
    {"--streams", "N", OptionGroup::run, planned | in_bids | of_machine,
     "frames in flight on each GPU with --temporal 0, 1 to 16 (default: 2)",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.streams = count_or_reject("--streams", v, 1, 16);
     }},
    {"--threads", "N", OptionGroup::run, planned | in_preview | in_bids | of_machine,
     "CPU threads for decoding and denoising; 0: all cores (default: 0)",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.threads = count_or_reject("--threads", v, 0, 1024);
     }},
    {"--progress", "bar|plain|json|none", OptionGroup::run, in_plan | of_machine,
     "bar: one line that is updated in place; plain: a line every five seconds; json: one JSON "
     "object per line, see docs/progress.schema.json (default: bar on a terminal, otherwise plain)",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.progress.mode = choose("--progress", v, progress_modes);
     }},
    {"--progress-fd", "N", OptionGroup::run, in_plan | only_on_command_line,
     "file descriptor for progress (default: 2, standard error)",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.progress.descriptor = count_or_reject("--progress-fd", v, 0, 1 << 20);
     }},
    {"--log-level", "error|warning|info|debug", OptionGroup::run,
     in_plan | in_preview | in_bids | of_machine,
     "minimum severity of messages; debug includes FFmpeg's (default: info)",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.log.level = choose("--log-level", v, log_levels);
     }},
    {"--log-file", "FILE", OptionGroup::run, in_plan | in_preview | in_bids | of_machine,
     "also append messages to this file, with timestamps; independent of -q",
     [](DenoiseOptions& o, const std::string& v) { o.run.log.file = v; }},
    {"--metrics-file", "FILE", OptionGroup::run, in_plan | in_preview | only_on_command_line,
     "write metrics of the run for Prometheus, in its text format, every two seconds and at the "
     "end; an existing file is replaced: docs/reference/machine-output.md",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.progress.metrics_file = file_or_reject("--metrics-file", v);
     }},
    {"--report", "FILE", OptionGroup::run, only_on_command_line,
     "write an HTML page about the run: frames before and after, the residual, whether it "
     "looks like noise, the noise estimate, load, settings, digests: docs/reference/reports.md",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.page.file = file_or_reject("--report", v);
     }},
    {"--reference", "CLEAN", OptionGroup::run, only_on_command_line,
     "with --report: a clean version of the input, for comparison with the frames before and after",
     [](DenoiseOptions& o, const std::string& v) { o.run.page.reference = v; }},
    {"--report-frames", "K[,L ...]", OptionGroup::run, only_on_command_line,
     "with --report: show these frames, counted from 0, up to 16 (default: several, spread over "
     "the clip; for a volume three cuts)",
     [](DenoiseOptions& o, const std::string& v) { o.run.page.frames = frames_of_page(v); }},

    {"--max-decode-errors", "N", OptionGroup::run, planned,
     "accept an input with up to N damaged or missing frames; with more, the result keeps its "
     "temporary name and the exit code is 65 (default: 0)",
     [](DenoiseOptions& o, const std::string& v) {
       o.input.max_decode_errors = count_or_reject("--max-decode-errors", v, 0, 1 << 30);
     }},
    {"--segment-frames", "N", OptionGroup::run, planned,
     "encode in segments of N frames, from 2; each finished segment is safe on disk, in the folder "
     "OUTPUT.lull-job, until all are joined into one file; a few hundred is a good value",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.segment_frames = count_or_reject("--segment-frames", v, 2, 1 << 30);
     }},
    {"--resume", "", OptionGroup::run, only_on_command_line,
     "continue an interrupted job in segments, with the same input and options and to the same "
     "bytes; start a job if there is none",
     [](DenoiseOptions& o, const std::string&) { o.run.resume = true; }},
    {"--fallback", "none|cpu", OptionGroup::run, planned | in_bids | of_machine,
     "cpu: denoise on the CPU if there is no GPU, if its memory is too small even with fewer "
     "streams and smaller batches, or if the last GPU fails during the run (not for jobs in "
     "segments) (default: none)",
     [](DenoiseOptions& o, const std::string& v) {
       o.run.fallback = choose("--fallback", v, fallbacks);
     }},

    {"--job", "DIR", OptionGroup::run, in_plan | only_on_command_line,
     "process segments of the job that lull plan wrote to this folder, with the planned options; "
     "other options may be added if they do not change the result; several processes may work on "
     "the same job",
     [](DenoiseOptions& o, const std::string& v) { o.run.job.folder = v; }},
    {"--segment", "K[-L]", OptionGroup::run, only_on_command_line,
     "process only this segment, or this range, counted from 0 (default: all that are not "
     "finished)",
     [](DenoiseOptions& o, const std::string& v) { o.run.job.segments = segments_of(v); }},
};

}  // namespace

std::span<const OptionRow> run_option_rows() { return run_rows; }

}  // namespace lull::tools
