#include "io/tiff/tiff_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/error.h"
#include "io/files/file_bytes.h"
#include "io/media.h"

namespace lull::io {
namespace {

constexpr const char* no_directory = "a directory lies beyond the end";

/// Returns the position of the end of the first directory (TIFF 6.0, section 2). The last field of
/// a directory is the offset of the next directory. If this field lies beyond the end of the file,
/// the file is truncated, but libtiff reports no error.
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

std::string_view description_of(TIFF* page) {
  const char* text = nullptr;
  return TIFFGetField(page, TIFFTAG_IMAGEDESCRIPTION, &text) && text ? text : std::string_view();
}

/// Returns the number of planes of a stack from MetaMorph (STK): the number of values of the tag
/// UIC2. Returns 0 for other files.
std::uint64_t metamorph_planes(TIFF* page) {
  constexpr std::uint32_t uic2 = 33629;
  std::uint32_t count = 0;
  const void* values = nullptr;
  return TIFFGetField(page, uic2, &count, &values) ? count : 0;
}

}  // namespace

bool is_tiff_name(const std::string& path) {
  std::string name = path;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.ends_with(".tif") || name.ends_with(".tiff");
}

bool is_tiff_file(const std::string& path) {
  constexpr std::array<std::string_view, 4> signatures = {
      std::string_view("II*\0", 4), std::string_view("MM\0*", 4), std::string_view("II+\0", 4),
      std::string_view("MM\0+", 4)};
  std::array<char, 4> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  return std::ranges::find(signatures, std::string_view(head.data(), head.size())) !=
         signatures.end();
}

bool is_imagej(TIFF* page) { return description_of(page).starts_with("ImageJ="); }

std::uint64_t described_pictures(TIFF* page) {
  if (!is_imagej(page)) return metamorph_planes(page);
  const std::string_view description = description_of(page);
  const std::size_t at = description.find("\nimages=");
  std::uint64_t count = 1;
  if (at == description.npos) return count;
  const std::string_view number = description.substr(at + 8);
  std::from_chars(number.data(), number.data() + number.size(), count);
  return count;
}

bool is_tiff_stack(const std::string& path) {
  if (!is_tiff_file(path)) return false;
  try {
    TiffReader file(path, static_cast<std::uint64_t>(Limits{}.pixels));
    if (is_raw_photograph(file.handle())) return false;
    std::string refusal;
    const TiffLayout layout = layout_of(file.handle(), refusal);
    const std::uint64_t described = described_pictures(file.handle());
    const bool is_single = layout.is_grey() && layout.samples() == 1 &&
                           (layout.bits > 16 || layout.form == SAMPLEFORMAT_INT ||
                            (layout.is_float() && layout.bits != 16));
    if (is_single) return true;  // still pictures lack these sample types
    // ImageJ stores grey samples with a palette for display, so a page with a palette may be a
    // slice.
    const bool is_slice =
        layout.is_grey() || (layout.photometric == PHOTOMETRIC_PALETTE && is_imagej(file.handle()));
    // A single colour page may describe several pictures. The file then counts as a stack, because
    // the source of stacks reports that the pages of these pictures are missing.
    return is_slice ? described > 1 || file.next_picture() : described > 1 && !file.next_picture();
  } catch (const Error&) {
    return false;
  }
}

std::string find_tiff_truncation(const std::string& path) {
  std::error_code ignored;
  FileBytes file(path, std::filesystem::file_size(path, ignored));
  try {
    const TiffReader tiff(path, static_cast<std::uint64_t>(Limits{}.pixels));
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
    TiffReader tiff(path, static_cast<std::uint64_t>(Limits{}.pixels));
    return tiff.next_picture();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace lull::io
