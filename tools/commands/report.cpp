// Implements `lull report`: a page about a job, from the files in the job's folder.

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "io/jobs.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"
#include "tools/options/run_files.h"
#include "tools/pages/job_page.h"
#include "tools/report/log.h"

namespace lull::tools {
namespace {

/// Returns a path of the folder. The path ends with the name of the folder, not with a slash, "."
/// or "..".
std::string named_path(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  const std::filesystem::path name = std::filesystem::path(folder).filename();
  if (name != "." && name != "..") return folder;
  std::error_code code;
  const std::filesystem::path target = std::filesystem::canonical(folder, code);
  return code ? folder : target.string();
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

/// @throws InvalidArgument  the page would overwrite a file of the job
void check_page(const std::string& folder, const io::JobState& state, const std::string& page) {
  constexpr std::string_view ending = ".lull-job";
  RunFiles files;
  files.write("-o", page);
  files.read_job(folder);
  if (state.plan) {
    files.read("the input", state.plan->input);
    files.read("the output", state.plan->output);
    for (const io::JobPlan::AdditionalInput& input : state.plan->additional)
      files.read(input.name, input.input);
  } else if (folder.ends_with(ending)) {
    files.read("the output", folder.substr(0, folder.size() - ending.size()));
  }
  files.check();
}

}  // namespace

int report(const JobReportOptions& options) {
  Log log({}, options.quiet);
  const io::JobState state = io::read_job(options.folder);
  const bool has_default_name = options.output.empty();
  const std::string folder = named_path(options.folder);
  // The default page is beside the job's folder, because the folder contains only files of the job.
  const std::string page = has_default_name ? folder + ".html" : options.output;
  check_page(folder, state, page);
  // Users repeat `lull report` during a job, so lull overwrites a page with the default name. lull
  // does not follow a symbolic link with this name.
  io::write_text(page, job_page(state, options.folder),
                 {.overwrite = options.overwrite || has_default_name,
                  .access = io::access_of(io::files_of_job(options.folder)),
                  .follow_links = !has_default_name});
  log.write(LogLevel::info, page + ": " + progress_text(state));
  return 0;
}

}  // namespace lull::tools
