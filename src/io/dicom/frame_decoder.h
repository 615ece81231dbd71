#pragma once
// Decodes the frames of DICOM files: JPEG 2000 with FFmpeg, other codecs with DCMTK. Builds without
// DCMTK do not include this header.

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>
#include <dcmtk/dcmdata/dcpixel.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "io/dicom/dicom_images.h"
#include "io/dicom/jpeg2000.h"

namespace lull::io {

/// Decodes the frames of one file.
class FrameDecoder {
 public:
  /// @param image  description of the file, which must outlive this object
  /// @throws BadData  the file is damaged, or lull cannot read its samples
  explicit FrameDecoder(const DicomImage& image);

  /// Decodes frame `frame` (from 0) to `samples`: rows without padding, in native byte order.
  /// @throws BadData  the samples are damaged, or lull cannot decode them
  void decode(int frame, std::vector<std::byte>& samples);

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void decode_with_dcmtk(int frame, std::vector<std::byte>& samples);
  void decode_jpeg2000(int frame, E_TransferSyntax syntax, std::vector<std::byte>& samples);
  void check_rle(int frame);

  const DicomImage& image_;
  DcmFileFormat file_;
  DcmPixelData* pixels_ = nullptr;
  std::optional<Jpeg2000Decoder> jpeg2000_;
};

}  // namespace lull::io
