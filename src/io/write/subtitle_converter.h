#pragma once
// Conversion of text subtitles between formats: SubRip, ASS, WebVTT, and the timed text of MP4.

#include <vector>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether FFmpeg can read `from` as text and can write `to`.
bool can_convert_subtitles(AVCodecID from, AVCodecID to);

/// Converts packet by packet. Times and durations are kept.
class SubtitleConverter {
 public:
  /// @throws InvalidArgument  FFmpeg cannot open the decoder or the encoder
  SubtitleConverter(const AVStream& from, AVCodecID to);

  /// The encoder's context, which describes the new stream.
  const AVCodecContext& encoder() const { return *encoder_; }
  /// Returns null if the packet contains no text.
  /// @throws BadData  the packet cannot be read
  PacketPtr convert(const AVPacket& packet);

 private:
  CodecPtr decoder_, encoder_;
  std::vector<std::uint8_t> text_;
};

}  // namespace lull::io
