#pragma once
// Stores as outputs: a copy of the input's store with other chunks, or a new store.

#include <string>
#include <vector>

#include "io/axes/image_facts.h"
#include "io/files/output_folder.h"
#include "io/zarr/zarr_image.h"

namespace lull::io {

/// Copies all files of a store except the chunks of the image. Returns what was not copied, one
/// text each.
/// @throws IoError, NoInput
[[nodiscard]] std::vector<std::string> copy_store(OutputFolder& output, const ZarrImage& image);

/// Returns the levels of an image with their folders in the copy of its store.
[[nodiscard]] std::vector<ZarrLevel> levels_in_copy(const OutputFolder& output,
                                                    const ZarrImage& image);

/// An image that is not from a store.
struct NewZarrImage {
  StackAxes axes;
  int width = 0, height = 0;
  StoredType type = StoredType::u8;
  ImageFacts facts;
  std::vector<ValueRange> ranges;  // ranges of values of the channels
};

/// Writes the metadata of a new store (OME-NGFF 0.4) with a pyramid, and returns its levels. Axes
/// of size 1 other than y and x are left out.
/// @throws IoError
[[nodiscard]] std::vector<ZarrLevel> make_store(OutputFolder& output, const NewZarrImage& image);

}  // namespace lull::io
