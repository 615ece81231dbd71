#pragma once
// Pyramids of OME-TIFF files, whose smaller levels are sub-images of each page.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/tiff/tiff_reader.h"
#include "io/tiff/tiff_writer.h"

namespace lull::io {

/// Writes the pyramid levels of the last written page. Each sample of a level is the mean of a
/// block of the previous level, rounded to the sample type.
/// @param samples  the page, in native byte order
/// @param copies  layouts of the levels, the largest first
/// @param set_tags  sets the tags of a level
/// @throws IoError, and any exception of `set_tags`
void write_copies(TiffWriter& writer, const TiffLayout& layout, std::span<const std::byte> samples,
                  std::span<const TiffLayout> copies,
                  const std::function<void(std::size_t)>& set_tags);

/// Writes the pyramid levels of filtered pages, in the sizes of the input's sub-images.
class TiffLevels {
 public:
  /// @throws NoInput, BadData
  TiffLevels(const std::string& path, std::uint64_t max_samples) : reader_(path, max_samples) {}

  /// Finds the sub-images of the reader's current page, and returns their number. Returns 0 if a
  /// sub-image is wider or higher than the previous one, or if it differs from the page in a
  /// property other than the size.
  int find(const TiffReader& page, const TiffLayout& layout, std::int64_t number);
  /// Writes the pyramid levels of the last written page.
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
