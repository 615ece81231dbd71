#pragma once
// The sink of a run, and a source that ends when the sink needs no more frames.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/stream.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

[[nodiscard]] std::string describe(const io::Damage& damage, const std::string& input);

/// Writes the frames that are not context frames (Frame::context_only) to another sink. With
/// --keep, writes only the selected frame. If the input is too damaged, the sink names the output
/// "NAME.partial.EXTENSION".
class RunSink final : public FrameSink {
 public:
  RunSink(io::MediaSink& sink, const io::MediaSource& source, const DenoiseOptions& options)
      : sink_(sink), source_(source), options_(options) {}

  void write(Frame frame) override;
  /// @throws BadData          the input is damaged more than the options allow
  /// @throws InvalidArgument  the input lacks the frame that --keep selects
  void finish() override;

  /// Returns true if this sink needs no more frames: it has written the frame that --keep selects,
  /// or the next sink needs no more frames. Thread-safe.
  bool is_complete() const { return kept_ || sink_.needs_no_more(); }
  /// Returns the number of context frames (Frame::context_only) that write() has received.
  std::int64_t context_frames() const { return context_frames_; }
  /// Returns the PTS, in seconds, of the last frame that is not a context frame.
  double time_s() const { return time_s_; }
  /// Returns the damage of the decoded and the copied streams. Not thread-safe: the caller must
  /// wait until the reading thread has reached the end of the source.
  io::Damage damage() const;

 private:
  io::MediaSink& sink_;
  const io::MediaSource& source_;
  const DenoiseOptions& options_;
  std::int64_t written_ = 0;  // number of frames, including those that --keep discards
  std::int64_t context_frames_ = 0;
  double time_s_ = 0;
  std::atomic<bool> kept_ = false;
};

/// Returns how many of the first `frames` frames an earlier run has finished.
[[nodiscard]] std::int64_t done_before(const std::vector<io::FrameRange>& needed,
                                       std::int64_t frames);

/// A source that ends when the sink needs no more frames.
class StoppingSource final : public FrameSource {
 public:
  StoppingSource(FrameSource& source, const RunSink& sink) : source_(source), sink_(sink) {}
  const FrameFormat& format() const noexcept override { return source_.format(); }
  std::optional<Frame> read() override {
    return sink_.is_complete() ? std::nullopt : source_.read();
  }
  void interrupt() noexcept override { source_.interrupt(); }

 private:
  FrameSource& source_;
  const RunSink& sink_;
};

}  // namespace lull::tools
