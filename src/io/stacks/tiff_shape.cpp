// Compares the sizes in the directories of a TIFF file with the size of the file. libtiff itself
// detects a truncation only when it reads the samples.

#include <tiffio.h>

#include <filesystem>

#include "core/error.h"
#include "io/files/file_bytes.h"
#include "io/stacks/stack.h"
#include "io/stacks/tiff_file.h"

namespace lull::io {
namespace {

constexpr const char* no_directory = "a directory lies beyond the end";

/// Returns the end of the first directory. It consists of the number of entries, the entries, and
/// the offset of the next directory (TIFF 6.0, section 2; BigTIFF has 64 bits). libtiff treats a
/// missing offset as the end of the list.
std::uint64_t end_of_directory(const TiffReader& tiff, FileBytes& file) {
  const bool big = tiff.big_tiff();
  const int count_bytes = big ? 8 : 2, entry_bytes = big ? 20 : 12, offset_bytes = big ? 8 : 4;
  const std::uint64_t at = TIFFCurrentDirOffset(tiff.handle());
  std::uint8_t raw[8];
  if (!file.read(at, raw, count_bytes)) return file.size() + 1;
  if (!tiff.big_endian()) std::reverse(raw, raw + count_bytes);
  const std::uint64_t entries = big_endian(raw, count_bytes);
  return at + count_bytes + entry_bytes * entries + offset_bytes;
}

}  // namespace

std::string find_tiff_truncation(const std::string& path) {
  std::error_code ignored;
  FileBytes file(path, std::filesystem::file_size(path, ignored));
  try {
    const TiffReader tiff(path, max_samples(Limits{}));
    if (end_of_directory(tiff, file) > file.size()) return no_directory;
    const bool tiled = TIFFIsTiled(tiff.handle()) != 0;
    const std::uint32_t parts =
        tiled ? TIFFNumberOfTiles(tiff.handle()) : TIFFNumberOfStrips(tiff.handle());
    for (std::uint32_t i = 0; i < parts; ++i) {
      const std::uint64_t end =
          TIFFGetStrileOffset(tiff.handle(), i) + TIFFGetStrileByteCount(tiff.handle(), i);
      if (end > file.size()) return truncation_text("strip " + std::to_string(i), end, file.size());
    }
    return {};
  } catch (const Error&) {
    return no_directory;
  }
}

bool has_more_tiff_pages(const std::string& path) {
  try {
    const TiffReader tiff(path, max_samples(Limits{}));
    return !TIFFLastDirectory(tiff.handle());
  } catch (const Error&) {
    return false;
  }
}

}  // namespace lull::io
