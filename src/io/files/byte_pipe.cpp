#include "io/files/byte_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lull::io {
namespace {

constexpr int buffer_bytes = 1 << 18;
constexpr std::size_t max_tail_bytes = 1 << 20;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

int write_all(int descriptor, const void* data, std::size_t bytes) noexcept {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, at, bytes);
    if (written >= 0) {
      at += written;
      bytes -= static_cast<std::size_t>(written);
    } else if (would_block()) {  // another process has made the pipe non-blocking
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return AVERROR(errno);
    }
  }
  return 0;
}

void InputPipe::FreeIo::operator()(AVIOContext* io) const noexcept {
  av_freep(&io->buffer);
  avio_context_free(&io);
}

InputPipe::InputPipe(int descriptor) : descriptor_(descriptor), owned_(false) { open_io(); }

InputPipe::InputPipe(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), owned_(true) {
  if (descriptor_ < 0) throw NoInput("cannot read '" + path + "' (" + std::strerror(errno) + ")");
  try {
    open_io();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

void InputPipe::open_io() {
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  if (wake_ < 0)
    throw InternalError("a pipe cannot be watched (no file descriptor is left); close some");
  auto* buffer = static_cast<unsigned char*>(non_null(av_malloc(buffer_bytes)));
  io_.reset(non_null(
      avio_alloc_context(buffer, buffer_bytes, 0, this, &InputPipe::read, nullptr, nullptr)));
}

InputPipe::~InputPipe() {
  io_.reset();
  if (wake_ >= 0) ::close(wake_);
  if (owned_) ::close(descriptor_);
}

void InputPipe::interrupt() noexcept {
  const std::uint64_t one = 1;
  while (::write(wake_, &one, sizeof one) < 0 && errno == EINTR) continue;
}

// Waits until the pipe has data, or until the writing process has closed the pipe. Returns 0 or
// FFmpeg's error code.
int InputPipe::wait() const {
  for (;;) {
    pollfd sources[] = {{wake_, POLLIN, 0}, {descriptor_, POLLIN, 0}};
    if (::poll(sources, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return AVERROR(errno);
    }
    return sources[0].revents != 0 ? AVERROR_EXIT : 0;
  }
}

int InputPipe::read(void* self, std::uint8_t* data, int size) {
  auto& pipe = *static_cast<InputPipe*>(self);
  for (;;) {
    if (const int code = pipe.wait(); code < 0) return code;
    const ssize_t got = ::read(pipe.descriptor_, data, static_cast<std::size_t>(size));
    if (got > 0) {
      pipe.remember(data, static_cast<int>(got));
      return static_cast<int>(got);
    }
    if (got == 0) return AVERROR_EOF;
    if (errno != EINTR && !would_block()) return AVERROR(errno);
  }
}

void InputPipe::remember(const std::uint8_t* data, int size) {
  bytes_ += size;
  tail_.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  if (tail_.size() > 2 * max_tail_bytes) tail_.erase(0, tail_.size() - max_tail_bytes);
}

}  // namespace lull::io
