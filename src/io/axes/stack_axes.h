#pragma once
// The axes of a TIFF stack (channels, time points, slices), as descriptions of ImageJ and OME state
// them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lull::io {

/// The axes of a stack, and the order in which its pages become frames: channel by channel, in each
/// channel time point by time point, and in each time point slice by slice.
struct StackAxes {
  std::int64_t channels = 1;
  std::int64_t times = 1;   // time points of each channel
  std::int64_t slices = 1;  // slices of each time point
  /// Page of each frame; empty: the frames have the order of the pages.
  std::vector<std::int64_t> page_of_frame;
  bool is_described = false;  // whether the axes come from the description of the file
  /// A contradiction between the description and the pages that does not prevent reading, as one
  /// line; empty: there is none.
  std::string warning;

  std::int64_t frames_of_channel() const { return times * slices; }
  std::int64_t page_at(std::int64_t frame) const {
    return page_of_frame.empty() ? frame : page_of_frame[static_cast<std::size_t>(frame)];
  }
  /// Returns whether each channel is a series of single planes over time.
  bool is_over_time() const { return times > 1 && slices == 1; }
};

/// The description of a TIFF file, and the number and the size of the file's pages.
struct DescribedPages {
  std::string path;              // path of the file in messages
  std::string_view description;  // tag ImageDescription of the first page
  std::int64_t pages = 1;
  int width = 0, height = 0;
};

/// Reads the axes from the description of a file: of ImageJ ("channels=2", pages in the order
/// channel, z, time) or of OME-TIFF (OME-XML). Without a description, all pages are slices of one
/// volume. The same applies, with a warning, if the description of ImageJ contradicts the number of
/// pages; ImageJ itself reads such files in this way.
/// @throws BadData  the OME-XML contradicts the pages
[[nodiscard]] StackAxes read_axes(const DescribedPages& file);

/// Returns a text such as "2 channels, 8 slices, 5 time points".
[[nodiscard]] std::string describe(const StackAxes& axes);

}  // namespace lull::io
