#pragma once
// A raw photograph: the mosaic of a sensor, and properties of the camera.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/frame.h"
#include "io/raw/tiff_tree.h"

namespace lull::io {

/// The properties of the camera and the picture, without the samples.
struct RawFacts {
  std::string path;
  int width = 0, height = 0;  // size of the active area, in sites
  /// CFA pattern (2x2) at the top-left corner: 0 red, 1 green, 2 blue.
  std::array<std::uint8_t, 4> colours{0, 1, 1, 2};
  std::array<float, 4> black{};           // black level of each of these sites
  float white = 65535;                    // samples from here on are clipped
  std::array<float, 3> balance{1, 1, 1};  // factors for R, G, B that make white neutral; G: 1
  std::array<std::array<float, 3>, 3> srgb_from_camera{};  // for white-balanced linear values
  /// Noise profile (DNG's NoiseProfile): pairs of gain and offset, either one pair for all colours
  /// or one pair for each of R, G, B; empty if unknown. The variance of a sample x is gain * x +
  /// offset, where x is 0 for black and 1 for white.
  std::vector<double> noise_profile;
  /// The directories of a DNG file, or the EXIF, XMP and IPTC data of another raw file.
  TiffTree tags;
  std::string omitted;  // names of metadata of the file that `tags` lacks; empty: none
  bool is_dng = false;
  std::string make, model;
  std::array<std::array<double, 3>, 3> camera_from_xyz{};  // not for DNG files; 0: unknown
  int orientation = 1;                                     // value of the EXIF tag
  std::uint32_t iso = 0;                                   // 0: unknown
};

struct RawPicture {
  std::shared_ptr<const RawFacts> facts;
  Frame mosaic;  // grey, 16 bits: the samples of the active area as the file stores them
};

/// Returns whether the name has the extension of a raw format.
[[nodiscard]] bool is_raw_name(const std::string& path);
/// Reads a raw file with a Bayer mosaic.
/// @throws NoInput, IoError
/// @throws BadData  the file is damaged or has no Bayer mosaic, or this build cannot read raw files
[[nodiscard]] RawPicture read_raw(const std::string& path, std::int64_t max_pixels);

enum class Curve { srgb, linear };
/// Develops the DNG file content `dng` with LibRaw: demosaicing, white balance, sRGB primaries.
/// Returns an upright picture with R, G, B of 16 bits.
/// @throws BadData, InvalidArgument
[[nodiscard]] Frame develop(std::span<const std::uint8_t> dng, Curve curve);

}  // namespace lull::io
