#pragma once
// Losslessly converts uncompressed audio for containers that do not support the input's codec.

#include <span>

#include "io/packets/packet_converter.h"

namespace lull::io {

/// Returns the codecs of uncompressed audio that can store the stream's samples unchanged, in order
/// of preference. Empty for compressed audio and unknown sample formats.
std::span<const AVCodecID> equivalent_pcm(const AVCodecParameters& stream);

class PcmConverter final : public PacketConverter {
 public:
  /// @param to  one of the codecs that equivalent_pcm() returns
  /// @throws InvalidArgument  FFmpeg cannot open the decoder or the encoder
  PcmConverter(const AVStream& from, AVCodecID to);

  const AVCodecContext& encoder() const override { return *encoder_; }
  PacketPtr convert(const AVPacket& packet) override;

 private:
  PacketPtr encode(const AVFrame& samples);

  CodecPtr decoder_, encoder_;
};

}  // namespace lull::io
