#pragma once
// Where frames come from and where they go.

#include <optional>

#include "core/frame.h"

namespace lull {

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// Format of the next frame that read() will give, known before the first read.
  virtual const FrameFormat& format() const noexcept = 0;
  /// The next frame in presentation order; nullopt at the end of the stream.
  /// @throws BadData on damaged or truncated input, IoError
  [[nodiscard]] virtual std::optional<Frame> read() = 0;
  /// Ends a read() that waits for more input, and those to come: they throw IoError, or go on if
  /// what they need is there. From any thread.
  virtual void interrupt() noexcept {}
};

class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void write(Frame frame) = 0;
  /// Flushes, writes the trailer and makes the result visible. Without it nothing appears under
  /// the output's name. (A destructor could not report failure.)
  virtual void finish() = 0;
};

}  // namespace lull
