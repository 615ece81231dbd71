#pragma once
// Interfaces of frame sources and frame sinks.

#include <optional>

#include "core/frame.h"

namespace lull {

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// Returns the format of the next frame that read() returns. The source knows the format before
  /// the first read.
  virtual const FrameFormat& format() const noexcept = 0;
  /// Returns the next frame in presentation order, or nullopt at the end of the stream.
  /// @throws BadData  the input is damaged or truncated
  /// @throws IoError
  [[nodiscard]] virtual std::optional<Frame> read() = 0;
  /// Interrupts a read() that waits for input. This and all later calls of read() throw IoError
  /// instead of waiting. Any thread may call this function.
  virtual void interrupt() noexcept {}
};

class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void write(Frame frame) = 0;
  /// Completes the output: flushes it, writes the trailer, and renames the file from its temporary
  /// name to its final name.
  virtual void finish() = 0;
};

}  // namespace lull
