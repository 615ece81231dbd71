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
  /// False if the decoder must not get the picture: it would return uninitialised memory, or
  /// allocate far more memory than the picture needs.
  bool is_decodable = true;
};

/// Returns the first fault in a packet of FFmpeg's demuxers; only GIF, PNG and Sun raster files are
/// checked.
std::optional<PictureFault> find_fault(AVCodecID codec, std::span<const std::uint8_t> packet);

/// Returns whether a packet contains only bytes that other programs have appended to the file, and
/// no picture. The packet must follow a picture in the file.
bool is_junk(AVCodecID codec, std::span<const std::uint8_t> packet);

/// These functions check the pictures of one codec.
std::optional<PictureFault> find_gif_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_png_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_sun_fault(std::span<const std::uint8_t> packet);

}  // namespace lull::io
