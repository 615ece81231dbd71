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
  /// False if the caller must not decode the picture: the decoder would return uninitialised
  /// memory, or would allocate far more memory than the picture needs.
  bool is_decodable = true;
};

/// Returns the first fault in a packet from FFmpeg's demuxers. The function checks only GIF, PNG
/// and Sun raster files.
std::optional<PictureFault> find_fault(AVCodecID codec, std::span<const std::uint8_t> packet);

/// Returns whether a packet contains no picture, but only bytes that other programs have appended
/// to the file. The packet must follow a picture in the file.
bool is_junk(AVCodecID codec, std::span<const std::uint8_t> packet);

std::optional<PictureFault> find_gif_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_png_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_sun_fault(std::span<const std::uint8_t> packet);

}  // namespace lull::io
