#pragma once
// The pyramids of OME-TIFF files. Each page of a pyramid refers to smaller copies of the page
// (sub-images).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/tiff/tiff_reader.h"
#include "io/tiff/tiff_writer.h"

namespace lull::io {

/// Writes smaller copies of the page that the caller wrote last. The samples of a copy are means of
/// blocks of the preceding copy, rounded to the sample type.
/// @param samples  samples of the page, in native byte order
/// @param copies   layouts of the copies, the largest first
/// @param set_tags  function that sets the tags of the copy with the given index
/// @throws IoError, and any exception of `set_tags`
void write_copies(TiffWriter& writer, const TiffLayout& layout, std::span<const std::byte> samples,
                  std::span<const TiffLayout> copies,
                  const std::function<void(std::size_t)>& set_tags);

/// Writes smaller copies of filtered pages, in the sizes of the sub-images of the input.
class TiffLevels {
 public:
  /// @throws NoInput, BadData
  TiffLevels(const std::string& path, std::uint64_t max_samples) : reader_(path, max_samples) {}

  /// Finds the sub-images of the current page of `page`, and returns their number. Returns 0 if a
  /// sub-image is larger than the preceding one, or differs from the page in a property other than
  /// its size.
  int find(const TiffReader& page, const TiffLayout& layout, std::int64_t number);
  /// Writes the copies of the page that the caller wrote last.
  /// @param samples  samples of this page, in native byte order
  /// @throws IoError, BadData
  void write(TiffWriter& writer, const TiffLayout& layout, std::span<const std::byte> samples);

 private:
  bool is_copy(std::uint64_t offset, const TiffLayout& before);

  TiffReader reader_;
  std::int64_t page_ = 0;
  std::vector<std::uint64_t> offsets_;  // byte offsets of the directories of the copies
  std::vector<TiffLayout> layouts_;
};

}  // namespace lull::io
