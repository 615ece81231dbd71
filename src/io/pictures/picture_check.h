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
  /// False if the decoder must not get the picture, because it would return uninitialised memory or
  /// allocate far more than the picture needs.
  bool is_decodable = true;
};

/// Returns the first fault of a packet that FFmpeg's demuxers returned. The function checks GIF,
/// PNG and Sun raster files.
std::optional<PictureFault> find_fault(AVCodecID codec, std::span<const std::uint8_t> packet);

/// Returns whether a packet that follows a picture in its file contains only bytes that other
/// programs have appended, and no picture.
bool is_junk(AVCodecID codec, std::span<const std::uint8_t> packet);

/// Functions that check the pictures of a single codec.
std::optional<PictureFault> find_gif_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_png_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_sun_fault(std::span<const std::uint8_t> packet);

}  // namespace lull::io
