// The page of a job's folder.

#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "io/jobs.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"
#include "tools/pages/job_page.h"
#include "tools/report/log.h"

namespace lull::tools {
namespace {

/// Beside the folder: what is in it is the job's.
std::string default_page(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder + ".html";
}

std::string progress_text(const io::JobState& state) {
  using Status = io::SegmentState::Status;
  std::int64_t missing = 0, damaged = 0;
  for (const io::SegmentState& segment : state.segments) {
    missing += segment.status == Status::missing ? 1 : 0;
    damaged += segment.status == Status::damaged ? 1 : 0;
  }
  const auto all = static_cast<std::int64_t>(state.segments.size());
  std::string text = std::to_string(all - missing - damaged) +
                     (state.plan ? " of " + std::to_string(all) : "") + " segments done";
  if (missing > 0) text += ", " + std::to_string(missing) + " missing";
  if (damaged > 0) text += ", " + std::to_string(damaged) + " damaged";
  return text + (state.joined ? ", joined" : "");
}

}  // namespace

int report(const JobReportOptions& options) {
  Log log({}, options.quiet);
  const io::JobState state = io::read_job(options.folder);
  const std::string page = options.output.empty() ? default_page(options.folder) : options.output;
  if (state.plan)
    for (const std::string& file : {state.plan->input, state.plan->output})
      if (io::same_file(file, page))
        throw InvalidArgument("-o " + page + " is a file of the job; choose another name");
  // Made again and again while a job goes on: an older page by default is replaced.
  io::write_text(page, job_page(state, options.folder),
                 options.overwrite || options.output.empty());
  log.write(LogLevel::info, page + ": " + progress_text(state));
  return 0;
}

}  // namespace lull::tools
