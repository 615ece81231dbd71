#include "io/file_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "io/files/output_file.h"
#include "io/pictures/sequence.h"
#include "io/segments/segment_file.h"
#include "io/volumes/foreign_volume.h"
#include "io/volumes/volume_name.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

std::string folder_or_here(const std::string& folder) { return folder.empty() ? "." : folder; }

bool is_same_folder(const std::string& folder, const FileLocation& file) {
  struct stat status;
  return ::stat(folder_or_here(folder).c_str(), &status) == 0 &&
         status.st_dev == file.folder_device && status.st_ino == file.folder_inode;
}

bool is_job_name(const std::string& name) {
  constexpr std::array<std::string_view, 4> records = {"plan", "result", "manifest", "lock"};
  return std::ranges::find(records, name) != records.end() || is_segment_name(name);
}

/// Returns the files of the picture sequence `path`; empty if `path` is not a pattern or no file
/// matches.
std::vector<SequenceFile> sequence_of(const std::string& path) {
  try {
    return is_sequence(path) ? find_sequence(path) : std::vector<SequenceFile>{};
  } catch (const Error&) {
    return {};  // the source will report the error
  }
}

/// Returns the names of all files of an existing input: `path`, and for some volumes also the
/// separate file with the samples.
std::vector<std::string> files_of_existing(const std::string& path) {
  try {
    const auto volume = read_foreign_volume(path);
    if (volume && volume->data_path != path) return {path, volume->data_path};
  } catch (const Error&) {
    return {path};  // the source will report the error
  }
  return {path};
}

}  // namespace

std::optional<FileLocation> location_of(const std::string& path) {
  const fs::path target = resolve_links(path);
  struct stat file, folder;
  const bool exists = ::stat(target.c_str(), &file) == 0;
  if (exists && !S_ISREG(file.st_mode)) return std::nullopt;
  if (::stat(folder_or_here(target.parent_path()).c_str(), &folder) < 0) return std::nullopt;
  FileLocation place{.folder_device = folder.st_dev,
                     .folder_inode = folder.st_ino,
                     .name = target.filename().string()};
  if (exists) place.device = file.st_dev, place.inode = file.st_ino;
  return place;
}

std::optional<FileLocation> location_of(int descriptor) {
  struct stat file;
  if (::fstat(descriptor, &file) < 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  return FileLocation{.device = file.st_dev, .inode = file.st_ino, .name = {}};
}

std::vector<std::string> files_of_input(const std::string& path) {
  std::error_code ignored;
  if (path == "-") return {};
  if (fs::exists(path, ignored)) return files_of_existing(path);
  std::vector<std::string> files;
  for (SequenceFile& file : sequence_of(path)) files.push_back(std::move(file.path));
  return files;
}

OutputFiles files_of_output(const std::string& path, const std::string& input) {
  if (path == "-" || path == "null" || path == "hash") return {};
  OutputFiles files{.names = files_of_volume(path), .pattern = {}};
  std::optional<NumberPattern> numbers;
  try {
    numbers = number_pattern(path);
  } catch (const Error&) {
    return files;  // the sink will report the error
  }
  const std::optional<StarPattern> star = star_pattern(path);
  const std::vector<SequenceFile> sequence = sequence_of(input);
  for (const SequenceFile& file : sequence) {
    if (numbers) files.names.push_back(numbers->name(file.number));
    if (star && !file.match.empty()) files.names.push_back(star->name(file.match));
  }
  if (!numbers || !sequence.empty()) return files;
  files.pattern = path;
  for (SequenceFile& file : existing_numbers(path)) files.names.push_back(std::move(file.path));
  return files;
}

bool may_produce(const std::string& pattern, const FileLocation& file) {
  const std::optional<NumberPattern> numbers = number_pattern(pattern);
  return numbers && number_in(file.name, *numbers) &&
         is_same_folder(fs::path(pattern).parent_path(), file);
}

std::vector<std::string> files_of_job(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (is_job_name(at->path().filename().string())) files.push_back(at->path().string());
  return files;
}

bool is_file_of_job(const std::string& folder, const FileLocation& file) {
  return is_job_name(file.name) && is_same_folder(folder, file);
}

}  // namespace lull::io
