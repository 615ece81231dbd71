#include "io/files/output_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/byte_pipe.h"
#include "io/files/output_file.h"
#include "io/files/regular_file.h"
#include "io/files/temporary_name.h"
#include "io/leftovers.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

std::string new_temporary(const fs::path& target) {
  static std::atomic<int> count = 0;
  const std::string name =
      temporary_name(target.filename().string(), count++, std::random_device()());
  return (target.parent_path() / name).string();
}

/// Owns and closes a file descriptor.
struct OpenFile {
  int descriptor;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

}  // namespace

bool check_free_folder(const std::string& path, const std::string& name,
                       const OutputFolderOptions& options) {
  std::error_code code;
  const fs::file_status status = fs::symlink_status(path, code);
  if (!fs::exists(status)) return false;
  if (!fs::is_directory(status)) throw CannotCreate("'" + name + "' exists and is not a folder");
  if (fs::is_empty(path, code)) return true;
  if (!options.may_replace || !options.may_replace(path))
    throw CannotCreate("'" + name + "' exists and has other contents; name a new folder");
  if (!options.overwrite) throw CannotCreate("'" + name + "' exists; give -y to overwrite it");
  return true;
}

OutputFolder::OutputFolder(const std::string& path, OutputFolderOptions options)
    : name_(path),
      path_(path.substr(0, path.find_last_not_of('/') + 1)),
      options_(std::move(options)) {
  if (options_.follow_links && is_link(path_)) path_ = resolve_links(path_);
  (void)check_free_folder(path_, name_, options_);
  const fs::path target(path_);
  const std::string own = cut_name(target.filename().string());
  remove_leftovers(target.parent_path().string(),
                   [&](const std::string& output) { return output == own; });
  temporary_ = new_temporary(path_);
  std::error_code code;
  if (!fs::create_directory(temporary_, code)) {
    temporary_.clear();
    throw CannotCreate("cannot create '" + path + "' (" + code.message() + ")");
  }
  descriptor_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ >= 0) lock_temporary(descriptor_);
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  if (descriptor_ >= 0) ::close(descriptor_);
}

int OutputFolder::open_file(const std::string& path, int flags) {
  const std::string parent = fs::path(path).parent_path().string();
  if (parent != last_parent_) {
    std::error_code code;
    fs::create_directories(parent, code);
    if (code) throw IoError("cannot create '" + parent + "' (" + code.message() + ")");
    last_parent_ = parent;
  }
  const mode_t mode = mode_for(options_.access, ::getegid());
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, mode);
  if (descriptor < 0) throw IoError("cannot create '" + path + "' (" + std::strerror(errno) + ")");
  return descriptor;
}

void OutputFolder::write(const std::string& path, std::span<const std::byte> bytes) {
  const OpenFile file{open_file(path, O_EXCL)};
  check<IoError>(write_all(file.descriptor, bytes.data(), bytes.size()),
                 "cannot write '" + path + "'");
}

void OutputFolder::write_at(const std::string& path, std::int64_t position,
                            std::span<const std::byte> bytes) {
  const OpenFile file{open_file(path, 0)};
  if (::lseek(file.descriptor, position, SEEK_SET) < 0)
    throw IoError("cannot write '" + path + "' (" + std::strerror(errno) + ")");
  check<IoError>(write_all(file.descriptor, bytes.data(), bytes.size()),
                 "cannot write '" + path + "'");
}

void OutputFolder::copy(const std::string& from, const std::string& path) {
  constexpr std::size_t piece_bytes = 1 << 20;
  RegularFile input(from);
  const OpenFile file{open_file(path, O_EXCL)};
  std::vector<std::byte> piece(piece_bytes);
  while (const std::size_t got = input.read(piece.data(), piece.size()))
    check<IoError>(write_all(file.descriptor, piece.data(), got), "cannot write '" + path + "'");
}

// OME-Zarr data can have millions of files. One syncfs() is faster than one fsync() for each file.
void OutputFolder::commit() {
  if (descriptor_ >= 0 && ::syncfs(descriptor_) < 0)
    throw IoError("cannot write '" + name_ + "' (" + std::strerror(errno) + ")");
  std::string old;
  std::error_code code;
  if (check_free_folder(path_, name_, options_)) {
    old = new_temporary(path_);
    fs::rename(path_, old, code);
  }
  if (!code) fs::rename(temporary_, path_, code);
  if (code) {
    std::error_code ignored;
    if (!old.empty() && fs::exists(old, ignored)) fs::rename(old, path_, ignored);
    throw CannotCreate("cannot create '" + name_ + "' (" + code.message() + ")");
  }
  temporary_.clear();
  sync_folder_of(path_);
  if (!old.empty()) fs::remove_all(old, code);
}

}  // namespace lull::io
