#pragma once
// A file that appears under its name when it is whole, not before.

#include <memory>
#include <string>

#include "io/ffmpeg.h"

namespace lull::io {

/// Writes to ".NAME.lull-PID-N.tmp" beside the final name; commit() gives it that name, the
/// destructor without commit() removes it.
class OutputFile {
 public:
  /// @throws CannotCreate  the file exists and may not be replaced, or cannot be created
  OutputFile(const std::string& path, bool overwrite);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  AVIOContext* io() const { return io_.get(); }
  /// The open file, for writers other than FFmpeg's; not both.
  int descriptor() const { return descriptor_; }
  const std::string& temporary() const { return temporary_; }
  /// The first error of a write, 0 if there was none. FFmpeg's own code loses the reason.
  int write_error() const { return write_error_; }
  /// Flushes to the disk and renames. @throws IoError, CannotCreate
  void commit();
  /// In place of commit(): flushes to the disk and leaves the file under its temporary name, which
  /// is returned. @throws IoError
  std::string keep();

 private:
  struct FreeIo {
    void operator()(AVIOContext* io) const noexcept;
  };
  // The second is FFmpeg 7's form of the same callback.
  static int write(void* self, std::uint8_t* data, int size);
  static int write(void* self, const std::uint8_t* data, int size);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);
  void create();
  void settle();
  void rename_over();
  void rename_new();

  std::string path_, temporary_;
  bool overwrite_;
  int descriptor_ = -1;
  int write_error_ = 0;
  std::unique_ptr<AVIOContext, FreeIo> io_;
};

}  // namespace lull::io
