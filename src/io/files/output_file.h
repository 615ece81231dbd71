#pragma once
// Outputs of a muxer: a file that gets its name only when it is complete, or a pipe.

#include <memory>
#include <string>
#include <utility>

#include "io/access.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// An open file that FFmpeg writes to. It stores the reason of a failure, which FFmpeg does not
/// keep.
class Output {
 public:
  virtual ~Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  AVIOContext* io() const { return io_.get(); }
  /// The open file, for writers that do not use io(). A writer must not use both.
  int descriptor() const { return descriptor_; }
  /// @throws IoError  a write has failed
  void check_written() const;
  /// Path of the file that holds the output until commit(); empty if there is none.
  const std::string& temporary() const { return temporary_; }
  /// Writes everything that is buffered, and ends the writing.
  /// @throws IoError
  virtual void finish_writing() = 0;
  /// Calls finish_writing() and gives the file its name.
  /// @throws IoError, CannotCreate
  virtual void commit() = 0;
  /// Replaces commit() for an incomplete output: gives the file a partial name (partial_name) and
  /// returns it; empty if there is no file.
  /// @throws IoError
  virtual std::string keep_partial() = 0;

 protected:
  struct FreeIo {
    void operator()(AVIOContext* io) const noexcept;
  };
  /// `name` is for messages.
  explicit Output(std::string name) : name_(std::move(name)) {}
  void open_io(bool seekable);
  /// Flushes FFmpeg's buffer. Returns 0 or the first error.
  int flush();

  std::string name_, temporary_;
  int descriptor_ = -1;
  int write_error_ = 0;
  std::unique_ptr<AVIOContext, FreeIo> io_;

 private:
  // The second form of the callback is the one of FFmpeg 7.
  static int write(void* self, std::uint8_t* data, int size);
  static int write(void* self, const std::uint8_t* data, int size);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);
};

/// Returns whether the name itself is a symbolic link.
bool is_link(const std::string& path);

/// Returns the file to which `path` leads through symbolic links. Existing links are kept that way.
std::string resolve_links(const std::string& path);

/// Returns the name for an incomplete output: "x.partial.mkv" for "x.mkv", or "x.partial-2.mkv" for
/// the second one.
std::string partial_name(const std::string& path, int number = 1);
/// Returns whether `name`, without a folder, is such a partial name for `path`.
bool is_partial_name(const std::string& name, const std::string& path);

/// @throws CannotCreate  `path` is a folder or another special file, or a file exists there and
/// `overwrite` is false
void check_free(const std::string& path, bool overwrite);

/// A file that was created exclusively and is open for reading and writing.
struct CreatedFile {
  int descriptor = -1;  // -1: the file could not be created
  int error = 0;        // the system's error number if it could not be created
  std::string path;
};
/// Creates a file in `folder` whose name identifies this process (temporary_name.h), and locks it.
CreatedFile create_temporary(const std::string& folder, const std::string& name,
                             const Access& access);

/// Makes the names in the folder of `path` permanent on the disk, if the file system supports it.
void sync_folder_of(const std::string& path);

struct OutputFileOptions {
  bool overwrite = false;  // replaces an existing file
  /// Folder for the temporary file, on the same file system; empty: the output's folder.
  std::string folder = {};
  Access access = {};
  /// The output goes to the file to which a link points. Otherwise the link itself is replaced: in
  /// folders that other users provide, links must not lead elsewhere.
  bool follow_links = true;
  /// Temporary files for this output that killed processes have left are removed. False for outputs
  /// of many files, whose sink does this once.
  bool removes_leftovers = true;
};

struct SinkOptions;  // io/media.h
/// Returns the options that correspond to those of a sink.
OutputFileOptions file_options(const SinkOptions& options);

/// Writes to a temporary file in the output's folder, which is created exclusively.
/// commit() renames it; without commit(), the destructor removes it. A new file has the permission
/// bits of `access`, limited by the umask. A file that replaces another one keeps that file's bits,
/// without those for users who may not read the sources.
class OutputFile final : public Output {
 public:
  /// @throws CannotCreate  the file exists and may not be replaced, or cannot be created
  OutputFile(const std::string& path, const OutputFileOptions& options);
  ~OutputFile() override;
  /// Also writes the file to the disk and closes it.
  void finish_writing() override;
  void commit() override;
  std::string keep_partial() override;

 private:
  void create();
  void remove_leftovers() const;
  void copy_mode() const;
  void rename_over();
  void rename_new();

  std::string path_;
  OutputFileOptions options_;
};

/// Writes to an open descriptor that cannot seek, and does not close it.
class OutputPipe final : public Output {
 public:
  /// @throws InvalidArgument  the descriptor is a terminal
  explicit OutputPipe(int descriptor);
  void finish_writing() override;
  void commit() override;
  std::string keep_partial() override;
};

}  // namespace lull::io
