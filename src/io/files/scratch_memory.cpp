#include "io/files/scratch_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/describe.h"
#include "core/error.h"
#include "io/files/scratch_file.h"

namespace lull::io {
namespace {

/// Maps the file `descriptor`, or anonymous memory if `descriptor` is -1. Returns null on an error.
std::shared_ptr<std::byte[]> map(std::size_t bytes, int flags, int descriptor) {
  bytes = std::max<std::size_t>(bytes, 1);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [bytes](std::byte* at) { ::munmap(at, bytes); }};
}

}  // namespace

std::shared_ptr<std::byte[]> main_memory(std::size_t bytes) {
  if (auto memory = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1)) return memory;
  throw OutOfMemory("no memory for " + describe_bytes(static_cast<std::int64_t>(bytes)) +
                    " of samples (the system refuses it); allow less with --max-memory");
}

std::shared_ptr<std::byte[]> scratch_memory(std::size_t bytes, std::string folder) {
  if (folder.empty()) folder = scratch_folder();
  const int descriptor = open_scratch(folder);
  // The function reserves space on the disk, because an access to mapped memory on a full disk
  // would end the process.
  const int problem = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  auto memory = problem == 0 ? map(bytes, MAP_SHARED, descriptor) : nullptr;
  const int number = problem != 0 ? problem : errno;
  ::close(descriptor);
  if (!memory) throw scratch_error(folder, "write", number);
  return memory;
}

}  // namespace lull::io
