#pragma once
// Owners of libtiff's objects, and libtiff's messages as text.

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

/// Returns options with which libtiff opens a file. The first message about an error is stored in
/// `message`, because it is closest to the cause. Warnings are ignored, except those of damage.
/// `message` must outlive the file. `max_bytes` limits a
/// single allocation of libtiff; 0: no limit.
TiffOptionsPtr tiff_options(std::string& message, tmsize_t max_bytes);

/// Returns the value of a tag with one number, or the default of the TIFF standard; `fallback` if
/// there is neither.
template <class T>
T tiff_tag(TIFF* page, std::uint32_t name, T fallback) {
  T value = fallback;
  TIFFGetFieldDefaulted(page, name, &value);
  return value;
}

}  // namespace lull::io
