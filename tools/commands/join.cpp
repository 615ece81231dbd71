#include <exception>
#include <memory>
#include <string>

#include "core/error.h"
#include "io/jobs.h"
#include "tools/commands/commands.h"
#include "tools/commands/run_sink.h"
#include "tools/options/run_files.h"
#include "tools/sessions/sessions.h"
#include "tools/sessions/shared_job.h"
#include "tools/wrap/enlarging.h"

namespace lull::tools {
namespace {

/// Opens the input of the job, and decodes only the first frame, because the plan contains all
/// properties of frames.
std::unique_ptr<io::MediaSource> open_input(const DenoiseOptions& options) {
  io::SourceOptions source = source_options(options, {{bm3d::BackendKind::cpu}});
  source.gpu.reset();
  add_part(options, source);
  return io::open_source(options.input.file, source);
}

/// @throws TryAgain  segments are missing or damaged; the message lists the segments
void require_done(const RunOptions& options, io::SegmentCheck check) {
  const std::string& folder = options.job.folder;
  if (io::find_unfinished(folder, *options.job.plan, {}, check).none()) return;
  const io::UnfinishedSegments unfinished = io::find_unfinished(folder, *options.job.plan, {});
  if (unfinished.none()) return;  // another process has finished them in the meantime
  throw TryAgain(unfinished.text() + " in '" + folder +
                 "'; run lull denoise --job for them, then lull join again");
}

void join_segments(const DenoiseOptions& options, Log& log) {
  const io::JobPlan& plan = *options.run.job.plan;
  const auto source = open_input(options);
  io::SinkOptions sink_settings = sink_options(options);
  sink_settings.segments->part = io::JobPart::join;
  add_size(options.output, source->format(), sink_settings);
  const auto sink = io::open_sink(options.output.file, *source, sink_settings);
  for (const std::string& text : sink->notes()) log.write(LogLevel::info, text);
  for (const std::string& text : sink->losses())
    log.write(LogLevel::warning, "not in the output: " + text);
  io::Damage damage = plan.damage;
  const auto is_acceptable = [&] {
    const io::Damage copied = sink->damage();
    if (damage.first.empty()) damage.first = copied.first;
    damage.frames = plan.damage.frames + copied.frames;
    return damage.frames <= options.input.max_decode_errors;
  };
  const std::string kept = sink->finish_if(is_acceptable);
  if (!is_acceptable())
    throw BadData(tools::describe(damage, options.input.file) +
                  (kept.empty() ? "" : "; the incomplete output is in '" + kept + "'") +
                  "; plan with --max-decode-errors " + std::to_string(damage.frames));
  log.write(LogLevel::info, std::to_string(plan.frames()) + " frames in " +
                                std::to_string(plan.segments()) +
                                " segments: " + options.output.file);
}

/// Returns the permission bits of the output: the bits that all inputs of the job have in common.
/// @throws InvalidArgument  the output would overwrite a file of the job
io::Access checked_access(const DenoiseOptions& options) {
  RunFiles files;
  files.read_samples("the input", options.input.file);
  for (const io::JobPlan::AdditionalInput& input : options.run.job.plan->additional)
    files.read_samples(input.name, input.input);
  files.read_job(options.run.job.folder);
  files.write("-o", options.output.file);
  files.check();
  return files.access();
}

}  // namespace

int join(const JoinOptions& given) {
  DenoiseOptions options;
  options.run.job.folder = given.folder;
  if (!given.input.empty()) options.given.emplace_back("-i,--input", given.input);
  options = with_plan(options);
  // The plan states how many damaged frames the job accepts, but with_plan() does not set this
  // limit.
  options.input.max_decode_errors = options.run.job.accepted_damage;
  options.input.source.protocols = given.reading.input.source.protocols;
  if (!given.output.empty()) options.output.file = given.output;
  options.output.overwrite = given.overwrite;
  options.output.access = checked_access(options);
  Log log(options.run.log, given.quiet);
  if (!given.overwrite && io::is_joined(given.folder, options.output.file)) {
    log.write(LogLevel::info, "'" + options.output.file + "' is already complete");
    return 0;
  }
  require_done(options.run, io::SegmentCheck::ends);
  try {
    join_segments(options, log);
  } catch (const IoError& error) {
    require_done(options.run, io::SegmentCheck::all);
    throw TryAgain(error.what());
  } catch (const std::exception&) {
    // After an error, lull verifies the checksums of all segments, because a damaged segment can
    // cause errors of any kind.
    require_done(options.run, io::SegmentCheck::all);
    throw;
  }
  return 0;
}

}  // namespace lull::tools
