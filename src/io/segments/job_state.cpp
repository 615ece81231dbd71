// Reads the state of a job for reports. Takes no locks, and does not change the job.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>

#include "core/error.h"
#include "io/jobs.h"
#include "io/segments/job_text.h"
#include "io/segments/manifest.h"
#include "io/segments/segment_file.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

/// Returns the time of the last change of a file, in seconds since 1970; 0 if the file does not
/// exist.
std::int64_t time_of_file(const std::string& path) {
  std::error_code code;
  const auto time = fs::last_write_time(path, code);
  if (code) return 0;
  const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

std::int64_t size_of_file(const std::string& path) {
  std::error_code code;
  const std::uintmax_t size = fs::file_size(path, code);
  return code ? 0 : static_cast<std::int64_t>(size);
}

SegmentState state_of(const std::string& folder, std::int64_t number, FrameRange frames,
                      SegmentState::Status status) {
  const std::string path = segment_path(folder, number);
  SegmentState state{.status = status, .frames = frames};
  if (status == SegmentState::Status::missing) return state;
  state.bytes = size_of_file(path);
  state.finished = time_of_file(path);
  return state;
}

JobState state_of_shared_job(const std::string& folder) {
  JobState state{.plan = read_plan(folder)};
  const JobPlan& plan = *state.plan;
  state.facts = plan.facts;
  state.segment_frames = plan.segment_frames;
  state.begun = time_of_file(folder + "/plan");
  const UnfinishedSegments undone = find_unfinished(folder, plan, {});
  const SegmentLayout layout = plan.layout();
  for (std::int64_t i = 0; i < layout.segments(); ++i) {
    const bool damaged = std::ranges::binary_search(undone.damaged, i);
    const bool missing = std::ranges::binary_search(undone.missing, i);
    state.segments.push_back(state_of(folder, i, layout.frames_of(i),
                                      damaged   ? SegmentState::Status::damaged
                                      : missing ? SegmentState::Status::missing
                                                : SegmentState::Status::done));
  }
  state.joined = is_joined(folder, plan.output);
  return state;
}

int segment_frames_of(const std::vector<JobFact>& facts) {
  const auto fact = std::ranges::find(facts, "--segment-frames", &JobFact::name);
  int frames = 0;
  if (fact != facts.end())
    (void)std::from_chars(fact->value.data(), fact->value.data() + fact->value.size(), frames);
  return std::clamp(frames, 0, max_segment_frames);
}

/// Returns the state of a job that a single process encodes. The manifest of such a job does not
/// contain the total number of frames.
JobState state_of_single_process(const std::string& folder, const Manifest& manifest) {
  JobState state{.facts = manifest.facts, .segment_frames = segment_frames_of(manifest.facts)};
  state.begun = time_of_file(folder);
  std::int64_t next = 0;
  const auto frames_of = [&](std::int64_t number, std::int64_t count) {
    const std::int64_t first = number * state.segment_frames;
    return FrameRange{first, first + count - 1};
  };
  // The list omits missing segments from this number on, because a forged manifest may contain a
  // huge segment number.
  constexpr std::int64_t max_listed = 1 << 20;
  for (const auto& [number, record] : manifest.segments) {
    for (; next < number && number < max_listed; ++next)
      state.segments.push_back(state_of(folder, next, frames_of(next, state.segment_frames),
                                        SegmentState::Status::missing));
    const bool whole = is_whole(segment_path(folder, number), record);
    state.segments.push_back(
        state_of(folder, number, frames_of(number, record.frames),
                 whole ? SegmentState::Status::done : SegmentState::Status::damaged));
    next = number + 1;
  }
  return state;
}

}  // namespace

JobState read_job(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw NoInput("'" + folder + "' is not a folder; name the folder of a job");
  const std::string manifest_path = folder + "/manifest";
  if (fs::exists(folder + "/plan", ignored) || !fs::exists(manifest_path, ignored))
    return state_of_shared_job(folder);
  const std::string text = read_job_text(manifest_path);
  const std::optional<Manifest> manifest = parse_manifest(text);
  if (!manifest)
    throw BadData("'" + manifest_path + "' cannot be read as the record of a job (" +
                  why_unreadable(text, "job", manifest_format) + "); start the job again");
  return state_of_single_process(folder, *manifest);
}

}  // namespace lull::io
