#pragma once
// Facts about an image that OME-TIFF, ImageJ and OME-Zarr state in different ways: sizes of voxels
// and names of channels.

#include <string>
#include <string_view>
#include <vector>

#include "io/axes/stack_axes.h"

namespace lull::io {

/// A distance between samples.
struct AxisStep {
  double step = 0;   // above 0; 0: unknown
  std::string unit;  // name as in OME-Zarr ("micrometer", "second"); empty: unknown
};

struct ImageFacts {
  std::string name;
  AxisStep x, y, z, time;
  std::vector<std::string> channels;  // names; empty: unknown
};

/// Returns the facts that the description of a TIFF file states, as OME-XML or as ImageJ writes it.
/// @param pixels_per_unit  the file's resolution along x and y; 0: unknown. Only files of ImageJ
///     use it
[[nodiscard]] ImageFacts read_facts(std::string_view description, double pixels_per_unit);

/// The samples that OME-XML describes.
struct OmePixels {
  int width = 0, height = 0;
  std::string type;  // "uint16", "float"
  bool big_endian = false;
};
/// Returns OME-XML for a file whose pages have the order of the frames of `axes`.
[[nodiscard]] std::string make_ome_xml(const StackAxes& axes, const OmePixels& pixels,
                                       const ImageFacts& facts);

}  // namespace lull::io
