#pragma once
// The folder of a job in segments. Finished segments remain in this folder if the process ends
// early.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/media.h"
#include "io/segments/manifest.h"
#include "io/segments/segment_file.h"

namespace lull::io {

/// Owns the folder "OUTPUT.lull-job" and locks the folder against other processes. A segment is
/// finished if its file is on the disk and the manifest lists the segment. The destructor removes
/// the folder if no segment is finished.
class SegmentJob {
 public:
  /// @param threads  number of encoder threads of a new job
  /// @throws CannotCreate  lull cannot create the folder, or the options allow neither the
  ///     continuation nor the replacement of the job in it
  /// @throws TryAgain  another process uses the folder
  /// @throws BadData  `overwrite` is false, and the folder contains a manifest in a newer format
  SegmentJob(const std::string& output, const SegmentOptions& options, bool overwrite, int threads,
             const Access& access);
  ~SegmentJob();
  /// Returns whether a job's folder for the output `output` exists.
  static bool exists(const std::string& output);
  /// Dry run of the constructor: throws the errors that the constructor would throw because of an
  /// existing folder or output. Changes no file.
  /// @throws CannotCreate, BadData
  static void check(const std::string& output, const SegmentOptions& options, bool overwrite);
  SegmentJob(const SegmentJob&) = delete;
  SegmentJob& operator=(const SegmentJob&) = delete;

  const std::string& folder() const { return folder_; }
  int threads() const { return manifest_.threads; }
  /// Returns the notes for the user, one string for each note.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Sets the properties on which the output of the job depends (JobFact). The caller must call
  /// this function once, before all functions below.
  /// @throws InvalidArgument  the interrupted job has other properties
  void begin(std::vector<JobFact> facts);
  /// Returns the record of a segment; null if the segment is not finished.
  const SegmentRecord* find(std::int64_t segment) const;
  /// Returns the number of all segments. The number is correct only after the last segment is
  /// finished.
  std::int64_t segments() const;
  /// Returns the total number of frames of the finished segments.
  std::int64_t frames() const;
  /// Returns the ranges of frames whose segments are not finished. A finished segment with fewer
  /// than SegmentOptions::frames frames is the last segment. If there is no such segment, the end
  /// of the video is unknown, and the last range has no end.
  std::vector<FrameRange> missing() const;

  std::unique_ptr<SegmentWriter> write(std::int64_t segment) const;
  /// Adds a finished segment to the manifest. `record` must come from the writer of the segment.
  /// @throws IoError, CannotCreate
  void add(std::int64_t segment, const SegmentRecord& record);
  SegmentReader read(std::int64_t segment) const;

  /// Records the identity of the complete output, so that a run after a crash may replace the
  /// output without asking the user. The caller must call this function before it renames the
  /// output to its final name.
  void note_result(const std::string& file);
  /// Returns whether `file` is the output of an earlier run of this job.
  bool is_result(const std::string& file) const;
  /// Removes the job's folder at the end of the job.
  void remove();

 private:
  bool lock();
  void load(bool overwrite);
  void verify();
  void save();
  /// Returns whether `name` is the name of a temporary file of a killed process, or of a partial
  /// output from a damaged input.
  bool is_leftover(const std::string& name) const;
  void remove_files(const std::function<bool(const std::string& name)>& useless) const;

  std::string output_, folder_, manifest_path_, id_;
  SegmentOptions options_;
  Access access_;
  int lock_ = -1;  // file descriptor
  bool removed_ = false, resumed_ = false;
  Manifest manifest_;
  std::vector<std::string> notes_;
};

}  // namespace lull::io
