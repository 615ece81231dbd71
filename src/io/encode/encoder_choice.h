#pragma once
// Which container and encoder an output gets, from its name, the samples and the options.

#include <string>
#include <vector>

#include "io/encode/traits.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

struct Container {
  const AVOutputFormat* format = nullptr;
  const ContainerTraits* traits = &container_traits({});  // of `format`
  std::string extension;                                  // lower case, without the dot
  const char* picture = nullptr;  // the encoder, if the container is a still picture

  Drops drops;  // what stays out of it

  bool numbered = false;  // a file for each frame: times do not matter
  bool pipe = false;      // standard output: what cannot be carried is left out

  bool still() const { return picture != nullptr; }
  /// Frames follow each other at one rate; there are no time stamps.
  bool constant_rate() const;
  /// ... and none can be left out.
  bool frames_only() const;
};

/// From options.format, else from the extension of `path`, for `-` from the source. @throws
/// InvalidArgument
Container container_of(const std::string& path, const FileSource& source,
                       const SinkOptions& options);

/// Whether a name, or a format given in its place, is that of still pictures.
bool is_still_name(const std::string& path, const std::string& format);

/// "stream 1 (audio, aac)", for messages.
std::string describe(const AVStream& stream);

struct EncoderChoice {
  const AVCodec* codec = nullptr;
  AVPixelFormat format = AV_PIX_FMT_NONE;  // what the encoder gets
  bool convert = false;  // `format` does not hold the source's samples as they are
  std::string loss;      // what it does not hold of them at all; empty: nothing
  /// That samples are converted though nobody asked for it and nothing is lost; who can show them.
  std::string note;
};

/// Encoders that hold the samples, best first; where none does and no pixel format is asked for,
/// those that lose least. What an encoder thinks of the size shows only when
/// it opens. @throws InvalidArgument  no such encoder or pixel format, or they do not go together
std::vector<EncoderChoice> choose_encoders(const Container& container, const FileSource& source,
                                           const SinkOptions& options);

}  // namespace lull::io
