#pragma once
// Outputs that are folders. A folder gets its final name only when all of its files are complete.

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "io/access.h"

namespace lull::io {

struct OutputFolderOptions {
  bool overwrite = false;  // replaces an existing folder if `may_replace` returns true for it
  Access access = {};      // permission bits of the files
  bool follow_links = true;
  /// Returns whether an existing folder that is not empty may be replaced.
  std::function<bool(const std::string& path)> may_replace = {};
};

/// Writes files to a folder with a temporary name beside the output. commit() renames the folder;
/// without commit(), the destructor removes it. The folders of killed processes for the same output
/// are removed at the beginning.
class OutputFolder {
 public:
  /// @param path  name of the output; a final slash has no meaning
  /// @throws CannotCreate  a file or a folder that must not be replaced has the name, or the folder
  ///     cannot be created
  OutputFolder(const std::string& path, OutputFolderOptions options);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Path of the folder until commit(); empty after commit().
  const std::string& temporary() const { return temporary_; }
  /// Writes a new file, and the folders that its path needs.
  /// @param path  path of the file, which begins with temporary()
  /// @throws IoError
  void write(const std::string& path, std::span<const std::byte> bytes);
  /// Copies a file.
  /// @throws IoError, NoInput
  void copy(const std::string& from, const std::string& path);
  /// Writes all files to the disk and gives the folder its final name.
  /// @throws IoError, CannotCreate
  void commit();

 private:
  bool is_replaced() const;
  int create_file(const std::string& path);

  std::string name_;  // the name of the output in messages
  std::string path_, temporary_;
  OutputFolderOptions options_;
  int descriptor_ = -1;      // the open folder, which this process has locked
  std::string last_parent_;  // the folder of the last file, which exists
};

}  // namespace lull::io
