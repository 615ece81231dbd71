#pragma once
// Small files of text, such as sidecar files and records of jobs. They appear under their names
// when they are complete, and are read only from regular files of a bounded size.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "io/access.h"

namespace lull::io {

struct TextFileOptions {
  bool overwrite = false;  // an existing file is replaced
  Access access = {};
  bool follow_links = true;  // as of OutputFileOptions
};

class TextFile {
 public:
  /// @throws CannotCreate  the file exists and may not be replaced, or cannot be created
  TextFile(const std::string& path, const TextFileOptions& options);
  /// Removes a file that has not got its name.
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Writes `text` to the file temporary(). Must be called once.
  /// @throws IoError
  void write(const std::string& text);
  const std::string& temporary() const;
  /// Gives the file its name. @throws IoError, CannotCreate
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// Writes a file under its name, in one step. @throws IoError, CannotCreate
void write_text(const std::string& path, const std::string& text, const TextFileOptions& options);

/// Replaces the file `path` by one with this text. A reader sees either of them. The text need not
/// survive the loss of power. False: the file could not be written.
[[nodiscard]] bool replace_text(const std::string& path, const std::string& text);

/// A file for another library to read, readable for its owner alone. It goes with the object.
class TemporaryText {
 public:
  /// @throws IoError  the folder for temporary files takes no file
  TemporaryText();
  ~TemporaryText();
  TemporaryText(const TemporaryText&) = delete;
  TemporaryText& operator=(const TemporaryText&) = delete;

  const std::string& path() const { return path_; }
  /// Once. @throws IoError
  void write(const std::string& text) const;

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// @throws NoInput  the file does not exist, is not a regular file, or cannot be read
/// @throws BadData  the file has more than `max_bytes` bytes
/// @throws IoError  the failure may be temporary
[[nodiscard]] std::string read_text(const std::string& path, std::size_t max_bytes);

/// As read_text(); nullopt where no file has this name.
[[nodiscard]] std::optional<std::string> read_text_if_exists(const std::string& path,
                                                             std::size_t max_bytes);

}  // namespace lull::io
