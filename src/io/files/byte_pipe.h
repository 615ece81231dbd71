#pragma once
// Bytes from and to what cannot seek: standard input and output, FIFOs.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Writes all bytes, however slow the reader is; 0, or FFmpeg's code for what went wrong.
int write_all(int descriptor, const void* data, std::size_t bytes) noexcept;

/// FFmpeg's view of bytes that come when they come. A read that waits can be ended from elsewhere.
class InputPipe {
 public:
  /// Reads from the open file `descriptor`, which stays open.
  explicit InputPipe(int descriptor);
  /// Opens and reads `path`. @throws NoInput
  explicit InputPipe(const std::string& path);
  ~InputPipe();
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;

  AVIOContext& io() const { return *io_; }
  /// Reads fail from now on with AVERROR_EXIT, one that waits too. From any thread.
  void interrupt() noexcept;
  /// Bytes that came so far.
  std::int64_t bytes() const { return bytes_; }
  /// The last of them, up to a mebibyte.
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
  int wake_ = -1;  // an event that interrupt() raises
  std::int64_t bytes_ = 0;
  std::string tail_;
  std::unique_ptr<AVIOContext, FreeIo> io_;
};

}  // namespace lull::io
