#pragma once
// Text subtitles from one format to another: SubRip, ASS, WebVTT, and the timed text of MP4.

#include <vector>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Whether FFmpeg reads `from` as text and writes `to`.
bool can_convert_subtitles(AVCodecID from, AVCodecID to);

/// Packet for packet: times and durations stay.
class SubtitleConverter {
 public:
  /// @throws InvalidArgument  FFmpeg does not open a decoder or encoder for them
  SubtitleConverter(const AVStream& from, AVCodecID to);

  /// What the new stream is.
  const AVCodecContext& encoder() const { return *encoder_; }
  /// Null: there is no text in it. @throws BadData  it cannot be read
  PacketPtr convert(const AVPacket& packet);

 private:
  CodecPtr decoder_, encoder_;
  std::vector<std::uint8_t> text_;
};

}  // namespace lull::io
