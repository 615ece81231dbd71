#include "io/leftovers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "io/files/temporary_name.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

/// Returns the total size in bytes of the files in a folder.
std::int64_t bytes_in(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code code;
  fs::recursive_directory_iterator at(folder, code);
  for (const fs::recursive_directory_iterator end; !code && at != end; at.increment(code)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored))
      bytes += static_cast<std::int64_t>(at->file_size(ignored));
  }
  return bytes;
}

/// Returns the description of the temporary file or folder `path`; nullopt if `path` is not a
/// temporary file or folder of lull.
std::optional<Leftover> leftover_at(const fs::path& path) {
  const std::optional<TemporaryName> name = parse_temporary_name(path.filename().string());
  struct stat status;
  if (!name || ::lstat(path.c_str(), &status) < 0) return std::nullopt;
  const bool is_folder = S_ISDIR(status.st_mode);
  if (!is_folder && !S_ISREG(status.st_mode)) return std::nullopt;
  Leftover leftover{.path = path.string(),
                    .output = name->output,
                    .bytes = is_folder ? bytes_in(path) : status.st_size,
                    .process = name->process.number};
  if (!name->has_identity) return leftover;
  switch (state_of(name->process)) {
    case ProcessState::running:
      leftover.state = Leftover::State::in_use;
      break;
    case ProcessState::ended:
      leftover.state = Leftover::State::abandoned;
      break;
    case ProcessState::unknown:
      break;
  }
  return leftover;
}

/// Returns the temporary files in `folder`. `code` receives an error.
std::vector<Leftover> leftovers_in(const std::string& folder, std::error_code& code) {
  std::vector<Leftover> found;
  fs::directory_iterator at(folder.empty() ? "." : folder, code);
  for (const fs::directory_iterator end; !code && at != end; at.increment(code))
    if (auto leftover = leftover_at(fs::path(folder) / at->path().filename()))
      found.push_back(*std::move(leftover));
  std::ranges::sort(found, {}, &Leftover::path);
  return found;
}

}  // namespace

std::vector<Leftover> find_leftovers(const std::string& folder) {
  std::error_code code;
  std::vector<Leftover> found = leftovers_in(folder, code);
  if (code) throw NoInput("cannot read the folder '" + folder + "' (" + code.message() + ")");
  return found;
}

// The lock shows whether a process on any host is still writing the file. The host name does not
// suffice, because two hosts may have equal names.
bool remove_leftover(const Leftover& leftover) {
  std::error_code code;
  const bool is_folder = fs::is_directory(fs::symlink_status(leftover.path, code));
  const int access = is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR;
  const int file = ::open(leftover.path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_locked = ::flock(file, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
  const auto now = is_locked ? std::nullopt : leftover_at(leftover.path);
  bool removed = false;
  if (!now || now->state != Leftover::State::abandoned) {
    errno = EBUSY;
  } else if (is_folder) {
    fs::remove_all(leftover.path, code);
    removed = !code;
    errno = code.value();
  } else {
    removed = ::unlink(leftover.path.c_str()) == 0;
  }
  const int error = errno;
  ::close(file);
  errno = error;
  return removed;
}

void remove_leftovers(const std::string& folder,
                      const std::function<bool(const std::string& output)>& belongs) {
  std::error_code ignored;
  for (const Leftover& leftover : leftovers_in(folder, ignored))
    if (leftover.state == Leftover::State::abandoned && belongs(leftover.output))
      (void)remove_leftover(leftover);
}

}  // namespace lull::io
