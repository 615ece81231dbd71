#pragma once
// Reads and writes small text files, such as sidecar files and job records. Reads only regular
// files up to a maximum size.

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
  /// @throws CannotCreate  lull cannot create the file, or the file exists and the options do not
  ///     allow its replacement
  TextFile(const std::string& path, const TextFileOptions& options);
  /// Removes the temporary file unless commit() has renamed it.
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Writes `text` to the file temporary(). The caller must call this function exactly once.
  /// @throws IoError
  void write(const std::string& text);
  const std::string& temporary() const;
  /// Renames the temporary file to its final name.
  /// @throws IoError, CannotCreate
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// Writes a complete text file.
/// @throws IoError, CannotCreate
void write_text(const std::string& path, const std::string& text, const TextFileOptions& options);

/// Replaces the content of the file `path` atomically by `text`; the new content may be lost after
/// a power failure. The function never replaces folders and devices.
/// @return false if the function could not write the file; errno states the reason
[[nodiscard]] bool replace_text(const std::string& path, const std::string& text);

/// A temporary file with a text for another library, readable only by its owner. The destructor
/// removes the file.
class TemporaryText {
 public:
  /// @throws IoError  lull cannot create the file in the folder for temporary files
  TemporaryText();
  ~TemporaryText();
  TemporaryText(const TemporaryText&) = delete;
  TemporaryText& operator=(const TemporaryText&) = delete;

  const std::string& path() const { return path_; }
  /// Writes the text to the file. The caller must call this function exactly once.
  /// @throws IoError
  void write(const std::string& text) const;

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Reads a text file.
/// @throws NoInput  no readable regular file has this name
/// @throws BadData  the file has more than `max_bytes` bytes
/// @throws IoError  the error may be temporary
[[nodiscard]] std::string read_text(const std::string& path, std::size_t max_bytes);

/// Reads a text file like read_text(). Returns nullopt if the file does not exist.
[[nodiscard]] std::optional<std::string> read_text_if_exists(const std::string& path,
                                                             std::size_t max_bytes);

}  // namespace lull::io
