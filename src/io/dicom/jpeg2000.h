#pragma once
// Decodes JPEG 2000 codestreams of one component with FFmpeg.
//
// Sources: ISO/IEC 15444-1, annex A (codestream syntax); DICOM PS3.5, 8.2.4 and A.4.4.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/dicom/dicom_images.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Decodes the frames of a DICOM image, one codestream for each frame.
class Jpeg2000Decoder {
 public:
  /// @param path  name of the file in messages
  /// @throws BadData  FFmpeg has no decoder for JPEG 2000
  Jpeg2000Decoder(const DicomSampleFormat& format, std::string path);

  /// Returns the samples of a frame. Each sample has Bits Allocated bits in native byte order.
  /// @throws BadData  the codestream is damaged or truncated, or contradicts the format
  [[nodiscard]] std::vector<std::byte> decode(std::span<const std::uint8_t> codestream);

 private:
  [[noreturn]] void fail(const std::string& what) const;
  FramePtr decode_picture(std::span<const std::uint8_t> codestream);

  DicomSampleFormat format_;
  std::string path_;
  CodecPtr decoder_;
};

}  // namespace lull::io
