// Options for progress, logs and reports, for failures, and for shared jobs.

#include "tools/options/denoise_options.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::string_view reports = "Reports", trouble = "Trouble", shared = "Shared jobs";

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

/// Parses "K" or "K-L", counted from 0, both ends included.
io::FrameRange segments_of(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto first = number<std::int64_t>(text.substr(0, dash));
  const auto last = dash == text.npos ? first : number<std::int64_t>(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first)
    reject("--segment", text, "must be a number from 0, or a range of them, 4-7");
  return {*first, *last};
}

/// Parses "0,120,240".
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

constexpr OptionRow rows[] = {
    {"--progress", "bar|plain|json|none", reports,
     "bar: one line that is updated in place; plain: a line every five seconds; json: one JSON "
     "object per line, see docs/progress.schema.json (default: bar on a terminal, otherwise plain)",
     [](DenoiseOptions& o, const std::string& v) {
       o.progress.mode = choose("--progress", v, progress_modes);
     }},
    {"--progress-fd", "N", reports, "file descriptor for progress (default: 2, standard error)",
     [](DenoiseOptions& o, const std::string& v) {
       o.progress.descriptor = count_or_reject("--progress-fd", v, 0, 1 << 20);
     }},
    {"--log-level", "error|warning|info|debug", reports,
     "minimum severity of messages; debug includes FFmpeg's (default: info)",
     [](DenoiseOptions& o, const std::string& v) {
       o.log.level = choose("--log-level", v, log_levels);
     }},
    {"--log-file", "FILE", reports,
     "also append messages to this file, with timestamps; independent of -q",
     [](DenoiseOptions& o, const std::string& v) { o.log.file = v; }},
    {"--metrics-file", "FILE", reports,
     "write metrics of the run for Prometheus, in its text format, every two seconds and at the "
     "end; an existing file is replaced: docs/reference/machine-output.md",
     [](DenoiseOptions& o, const std::string& v) {
       if (v.empty()) reject("--metrics-file", v, "must be the name of a file");
       o.progress.metrics_file = v;
     }},
    {"--report", "FILE", reports,
     "write an HTML page about the run: frames before and after, the removed part, whether it "
     "looks like noise, the noise estimate, load, settings, digests: docs/reference/reports.md",
     [](DenoiseOptions& o, const std::string& v) {
       if (v.empty()) reject("--report", v, "must be the name of a file");
       o.page.file = v;
     }},
    {"--reference", "CLEAN", reports,
     "with --report: a clean version of the input, for comparison with the frames before and after",
     [](DenoiseOptions& o, const std::string& v) { o.page.reference = v; }},
    {"--report-frames", "K[,L ...]", reports,
     "with --report: show these frames, counted from 0, up to 16 (default: several, spread over "
     "the clip; for a volume three cuts)",
     [](DenoiseOptions& o, const std::string& v) { o.page.frames = frames_of_page(v); }},

    {"--max-decode-errors", "N", trouble,
     "accept an input with up to N damaged or missing frames; with more, the result keeps its "
     "temporary name and the exit code is 65 (default: 0)",
     [](DenoiseOptions& o, const std::string& v) {
       o.max_decode_errors = count_or_reject("--max-decode-errors", v, 0, 1 << 30);
     }},
    {"--segment-frames", "N", trouble,
     "encode in segments of N frames, from 2; each finished segment is safe on disk, in the folder "
     "OUTPUT.lull-job, until all are joined into one file; a few hundred is a good value",
     [](DenoiseOptions& o, const std::string& v) {
       o.segment_frames = count_or_reject("--segment-frames", v, 2, 1 << 30);
     }},
    {"--resume", "", trouble,
     "continue an interrupted job in segments, with the same input and options and to the same "
     "bytes; start a job if there is none",
     [](DenoiseOptions& o, const std::string&) { o.resume = true; }},
    {"--fallback", "none|cpu", trouble,
     "cpu: denoise on the CPU if there is no GPU, if its memory is too small even with fewer "
     "streams and smaller batches, or if the last GPU fails during the run (not for jobs in "
     "segments) (default: none)",
     [](DenoiseOptions& o, const std::string& v) {
       o.fallback = choose("--fallback", v, fallbacks);
     }},

    {"--job", "DIR", shared,
     "process segments of the job that lull plan wrote to this folder, with the planned options; "
     "other options may be added if they do not change the result; several processes may work on "
     "the same job",
     [](DenoiseOptions& o, const std::string& v) { o.job.folder = v; }},
    {"--segment", "K[-L]", shared,
     "process only this segment, or this range, counted from 0 (default: all that are not "
     "finished)",
     [](DenoiseOptions& o, const std::string& v) { o.job.segments = segments_of(v); }},
};

}  // namespace

std::span<const OptionRow> report_option_rows() { return rows; }

}  // namespace lull::tools
