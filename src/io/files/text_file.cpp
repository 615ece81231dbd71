#include "io/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "io/files/byte_pipe.h"
#include "io/files/output_file.h"
#include "io/files/regular_file.h"

namespace lull::io {
namespace {

std::string read_all(RegularFile& file, const std::string& path, std::size_t max_bytes) {
  const auto size = static_cast<std::size_t>(file.size());
  std::string text;
  // Some file systems do not state the size of a file. The loop therefore reads one byte more than
  // the stated size. If a read returns less, the function has reached the end of the file.
  for (std::size_t capacity = size + 1; text.size() <= max_bytes && size <= max_bytes;) {
    const std::size_t before = text.size();
    text.resize(std::min(capacity, max_bytes + 1));
    text.resize(before + file.read(text.data() + before, text.size() - before));
    if (text.size() < std::min(capacity, max_bytes + 1)) return text;
    capacity = 2 * capacity + 4096;
  }
  throw BadData("'" + path + "' is too large (" + std::to_string(max_bytes) +
                " bytes are the limit); check the name");
}

}  // namespace

struct TextFile::File {
  OutputFile output;
};

TextFile::TextFile(const std::string& path, const TextFileOptions& options)
    : file_(new File{OutputFile(path, {.overwrite = options.overwrite,
                                       .access = options.access,
                                       .follow_links = options.follow_links,
                                       .removes_leftovers = options.removes_leftovers})}) {}

TextFile::~TextFile() = default;

void TextFile::write(const std::string& text) {
  constexpr std::size_t block = std::size_t{1} << 30;  // FFmpeg counts bytes in an int
  for (std::size_t at = 0; at < text.size(); at += block)
    avio_write(file_->output.io(), reinterpret_cast<const unsigned char*>(text.data() + at),
               static_cast<int>(std::min(block, text.size() - at)));
  file_->output.finish_writing();
}

const std::string& TextFile::temporary() const { return file_->output.temporary(); }

void TextFile::commit() { file_->output.commit(); }

void write_text(const std::string& path, const std::string& text, const TextFileOptions& options) {
  TextFile file(path, options);
  file.write(text);
  file.commit();
}

bool replace_text(const std::string& path, const std::string& text) {
  const std::filesystem::path target = resolve_links(path);
  struct stat old;
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    errno = S_ISDIR(old.st_mode) ? EISDIR : EEXIST;
    return false;
  }
  const CreatedFile created =
      create_temporary(target.parent_path().string(), target.filename().string(), {});
  if (created.descriptor < 0) return false;
  if (exists) (void)::fchmod(created.descriptor, old.st_mode & 0777);
  bool done = write_all(created.descriptor, text.data(), text.size()) == 0;
  done &= ::close(created.descriptor) == 0;
  done = done && ::rename(created.path.c_str(), target.c_str()) == 0;
  if (!done) ::unlink(created.path.c_str());
  return done;
}

TemporaryText::TemporaryText() {
  std::error_code code;
  path_ = (std::filesystem::temp_directory_path(code) / "lull-XXXXXX").string();
  descriptor_ = ::mkostemp(path_.data(), O_CLOEXEC);
  if (descriptor_ < 0)
    throw IoError("cannot create a temporary file '" + path_ + "' (" + std::strerror(errno) +
                  "); set TMPDIR to another folder");
}

TemporaryText::~TemporaryText() {
  ::close(descriptor_);
  ::unlink(path_.c_str());
}

void TemporaryText::write(const std::string& text) const {
  check<IoError>(write_all(descriptor_, text.data(), text.size()), "cannot write '" + path_ + "'");
}

std::string read_text(const std::string& path, std::size_t max_bytes) {
  RegularFile file(path);
  return read_all(file, path, max_bytes);
}

std::optional<std::string> read_text_if_exists(const std::string& path, std::size_t max_bytes) {
  struct stat status;
  if (::stat(path.c_str(), &status) < 0 && (errno == ENOENT || errno == ENOTDIR))
    return std::nullopt;
  return read_text(path, max_bytes);
}

}  // namespace lull::io
