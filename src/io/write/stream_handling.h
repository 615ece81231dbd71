#pragma once
// What becomes of a stream that is not denoised.

#include "io/encode/encoder_choice.h"

namespace lull::io {

enum class StreamHandling {
  copied,
  as_file,      // Matroska's attachments
  as_cover,     // a picture that becomes an attachment
  converted,    // text subtitles
  regenerated,  // the muxer writes it from metadata
  dropped,      // as it was asked for
  omitted,      // with a warning
  refused,      // the output is an error
};

/// Of `stream` in a container that is no still picture.
StreamHandling handling_of(const AVStream& stream, const Container& container);

/// Whether `drops` names it.
bool is_dropped(const AVStream& stream, const Drops& drops);

/// @throws InvalidArgument  streams that the input does not have, or the one that is denoised
void check_drops(const Drops& drops, const FileSource& source);

}  // namespace lull::io
