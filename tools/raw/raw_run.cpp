#include "tools/raw/raw_run.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "core/error.h"
#include "io/files/output_file.h"
#include "io/raw/raw_stream.h"
#include "pipeline/run.h"
#include "tools/raw/raw_plan.h"
#include "tools/report/signals.h"
#include "tools/sessions/device_choice.h"
#include "tools/sessions/open_denoiser.h"

namespace lull::tools {
namespace {

/// Returns the name of the output file for an input file. For a single photograph, the name in the
/// options is not a pattern.
std::string output_name(const DenoiseOptions& options, const io::SequenceFile& input,
                        std::size_t files) {
  const std::string& output = options.output.file;
  if (!io::is_sequence(options.input.file)) return output;
  if (const auto pattern = io::number_pattern(output)) return pattern->name(input.number);
  if (const auto pattern = io::star_pattern(output); pattern && !input.match.empty())
    return pattern->name(input.match);
  if (files == 1) return output;
  throw InvalidArgument("'" + output + "' for " + std::to_string(files) +
                        " photographs (each needs a file of its own); give a name such as "
                        "out.%04d.dng, or --keep K");
}

/// Writes frames to files. With --keep, the sink writes only the selected frame.
class RawSink final : public FrameSink {
 public:
  RawSink(const DenoiseOptions& options, io::RawSource& source, const RawPlan& plan,
          std::optional<std::int64_t> kept, Log& log)
      : options_(options), source_(source), plan_(plan), kept_(kept), log_(log) {}

  void write(Frame frame) override {
    const auto facts = source_.take_facts(frame.pts);
    if (kept_ && *kept_ != frame.pts) return;
    const io::SequenceFile& input = source_.files()[static_cast<std::size_t>(frame.pts)];
    const std::string name = output_name(options_, input, kept_ ? 1 : source_.files().size());
    const io::RawResult result{.facts = facts,
                               .samples = frame,
                               .levels = levels_of_results(plan_.params),
                               .noise_profile = remaining_noise(plan_, frame)};
    const std::vector<std::string> losses =
        io::write_raw_result(name, result,
                             {.overwrite = options_.output.overwrite,
                              .access = options_.output.access & io::access_of({input.path}),
                              .strict_metadata = options_.output.strict_metadata});
    for (const std::string& loss : losses)
      if (reported_.insert(loss).second)
        log_.write(LogLevel::warning, "not in the output: " + loss);
  }
  void finish() override {}

 private:
  const DenoiseOptions& options_;
  io::RawSource& source_;
  const RawPlan& plan_;
  std::optional<std::int64_t> kept_;
  Log& log_;
  std::set<std::string> reported_;
};

/// Checks the names of all outputs, and whether lull may write to the folder of the first output,
/// before lull processes the first frame. For the second check, the function creates a temporary
/// file.
void check_outputs(const DenoiseOptions& options, const io::RawSource& source,
                   std::optional<std::int64_t> kept) {
  bool is_folder_checked = false;
  for (std::size_t i = 0; i < source.files().size(); ++i) {
    if (kept && *kept != static_cast<std::int64_t>(i)) continue;
    const io::SequenceFile& input = source.files()[i];
    const std::string name = output_name(options, input, kept ? 1 : source.files().size());
    if (io::same_file(input.path, name))
      throw InvalidArgument("'" + name + "' is both input and output; give another output");
    io::check_free(name, options.output.overwrite);
    if (!std::exchange(is_folder_checked, true))
      const io::OutputFile trial(name, {.overwrite = options.output.overwrite});
  }
}

JobFacts facts_of(const DenoiseOptions& options, const io::RawSource& source,
                  const std::vector<bm3d::Backend>& backends) {
  JobFacts facts{.input = options.input.file,
                 .output = options.output.file,
                 .format = source.format(),
                 .frames = static_cast<std::int64_t>(source.files().size()),
                 .devices = {}};
  for (const bm3d::Backend& backend : backends) facts.devices.push_back(tools::name_of(backend));
  return facts;
}

/// Restricts the source to the frame that --keep selects, and the neighbouring frames that affect
/// its result. Returns the index of the selected frame, or no value without --keep.
std::optional<std::int64_t> select_kept(const DenoiseOptions& options, io::RawSource& source) {
  if (!options.output.keep) {
    if (options.method.align)
      throw InvalidArgument(
          "--align without --keep (all frames are aligned to this one); give its number");
    return std::nullopt;
  }
  const std::int64_t kept = *options.output.keep;
  const auto files = static_cast<std::int64_t>(source.files().size());
  if (kept >= files)
    throw InvalidArgument("--keep " + std::to_string(kept) + " (the input has " +
                          std::to_string(files) + " photographs, counted from 0); give another");
  io::VideoInfo info;
  info.still = files == 1;
  const int margin = raw_margin(options, info);
  const std::int64_t first = std::max<std::int64_t>(kept - margin, 0);
  source.select(first, std::min<std::int64_t>(kept + margin, files - 1));
  return kept - first;
}

}  // namespace

bool is_raw_input(const DenoiseOptions& options) {
  return io::is_raw_name(options.input.file) && options.input.source.format.empty() &&
         !options.input.source.raw && options.input.raw.pix_fmt.empty();
}

int denoise_raw(const DenoiseOptions& options, Log& log, Progress& progress) {
  check_raw(options);
  const SignalWatch signals([](int) {});
  const auto info = [&](const std::string& text) { log.write(LogLevel::info, text); };
  const auto warn = [&](const std::string& text) { log.write(LogLevel::warning, text); };
  io::check_output_name(options.output.file, options.input.file, {},
                        {.overwrite = options.output.overwrite});
  io::RawSource source(options.input.file, options.input.source.limits.pixels);
  const std::optional<std::int64_t> kept = select_kept(options, source);
  check_outputs(options, source, kept);
  if (const std::string missing = io::missing_numbers(source.files()); !missing.empty())
    info("the sequence has no number " + missing + "; its neighbours are joined");
  const RawPlan plan = plan_raw(options, source.first(), source.files().size());
  info(plan.noise_line);
  ChosenDevices devices = choose_devices(options.run);
  if (!devices.reason.empty()) info(devices.reason);
  const auto denoiser =
      open_raw_session(options, plan, source.format(), kept.value_or(0), devices.backends, warn);
  progress.start(facts_of(options, source, devices.backends));
  RawSink sink(options, source, plan, kept, log);
  pipeline::PipelineOptions pipeline_options;
  pipeline_options.observer = [&](const pipeline::PipelineStats& stats) { progress.update(stats); };
  const pipeline::PipelineStats stats =
      pipeline::run(source, *denoiser, sink, pipeline_options, signals.token());
  if (stats.cancelled) {
    progress.stopped(signals.signal());
    log.write(LogLevel::error, "stopped by signal " + std::to_string(signals.signal()) +
                                   "; finished photographs remain");
    return 128 + signals.signal();
  }
  progress.done(stats, 0);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", stats.seconds);
  info("wrote " + std::to_string(kept ? 1 : stats.frames) +
       (kept || stats.frames == 1 ? " photograph to '" : " photographs to '") +
       options.output.file + "' in " + seconds + " s");
  return 0;
}

}  // namespace lull::tools
