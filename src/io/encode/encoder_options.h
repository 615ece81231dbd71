#pragma once
// Options of encoders: what the user asked for, and good defaults for the rest.

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Sets quality, losslessness and manners of `encoder`, which is not open yet, partly in the
/// context, partly in `options`, which goes to avcodec_open2. `first` is the first frame.
/// @throws InvalidArgument  crf or lossless with an encoder that has no such thing
void set_encoder_options(AVCodecContext& encoder, const Container& container, const AVFrame& first,
                         const SinkOptions& wanted, Dictionary& options);

}  // namespace lull::io
