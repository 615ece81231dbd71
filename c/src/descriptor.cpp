#include "c/src/descriptor.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "c/src/support.h"

namespace lull::c {
namespace {

/// Begins or ends an access of the CPU to a dma-buf. Returns false if this fails.
bool synchronise(int descriptor, std::uint64_t flags) noexcept {
  dma_buf_sync sync{.flags = flags};
  int result = -1;
  do {
    result = ioctl(descriptor, DMA_BUF_IOCTL_SYNC, &sync);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result == 0 || errno == ENOTTY || errno == EINVAL;  // ENOTTY: the memory is no dma-buf
}

/// A mapping. The object duplicates the descriptor, because the program may close the descriptor
/// that it passed.
class Mapping {
 public:
  Mapping(int descriptor, std::size_t bytes, MapUse use) : bytes_(bytes) {
    const bool reads = use == MapUse::read;
    flags_ = reads ? DMA_BUF_SYNC_READ : DMA_BUF_SYNC_RW;
    descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ >= 0)
      data_ = mmap(nullptr, bytes, reads ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED,
                   descriptor_, 0);
    if (data_ != MAP_FAILED && synchronise(descriptor_, DMA_BUF_SYNC_START | flags_)) return;
    const std::string why = std::strerror(errno);
    release();
    throw StatusError(LULL_UNSUPPORTED, "memory of descriptor " + std::to_string(descriptor) +
                                            " (it cannot be mapped for the CPU: " + why +
                                            "); copy the frame to host memory");
  }
  ~Mapping() {
    (void)synchronise(descriptor_, DMA_BUF_SYNC_END | flags_);
    release();
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void release() noexcept {
    if (data_ != MAP_FAILED) (void)munmap(data_, bytes_);
    if (descriptor_ >= 0) (void)close(descriptor_);
  }

  int descriptor_ = -1;
  void* data_ = MAP_FAILED;
  std::size_t bytes_;
  std::uint64_t flags_ = 0;
};

}  // namespace

std::size_t size_of_descriptor(int descriptor) {
  const off_t end = lseek(descriptor, 0, SEEK_END);
  if (end <= 0)
    throw InvalidArgument("fd = " + std::to_string(descriptor) +
                          " (it must be a dma-buf or memfd that is open); pass another");
  return static_cast<std::size_t>(end);
}

std::shared_ptr<std::byte> map_descriptor(int descriptor, std::size_t bytes, MapUse use) {
  const auto mapping = std::make_shared<Mapping>(descriptor, bytes, use);
  return {mapping, mapping->data()};
}

}  // namespace lull::c
