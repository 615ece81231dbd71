#pragma once
// Outputs of a muxer: pipes and files. A file gets its final name only when it is complete.

#include <memory>
#include <string>
#include <utility>

#include "io/access.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// An open file to which FFmpeg writes. Output stores the errno of a failed write, because FFmpeg
/// does not keep it.
class Output {
 public:
  virtual ~Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  AVIOContext* io() const { return io_.get(); }
  /// Returns the file descriptor, for writing without FFmpeg. A caller that writes to the
  /// descriptor must not use `io()`.
  int descriptor() const { return descriptor_; }
  /// Throws an error if an earlier write has failed.
  /// @throws IoError
  void check_written() const;
  /// Returns the path of the file that contains the output until commit(); empty if there is none.
  const std::string& temporary() const { return temporary_; }
  /// Flushes all data and closes the output.
  /// @throws IoError
  virtual void finish_writing() = 0;
  /// Calls `finish_writing()` and renames the file to the name of the output.
  /// @throws IoError, CannotCreate
  virtual void commit() = 0;
  /// Closes an incomplete output. Renames a file to `partial_name()`, such as "x.partial.mkv". If
  /// the system cannot rename the file, the file keeps its temporary name. Returns the name of the
  /// file; empty if the output is a pipe.
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
  // Callback of FFmpeg for writing. There are two overloads, because only FFmpeg 7 declares `data`
  // as const.
  static int write(void* self, std::uint8_t* data, int size);
  static int write(void* self, const std::uint8_t* data, int size);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);
};

/// Returns whether `path` itself is a symbolic link.
bool is_link(const std::string& path);

/// Follows all symbolic links of `path` and returns the target. If the caller replaces the target,
/// the links remain.
std::string resolve_links(const std::string& path);

/// Returns the name of an incomplete output "x.mkv": "x.partial.mkv", or "x.partial-2.mkv" for
/// `number` 2.
std::string partial_name(const std::string& path, int number = 1);
/// Returns whether `partial_name()` can return the file name `name` for the output `path`. `name`
/// contains no folder.
bool is_partial_name(const std::string& name, const std::string& path);

/// Throws an error if lull cannot create an output at `path`.
/// @throws CannotCreate  `path` is a folder or a special file, or a file exists at `path` and
///     `overwrite` is false
void check_free(const std::string& path, bool overwrite);

/// A temporary file that `create_temporary()` has opened for reading and writing.
struct CreatedFile {
  int descriptor = -1;  // -1: the file could not be created
  int error = 0;        // the system's error number if it could not be created
  std::string path;
};
/// Creates and locks a new file in `folder`. The file name identifies the calling process
/// (`temporary_name.h`).
CreatedFile create_temporary(const std::string& folder, const std::string& name,
                             const Access& access);

/// Flushes the folder of `path` to the disk, if the file system supports this operation.
void sync_folder_of(const std::string& path);

struct OutputFileOptions {
  bool overwrite = false;  // replaces an existing file
  /// Folder for the temporary file, on the file system of the output; empty: the folder of the
  /// output.
  std::string folder = {};
  Access access = {};
  /// Whether an output whose path is a symbolic link replaces the target of the link (true) or the
  /// link itself (false). With false, a link of another user cannot redirect the output.
  bool follow_links = true;
  /// Whether the constructor removes temporary files of this output that killed processes have
  /// left. False for sinks of many files: such a sink itself removes the temporary files of all its
  /// outputs in one pass.
  bool removes_leftovers = true;
};

struct SinkOptions;  // io/media.h
/// Derives the options for an output file from the options of a sink.
OutputFileOptions file_options(const SinkOptions& options);

/// Writes to a temporary file in the output's folder. `commit()` renames this file. Without
/// `commit()`, the destructor removes it. The mode of a new output is `access`, limited by the
/// umask. An output that replaces a file has the mode of the replaced file, limited by `access`.
class OutputFile final : public Output {
 public:
  /// @throws CannotCreate  the file exists and the options do not allow its replacement, or the
  ///     system cannot create the file
  OutputFile(const std::string& path, const OutputFileOptions& options);
  ~OutputFile() override;
  /// Flushes the file to the disk and closes it.
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

/// Writes to an open descriptor that cannot seek. The destructor does not close the descriptor.
class OutputPipe final : public Output {
 public:
  /// @throws InvalidArgument  the descriptor is a terminal
  explicit OutputPipe(int descriptor);
  void finish_writing() override;
  void commit() override;
  std::string keep_partial() override;
};

}  // namespace lull::io
