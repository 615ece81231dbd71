#pragma once
// Converts uncompressed audio without loss if the container does not support the codec of the
// input.

#include <span>

#include "io/write/packet_converter.h"

namespace lull::io {

/// Returns the codecs of uncompressed audio that can store all samples of the stream unchanged, in
/// order of preference. The list is empty if the stream is compressed, or if the format of its
/// samples is unknown.
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
