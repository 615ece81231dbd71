#pragma once
// The axes of a TIFF stack: channels, time points and slices, as ImageJ and OME programs describe
// them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lull::io {

/// The axes of a stack. Frames are ordered by channel, then by time point, then by slice.
struct StackAxes {
  std::int64_t channels = 1;
  std::int64_t times = 1;   // time points of each channel
  std::int64_t slices = 1;  // slices of each time point
  /// For each frame, the index of the TIFF page that contains the frame. An empty list means that
  /// frame i is on page i for all i.
  std::vector<std::int64_t> page_of_frame;
  bool is_described = false;  // whether the axes come from the description of the file
  /// A warning if the description of the file contradicts its pages; empty if there is no
  /// contradiction.
  std::string warning;

  std::int64_t frames_of_channel() const { return times * slices; }
  std::int64_t page_at(std::int64_t frame) const {
    return page_of_frame.empty() ? frame : page_of_frame[static_cast<std::size_t>(frame)];
  }
  /// Returns whether each channel contains a single slice at several time points.
  bool is_over_time() const { return times > 1 && slices == 1; }
};

/// The description of a TIFF file, and the number and size of its pages.
struct DescribedPages {
  std::string path;              // path of the file in messages
  std::string_view description;  // tag ImageDescription of the first page
  std::int64_t pages = 1;
  int width = 0, height = 0;
};

/// Reads the axes from OME-XML or an ImageJ description. If the file has no description, or if an
/// ImageJ description contradicts the pages, all pages are slices of one volume.
/// @throws BadData  the OME-XML contradicts the pages
[[nodiscard]] StackAxes read_axes(const DescribedPages& file);

/// Returns a string such as "2 channels, 8 slices, 5 time points".
[[nodiscard]] std::string describe(const StackAxes& axes);

}  // namespace lull::io
