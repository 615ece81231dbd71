#pragma once
// Jobs in segments that any number of processes share, on any machines: a plan that never changes,
// a file for each segment that is done, and one process that puts them together.
//
// Nobody waits for anybody and nothing is locked: whoever makes a segment makes the same bytes, in
// a file that gets its name when it is whole. See open_sink for what makes these files.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/access.h"
#include "io/frame_index.h"
#include "io/media.h"

namespace lull::io {

/// Which frames of the output each segment of a job has.
struct SegmentLayout {
  std::int64_t frames = 0;  // of the output
  int segment_frames = 1;   // of each segment but the last
  std::int64_t segments() const { return (frames + segment_frames - 1) / segment_frames; }
  FrameRange frames_of(std::int64_t segment) const;
};

/// What is known before the first segment is made.
struct JobPlan {
  /// Options of the command that planned it, by name, for those that work on it.
  std::vector<std::pair<std::string, std::string>> options;
  std::string input, output;  // paths from the root
  int segment_frames = 0;     // of each segment but the last
  int threads = 0;            // of each encoder: with some the bytes depend on it
  std::vector<JobFact> facts;
  /// Of a part of the input's bytes: cheap for those who read a part of it.
  std::string sample;
  int margin = 0;  // frames before a segment that its own depend on, repetitions not counted
  Damage damage;   // of the input, accepted
  FrameIndex index;
  /// Inputs that are read additional it (SegmentOptions::additional).
  struct AdditionalInput {
    std::string name, input;  // "--guide"; a path from the root
    std::string sample;
    FrameIndex index;
  };
  std::vector<AdditionalInput> additional;
  bool operator==(const JobPlan& other) const;

  /// All segments have this in common: a SHA-256.
  std::string id() const;
  /// Null: none of this name.
  const AdditionalInput* find_additional(std::string_view name) const;
  /// Counts the frames of the index: callers that ask for several segments keep the layout.
  SegmentLayout layout() const { return {index.kept(), segment_frames}; }
  std::int64_t frames() const { return index.kept(); }
  std::int64_t segments() const { return layout().segments(); }
  FrameRange frames_of(std::int64_t segment) const { return layout().frames_of(segment); }
};

std::string to_text(const JobPlan& plan);
/// nullopt: damaged, or of another format (the first line is "lull plan 1").
std::optional<JobPlan> parse_plan(std::string_view text);
/// What a plan that was read contradicts, for a message; empty for a plan that a process can work
/// by. A checksum does not prove that.
std::string contradiction_in(const JobPlan& plan);

/// The plan in a job's folder.
/// @throws NoInput  there is none, or it cannot be read; BadData  it is damaged, of a newer format,
/// or contradicts itself
JobPlan read_plan(const std::string& folder);
/// Makes the folder where there is none. An equal plan may be there.
/// @throws CannotCreate  another plan is there
void write_plan(const std::string& folder, const JobPlan& plan, const Access& access = {});

/// Segments that are not done.
struct UnfinishedSegments {
  std::vector<std::int64_t> missing, damaged;
  bool none() const { return missing.empty() && damaged.empty(); }
  bool has(std::int64_t segment) const;
  /// "segments 3, 7-9 are missing, segment 4 is damaged"
  std::string text() const;
};
/// How much of the file of a segment is read: its first and last bytes, or all of it, which shows
/// any damage.
enum class SegmentCheck { ends, all };
/// Of these segments; reads what is there. @throws InvalidArgument  the plan has not so many
UnfinishedSegments find_unfinished(const std::string& folder, const JobPlan& plan,
                                   FrameRange segments, SegmentCheck check = SegmentCheck::all);

/// Whether the output is what was put together of this job, as far as the file system knows.
bool is_joined(const std::string& folder, const std::string& output);

struct SegmentState {
  enum class Status { done, missing, damaged } status = Status::missing;
  FrameRange frames{};        // of the output
  std::int64_t bytes = 0;     // of its file
  std::int64_t finished = 0;  // when, in seconds since 1970; 0: it is not there
};
/// What there is of a job, for people to look at.
struct JobState {
  std::optional<JobPlan> plan{};  // none: the job of one process (OUTPUT.lull-job)
  std::vector<JobFact> facts{};
  int segment_frames = 0;
  std::int64_t begun = 0;                // when, in seconds since 1970
  std::vector<SegmentState> segments{};  // without a plan, up to the last that is done
  bool joined = false;                   // the output is there
};
/// @throws NoInput  there is no such folder, or no job in it; BadData  the job's record is damaged
[[nodiscard]] JobState read_job(const std::string& folder);

}  // namespace lull::io
