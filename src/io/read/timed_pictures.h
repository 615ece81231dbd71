#pragma once
// Pictures with their places in time: which of them stay where only parts are asked for.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/frame.h"
#include "io/demux/demuxer.h"
#include "io/demux/frame_selector.h"
#include "io/media.h"
#include "io/read/picture_decoder.h"
#include "io/read/picture_index.h"

namespace lull::io {

struct TimedPicture {
  FramePtr picture;
  std::int64_t pts = 0, duration = 0;
  std::int64_t number = 0;    // among all that were decoded
  bool context_only = false;  // of what was asked for (SourceOptions::margins)
};

class TimedPictures {
 public:
  /// `frame_rate` is for pictures that do not say how long they last; 0/1: unknown. Demuxer and
  /// decoder must outlive it.
  TimedPictures(Demuxer& demuxer, PictureDecoder& decoder, Rational frame_rate,
                const SourceOptions& options);

  /// Null: nothing is cut away.
  std::shared_ptr<FrameSelector> selector() const { return selector_; }
  /// The next picture that stays, or with margins the next one; nullopt behind the last.
  std::optional<TimedPicture> next();
  /// Goes on with this picture of options.index as if all before it had come. Before anything was
  /// taken but the first ones. @throws IndexMismatch  it is not found
  void seek_to(std::int64_t number);
  /// As if all pictures of options.index had come.
  void replay_all();
  /// Pictures that were looked at, and those of them that stay.
  std::int64_t examined() const { return examined_; }
  std::int64_t kept() const { return kept_; }
  /// Whether all that stay have come, so that only margins follow.
  bool is_past_selection() const { return end_number_.has_value(); }
  /// Nothing behind picture `number` is looked at if it is outside. From any thread.
  void end_context_at(std::int64_t number) noexcept { context_end_ = number; }
  /// At the end: that number, if not all of the input was needed; else -1.
  std::int64_t context_end() const noexcept {
    const std::int64_t number = context_end_;
    return end_number_ && number >= *end_number_ ? number : -1;
  }

 private:
  TimedPicture stamp(FramePtr picture);
  void drop_packets();
  void end();
  FramePtr decode();
  /// Decodes on to that picture; it is not found where another comes in its place.
  void find(const FrameMark& mark);
  void replay(std::int64_t pictures);

  Demuxer& demuxer_;
  PictureDecoder& decoder_;
  const Rational frame_rate_;
  const Selection selection_;
  const bool margins_;
  std::shared_ptr<FrameSelector> selector_;
  PictureIndex index_;
  FramePtr sought_;                         // by a jump: the next one
  std::optional<std::int64_t> end_number_;  // the number of the first picture behind all that stay
  bool finished_ = false;
  std::atomic<std::int64_t> context_end_ = -1;
  std::int64_t examined_ = 0, kept_ = 0;
  std::int64_t next_pts_ = AV_NOPTS_VALUE;
};

}  // namespace lull::io
