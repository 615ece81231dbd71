#pragma once
// Interface for converting the packets of a copied stream to another codec.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class PacketConverter {
 public:
  virtual ~PacketConverter() = default;
  /// Returns the encoder's context. It describes the converted stream.
  virtual const AVCodecContext& encoder() const = 0;
  /// Converts one packet without a change of its time stamps and its duration; null if there is
  /// nothing to write.
  /// @throws BadData  the packet cannot be read
  virtual PacketPtr convert(const AVPacket& packet) = 0;
};

}  // namespace lull::io
