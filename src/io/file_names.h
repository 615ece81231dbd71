#pragma once
// Which files the names of inputs and outputs mean, so that no file is read and written at once.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lull::io {

/// A file as the file system knows it, behind links. Two names that mean one file have an equal
/// inode if the file exists, an equal folder and name if it does not.
struct FilePlace {
  std::uint64_t device = 0, inode = 0;  // 0: the file does not exist
  std::uint64_t folder_device = 0, folder_inode = 0;
  std::string name;  // in that folder
};

/// nullopt: pipes, devices and folders, and names in folders that do not exist.
[[nodiscard]] std::optional<FilePlace> place_of(const std::string& path);
/// Of an open file.
[[nodiscard]] std::optional<FilePlace> place_of(int descriptor);

/// The files that the name of an input means: one file, or those of a sequence of pictures. None
/// for `-`, addresses and missing files.
[[nodiscard]] std::vector<std::string> files_of_input(const std::string& path);

/// The files that the name of an output means.
struct OutputFiles {
  /// Their names, as far as the names of the input's files determine them.
  std::vector<std::string> names;
  /// A numbered pattern whose numbers are not known: place_of() of its folder's files may match.
  std::string pattern;
};
/// None for `-`, `null` and `hash`. `input` is the name of the input.
[[nodiscard]] OutputFiles files_of_output(const std::string& path, const std::string& input);
/// Whether a numbered pattern makes the name of this file.
[[nodiscard]] bool may_make(const std::string& pattern, const FilePlace& file);

/// The files of a job in this folder that exist: its plan or manifest, its segments.
[[nodiscard]] std::vector<std::string> files_of_job(const std::string& folder);
/// Whether a job in this folder has, or will have, this file.
[[nodiscard]] bool is_file_of_job(const std::string& folder, const FilePlace& file);

}  // namespace lull::io
