#pragma once
// Reads the fragments of compressed DICOM frames (DICOM PS3.5, A.4). Builds without DCMTK do not
// include this header.

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcpixseq.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace lull::io {

/// Returns the codestream of a JPEG 2000 frame: the bytes of all its fragments. The first item of
/// `fragments` is the offset table. If the fragments or the offsets contradict the number of
/// frames, the function returns nullopt.
/// @param frames  number of frames of the image
/// @param frame   number of the frame, from 0
[[nodiscard]] std::optional<std::vector<std::uint8_t>> bytes_of_frame(DcmPixelSequence& fragments,
                                                                      int frames, int frame);

}  // namespace lull::io
