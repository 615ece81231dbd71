#pragma once
// Choice of container and encoder for an output, from its name, the samples and the options.

#include <string>
#include <vector>

#include "io/encode/traits.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

struct Container {
  const AVOutputFormat* format = nullptr;
  const ContainerTraits* traits = &container_traits({});  // traits of `format`
  std::string extension;                                  // lower case, without the dot
  const char* picture = nullptr;  // name of the encoder if the output is a still picture
  /// Pixel formats that libtiff writes. The encoder then passes on pictures, and the writer of the
  /// file stores them. Null: FFmpeg's encoder makes the file.
  const AVPixelFormat* tiff_formats = nullptr;

  Drops drops;              // content to drop
  bool keep_times = false;  // the output keeps the times of the input

  bool numbered = false;  // one file per frame; times are unused
  bool pipe = false;      // standard output: unsupported content is omitted

  int rotation = 1;  // orientation that the encoder applies to its samples (EXIF's numbers)

  bool still() const { return picture != nullptr; }
  bool uses_libtiff() const { return tiff_formats != nullptr; }
  /// Returns the name of the encoder for messages.
  const char* encoder_name(const AVCodec& codec) const {
    return uses_libtiff() ? "libtiff" : codec.name;
  }
  /// Returns whether frames follow each other at a constant rate, without time stamps.
  bool constant_rate() const;
  /// Returns whether frames follow each other at a constant rate and none can be omitted.
  bool frames_only() const;
};

/// Chooses the container by options.format, else by the extension of `path`, or for `-` by the
/// source.
/// @throws InvalidArgument
Container container_of(const std::string& path, const FileSource& source,
                       const SinkOptions& options);

/// Returns whether the output is a still picture, by `format` if it is not empty, else by the
/// extension of `path`.
bool is_still_name(const std::string& path, const std::string& format);

/// Returns whether the output is an animation in a format that also has still pictures.
bool makes_animation(const std::string& path, const FileSource& source, const SinkOptions& options);

/// Returns a text such as "stream 1 (audio, aac)", for messages.
std::string describe(const AVStream& stream);

struct EncoderChoice {
  const AVCodec* codec = nullptr;
  AVPixelFormat format = AV_PIX_FMT_NONE;  // the encoder's input format
  bool convert = false;                    // the samples must be converted to `format`
  /// The conversion changes only the bit depth of the samples, or omits alpha.
  bool changes_depth_only = false;
  std::string loss;  // content that `format` cannot hold; empty: none
  /// A note for the user: samples are converted without a request and without loss, or few players
  /// support the output. May be empty.
  std::string note;
};

/// Returns the encoders that can hold the samples, best first. If there are none and no pixel
/// format was requested, returns the encoders that lose least. Whether an encoder accepts the size
/// is only known when it is opened.
/// @throws InvalidArgument  the encoder or pixel format does not exist, or they are incompatible
std::vector<EncoderChoice> choose_encoders(const Container& container, const FileSource& source,
                                           const SinkOptions& options);

}  // namespace lull::io
