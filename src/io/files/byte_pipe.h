#pragma once
// Reads and writes standard input and output, FIFOs, and other files in which seeking is
// impossible.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Writes all bytes, and waits if the reader of the pipe is slow. Returns 0 on success, and
/// FFmpeg's error code on failure.
int write_all(int descriptor, const void* data, std::size_t bytes) noexcept;

/// Reads the bytes of a pipe for FFmpeg. Another thread can end a read that is waiting for data.
class InputPipe {
 public:
  /// Reads from the open file `descriptor` and does not close it.
  explicit InputPipe(int descriptor);
  /// Opens the file `path` for reading.
  /// @throws NoInput
  explicit InputPipe(const std::string& path);
  ~InputPipe();
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;

  AVIOContext& io() const { return *io_; }
  /// Ends a read that is waiting for data. The ended read and all later reads fail with
  /// AVERROR_EXIT. Any thread may call this function.
  void interrupt() noexcept;
  /// Returns the number of bytes read so far.
  std::int64_t bytes() const { return bytes_; }
  /// Returns the last bytes that the pipe has delivered: at least 1 MiB, or all bytes if the input
  /// is shorter.
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
