#include "io/axes/stack_axes.h"

#include <charconv>

#include "io/axes/ome_axes.h"

namespace lull::io {
namespace {

/// Returns the number after `key` in the text; 1 if there is none.
std::int64_t number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == text.npos) return 1;
  std::int64_t number = 0;
  std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number);
  return number;
}

std::string counted(std::int64_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// Returns the page of each frame of an ImageJ file; empty if frame i is on page i. ImageJ
/// interleaves the channels, but StackAxes stores one channel after the other.
std::vector<std::int64_t> imagej_pages(const StackAxes& axes) {
  std::vector<std::int64_t> pages;
  if (axes.channels == 1) return pages;
  for (std::int64_t c = 0; c < axes.channels; ++c)
    for (std::int64_t i = 0; i < axes.frames_of_channel(); ++i)
      pages.push_back(i * axes.channels + c);
  return pages;
}

StackAxes imagej_axes(const DescribedPages& file) {
  StackAxes axes{.channels = number_after(file.description, "\nchannels="),
                 .times = number_after(file.description, "\nframes="),
                 .slices = number_after(file.description, "\nslices="),
                 .page_of_frame = {},
                 .is_described = true,
                 .warning = {}};
  const auto is_valid = [&](std::int64_t size) { return size >= 1 && size <= file.pages; };
  const bool valid = is_valid(axes.channels) && is_valid(axes.times) && is_valid(axes.slices) &&
                     axes.channels * axes.slices <= file.pages;
  if (valid && axes.channels * axes.slices * axes.times == file.pages) {
    axes.page_of_frame = imagej_pages(axes);
    return axes;
  }
  // ImageJ often writes descriptions without axes, so missing axes cause no warning.
  const bool is_plain = axes.channels == 1 && axes.times == 1 && axes.slices == 1;
  StackAxes plain{.slices = file.pages, .page_of_frame = {}, .warning = {}};
  if (!is_plain)
    plain.warning = "'" + file.path + "' has " + counted(file.pages, "page") +
                    ", but ImageJ's description states " + describe(axes) +
                    "; all pages are taken for slices of one volume";
  return plain;
}

}  // namespace

StackAxes read_axes(const DescribedPages& file) {
  if (file.description.starts_with("ImageJ=")) return imagej_axes(file);
  if (is_ome_xml(file.description)) return ome_axes(file);
  return {.slices = file.pages, .page_of_frame = {}, .warning = {}};
}

std::string describe(const StackAxes& axes) {
  return counted(axes.channels, "channel") + ", " + counted(axes.slices, "slice") + ", " +
         counted(axes.times, "time point");
}

}  // namespace lull::io
