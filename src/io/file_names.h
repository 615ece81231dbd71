#pragma once
// Determines the files to which names of inputs and outputs refer, so that lull never overwrites an
// input.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lull::io {

/// Identity of a file after the resolution of symbolic links: device and inode for existing files,
/// folder and name for missing files.
struct FileLocation {
  std::uint64_t device = 0, inode = 0;  // 0: the file does not exist
  std::uint64_t folder_device = 0, folder_inode = 0;
  std::string name;  // name within the folder
};

/// Returns the identity of the file `path`; nullopt for pipes, devices, folders, and names in
/// missing folders.
[[nodiscard]] std::optional<FileLocation> location_of(const std::string& path);
/// Returns the identity of an open file.
[[nodiscard]] std::optional<FileLocation> location_of(int descriptor);

/// Returns the files of an input: a single file, or the files of a picture sequence. The result is
/// empty for `-`, network addresses and missing files.
[[nodiscard]] std::vector<std::string> files_of_input(const std::string& path);

/// The files to which an output with a given name may write.
struct OutputFiles {
  /// The names that lull knows before the run: the output, names that lull derives from the input
  /// files, and existing files that match the pattern.
  std::vector<std::string> names;
  /// Pattern of the output names that contain a frame number. may_produce() uses this pattern.
  std::string pattern;
};
/// Returns the files to which the output `path` may write; empty for `-`, `null` and `hash`.
/// @param input  name of the input
[[nodiscard]] OutputFiles files_of_output(const std::string& path, const std::string& input);
/// Returns whether the pattern can produce the name of the file `file`.
[[nodiscard]] bool may_produce(const std::string& pattern, const FileLocation& file);

/// Returns the existing files of the job in `folder`: the plan or the manifest, and the segments.
[[nodiscard]] std::vector<std::string> files_of_job(const std::string& folder);
/// Returns whether `file` is an existing or future file of the job in `folder`.
[[nodiscard]] bool is_file_of_job(const std::string& folder, const FileLocation& file);

}  // namespace lull::io
