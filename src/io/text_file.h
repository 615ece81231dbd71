#pragma once
// Reads and writes small text files, such as sidecar files and records of jobs. A file gets its
// final name when its content is complete. The functions read only regular files of limited size.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "io/access.h"

namespace lull::io {

struct TextFileOptions {
  bool overwrite = false;  // replaces an existing file
  Access access = {};
  bool follow_links = true;  // whether symbolic links are followed (OutputFileOptions)
  bool removes_leftovers = true;
};

class TextFile {
 public:
  /// @throws CannotCreate  the file exists and must not be replaced, or cannot be created
  TextFile(const std::string& path, const TextFileOptions& options);
  /// Removes the temporary file if commit() was not called.
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Writes `text` to the file temporary(). Must be called exactly once.
  /// @throws IoError
  void write(const std::string& text);
  const std::string& temporary() const;
  /// Gives the file its final name.
  /// @throws IoError, CannotCreate
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// Writes a complete text file.
/// @throws IoError, CannotCreate
void write_text(const std::string& path, const std::string& text, const TextFileOptions& options);

/// Replaces the content of the file `path` by `text`. Other processes that read the file get either
/// the old or the new content. The text may be lost after a power failure. Returns false if the
/// file could not be written; errno is the reason. Folders and devices are never replaced.
[[nodiscard]] bool replace_text(const std::string& path, const std::string& text);

/// A temporary file from which another library reads a text. Only the file's owner can read it. The
/// destructor removes it.
class TemporaryText {
 public:
  /// @throws IoError  the file cannot be created in the folder for temporary files
  TemporaryText();
  ~TemporaryText();
  TemporaryText(const TemporaryText&) = delete;
  TemporaryText& operator=(const TemporaryText&) = delete;

  const std::string& path() const { return path_; }
  /// Writes the text of the file. Must be called exactly once.
  /// @throws IoError
  void write(const std::string& text) const;

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Reads a text file.
/// @throws NoInput  the file does not exist, is not a regular file, or cannot be read
/// @throws BadData  the file has more than `max_bytes` bytes
/// @throws IoError  the failure may be temporary
[[nodiscard]] std::string read_text(const std::string& path, std::size_t max_bytes);

/// Reads a text file as read_text() does; nullopt if the file does not exist.
[[nodiscard]] std::optional<std::string> read_text_if_exists(const std::string& path,
                                                             std::size_t max_bytes);

}  // namespace lull::io
