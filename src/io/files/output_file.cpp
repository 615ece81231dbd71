#include "io/files/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <utility>

#include "io/files/byte_pipe.h"
#include "io/files/system_errors.h"
#include "io/files/temporary_name.h"
#include "io/leftovers.h"
#include "io/media.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

/// Returns whether `from` and `to` are hard links to the same file. If they are, the function
/// removes `from`. On a network file system, the reply to the request of link() may be lost. The
/// client then repeats the request, and link() reports EEXIST although it created `to`.
bool is_renamed(const std::string& from, const std::string& to) {
  const int error = errno;
  struct stat a, b;
  const bool same = ::lstat(from.c_str(), &a) == 0 && ::lstat(to.c_str(), &b) == 0 &&
                    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  if (same) ::unlink(from.c_str());
  errno = error;
  return same;
}

/// Renames a file, but never replaces an existing file. On an error, returns false and sets errno;
/// EEXIST means that a file with the new name exists.
bool rename_if_free(const std::string& from, const std::string& to) {
  // glibc before 2.28 has no renameat2().
  constexpr unsigned no_replace = 1;  // RENAME_NOREPLACE of the kernel
  if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), no_replace) == 0)
    return true;
  if (errno == EEXIST && is_renamed(from, to)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // link() never replaces a file, even on file systems without RENAME_NOREPLACE.
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (errno == EEXIST && is_renamed(from, to)) return true;
  // Some file systems have no hard links (FAT: EPERM, many FUSE file systems: ENOSYS). The function
  // then uses rename(). Because rename() can replace a file, the function first checks that `to`
  // does not exist.
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) return false;
  if (::access(to.c_str(), F_OK) == 0) {
    errno = EEXIST;
    return false;
  }
  return ::rename(from.c_str(), to.c_str()) == 0;
}

}  // namespace

bool is_link(const std::string& path) {
  std::error_code ignored;
  return fs::is_symlink(fs::symlink_status(path, ignored));
}

std::string resolve_links(const std::string& path) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  if (!code) return real.string();
  // fs::canonical() fails if the target of a link does not exist yet. The function then resolves
  // the links itself, at most 40 links, as the Linux kernel does.
  fs::path name = path;
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(name, code)); ++links) {
    const fs::path target = fs::read_symlink(name, code);
    if (code) break;
    name = name.parent_path() / target;  // an absolute target replaces the path
  }
  return name.string();
}

std::string partial_name(const std::string& path, int number) {
  const fs::path name = path;
  const std::string mark = ".partial" + (number > 1 ? "-" + std::to_string(number) : "");
  const std::string extension = name.extension().string();
  // A file name may have at most 255 bytes.
  const std::size_t max_stem_bytes =
      255 - std::min<std::size_t>(mark.size() + extension.size(), 255);
  return (name.parent_path() / (cut_name(name.stem().string(), max_stem_bytes) + mark + extension))
      .string();
}

bool is_partial_name(const std::string& name, const std::string& path) {
  constexpr std::string_view mark = ".partial";
  const std::size_t at = name.rfind(mark);
  if (at == std::string::npos) return false;
  const std::string rest = name.substr(at + mark.size());
  const int number = rest.starts_with("-") ? std::atoi(rest.c_str() + 1) : 1;
  return number > 0 && fs::path(partial_name(path, number)).filename() == name;
}

void check_free(const std::string& path, bool overwrite) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (fs::is_directory(status))
    throw CannotCreate("cannot create '" + path + "' (it is a directory)");
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw CannotCreate("cannot create '" + path + "' (it exists and is not a regular file)");
  if (fs::exists(status) && !overwrite)
    throw CannotCreate("'" + path + "' exists; give -y to overwrite it");
}

CreatedFile create_temporary(const std::string& folder, const std::string& name,
                             const Access& access) {
  static std::atomic<int> count = 0;
  // Processes on two machines that share a folder may have equal identities (ProcessIdentity). The
  // random number makes their file names different.
  static const std::uint32_t random_number = std::random_device()();
  const fs::path in = folder.empty() ? "." : folder;
  struct stat status;
  const bool inherits = ::stat(in.c_str(), &status) == 0 && (status.st_mode & S_ISGID);
  const mode_t mode = mode_for(access, inherits ? status.st_gid : ::getegid());
  CreatedFile created;
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    created.path = (fs::path(folder) / temporary_name(name, count++, random_number)).string();
    created.descriptor = ::open(created.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    created.error = created.descriptor < 0 ? errno : 0;
    if (created.error != EEXIST) break;
  }
  if (created.descriptor >= 0) lock_temporary(created.descriptor);
  return created;
}

void sync_folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);  // not every file system supports fsync()
  ::close(descriptor);
}

void Output::FreeIo::operator()(AVIOContext* io) const noexcept {
  av_freep(&io->buffer);
  avio_context_free(&io);
}

void Output::open_io(bool seekable) {
  constexpr int buffer_bytes = 1 << 18;
  auto* buffer = static_cast<unsigned char*>(non_null(av_malloc(buffer_bytes)));
  io_.reset(non_null(avio_alloc_context(buffer, buffer_bytes, 1, this, nullptr, &Output::write,
                                        seekable ? &Output::seek : nullptr)));
}

void Output::check_written() const { check<IoError>(write_error_, "cannot write " + name_); }

int Output::flush() {
  avio_flush(io_.get());
  return write_error_ ? write_error_ : io_->error < 0 ? io_->error : 0;
}

OutputPipe::OutputPipe(int descriptor) : Output("to standard output") {
  if (::isatty(descriptor))
    throw InvalidArgument("standard output is a terminal (video is no text); redirect it");
  descriptor_ = descriptor;
  open_io(false);
}

