#pragma once
// The axes of a TIFF stack (channels, volumes and slices). The description that ImageJ or an OME
// program has written states the axes.

#include <cstdint>
#include <string_view>

namespace lull::io {

/// Order of the frames of a stack. Within a channel, the pages are ordered by volume, and within a
/// volume by slice.
struct TiffAxes {
  std::int64_t channels = 1;
  std::int64_t channel_step = 1;  // distance from one channel to the next, in pages
  std::int64_t slices = 1;        // number of slices of one volume

  std::int64_t channel_of(std::int64_t page) const { return page / channel_step % channels; }
};

/// Reads the axes from the description of a file with `pages` pages. The function reads the
/// descriptions of ImageJ ("channels=2", pages in the order channel, z, time) and of OME-TIFF
/// ("SizeC", "DimensionOrder"). Without a valid description, all pages are slices of one volume. A
/// series without a z axis is a volume along time.
TiffAxes parse_axes(std::string_view description, std::int64_t pages);

}  // namespace lull::io
