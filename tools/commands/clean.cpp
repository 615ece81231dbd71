// Implements `lull clean`, which removes the temporary files of killed processes.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/describe.h"
#include "core/error.h"
#include "io/leftovers.h"
#include "tools/commands/commands.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_of(const std::string& folder) {
  std::vector<std::string> folders{folder};
  std::error_code code;
  fs::directory_iterator at(folder, code);
  for (const fs::directory_iterator end; !code && at != end; at.increment(code)) {
    std::error_code ignored;
    if (at->path().extension() == ".lull-job" && at->is_directory(ignored) &&
        !at->is_symlink(ignored))
      folders.push_back(at->path().string());
  }
  std::ranges::sort(folders.begin() + 1, folders.end());
  return folders;
}

void print(const std::string& what, const io::Leftover& file, const std::string& why) {
  std::printf("%s %s\n", what.c_str(),
              one_line("'" + file.path + "' (" + describe_bytes(file.bytes) + why + ")").c_str());
}

/// Lists or removes files, and counts the files that the system does not remove.
class Cleaning {
 public:
  explicit Cleaning(bool lists_only) : lists_only_(lists_only) {}

  void process(const io::Leftover& file) {
    switch (file.state) {
      case io::Leftover::State::abandoned:
        return remove(file);
      case io::Leftover::State::in_use:
        return print("kept", file, ", process " + std::to_string(file.process) + " is writing it");
      case io::Leftover::State::unknown:
        return print("kept", file,
                     ", process " + std::to_string(file.process) +
                         " of another host, container or version of lull; delete it if that "
                         "process has ended");
    }
  }

  void print_sum() const {
    std::printf("%s %d %s, %s\n", lists_only_ ? "would remove" : "removed", files_,
                files_ == 1 ? "file" : "files", describe_bytes(bytes_).c_str());
  }
  /// Returns the path of the first file that the system did not remove, and the reason. Returns an
  /// empty string if there was no failure.
  const std::string& failure() const { return failure_; }

 private:
  void remove(const io::Leftover& file) {
    if (lists_only_) {
      print("would remove", file, "");
    } else if (io::remove_leftover(file)) {
      print("removed", file, "");
    } else if (errno == EBUSY) {
      return print("kept", file, ", another process has locked it");
    } else if (errno == ENOENT) {
      return;  // another process has already removed the file
    } else {
      if (failure_.empty()) failure_ = "'" + file.path + "' (" + std::strerror(errno) + ")";
      return;
    }
    ++files_;
    bytes_ += file.bytes;
  }

  bool lists_only_;
  int files_ = 0;
  std::int64_t bytes_ = 0;
  std::string failure_;
};

}  // namespace

int clean(const CleanOptions& options) {
  Cleaning cleaning(options.lists_only);
  for (const std::string& folder : folders_of(options.folder))
    for (const io::Leftover& file : io::find_leftovers(folder)) cleaning.process(file);
  cleaning.print_sum();
  if (!cleaning.failure().empty()) throw IoError("cannot remove " + cleaning.failure());
  return 0;
}

}  // namespace lull::tools
