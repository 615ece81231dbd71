#pragma once
// The folder of a job in segments. If the process ends early, the finished segments remain in the
// folder.

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

/// Owns the folder "OUTPUT.lull-job". No other process can use the folder at the same time. A
/// segment is finished as soon as the manifest lists it. The manifest lists a segment only after
/// the file of the segment has been written to the disk.
///
/// If at least one segment is finished, the folder remains for another run. Otherwise, the
/// destructor removes the folder.
class SegmentJob {
 public:
  /// @param threads  number of encoder threads of a new job
  /// @throws CannotCreate  the folder cannot be created, or it contains a job and neither
  ///     options.resume nor `overwrite` is set
  /// @throws TryAgain  another process uses the folder
  /// @throws BadData  the manifest has a newer format, and `overwrite` is false
  SegmentJob(const std::string& output, const SegmentOptions& options, bool overwrite, int threads,
             const Access& access);
  ~SegmentJob();
  /// Returns whether there is a job's folder for the output `output`.
  static bool exists(const std::string& output);
  /// Throws the errors of the constructor for an existing folder, and an error if the output exists
  /// and must not be replaced. The function changes nothing.
  /// @throws CannotCreate, BadData
  static void check(const std::string& output, const SegmentOptions& options, bool overwrite);
  SegmentJob(const SegmentJob&) = delete;
  SegmentJob& operator=(const SegmentJob&) = delete;

  const std::string& folder() const { return folder_; }
  int threads() const { return manifest_.threads; }
  /// Returns notes for the user, one text each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Sets the facts of the job. The caller must call this function exactly once, before any of the
  /// functions from find() to remove().
  /// @throws InvalidArgument  the interrupted job has other facts
  void begin(std::vector<JobFact> facts);
  /// Returns the record of a segment; null if the segment is not finished.
  const SegmentRecord* find(std::int64_t segment) const;
  /// Returns the number of all segments. The number is correct after the last segment is finished.
  std::int64_t segments() const;
  /// Returns the total number of frames of the finished segments.
  std::int64_t frames() const;
  /// Returns the ranges of frames whose segments are not finished. Only the last segment of a job
  /// may be shorter than the others. If no finished segment is shorter, the number of frames is
  /// unknown, and the last range has no end.
  std::vector<FrameRange> missing() const;

  std::unique_ptr<SegmentWriter> write(std::int64_t segment) const;
  /// Adds a finished segment to the manifest. The caller must call this function after the writer
  /// of the segment has returned `record`.
  /// @throws IoError, CannotCreate
  void add(std::int64_t segment, const SegmentRecord& record);
  SegmentReader read(std::int64_t segment) const;

  /// Records the identity of the complete output file. The caller must call this function before
  /// the file gets its final name. If the process is killed after the renaming, the next run can
  /// then replace the output without a confirmation by the user.
  void note_result(const std::string& file);
  /// Returns whether `file` is the output of an earlier run of this job.
  bool is_result(const std::string& file) const;
  /// Removes the job's folder. The caller must call this function after the job has ended.
  void remove();

 private:
  bool lock();
  void load(bool overwrite);
  void verify();
  void save();
  /// Returns whether a file with this name is useless: a temporary file of a killed process, or a
  /// partial output of a damaged input.
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
