#pragma once
// What a run of lull denoise writes to, and when it has read enough.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "core/stream.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

[[nodiscard]] std::string describe(const io::Damage& damage, const std::string& input);

/// The sink of a run. It does not give a result of damaged input its name, and it drops the frames
/// around those that were asked for, with --keep all but one.
class RunSink final : public FrameSink {
 public:
  RunSink(io::MediaSink& sink, const io::MediaSource& source, const DenoiseOptions& options)
      : sink_(sink), source_(source), options_(options) {}

  void write(Frame frame) override;
  /// @throws BadData          the input is damaged, by more than the options allow
  /// @throws InvalidArgument  there is no frame of --keep
  void finish() override;

  /// Whether the frame of --keep is written, or all that the sink wants. From any thread.
  bool is_complete() const { return kept_ || sink_.needs_no_more(); }
  /// Frames that came around those that were asked for.
  std::int64_t context_frames() const { return context_frames_; }
  /// Of the last frame that was asked for, its pts.
  double time_s() const { return time_s_; }
  /// Of what is decoded and what is copied. Once the source was read to its end: nobody else uses
  /// it then.
  io::Damage damage() const;

 private:
  io::MediaSink& sink_;
  const io::MediaSource& source_;
  const DenoiseOptions& options_;
  std::int64_t written_ = 0;  // or dropped for --keep
  std::int64_t context_frames_ = 0;
  double time_s_ = 0;
  std::atomic<bool> kept_ = false;
};

/// A source that ends once the sink has its frames: nothing behind them matters then.
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
