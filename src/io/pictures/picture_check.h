#pragma once
// Checks compressed pictures for damage that FFmpeg's decoders do not report.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct PictureFault {
  std::string text;
  /// Whether decoding is safe. If false, the decoder would return uninitialised memory or allocate
  /// far more memory than the picture needs.
  bool is_decodable = true;
};

/// Returns the first fault in a packet or in the extradata from FFmpeg's demuxers. Checks only GIF,
/// PNG, APNG and Sun raster files.
std::optional<PictureFault> find_fault(AVCodecID codec, std::span<const std::uint8_t> packet);

/// Returns whether a packet after the first packet of a picture file contains only data that
/// another program has appended to the picture.
bool is_junk(AVCodecID codec, std::span<const std::uint8_t> packet);

/// Returns whether the packet of a JPEG file contains the beginning of an MP4 file after the
/// picture, as in the motion photos of phones. All later packets are then parts of the MP4 file.
bool is_motion_photo(std::span<const std::uint8_t> packet);

std::optional<PictureFault> find_gif_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_png_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_sun_fault(std::span<const std::uint8_t> packet);

}  // namespace lull::io