void OutputPipe::finish_writing() { check<IoError>(flush(), "cannot write " + name_); }

void OutputPipe::commit() { finish_writing(); }

std::string OutputPipe::keep_partial() {
  commit();  // all bytes have already been passed to the reader
  return {};
}

OutputFileOptions file_options(const SinkOptions& options) {
  return {.overwrite = options.overwrite,
          .access = options.access,
          .follow_links = options.follow_links};
}

OutputFile::OutputFile(const std::string& path, const OutputFileOptions& options)
    : Output("the output"),
      path_(options.follow_links ? resolve_links(path) : path),
      options_(options) {
  const bool replaces_link = !options.follow_links && is_link(path);
  if (!replaces_link) check_free(path, options.overwrite);
  if (replaces_link && !options.overwrite)
    throw CannotCreate("'" + path + "' exists (it is a link); give -y to overwrite it");
  if (options.removes_leftovers) remove_leftovers();
  create();
  open_io(true);
}

void OutputFile::remove_leftovers() const {
  const fs::path final_path = path_;
  const std::string name = cut_name(final_path.filename().string());
  io::remove_leftovers(final_path.parent_path().string(),
                       [&](const std::string& output) { return output == name; });
}

void OutputFile::create() {
  const fs::path final_path = path_;
  const CreatedFile created = create_temporary(
      options_.folder.empty() ? final_path.parent_path().string() : options_.folder,
      final_path.filename().string(), options_.access);
  const std::string problem =
      "cannot create '" + path_ + "' (" + std::strerror(created.error) + ")";
  if (created.descriptor < 0 && may_succeed_later(created.error)) throw IoError(problem);
  if (created.descriptor < 0) throw CannotCreate(problem);
  descriptor_ = created.descriptor;
  temporary_ = created.path;
  if (options_.overwrite) copy_mode();
}

// Copies the mode of the file that the temporary file will replace. The caller must call this
// function before the first write, so that other users can never read a private file.
void OutputFile::copy_mode() const {
  struct stat old, own;
  if (::lstat(path_.c_str(), &old) < 0 || !S_ISREG(old.st_mode)) return;
  if (::fstat(descriptor_, &own) < 0) return;
  // The function ignores errors of fchmod(), because some file systems have no permission bits.
  (void)::fchmod(descriptor_, mode_for_replacement(options_.access, own.st_gid, old.st_mode));
}

OutputFile::~OutputFile() {
  io_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

int Output::write(void* self, const std::uint8_t* data, int size) {
  auto& output = *static_cast<Output*>(self);
  const int code = write_all(output.descriptor_, data, static_cast<std::size_t>(size));
  if (code < 0 && !output.write_error_) output.write_error_ = code;
  return code < 0 ? code : size;
}

int Output::write(void* self, std::uint8_t* data, int size) {
  return write(self, const_cast<const std::uint8_t*>(data), size);
}

std::int64_t Output::seek(void* self, std::int64_t offset, int whence) {
  const int descriptor = static_cast<Output*>(self)->descriptor_;
  if (whence == AVSEEK_SIZE) {
    struct stat status;
    return ::fstat(descriptor, &status) < 0 ? AVERROR(errno) : status.st_size;
  }
  const off_t at = ::lseek(descriptor, offset, whence);
  return at < 0 ? AVERROR(errno) : at;
}

void OutputFile::finish_writing() {
  if (descriptor_ < 0) return;
  int error = flush();
  if (!error && ::fsync(descriptor_) < 0 && errno != EINVAL) error = AVERROR(errno);
  // A network file system may report a full disk only at close().
  if (::close(std::exchange(descriptor_, -1)) < 0 && !error) error = AVERROR(errno);
  check<IoError>(error, "cannot write '" + path_ + "'");
}

std::string OutputFile::keep_partial() {
  finish_writing();
  // Without `overwrite`, an existing "x.partial.mkv" remains, and the function tries
  // "x.partial-2.mkv" and so on.
  const fs::path folder = fs::path(temporary_).parent_path();
  const std::string name = (folder / fs::path(path_).filename()).string();
  constexpr int attempts = 1000;
  for (int number = 1; number <= attempts; ++number) {
    const std::string partial = partial_name(name, number);
    const bool renamed = options_.overwrite ? ::rename(temporary_.c_str(), partial.c_str()) == 0
                                            : rename_if_free(temporary_, partial);
    if (renamed) {
      temporary_.clear();
      sync_folder_of(partial);
      return partial;
    }
    if (errno != EEXIST) break;
  }
  return std::exchange(temporary_, {});
}

void OutputFile::commit() {
  finish_writing();
  if (options_.overwrite) {
    rename_over();
  } else {
    rename_new();
  }
  temporary_.clear();
  sync_folder_of(path_);
}

void OutputFile::rename_over() {
  const int code = ::rename(temporary_.c_str(), path_.c_str());
  if (code < 0 && may_succeed_later(errno))
    throw IoError("cannot create '" + path_ + "' (" + reason() + ")");
  if (code < 0) throw CannotCreate("cannot create '" + path_ + "' (" + reason() + ")");
}

// Renames the temporary file to the name of the output. Throws an error if another process has
// meanwhile created a file of this name.
void OutputFile::rename_new() {
  if (rename_if_free(temporary_, path_)) return;
  if (errno == EEXIST) throw CannotCreate("'" + path_ + "' exists now; give -y to overwrite it");
  throw CannotCreate("cannot create '" + path_ + "' (" + reason() + ")");
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return std::filesystem::equivalent(a, b, code) && !code;
}

}  // namespace lull::io
