#pragma once
// Smart pointers for libtiff's objects, and libtiff's messages as text.

#include <tiffio.h>

#include <cstdint>
#include <memory>
#include <string>

namespace lull::io {

struct CloseTiff {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
using TiffPtr = std::unique_ptr<TIFF, CloseTiff>;

struct FreeTiffOptions {
  void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
};
using TiffOptionsPtr = std::unique_ptr<TIFFOpenOptions, FreeTiffOptions>;

/// Returns the options with which libtiff opens a file. `message` receives the first error, because
/// the first error is closest to the cause. Warnings are ignored, except those that indicate
/// damage. `message` must outlive the file. `max_bytes` limits a single allocation of libtiff; 0:
/// no limit.
TiffOptionsPtr tiff_options(std::string& message, tmsize_t max_bytes);

/// Returns the value of a tag with one number. If the tag is absent, returns the default of the
/// TIFF standard, or `fallback` if the standard has none.
template <class T>
T tiff_tag(TIFF* page, std::uint32_t name, T fallback) {
  T value = fallback;
  TIFFGetFieldDefaulted(page, name, &value);
  return value;
}

}  // namespace lull::io
