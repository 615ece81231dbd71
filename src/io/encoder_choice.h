#pragma once
// Which container and encoder an output gets, from its name, the samples and the options.

#include <string>
#include <vector>

#include "io/ffmpeg.h"
#include "io/media.h"
#include "io/source.h"

namespace lull::io {

struct Container {
  const AVOutputFormat* format = nullptr;
  std::string extension;          // lower case, without the dot
  const char* picture = nullptr;  // the encoder, if the container is a still picture

  bool numbered = false;  // a file for each frame: times do not matter
  bool pipe = false;      // standard output: what cannot be carried is left out

  bool still() const { return picture != nullptr; }
  /// Frames follow each other at one rate; there are no time stamps.
  bool constant_rate() const;
  /// ... and none can be left out.
  bool frames_only() const;
};

/// Those that FFmpeg's writer of MPEG-TS gives a type; of all others it makes data without one,
/// which nobody can read, and says nothing.
bool has_transport_type(AVCodecID id);

/// From `format`, else from the extension of `path`, for `-` from the source. @throws
/// InvalidArgument
Container container_of(const std::string& path, const FileSource& source,
                       const std::string& format);

/// Whether a name, or a format given in its place, is that of still pictures.
bool is_still_name(const std::string& path, const std::string& format);

/// "stream 1 (audio, aac)", for messages.
std::string describe(const AVStream& stream);

struct EncoderChoice {
  const AVCodec* codec = nullptr;
  AVPixelFormat format = AV_PIX_FMT_NONE;  // what the encoder gets
  bool convert = false;  // `format` does not hold the source's samples as they are
};

/// Encoders that hold the samples, best first. What an encoder thinks of the size shows only when
/// it opens. @throws InvalidArgument  no such encoder or pixel format, or they do not go together
std::vector<EncoderChoice> choose_encoders(const Container& container, const FileSource& source,
                                           const SinkOptions& options);

}  // namespace lull::io
