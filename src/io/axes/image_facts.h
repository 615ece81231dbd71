#pragma once
// Voxel sizes and channel names in OME-TIFF, ImageJ and OME-Zarr.

#include <string>
#include <string_view>
#include <vector>

#include "io/axes/stack_axes.h"

namespace lull::io {

/// The voxel size along an axis, with its unit.
struct AxisStep {
  double step = 0;   // above 0; 0: unknown
  std::string unit;  // name as in OME-Zarr ("micrometer", "second"); empty: unknown
};

struct ImageFacts {
  std::string name;
  AxisStep x, y, z, time;
  std::vector<std::string> channels;  // names; empty: unknown
};

/// Number of pixels per unit along x and y; 0: unknown. If only `y` is unknown, it equals `x`.
struct PixelDensity {
  double x = 0, y = 0;
};
/// Reads voxel sizes and channel names from OME-XML or an ImageJ description.
/// @param density  resolution of the TIFF page; the function uses it only for ImageJ descriptions
[[nodiscard]] ImageFacts read_facts(std::string_view description, const PixelDensity& density);

/// The plane size and the sample format in OME-XML.
struct OmePixels {
  int width = 0, height = 0;
  std::string type;  // "uint16", "float"
  bool big_endian = false;
};
/// Returns OME-XML for a file whose page i contains frame i of `axes`.
[[nodiscard]] std::string make_ome_xml(const StackAxes& axes, const OmePixels& pixels,
                                       const ImageFacts& facts);
/// Returns one message for each unit or time step that the OME-XML of make_ome_xml() cannot state.
[[nodiscard]] std::vector<std::string> losses_in_ome_xml(const ImageFacts& facts);

}  // namespace lull::io
