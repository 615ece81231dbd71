#pragma once
// Reads one frame of a video and the neighbouring frames that affect its result.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/denoiser.h"
#include "core/stream.h"
#include "pipeline/repeat_notes.h"

namespace lull::tools {

inline double seconds(std::int64_t ticks, const Rational& tick) {
  return static_cast<double>(ticks) * static_cast<double>(tick.num) / static_cast<double>(tick.den);
}

/// A frame by its index, or by its time relative to the first frame.
struct FramePosition {
  double time = 0;
  std::optional<std::int64_t> number;
};

/// A frame and the neighbouring frames that affect its result.
struct Window {
  std::vector<Frame> frames;
  std::size_t target = 0;
  std::int64_t number = 0;  // number of the target, counted from the first frame that was read
  double time = 0;          // time of the target after the first frame of the input
};

/// Reads a source up to the last frame that affects the result at `position`.
class WindowReader {
 public:
  /// @param start  timestamp of the first frame of the input, in seconds
  WindowReader(FrameSource& source, const FramePosition& position, Margin margin,
               pipeline::RepeatNotes* notes, std::optional<double> start)
      : source_(source), position_(position), margin_(margin), notes_(notes), start_(start) {}

  /// Reads the frame at the requested position, and its neighbouring frames. Returns no value if
  /// the input has no frame at this position.
  /// @param frame  the first frame of the source if the caller has already read it
  std::optional<Window> read(std::optional<Frame> frame) {
    if (!frame) frame = source_.read();
    for (; frame && !is_after_position(*frame); frame = source_.read()) {
      keep(*std::move(frame));
      if (position_.number && number_ == *position_.number + 1) break;
    }
    const bool found =
        position_.number ? number_ == *position_.number + 1 : frame || last_frame_covers_position();
    if (!found || leading_.empty()) return std::nullopt;
    Window window{.frames = {}, .target = leading_.size() - 1, .number = number_ - 1, .time = 0};
    window.time = seconds(leading_.back().pts, leading_.back().time_base) - *start_;
    window.frames.assign(std::make_move_iterator(leading_.begin()),
                         std::make_move_iterator(leading_.end()));
    if (position_.number) frame = source_.read();
    for (int after = 0; frame && after < margin_.after; frame = source_.read()) {
      note(*frame);
      if (frame->repeat_state != RepeatState::repeats) ++after;
      window.frames.push_back(*std::move(frame));
    }
    return window;
  }

 private:
  double time_of(const Frame& frame) {
    const double time = seconds(frame.pts, frame.time_base);
    if (!start_) start_ = time;
    return time - *start_;
  }

  /// Returns whether the display time of `frame` is later than the requested time. Always returns
  /// false for the first frame, and for requests by frame index.
  bool is_after_position(const Frame& frame) {
    constexpr double rounding =
        1e-4;  // tolerance for timestamps in coarse units, such as milliseconds
    const double time = time_of(frame);
    return !position_.number && !leading_.empty() && time > position_.time + rounding;
  }

  bool last_frame_covers_position() {
    if (leading_.empty()) return false;
    const Frame& last = leading_.back();
    return position_.time < time_of(last) + std::max(seconds(last.duration, last.time_base), 1e-3);
  }

  void note(Frame& frame) {
    if (notes_) notes_->note(frame);
  }

  /// Stores a frame, and removes the oldest frames until `margin_.before` + 2 frames remain, not
  /// counting repeated frames.
  void keep(Frame frame) {
    note(frame);
    if (frame.repeat_state != RepeatState::repeats) ++unique_frames_;
    leading_.push_back(std::move(frame));
    ++number_;
    while (unique_frames_ > margin_.before + 2) {
      if (leading_.front().repeat_state != RepeatState::repeats) --unique_frames_;
      leading_.pop_front();
    }
  }

  FrameSource& source_;
  const FramePosition position_;
  const Margin margin_;
  pipeline::RepeatNotes* notes_;
  std::optional<double> start_;
  std::deque<Frame> leading_;
  std::int64_t number_ = 0;
  int unique_frames_ = 0;
};

}  // namespace lull::tools
