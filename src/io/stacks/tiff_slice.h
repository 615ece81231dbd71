#pragma once
// Converts between grey TIFF pages and the samples of slices.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/tiff/tiff_writer.h"
#include "io/volumes/stack_samples.h"

namespace lull::io {

/// Returns the sample type in memory: float for half floats, and the next larger type for integers
/// whose size is not 8, 16, 32 or 64 bits.
StoredType type_of(const TiffLayout& layout);
/// Returns a description of a slice, such as "40x29 uint16" or "40x29 uint16 of 12 bits".
std::string describe_slice(const TiffLayout& layout);
/// Returns whether two pages can be slices of one stack.
bool is_same_kind(const TiffLayout& a, const TiffLayout& b);

/// Returns the layout of the reader's current page. A page with a palette is a slice only if
/// `is_imagej` is true, because ImageJ stores grey samples with a palette for display.
/// @throws BadData  the page is not a grey slice
TiffLayout slice_layout(const TiffReader& reader, bool is_imagej);

/// Reads the samples of the current page of the reader, in native byte order.
/// @throws BadData
void read_slice(TiffReader& reader, const TiffLayout& layout, std::vector<std::byte>& samples,
                bool check);
/// Writes a page, whose tags the caller must have set. Clamps integers to the page's bit depth.
/// @throws IoError
void write_slice(TiffWriter& writer, const TiffLayout& layout, std::span<const std::byte> samples);

/// Returns whether a TIFF file has a single page of grey 16-bit samples that are all below 2^14.
/// Such samples come from scientific cameras with 10 to 14 bits, and not from photographs. The
/// function reads all samples. Returns false for damaged files.
bool is_narrow_page(const std::string& path);

}  // namespace lull::io
