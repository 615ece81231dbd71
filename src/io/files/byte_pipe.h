#pragma once
// Reads and writes standard input and output, FIFOs, and other files that cannot seek.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Writes all bytes, and waits for a slow reader. Returns 0 or FFmpeg's error code.
int write_all(int descriptor, const void* data, std::size_t bytes) noexcept;

/// Reads a pipe for FFmpeg. Another thread can interrupt a waiting read.
class InputPipe {
 public:
  /// Reads from `descriptor` and does not close it.
  explicit InputPipe(int descriptor);
  /// Opens the file `path` for reading.
  /// @throws NoInput
  explicit InputPipe(const std::string& path);
  ~InputPipe();
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;

  AVIOContext& io() const { return *io_; }
  /// Interrupts a waiting read. This read and all later reads fail with AVERROR_EXIT. Any thread
  /// may call this function.
  void interrupt() noexcept;
  /// Returns the number of bytes read so far.
  std::int64_t bytes() const { return bytes_; }
  /// Returns the last bytes from the pipe: at least 1 MiB, or all bytes of a shorter input.
  const std::string& tail() const { return tail_; }

 private:
  struct FreeIo {
    void operator()(AVIOContext* io) const noexcept;
  };
  static int read(void* self, std::uint8_t* data, int size);
  void open_io();
  int wait() const;
  void remember(const std::uint8_t* data, int size);

  int descriptor_;
  bool owned_;
  int wake_ = -1;  // eventfd that interrupt() signals
  std::int64_t bytes_ = 0;
  std::string tail_;
  std::unique_ptr<AVIOContext, FreeIo> io_;
};

}  // namespace lull::io
