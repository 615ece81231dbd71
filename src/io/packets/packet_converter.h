#pragma once
// Interface for converting the packets of a copied stream to another codec.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class PacketConverter {
 public:
  virtual ~PacketConverter() = default;
  /// Returns the context of the encoder, which describes the converted stream.
  virtual const AVCodecContext& encoder() const = 0;
  /// Converts one packet, and preserves its timestamps and its duration. Returns null if there is
  /// no data to write.
  /// @throws BadData  the packet is not readable
  virtual PacketPtr convert(const AVPacket& packet) = 0;
};

}  // namespace lull::io
