#pragma once
// The folder of a job in segments: what is done of it, safe from whatever ends the process.

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

/// Holds the folder "OUTPUT.lull-job", which nobody else can hold meanwhile. A segment counts once
/// the manifest names it, and the manifest does once the segment's file is on the disk.
///
/// The destructor leaves the folder for another run if a segment is done, else removes it.
class SegmentJob {
 public:
  /// `threads`: of encoders, if the job is a new one.
  /// @throws CannotCreate  no folder can be made, or it holds what neither options.resume nor
  ///                       `overwrite` allows to be touched
  /// @throws TryAgain      another process has it
  /// @throws BadData       its record has a newer format, and `overwrite` is not given
  SegmentJob(const std::string& output, const SegmentOptions& options, bool overwrite, int threads,
             const Access& access);
  ~SegmentJob();
  /// Whether there is a folder for this output.
  static bool exists(const std::string& output);
  SegmentJob(const SegmentJob&) = delete;
  SegmentJob& operator=(const SegmentJob&) = delete;

  const std::string& folder() const { return folder_; }
  int threads() const { return manifest_.threads; }
  /// What a user should know, one text each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// States what the job is; once, before what follows.
  /// @throws InvalidArgument  the job that is to be continued is another
  void begin(std::vector<JobFact> facts);
  /// Null if that segment is not done.
  const SegmentRecord* find(std::int64_t segment) const;
  /// All of them, done or not, once the last is done.
  std::int64_t segments() const;
  /// Frames of the segments that are done.
  std::int64_t frames() const;
  /// Frames of segments that are not done, the last range open unless a short segment, which is the
  /// last, is done.
  std::vector<FrameRange> missing() const;

  std::unique_ptr<SegmentWriter> write(std::int64_t segment) const;
  /// The writer has finished with this record. @throws IoError, CannotCreate
  void add(std::int64_t segment, const SegmentRecord& record);
  SegmentReader read(std::int64_t segment) const;

  /// The output is whole in this file and about to get its name: if it has, nobody has to be asked
  /// whether it may be replaced.
  void note_result(const std::string& file);
  /// Whether this file is that output, of an earlier run.
  bool is_result(const std::string& file) const;
  /// Nothing of it is needed any more.
  void remove();

 private:
  bool lock();
  void load(bool overwrite);
  void verify();
  void save();
  /// Of a process that was killed, or what was kept of a damaged input.
  bool is_leftover(const std::string& name) const;
  void remove_files(const std::function<bool(const std::string& name)>& useless) const;

  std::string output_, folder_, manifest_path_, id_;
  SegmentOptions options_;
  Access access_;
  int lock_ = -1;  // descriptor
  bool removed_ = false, resumed_ = false;
  Manifest manifest_;
  std::vector<std::string> notes_;
};

}  // namespace lull::io
