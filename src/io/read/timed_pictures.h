#pragma once
// Decodes the selected part of the input, and returns pictures with timestamps.

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
  std::shared_ptr<const PictureMetadata> metadata;  // null if there are none
  std::int64_t pts = 0, duration = 0;
  std::int64_t number = 0;    // index among all decoded pictures
  bool context_only = false;  // outside the selection (SourceOptions::margins)
};

class TimedPictures {
 public:
  /// @param demuxer, decoder  must outlive this object
  /// @param frame_rate  default duration of a picture; 0/1: unknown
  TimedPictures(Demuxer& demuxer, PictureDecoder& decoder, Rational frame_rate,
                const SourceOptions& options);

  /// Returns the selector of frames; null if all frames are selected.
  std::shared_ptr<FrameSelector> selector() const { return selector_; }
  /// Returns the next picture; nullopt after the last. Skips pictures outside the selection unless
  /// SourceOptions::margins is true.
  std::optional<TimedPicture> next();
  /// Seeks to the picture `number` of options.index. For each skipped picture, the function passes
  /// the entry of the index to the selector of frames. The caller may already have read pictures.
  /// @throws IndexMismatch  decoding does not yield the picture
  void seek_to(std::int64_t number);
  /// Passes the entries of all pictures in options.index to the selector of frames. The function
  /// decodes no pictures.
  void replay_all();
  /// examined() returns the number of decoded pictures. kept() returns the number of decoded
  /// pictures that are selected.
  std::int64_t examined() const { return examined_; }
  std::int64_t kept() const { return kept_; }
  /// Returns whether next() has returned all selected pictures. All further pictures are context
  /// frames for temporal filtering.
  bool is_past_selection() const { return end_number_.has_value(); }
  /// Tells this object that the caller needs no picture after the picture with the index `number`.
  /// next() then returns no further context frames (SourceOptions::margins). Any thread may call
  /// this function.
  void end_context_at(std::int64_t number) noexcept { context_end_ = number; }
  /// Returns the index that the caller has passed to end_context_at(). The function returns -1
  /// if the caller has passed no index, or an index inside the selection. The result is valid after
  /// next() has returned the last picture.
  std::int64_t context_end() const noexcept {
    const std::int64_t number = context_end_;
    return end_number_ && number >= *end_number_ ? number : -1;
  }

 private:
  TimedPicture stamp(FramePtr picture);
  static void state_orientation(int orientation, AVFrame& picture);
  void drop_packets();
  void end();
  FramePtr decode();
  /// Decodes pictures up to the time of `mark`. If the picture at this time has the digest of
  /// `mark`, sets sought_ to the picture. Otherwise, sought_ remains null.
  void find(const FrameMark& mark);
  void replay(std::int64_t pictures);

  Demuxer& demuxer_;
  PictureDecoder& decoder_;
  const Rational frame_rate_;
  const Selection selection_;
  const bool margins_;
  std::shared_ptr<FrameSelector> selector_;
  PictureIndex index_;
  FramePtr sought_;                         // the picture that seek_to() found; next() returns it
  std::optional<std::int64_t> end_number_;  // number of the first picture after the selection
  bool finished_ = false;
  std::atomic<std::int64_t> context_end_ = -1;
  std::int64_t examined_ = 0, kept_ = 0;
  std::int64_t next_pts_ = AV_NOPTS_VALUE;
};

}  // namespace lull::io
