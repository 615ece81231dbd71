#pragma once
// Converts text subtitles between the formats SubRip, ASS, WebVTT and MP4 timed text.

#include <vector>

#include "io/packets/packet_converter.h"

namespace lull::io {

/// Returns whether FFmpeg can convert text subtitles from the codec `from` to the codec `to`.
bool can_convert_subtitles(AVCodecID from, AVCodecID to);

class SubtitleConverter final : public PacketConverter {
 public:
  /// @throws InvalidArgument  FFmpeg cannot open the decoder or the encoder
  SubtitleConverter(const AVStream& from, AVCodecID to);

  const AVCodecContext& encoder() const override { return *encoder_; }
  PacketPtr convert(const AVPacket& packet) override;

 private:
  CodecPtr decoder_, encoder_;
  std::vector<std::uint8_t> text_;
};

}  // namespace lull::io
