#pragma once
// Creates the Zarr store of an output: a new store, or a copy of the input's store. The copy omits
// the chunks of the image, which contain the samples.

#include <string>
#include <vector>

#include "io/axes/image_facts.h"
#include "io/files/output_folder.h"
#include "io/zarr/zarr_image.h"

namespace lull::io {

/// Copies all files of a store except the chunks of the image. Returns one string for each part
/// that the function cannot copy.
/// @throws IoError, NoInput
[[nodiscard]] std::vector<std::string> copy_store(OutputFolder& output, const ZarrImage& image);

/// Returns the pyramid levels of the copy of `image` that copy_store() makes in `output`. These
/// levels differ from the levels of `image` only in the folders of their arrays.
[[nodiscard]] std::vector<ZarrLevel> levels_in_copy(const OutputFolder& output,
                                                    const ZarrImage& image);

/// Properties of an image that does not come from a Zarr store.
struct NewZarrImage {
  StackAxes axes;
  int width = 0, height = 0;
  StoredType type = StoredType::u8;
  ImageFacts facts;
  std::vector<ValueRange> ranges;  // one for each channel
};

/// Writes the metadata of a new store (OME-NGFF 0.4) with a pyramid, and returns the pyramid
/// levels. The arrays omit axes of size 1, except y and x.
/// @throws IoError
[[nodiscard]] std::vector<ZarrLevel> make_store(OutputFolder& output, const NewZarrImage& image);

}  // namespace lull::io
