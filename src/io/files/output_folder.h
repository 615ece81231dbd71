#pragma once
// Output folders. A folder gets its final name only when all of its files are complete.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "io/access.h"

namespace lull::io {

struct OutputFolderOptions {
  bool overwrite = false;  // replaces an existing folder if `may_replace` returns true for it
  Access access = {};      // permission bits of the files
  bool follow_links = true;
  /// Returns whether the output may replace the existing, non-empty folder `path`.
  std::function<bool(const std::string& path)> may_replace = {};
};

/// Returns whether an output at `path` (without a final slash) replaces an existing folder. An
/// output may always replace an empty folder.
/// @param name  name of the output in messages
/// @throws CannotCreate  the output is a file, or a folder whose replacement the options forbid
bool check_free_folder(const std::string& path, const std::string& name,
                       const OutputFolderOptions& options);

/// Writes files to a temporary folder beside the output. `commit()` renames this folder to the name
/// of the output. Without `commit()`, the destructor removes it. The constructor removes temporary
/// folders that killed processes have left for this output.
class OutputFolder {
 public:
  /// @param path  name of the output, with or without a final slash
  /// @throws CannotCreate  the output is a file, or a folder whose replacement the options forbid;
  ///     or the system cannot create the folder
  OutputFolder(const std::string& path, OutputFolderOptions options);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Path of the temporary folder; empty after `commit()`.
  const std::string& temporary() const { return temporary_; }
  /// Writes a new file and creates missing folders.
  /// @param path  path of the file, which begins with `temporary()`
  /// @throws IoError
  void write(const std::string& path, std::span<const std::byte> bytes);
  /// Writes bytes at a position of a file. The first call for a path creates the file and missing
  /// folders.
  /// @throws IoError
  void write_at(const std::string& path, std::int64_t position, std::span<const std::byte> bytes);
  /// Copies the file `from` to the new file `path`.
  /// @throws IoError, NoInput
  void copy(const std::string& from, const std::string& path);
  /// Flushes all files to the disk and renames the folder to the name of the output.
  /// @throws IoError, CannotCreate
  void commit();

 private:
  /// Opens a file for writing. The function creates the file and its folders if they do not exist.
  /// @param flags  further flags for open()
  int open_file(const std::string& path, int flags);

  std::string name_;  // the name of the output in messages
  std::string path_, temporary_;
  OutputFolderOptions options_;
  int descriptor_ = -1;      // the open folder; this process has locked it
  std::string last_parent_;  // folder of the most recent file; the folder exists
};

}  // namespace lull::io
