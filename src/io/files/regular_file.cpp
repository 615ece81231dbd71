#include "io/files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "io/files/system_errors.h"

namespace lull::io {
namespace {

/// Returns the kind of a special file, such as "a folder"; empty for a regular file.
std::string kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return {};
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (S_ISFIFO(status.st_mode)) return "a pipe";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  return "a device";
}

}  // namespace

RegularFile::RegularFile(const std::string& path) : path_(path) {
  struct stat status;
  // The constructor checks the kind of the file before open(), because opening some devices has
  // side effects.
  if (::stat(path.c_str(), &status) < 0) fail(errno);
  if (const std::string kind = kind_of(status); !kind.empty()) refuse(kind);
  // O_NONBLOCK prevents blocking if another process has meanwhile replaced the file by a pipe.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(errno);
  const int error = ::fstat(descriptor_, &status) < 0 ? errno : 0;
  const std::string kind = error ? std::string() : kind_of(status);
  size_ = status.st_size;
  if (!error && kind.empty()) return;
  ::close(std::exchange(descriptor_, -1));
  if (error) fail(error);
  refuse(kind);
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RegularFile::refuse(const std::string& kind) const {
  throw NoInput("cannot read '" + path_ + "' (it is " + kind + "); give a regular file");
}

void RegularFile::fail(int error) const {
  const std::string text = "cannot read '" + path_ + "' (" + std::strerror(error) + ")";
  if (may_succeed_later(error)) throw IoError(text);
  throw NoInput(text);
}

std::size_t RegularFile::read(void* data, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(descriptor_, static_cast<char*>(data) + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void RegularFile::seek(std::int64_t position) {
  if (::lseek(descriptor_, position, SEEK_SET) < 0) fail(errno);
}

}  // namespace lull::io
