#pragma once
// What the bytes of a compressed picture show about damage that FFmpeg's decoders do not report.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

struct PictureFault {
  std::string text;
  /// Whether the decoder may get the picture: false where it would return memory of the process,
  /// or allocate far more than the picture needs.
  bool is_decodable = true;
};

/// The first fault of a packet of FFmpeg's demuxers; looks at GIF, PNG, Sun raster and TIFF.
std::optional<PictureFault> find_fault(AVCodecID codec, std::span<const std::uint8_t> packet);

/// Whether what follows a picture in its file is no other picture but bytes that other programs
/// have left there.
bool is_junk(AVCodecID codec, std::span<const std::uint8_t> packet);

/// The same for one codec each.
std::optional<PictureFault> find_gif_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_png_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_sun_fault(std::span<const std::uint8_t> packet);
std::optional<PictureFault> find_tiff_fault(std::span<const std::uint8_t> file);

}  // namespace lull::io
