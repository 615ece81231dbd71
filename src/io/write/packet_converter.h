#pragma once
// Interface of converters that change the codec of copied streams.

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class PacketConverter {
 public:
  virtual ~PacketConverter() = default;
  /// Returns the encoder's context, which describes the converted stream.
  virtual const AVCodecContext& encoder() const = 0;
  /// Converts one packet. Times and durations are kept. Returns null if there is nothing to write.
  /// @throws BadData  the packet cannot be read
  virtual PacketPtr convert(const AVPacket& packet) = 0;
};

}  // namespace lull::io
