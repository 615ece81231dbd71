#pragma once
// Where a muxer writes: a file that appears under its name when it is whole, not before, or a pipe.

#include <memory>
#include <string>
#include <utility>

#include "io/access.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// An open file that FFmpeg writes to. Keeps the reason of a failure, which FFmpeg's own code
/// loses.
class Output {
 public:
  virtual ~Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  AVIOContext* io() const { return io_.get(); }
  /// The open file, for writers other than FFmpeg's; not both.
  int descriptor() const { return descriptor_; }
  /// @throws IoError  if a write has failed
  void check_written() const;
  /// The file that holds the output until commit(); empty if there is none.
  const std::string& temporary() const { return temporary_; }
  /// All is written, and nothing can be any more. @throws IoError
  virtual void finish_writing() = 0;
  /// The output is whole: settles, and gives it its name. @throws IoError, CannotCreate
  virtual void commit() = 0;
  /// In place of commit(): what was written gets the name of a part (partial_name), which is
  /// returned; empty if there is no file. @throws IoError
  virtual std::string keep_partial() = 0;

 protected:
  struct FreeIo {
    void operator()(AVIOContext* io) const noexcept;
  };
  /// `name` is for messages.
  explicit Output(std::string name) : name_(std::move(name)) {}
  void open_io(bool seekable);
  /// Flushes; 0 or the first error.
  int flush();

  std::string name_, temporary_;
  int descriptor_ = -1;
  int write_error_ = 0;
  std::unique_ptr<AVIOContext, FreeIo> io_;

 private:
  // The second is FFmpeg 7's form of the same callback.
  static int write(void* self, std::uint8_t* data, int size);
  static int write(void* self, const std::uint8_t* data, int size);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);
};

/// Whether the name itself is a symbolic link.
bool is_link(const std::string& path);

/// Where the data of `path` really goes: an existing link stays one.
std::string resolve_links(const std::string& path);

/// "x.partial.mkv" for "x.mkv": what of it could be made. Of several, the second is
/// "x.partial-2.mkv".
std::string partial_name(const std::string& path, int number = 1);
/// Whether a file of that name, without its folder, is such a part of `path`.
bool is_partial_name(const std::string& name, const std::string& path);

/// @throws CannotCreate  no file can have that name, or one has it and may not be replaced
void check_free(const std::string& path, bool overwrite);

/// A file that was created exclusively, open for reading and writing.
struct CreatedFile {
  int descriptor = -1;  // -1: the file could not be created
  int error = 0;        // then the system's number for the reason
  std::string path;
};
/// Creates ".NAME.lull-PID-N-X.tmp" for a file NAME in `folder`.
CreatedFile create_temporary(const std::string& folder, const std::string& name,
                             const Access& access);

/// Makes the names in the folder of `path` last, where the file system can.
void sync_folder_of(const std::string& path);

struct OutputFileOptions {
  bool overwrite = false;  // an existing file is replaced
  /// Folder for the temporary file, on the same file system; empty: that of the final name.
  std::string folder = {};
  Access access = {};
  /// The output goes to the file behind a link. Otherwise it replaces the link itself: in folders
  /// that other people provide, links must not lead elsewhere.
  bool follow_links = true;
};

struct SinkOptions;  // io/media.h
/// As the options of a sink ask for.
OutputFileOptions file_options(const SinkOptions& options);

/// Writes to ".NAME.lull-PID-N-X.tmp" beside the final name, which is created exclusively;
/// commit() gives it that name, the destructor without commit() removes it. A new file has the
/// permission bits of `access` and the umask. A file that replaces another keeps the bits of that
/// file, except for users who may not read the sources.
class OutputFile final : public Output {
 public:
  /// @throws CannotCreate  the file exists and may not be replaced, or cannot be created
  OutputFile(const std::string& path, const OutputFileOptions& options);
  ~OutputFile() override;
  /// All is on the disk.
  void finish_writing() override;
  void commit() override;
  std::string keep_partial() override;

 private:
  void create();
  void copy_mode() const;
  void rename_over();
  void rename_new();

  std::string path_;
  OutputFileOptions options_;
};

/// Writes to a descriptor that others opened and that cannot seek, and leaves it open.
class OutputPipe final : public Output {
 public:
  /// @throws InvalidArgument  it is a terminal
  explicit OutputPipe(int descriptor);
  void finish_writing() override;
  void commit() override;
  std::string keep_partial() override;
};

}  // namespace lull::io
