#pragma once
// Changes the metadata of a picture so that an output in another format or size can store them.

#include <string>
#include <vector>

#include "core/frame.h"
#include "io/metadata/picture_metadata.h"

namespace lull::io {

struct PictureTarget {
  PictureKind kind = PictureKind::other;
  std::string name;                             // for messages: ".png"
  bool is_video = false;                        // the container reports the orientation itself
  bool is_scaled = false;                       // input and output have different sizes
  int width = 0, height = 0;                    // size of the samples before a rotation
  Layout from = Layout::rgb, to = Layout::rgb;  // channels of input and output
  bool is_big_tiff = false;                     // Exiv2 cannot change the file
  bool can_rotate = false;                      // samples can be rotated before they are encoded
};

struct PreparedMetadata {
  PictureMetadata metadata;  // in the form that embed_metadata() writes
  int rotation = 1;          // orientation to apply to the samples
  std::vector<std::string> losses, notes;
};

/// Returns the part of `metadata` that `target` can store. `metadata.orientation` must be the
/// orientation before lull rotates the samples.
PreparedMetadata prepare_metadata(PictureMetadata metadata, const PictureTarget& target);

}  // namespace lull::io
