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

/// Nothing is decoded but the input's first frame: what else there is to know stands in the plan.
std::unique_ptr<io::MediaSource> open_input(const DenoiseOptions& options) {
  io::SourceOptions source = source_options(options, {{bm3d::BackendKind::cpu}});
  source.gpu.reset();
  add_part(options, source);
  return io::open_source(options.input, source);
}

/// Names what has to be made first; nothing if all segments are there.
void require_done(const DenoiseOptions& options, io::SegmentCheck check) {
  const std::string& folder = options.job.folder;
  if (io::find_unfinished(folder, *options.job.plan, {}, check).none()) return;
  const io::UnfinishedSegments unfinished = io::find_unfinished(folder, *options.job.plan, {});
  if (unfinished.none()) return;  // another process has made it meanwhile
  throw TryAgain(unfinished.text() + " in '" + folder +
                 "'; make them with lull denoise --job, then join again");
}

void join_segments(const DenoiseOptions& options, Log& log) {
  const io::JobPlan& plan = *options.job.plan;
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

/// @throws InvalidArgument  the output is another file of the job
io::Access checked_access(const DenoiseOptions& options) {
  RunFiles files;
  files.read_samples("the input", options.input);
  for (const io::JobPlan::AdditionalInput& one : options.job.plan->additional)
    files.read_samples(one.name, one.input);
  files.read_job(options.job.folder);
  files.write("-o", options.output);
  files.check();
  return files.access();
}

}  // namespace

int join(const JoinOptions& given) {
  DenoiseOptions options;
  options.job.folder = given.folder;
  if (!given.input.empty()) options.given.emplace_back("-i,--input", given.input);
  options = with_plan(options);
  // The damage that was accepted when the job was planned is accepted now.
  options.max_decode_errors = options.job.accepted_damage;
  options.source.protocols = given.reading.source.protocols;
  if (!given.output.empty()) options.output = given.output;
  options.overwrite = given.overwrite;
  options.access = checked_access(options);
  Log log(options.log, given.quiet);
  if (!given.overwrite && io::is_joined(given.folder, options.output)) {
    log.write(LogLevel::info, "'" + options.output + "' is done already");
    return 0;
  }
  require_done(options, io::SegmentCheck::ends);
  try {
    join_segments(options, log);
  } catch (const IoError& error) {
    require_done(options, io::SegmentCheck::all);
    throw TryAgain(error.what());
  } catch (const std::exception&) {
    // The packets of a damaged segment may lead to any error before its digest is compared.
    require_done(options, io::SegmentCheck::all);
    throw;
  }
  return 0;
}

}  // namespace lull::tools
