#pragma once
// Jobs in segments that several processes share, on one or several machines. A job has a plan,
// which never changes, and a file for each finished segment. One process joins the segments.

// The processes of a shared job use no locks. All processes write the same bytes for a segment, and
// rename the file of a segment to its final name only after the file is complete. See also
// open_sink() (media.h).

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

/// Assigns the frames of the output to the segments of a job.
struct SegmentLayout {
  std::int64_t frames = 0;  // number of frames of the output
  int segment_frames = 1;   // number of frames of each segment except the last one
  std::int64_t segments() const { return (frames + segment_frames - 1) / segment_frames; }
  FrameRange frames_of(std::int64_t segment) const;
};

/// The data about a job that a process needs to encode a segment.
struct JobPlan {
  /// Options of the command that made the plan, as names and values. All processes of the job use
  /// these options.
  std::vector<std::pair<std::string, std::string>> options;
  std::string input, output;  // absolute paths
  int segment_frames = 0;     // number of frames of each segment except the last one
  int threads = 0;  // number of threads of each encoder; the output of some encoders depends on it
  std::vector<JobFact> facts;
  /// Digest of some blocks of the input. Other processes compare their input with this digest,
  /// because a digest of the complete input would take too long.
  std::string sample;
  // Number of preceding frames on which the result of a frame depends. Repeated frames do not
  // count.
  int margin = 0;
  Damage damage;  // damage of the input that the planning process tolerated
  FrameIndex index;
  /// An additional input of the job (SegmentOptions::additional), such as a guide. A process reads
  /// this input frame by frame, together with the main input.
  struct AdditionalInput {
    std::string name, input;  // name of the option ("--guide"), and an absolute path
    std::string sample;
    FrameIndex index;
  };
  std::vector<AdditionalInput> additional;
  bool operator==(const JobPlan& other) const;

  /// Returns the identifier of the job, which is a SHA-256. Every segment file of the job contains
  /// the identifier.
  std::string id() const;
  /// Returns the additional input with the name `name`; null if there is none.
  const AdditionalInput* find_additional(std::string_view name) const;
  /// Returns the layout of the segments, in time proportional to the number of frames.
  SegmentLayout layout() const { return {index.kept(), segment_frames}; }
  std::int64_t frames() const { return index.kept(); }
  std::int64_t segments() const { return layout().segments(); }
  FrameRange frames_of(std::int64_t segment) const { return layout().frames_of(segment); }
};

std::string to_text(const JobPlan& plan);
/// Parses a plan, whose first line must be "lull plan 1". Returns nullopt if the text is damaged or
/// has another format.
std::optional<JobPlan> parse_plan(std::string_view text);
/// Returns a description of the first contradiction within a plan; empty if there is none. This
/// check is necessary, because even a plan with a correct checksum can contain contradictions.
std::string contradiction_in(const JobPlan& plan);

/// Reads the plan in the folder of a job.
/// @throws NoInput  there is no plan, or the plan is not readable
/// @throws BadData  the plan is damaged, has a newer format, or contradicts itself
JobPlan read_plan(const std::string& folder);
/// Writes the plan, and creates the folder if needed. If the folder already contains an equal plan,
/// the function does nothing.
/// @throws CannotCreate  the folder contains a different plan
void write_plan(const std::string& folder, const JobPlan& plan, const Access& access = {});

/// The unfinished segments of a job.
struct UnfinishedSegments {
  std::vector<std::int64_t> missing, damaged;
  bool none() const { return missing.empty() && damaged.empty(); }
  bool has(std::int64_t segment) const;
  /// Returns a string such as "segments 3, 7-9 are missing, segment 4 is damaged".
  std::string text() const;
};
/// The part of a segment file that find_unfinished() reads: the first and the last bytes (`ends`),
/// or all bytes (`all`). Only `all` detects every damage.
enum class SegmentCheck { ends, all };
/// Checks the files of the segments in the range `segments`, and returns the unfinished segments.
/// @throws InvalidArgument  the range ends after the last segment of the plan
UnfinishedSegments find_unfinished(const std::string& folder, const JobPlan& plan,
                                   FrameRange segments, SegmentCheck check = SegmentCheck::all);

/// Returns whether `output` is the result of this job, according to the identity stored in the
/// job's folder.
bool is_joined(const std::string& folder, const std::string& output);

struct SegmentState {
  enum class Status { done, missing, damaged } status = Status::missing;
  FrameRange frames{};        // numbers of the frames in the output
  std::int64_t bytes = 0;     // size of the segment's file
  std::int64_t finished = 0;  // time in seconds since 1970; 0: there is no file
};
/// State of a job for reports to the user.
struct JobState {
  std::optional<JobPlan> plan{};  // nullopt: a job of a single process (OUTPUT.lull-job)
  std::vector<JobFact> facts{};
  int segment_frames = 0;
  std::int64_t begun = 0;                // time in seconds since 1970
  std::vector<SegmentState> segments{};  // without a plan: only up to the last finished segment
  bool joined = false;                   // the output exists
};
/// Reads the state of a job.
/// @throws NoInput  the folder does not exist, or contains no job
/// @throws BadData  the plan or the manifest of the job is damaged
[[nodiscard]] JobState read_job(const std::string& folder);

}  // namespace lull::io
