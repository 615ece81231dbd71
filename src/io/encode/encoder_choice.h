#pragma once
// Chooses the container and the encoder from the output name, the samples and the options.

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
  /// Pixel formats that lull can store with libtiff; null if FFmpeg's encoder writes the file.
  const AVPixelFormat* tiff_formats = nullptr;

  Drops drops;              // content that is not copied
  bool keep_times = false;  // whether the output keeps the times of the input
  bool covers = true;       // false: FFmpeg's muxer would omit cover pictures without a message

  bool numbered = false;  // one file per frame; times are not used
  bool pipe = false;      // standard output: unsupported content is omitted

  int rotation = 1;  // orientation that the encoder applies to the samples (EXIF's numbers)

  bool still() const { return picture != nullptr; }
  bool uses_libtiff() const { return tiff_formats != nullptr; }
  /// Returns the name of the encoder for messages.
  const char* encoder_name(const AVCodec& codec) const {
    return uses_libtiff() ? "libtiff" : codec.name;
  }
  /// Returns whether the output has a constant frame rate and stores no timestamps.
  bool constant_rate() const;
  /// Returns whether the output has a constant frame rate and cannot omit frames.
  bool frames_only() const;
};

/// Chooses the container by options.format, or else by the extension of `path`. For the output `-`
/// without options.format, the container is NUT or raw if the input has this format, and otherwise
/// Y4M.
/// @throws InvalidArgument
Container container_of(const std::string& path, const FileSource& source,
                       const SinkOptions& options);

/// Returns whether `format` is a still picture. If `format` is empty, the extension of `path`
/// decides.
bool is_still_name(const std::string& path, const std::string& format);

/// Returns whether the output is an animation in a format that can also contain a still picture.
bool makes_animation(const std::string& path, const FileSource& source, const SinkOptions& options);

/// Returns a description for messages, such as "stream 1 (audio, aac)".
std::string describe(const AVStream& stream);

struct EncoderChoice {
  const AVCodec* codec = nullptr;
  AVPixelFormat format = AV_PIX_FMT_NONE;  // the encoder's input format
  bool convert = false;                    // the samples must be converted to `format`
  /// True if the conversion changes the bit depth, omits alpha, or both, and changes nothing else.
  bool changes_depth_only = false;
  std::string loss;  // content that `format` cannot store; empty: none
  /// A note for the user: about a lossless conversion that the user did not request, or about an
  /// output that few players support. Empty if there is nothing to report.
  std::string note;
};

/// Returns the encoders that can store the samples unchanged, in order of preference. If there are
/// none and the user requested no pixel format, the function returns the encoders of smallest loss.
/// Each encoder may still reject the frame size later.
/// @throws InvalidArgument  the encoder or pixel format is unknown, or they do not fit together
std::vector<EncoderChoice> choose_encoders(const Container& container, const FileSource& source,
                                           const SinkOptions& options);

}  // namespace lull::io
