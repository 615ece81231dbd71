#pragma once
// Outputs of a muxer: a file that gets its final name only when it is complete, or a pipe.

#include <memory>
#include <string>
#include <utility>

#include "io/access.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// An open file to which FFmpeg writes. The object stores the reason of a failure, because FFmpeg
/// does not store it.
class Output {
 public:
  virtual ~Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  AVIOContext* io() const { return io_.get(); }
  /// Returns the descriptor of the open file, for writers that do not use io(). A writer must use
  /// either io() or the descriptor, not both.
  int descriptor() const { return descriptor_; }
  /// Throws an error if a write has failed.
  /// @throws IoError
  void check_written() const;
  /// Returns the path of the file that contains the output until commit(); empty if there is none.
  const std::string& temporary() const { return temporary_; }
  /// Writes all buffered data, and closes the output for further writes.
  /// @throws IoError
  virtual void finish_writing() = 0;
  /// Calls finish_writing() and gives the file its final name.
  /// @throws IoError, CannotCreate
  virtual void commit() = 0;
  /// Replaces commit() for an incomplete output. The function renames the file to a partial name
  /// (partial_name()) and returns this name; empty if there is no file.
  /// @throws IoError
  virtual std::string keep_partial() = 0;

 protected:
  struct FreeIo {
    void operator()(AVIOContext* io) const noexcept;
  };
  /// @param name  name of the output in messages
  explicit Output(std::string name) : name_(std::move(name)) {}
  void open_io(bool seekable);
  /// Flushes FFmpeg's buffer. Returns 0 or the first error.
  int flush();

  std::string name_, temporary_;
  int descriptor_ = -1;
  int write_error_ = 0;
  std::unique_ptr<AVIOContext, FreeIo> io_;

 private:
  // FFmpeg 7 declares the data of the callback as const.
  static int write(void* self, std::uint8_t* data, int size);
  static int write(void* self, const std::uint8_t* data, int size);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);
};

/// Returns whether `path` itself is a symbolic link.
bool is_link(const std::string& path);

/// Returns the file to which `path` leads through symbolic links. If lull replaces this file, the
/// links are kept.
std::string resolve_links(const std::string& path);

/// Returns the name of an incomplete output: "x.partial.mkv" for "x.mkv", or "x.partial-2.mkv" for
/// `number` 2.
std::string partial_name(const std::string& path, int number = 1);
/// Returns whether `name`, a file name without folder, is a partial name for `path`.
bool is_partial_name(const std::string& name, const std::string& path);

/// Throws an error if an output cannot be created at `path`.
/// @throws CannotCreate  `path` is a folder or a special file, or a file exists there and
///     `overwrite` is false
void check_free(const std::string& path, bool overwrite);

/// A file that was created exclusively and is open for reading and writing.
struct CreatedFile {
  int descriptor = -1;  // -1: the file could not be created
  int error = 0;        // the system's error number if it could not be created
  std::string path;
};
/// Creates a file in `folder`, and locks it. The name of the file identifies this process
/// (temporary_name.h).
CreatedFile create_temporary(const std::string& folder, const std::string& name,
                             const Access& access);

/// Makes changes of names in the folder of `path` permanent on the disk, if the file system
/// supports this.
void sync_folder_of(const std::string& path);

struct OutputFileOptions {
  bool overwrite = false;  // replaces an existing file
  /// Folder for the temporary file, on the same file system; empty: the output's folder.
  std::string folder = {};
  Access access = {};
  /// If true and the path is a link, the file to which the link points is written. If false, the
  /// link itself is replaced: in folders that other users provide, links must not redirect an
  /// output to other files.
  bool follow_links = true;
  /// If true, temporary files that killed processes have left for this output are removed. Sinks
  /// that write many files set this to false, because they remove the temporary files of all
  /// outputs in one pass.
  bool removes_leftovers = true;
};

struct SinkOptions;  // io/media.h
/// Returns the options for an output file that correspond to the options of a sink.
OutputFileOptions file_options(const SinkOptions& options);

/// Writes to a temporary file, which is created exclusively in the output's folder. commit()
/// renames the temporary file; without commit(), the destructor removes it. A new file has the
/// permission bits of `access`, limited by the umask. A file that replaces another file keeps the
/// bits of that file, except those for users without permission to read the sources.
class OutputFile final : public Output {
 public:
  /// @throws CannotCreate  the file exists and must not be replaced, or cannot be created
  OutputFile(const std::string& path, const OutputFileOptions& options);
  ~OutputFile() override;
  /// Writes the file to the disk and closes it.
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
