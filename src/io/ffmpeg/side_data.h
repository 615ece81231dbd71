#pragma once
// Frame data that only the sink uses, such as metadata.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/layers.h"

namespace lull {

namespace io {
struct PictureMetadata;  // io/metadata/picture_metadata.h
}

struct SideData {
  io::FramePtr properties;     // side data, metadata, colour, aspect ratio, interlacing; no samples
  std::int64_t number = 0;     // number of the picture in its file name; else its index
  std::string tiff;            // TIFF file that contains the picture; empty: none
  std::int64_t tiff_page = 0;  // number of the page in that file
  std::string match;           // text that the '*' of a pattern matches in the file name
  Frame alpha;  // one grey plane of the frame's bit depth; without pixels if there is none
  /// EXIF and similar metadata of a still picture; null if there are none.
  std::shared_ptr<const io::PictureMetadata> metadata;
  std::vector<std::byte> stored;          // stacks only: the slice's samples as stored in the file
  std::vector<io::FilteredLayer> layers;  // OpenEXR only: layers that replace those of the file
};

/// Returns a copy of `side_data` that the caller may change; empty if `side_data` is null.
[[nodiscard]] std::shared_ptr<SideData> copy_of(const SideData* side_data);

}  // namespace lull
