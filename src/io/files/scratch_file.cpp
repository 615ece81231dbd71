#include "io/files/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "io/files/positioned_io.h"

namespace lull::io {

std::string scratch_folder() {
  std::error_code code;
  const std::string folder = std::filesystem::temp_directory_path(code).string();
  return folder.empty() ? "." : folder;
}

IoError scratch_error(const std::string& folder, const std::string& what, int number) {
  return IoError("cannot " + what + " a temporary file in '" + folder + "' (" +
                 std::strerror(number) +
                 "); free some space there, or allow more with --max-memory");
}

int open_scratch(const std::string& folder) {
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  // Fallback for file systems without O_TMPFILE: the function creates a file with a name, and then
  // removes the name. The file exists until the program closes its descriptor.
  std::string name = folder + "/.lull-XXXXXX";
  descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) throw scratch_error(folder, "create", errno);
  ::unlink(name.c_str());
  return descriptor;
}

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ScratchFile::fail(const std::string& what) const { throw scratch_error(folder_, what, errno); }

void ScratchFile::create() {
  if (folder_.empty()) folder_ = scratch_folder();
  descriptor_ = open_scratch(folder_);
}

void ScratchFile::write(const void* data, std::size_t bytes) {
  if (descriptor_ < 0) create();
  if (!write_at(descriptor_, data, bytes, end_)) fail("write");
  end_ += static_cast<off_t>(bytes);
}

void ScratchFile::read(void* data, std::size_t bytes) {
  if (!read_at(descriptor_, data, bytes, begin_)) fail("read");
  begin_ += static_cast<off_t>(bytes);
  if (begin_ == end_) clear();
}

void ScratchFile::read_from(std::int64_t position, void* data, std::size_t bytes) {
  if (!read_at(descriptor_, data, bytes, static_cast<off_t>(position))) fail("read");
}

void ScratchFile::clear() noexcept {
  begin_ = end_ = 0;
  // ftruncate() only frees disk space. A failure of ftruncate() is therefore no error: the next
  // writes reuse the space.
  if (descriptor_ >= 0) (void)!::ftruncate(descriptor_, 0);
}

}  // namespace lull::io
