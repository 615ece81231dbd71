#include <cstdint>
#include <cstdio>
#include <string>

#include "core/error.h"
#include "io/media.h"
#include "tools/commands/commands.h"
#include "tools/commands/denoise_run.h"
#include "tools/commands/reports.h"
#include "tools/options/run_files.h"
#include "tools/raw/raw_run.h"
#include "tools/report/exit_code.h"
#include "tools/sessions/shared_job.h"
#include "tools/wrap/video_streams.h"

namespace lull::tools {
namespace {

/// Denoises a part of a shared job. Decoding first begins at a keyframe before the part. If the
/// decoded frames then differ from the index in the plan, the function starts again and decodes the
/// input from its start.
int run_part(DenoiseOptions options, Reports& reports) {
  SharedJob& job = options.run.job;
  if (!prepare_part(job, [&](const std::string& text) { reports.info(text); })) return 0;
  try {
    return run_denoise(options, reports);
  } catch (const io::IndexMismatch& mismatch) {
    if (job.start_picture == 0) throw;
    reports.info("decoding from the start (" + without_suggestion(mismatch.what()) + ")");
  }
  job.start_picture = 0;
  return run_denoise(options, reports);
}

int run(const DenoiseOptions& options, Reports& reports, std::int64_t& damaged_frames) {
  const auto info = [&](const std::string& text) { reports.info(text); };
  if (is_raw_input(options)) return denoise_raw(options, reports.log, reports.progress);
  if (options.output.raw_mosaic)
    throw InvalidArgument("--raw mosaic with '" + options.input.file +
                          "' (it is no raw photograph); leave it out");
  if (options.input.all_videos)
    return denoise_videos(options, info, [&](const DenoiseOptions& one) {
      return run_denoise(one, reports, &damaged_frames);
    });
  if (!options.run.job.folder.empty() && !options.run.job.plans) return run_part(options, reports);
  return run_denoise(options, reports, &damaged_frames);
}

/// In a shared job, read and write errors are temporary, because a second attempt or another
/// machine may succeed.
int run_with_retry_code(const DenoiseOptions& options, Reports& reports,
                        std::int64_t& damaged_frames) {
  try {
    return run(options, reports, damaged_frames);
  } catch (const IoError& error) {
    if (options.run.job.folder.empty()) throw;
    throw TryAgain(error.what());
  }
}

int denoise_checked(const DenoiseOptions& given) {
  check(given);
  const RunFiles files = files_of(given);
  files.check();
  DenoiseOptions options = given;
  options.output.access = files.access();
  Reports reports{{options.run.log, options.run.quiet}, {options.run.progress, options.run.quiet}};
  std::int64_t damaged_frames = 0;
  try {
    return run_with_retry_code(options, reports, damaged_frames);
  } catch (...) {
    const Failure failure = current_failure();
    reports.log.note_failure(failure.text);
    reports.progress.failed(failure.code, failure.text, damaged_frames);
    throw;
  }
}

}  // namespace

int denoise(const DenoiseOptions& options) {
  return denoise_checked(options.run.job.folder.empty() ? options : with_plan(options));
}

int plan(const DenoiseOptions& given, bool json) {
  DenoiseOptions options = given;
  options.run.job.plans = true;
  options.run.job.plan = create_plan(options);
  const int code = denoise_checked(options);
  if (code == 0 && json) std::fputs(to_json(options.run.job).c_str(), stdout);
  return code;
}

}  // namespace lull::tools
