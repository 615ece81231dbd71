#pragma once
// Tags of DNG files (Adobe, Digital Negative Specification 1.6).

#include <cstdint>
#include <string>
#include <vector>

#include "core/frame.h"
#include "io/metadata/picture_metadata.h"
#include "io/raw/raw_picture.h"

namespace lull::io {

namespace dng {
inline constexpr std::uint16_t version = 50706, cfa_repeat = 33421, black_repeat = 50713,
                               black = 50714, black_delta_h = 50715, black_delta_v = 50716,
                               active_area = 50829, noise_profile = 51041;
}

/// Returns the directory of the full-size picture; null if there is none.
[[nodiscard]] const TiffDirectory* raw_picture_directory(const TiffTree& tags);

/// Returns the noise profile of a DNG file (RawFacts::noise_profile); empty if there is no valid
/// profile. A valid gain is in (0, 1], and a valid offset is in -1..1.
[[nodiscard]] std::vector<double> noise_profile_of(const TiffTree& tags);

/// Returns the EXIF, XMP and IPTC data of a raw file in a format other than DNG, as directories.
[[nodiscard]] TiffTree tags_of_metadata(const PictureMetadata& metadata);

/// Black levels and white level of the denoised samples.
struct DngLevels {
  std::vector<double> black;  // one for each of the 2x2 sites of a mosaic, or for R, G, B
  double white = 65535;
};

/// Samples of the main picture and the preview of a DNG file, in the byte order of its tags.
struct DngSamples {
  std::vector<std::uint8_t> main, preview;
};

/// Makes the directories of a DNG file for the denoised picture `result` (a mosaic, or R, G, B of
/// 16 bits) and a new preview. The directories keep all tags of a DNG input that are valid for
/// `result`.
/// @param samples  receives the samples of both pictures; must outlive the returned tree
[[nodiscard]] TiffTree make_dng(const RawFacts& facts, const Frame& result, const DngLevels& levels,
                                const std::vector<double>& noise_profile, DngSamples& samples);

/// Makes the directories of a TIFF file for a developed picture. The directories contain the EXIF
/// data and the XMP packet of `facts`. The tags for orientation, size and colour space describe the
/// developed picture. If `samples` is null, the directories contain only metadata.
[[nodiscard]] TiffTree make_developed(const RawFacts& facts, const Frame& developed,
                                      std::vector<std::uint8_t>* samples);

/// Returns notes about the tags of the input that make_dng() omits.
[[nodiscard]] std::vector<std::string> omitted_from_dng(const RawFacts& facts, bool keeps_mosaic);

}  // namespace lull::io
