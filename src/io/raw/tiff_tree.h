#pragma once
// Directories of a TIFF file or of EXIF data as a tree. The tree stores the values of tags as
// bytes, so that lull can also copy unknown tags.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lull::io {

struct TiffDirectory;

/// A tag and its values, in the byte order of the tree.
struct TiffEntry {
  std::uint16_t tag = 0;
  std::uint16_t type = 0;   // TIFF 6.0, section 2
  std::uint32_t count = 0;  // number of values
  std::vector<std::uint8_t> bytes;
  std::vector<TiffDirectory>
      directories;  // if the tag refers to directories; `bytes` is then empty
};

struct TiffDirectory {
  std::vector<TiffEntry> entries;  // sorted by tag
  /// Samples of a picture in one strip; empty for a directory without a picture. write_tiff_tree()
  /// adds the tags for the position of the strip. The samples must exist until the caller has
  /// written the picture.
  std::span<const std::uint8_t> picture;

  [[nodiscard]] const TiffEntry* find(std::uint16_t tag) const;
  /// Adds an entry, or replaces the entry with the same tag.
  void set(TiffEntry entry);
  void remove(std::uint16_t tag);
};

struct TiffTree {
  bool is_big_endian = false;
  TiffDirectory first;

  // The following functions make entries in the byte order of the tree.
  [[nodiscard]] TiffEntry bytes(std::uint16_t tag, std::span<const std::uint8_t> values) const;
  [[nodiscard]] TiffEntry text(std::uint16_t tag, std::string_view value) const;
  [[nodiscard]] TiffEntry shorts(std::uint16_t tag, const std::vector<std::uint16_t>& values) const;
  [[nodiscard]] TiffEntry longs(std::uint16_t tag, const std::vector<std::uint32_t>& values) const;
  [[nodiscard]] TiffEntry doubles(std::uint16_t tag, const std::vector<double>& values) const;
  /// Makes an entry of rationals (SRATIONAL if `is_signed`) with denominators of at most 10000.
  [[nodiscard]] TiffEntry rationals(std::uint16_t tag, const std::vector<double>& values,
                                    bool is_signed = false) const;
  /// Returns the values of a numeric entry; empty for entries of other types.
  [[nodiscard]] std::vector<double> numbers(const TiffEntry& entry) const;
};

/// Parses the first directory of a TIFF file or of EXIF data, and all directories to which its tags
/// refer. Omits damaged parts, and the tags that locate strips and tiles. Does not support BigTIFF.
/// @return a tree without entries if the bytes are not a TIFF file
[[nodiscard]] TiffTree read_tiff_tree(std::span<const std::uint8_t> file);

/// The parts of a TIFF file: its directories, and its pictures with their file offsets.
struct TiffFileParts {
  struct Picture {
    std::uint64_t offset = 0;
    std::span<const std::uint8_t> samples;
  };
  std::vector<std::uint8_t> head;  // header and directories, at offset 0
  std::vector<Picture> pictures;   // in ascending order of their offsets
};
/// @throws BadData  the file would be longer than 4 GiB
[[nodiscard]] TiffFileParts write_tiff_tree(const TiffTree& tree);

}  // namespace lull::io
