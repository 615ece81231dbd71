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

/// Returns options that turn libtiff's warnings about damage into errors, and ignore all other
/// warnings.
/// @param message    receives the first error, which is closest to the cause; must outlive the file
/// @param max_bytes  limits a single allocation by libtiff; 0: no limit
TiffOptionsPtr tiff_options(std::string& message, tmsize_t max_bytes);

/// Returns the value of a numeric tag. If the tag is missing, returns the default value of the TIFF
/// standard. If the standard states no default value, returns `fallback`.
template <class T>
T tiff_tag(TIFF* page, std::uint32_t name, T fallback) {
  T value = fallback;
  TIFFGetFieldDefaulted(page, name, &value);
  return value;
}

}  // namespace lull::io
