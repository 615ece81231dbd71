#include "io/tiff/sub_directories.h"

#include <filesystem>
#include <system_error>

#include "io/tiff/tiff_library.h"

namespace lull::io {
namespace {

constexpr std::uint64_t max_entries = 4096, max_value_bytes = std::uint64_t{1} << 28;

std::uint64_t size_of_file(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

/// Returns the size in bytes of a value of a TIFF type; 0 for unknown types.
int size_of_type(std::uint64_t type) {
  constexpr std::uint64_t utf8 = 129;  // Exif 3.0, 4.6.2
  return type == utf8 ? 1 : TIFFDataWidth(static_cast<TIFFDataType>(type));
}

class SubDirectoryCopier {
 public:
  SubDirectoryCopier(const std::string& path, const DirectoryFormat& format, const StatedSize& size,
                     int descriptor)
      : file_(path, size_of_file(path)),
        format_(format),
        size_(size),
        descriptor_(descriptor),
        left_(file_.size()) {}

  /// @param depth  0 for a sub-directory of a page; 1 for a sub-directory of another sub-directory
  std::optional<std::uint64_t> copy(std::uint64_t at, int depth) {
    std::uint8_t raw[8];
    if (depth > 1 || !file_.read(at, raw, format_.count_bytes())) return std::nullopt;
    const std::uint64_t count = format_.number(raw, format_.count_bytes());
    if (count == 0 || count > max_entries) return std::nullopt;
    std::vector<std::uint8_t> directory;
    format_.append(directory, count, format_.count_bytes());
    at += format_.count_bytes();
    for (std::uint64_t i = 0; i < count; ++i, at += format_.entry_bytes())
      if (!copy_entry(at, depth, directory)) return std::nullopt;
    format_.append(directory, 0, format_.offset_bytes());  // no further directory
    return append_to_tiff(descriptor_, directory);
  }

 private:
  /// Appends a copy of a directory entry to `directory`. The entry begins at byte `at` of the input
  /// file. If the value lies outside the entry, the function copies it to the end of the output
  /// file.
  bool copy_entry(std::uint64_t at, int depth, std::vector<std::uint8_t>& directory) {
    std::uint8_t raw[20];
    if (!file_.read(at, raw, format_.entry_bytes())) return false;
    const int offset_bytes = format_.offset_bytes();
    const std::uint64_t tag = format_.number(raw, 2), count = format_.number(raw + 4, offset_bytes);
    const int width = size_of_type(format_.number(raw + 2, 2));
    if (width <= 0 || count > max_value_bytes / width) return false;
    const std::uint64_t bytes = count * width;
    std::uint8_t* const value = raw + 4 + offset_bytes;
    std::optional<std::uint64_t> place;
    if (tag == TIFFTAG_INTEROPERABILITYIFD) {
      place = copy(format_.number(value, offset_bytes), depth + 1);
      if (!place) return false;
    } else if (bytes > static_cast<std::uint64_t>(offset_bytes)) {
      place = copy_value(format_.number(value, offset_bytes), bytes);
      if (!place) return false;
    } else if (count == 1) {
      state_size(tag, raw);
    }
    directory.insert(directory.end(), raw,
                     place ? raw + 4 + offset_bytes : raw + format_.entry_bytes());
    if (place) format_.append(directory, *place, offset_bytes);
    return true;
  }

  std::optional<std::uint64_t> copy_value(std::uint64_t at, std::uint64_t bytes) {
    if (at > file_.size() || bytes > file_.size() - at || bytes > left_) return std::nullopt;
    left_ -= bytes;
    std::vector<std::uint8_t> value(bytes);
    if (!file_.read(at, value.data(), value.size())) return std::nullopt;
    return append_to_tiff(descriptor_, value);
  }

  /// If `tag` is the width or the height of the picture, sets the value of `entry` to the width or
  /// the height of the output.
  void state_size(std::uint64_t tag, std::uint8_t* entry) const {
    const bool is_width = tag == EXIFTAG_PIXELXDIMENSION;
    if (!is_width && tag != EXIFTAG_PIXELYDIMENSION) return;
    const std::uint32_t stated = is_width ? size_.width : size_.height;
    const bool is_short = format_.number(entry + 2, 2) == TIFF_SHORT;
    const std::uint8_t* const value = entry + 4 + format_.offset_bytes();
    if (format_.number(value, is_short ? 2 : 4) == stated) return;
    std::vector<std::uint8_t> fields;
    format_.append(fields, TIFF_LONG, 2);
    format_.append(fields, 1, format_.offset_bytes());
    format_.append(fields, stated, 4);
    std::copy(fields.begin(), fields.end(), entry + 2);
  }

  FileBytes file_;
  DirectoryFormat format_;
  StatedSize size_;
  int descriptor_;
  /// Number of bytes that the copier may still read as values. All values together may have at most
  /// the size of the file, because values in a valid file do not overlap. Without this limit, a
  /// small file could cause a huge output.
  std::uint64_t left_;
};

}  // namespace

std::optional<std::uint64_t> copy_sub_directory(const std::string& path, std::uint64_t at,
                                                const DirectoryFormat& format,
                                                const StatedSize& size, int descriptor) {
  return SubDirectoryCopier(path, format, size, descriptor).copy(at, 0);
}

}  // namespace lull::io
