#pragma once
// What becomes of a stream that is not denoised.

#include "io/encoder_choice.h"

namespace lull::io {

enum class Carriage {
  copied,
  as_cover,   // a picture that becomes an attachment
  made_anew,  // the muxer writes it from metadata
  left_out,   // with a warning
  refused,    // the output is an error
};

/// Of `stream` in a container that is no still picture.
Carriage carriage_of(const AVStream& stream, const Container& container);

}  // namespace lull::io
