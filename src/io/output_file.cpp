#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "io/byte_pipe.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

}  // namespace

std::string behind_links(const std::string& path) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  if (!code) return real.string();
  // A link may lead to a file that does not exist yet. The system follows 40 links, too.
  fs::path name = path;
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(name, code)); ++links) {
    const fs::path target = fs::read_symlink(name, code);
    if (code) break;
    name = name.parent_path() / target;  // an absolute target replaces the whole
  }
  return name.string();
}

void check_free(const std::string& path, bool overwrite) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (fs::is_directory(status))
    throw CannotCreate("cannot create '" + path + "' (it is a directory)");
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw CannotCreate("cannot create '" + path + "' (it exists and is no regular file)");
  if (fs::exists(status) && !overwrite)
    throw CannotCreate("'" + path + "' exists; give -y to overwrite it");
}

void sync_folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);  // not every file system can
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

void OutputPipe::commit() { check<IoError>(flush(), "cannot write " + name_); }

std::string OutputPipe::keep() {
  commit();  // the reader has the rest already
  return {};
}

OutputFile::OutputFile(const std::string& path, bool overwrite, const std::string& folder)
    : Output("the output"), path_(behind_links(path)), overwrite_(overwrite) {
  check_free(path, overwrite);
  create(folder);
  open_io(true);
}

void OutputFile::create(const std::string& folder) {
  static std::atomic<int> count = 0;
  const fs::path final_path = path_;
  // A name may have 255 bytes; ours shortens it rather than fail.
  const std::string name = final_path.filename().string().substr(0, 200);
  const std::string hidden =
      "." + name + ".lull-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".tmp";
  temporary_ = ((folder.empty() ? final_path.parent_path() : fs::path(folder)) / hidden).string();
  // Left behind by a process of the same number that was killed: not worth keeping.
  ::unlink(temporary_.c_str());
  descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw CannotCreate("cannot create '" + path_ + "' (" + reason() + ")");
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

void OutputFile::settle() {
  if (descriptor_ < 0) return;
  int error = flush();
  if (!error && ::fsync(descriptor_) < 0 && errno != EINVAL) error = AVERROR(errno);
  // Network file systems report a full disk here at the latest.
  if (::close(std::exchange(descriptor_, -1)) < 0 && !error) error = AVERROR(errno);
  check<IoError>(error, "cannot write '" + path_ + "'");
}

std::string OutputFile::keep() {
  settle();
  return std::exchange(temporary_, {});
}

void OutputFile::commit() {
  settle();
  if (overwrite_) {
    rename_over();
  } else {
    rename_new();
  }
  temporary_.clear();
  sync_folder_of(path_);
}

void OutputFile::rename_over() {
  if (::rename(temporary_.c_str(), path_.c_str()) < 0)
    throw CannotCreate("cannot create '" + path_ + "' (" + reason() + ")");
}

// Somebody may have created the name meanwhile: it must not be lost.
void OutputFile::rename_new() {
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0)
    return;
  // Not every file system knows that; a hard link does not replace anything either.
  if (errno == EINVAL || errno == ENOSYS) {
    if (::link(temporary_.c_str(), path_.c_str()) == 0) {
      ::unlink(temporary_.c_str());
      return;
    }
    // One without hard links (FAT): looking first is the best there is.
    if ((errno == EPERM || errno == ENOTSUP) && ::access(path_.c_str(), F_OK) < 0)
      return rename_over();
  }
  if (errno == EEXIST) throw CannotCreate("'" + path_ + "' exists by now; give -y to overwrite it");
  throw CannotCreate("cannot create '" + path_ + "' (" + reason() + ")");
}

}  // namespace lull::io
