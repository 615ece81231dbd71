#include <memory>
#include <string>

#include "core/error.h"
#include "io/jobs.h"
#include "tools/commands/commands.h"
#include "tools/commands/run_sink.h"
#include "tools/sessions/sessions.h"
#include "tools/sessions/shared_job.h"
#include "tools/wrap/enlarging.h"

namespace lull::tools {
namespace {

/// Nothing is decoded but the input's first frame: what else there is to know stands in the plan.
std::unique_ptr<io::MediaSource> open_input(const DenoiseOptions& options) {
  io::SourceOptions source = source_options(options, {{bm3d::BackendKind::cpu}});
  source.gpu.reset();
  add_part(options, source);
  return io::open_source(options.input, source);
}

void join_segments(const DenoiseOptions& options, Log& log) {
  const io::JobPlan& plan = *options.job.plan;
  const io::UnfinishedSegments unfinished = io::find_unfinished(options.job.folder, plan, {});
  if (!unfinished.none())
    throw TryAgain(unfinished.text() + " in '" + options.job.folder +
                   "'; make them with lull denoise " + "--job, then join again");
  const auto source = open_input(options);
  io::SinkOptions given = sink_options(options);
  given.segments->part = io::JobPart::join;
  add_size(options, source->format(), given);
  const auto sink = io::open_sink(options.output, *source, given);
  for (const std::string& text : sink->notes()) log.write(LogLevel::info, text);
  for (const std::string& text : sink->losses())
    log.write(LogLevel::warning, "not in the output: " + text);
  io::Damage damage = plan.damage;
  const auto accepts = [&] {
    const io::Damage copied = sink->damage();
    if (damage.first.empty()) damage.first = copied.first;
    damage.frames = plan.damage.frames + copied.frames;
    return damage.frames <= options.max_decode_errors;
  };
  const std::string kept = sink->finish_if(accepts);
  if (!accepts())
    throw BadData(describe(damage, options.input) +
                  (kept.empty() ? "" : "; what could be made is in '" + kept + "'") +
                  "; plan with --max-decode-errors " + std::to_string(damage.frames));
  log.write(LogLevel::info, std::to_string(plan.frames()) + " frames in " +
                                std::to_string(plan.segments()) + " segments: " + options.output);
}

}  // namespace

int join(const JoinOptions& given) {
  DenoiseOptions options;
  options.job.folder = given.folder;
  options = with_plan(options);
  // What was accepted when the job was planned, is.
  options.max_decode_errors = 0;
  for (const auto& [name, value] : options.job.plan->options)
    if (name == "--max-decode-errors") options.max_decode_errors = std::stoi(value);
  if (!given.input.empty()) options.input = given.input;
  if (!given.output.empty()) options.output = given.output;
  options.overwrite = given.overwrite;
  Log log(options.log, given.quiet);
  if (!given.overwrite && io::is_joined(given.folder, options.output)) {
    log.write(LogLevel::info, "'" + options.output + "' is done already");
    return 0;
  }
  try {
    join_segments(options, log);
  } catch (const IoError& error) {
    throw TryAgain(error.what());
  }
  return 0;
}

}  // namespace lull::tools
