#pragma once
// Lossless conversion of uncompressed audio, for containers that lack the input's form of it.

#include <span>

#include "io/write/packet_converter.h"

namespace lull::io {

/// Returns the codecs of uncompressed audio that hold all samples of the stream unchanged, best
/// first; none if the stream is no uncompressed audio, or its samples are unknown.
std::span<const AVCodecID> equivalent_pcm(const AVCodecParameters& stream);

class PcmConverter final : public PacketConverter {
 public:
  /// `to` must be one of equivalent_pcm().
  /// @throws InvalidArgument  FFmpeg cannot open the decoder or the encoder
  PcmConverter(const AVStream& from, AVCodecID to);

  const AVCodecContext& encoder() const override { return *encoder_; }
  PacketPtr convert(const AVPacket& packet) override;

 private:
  PacketPtr encode(const AVFrame& samples);

  CodecPtr decoder_, encoder_;
};

}  // namespace lull::io
