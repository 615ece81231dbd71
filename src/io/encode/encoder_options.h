#pragma once
// Sets the options of encoders: those that the user chose, and lull's defaults for all others.

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Sets quality, lossless mode and other options of `encoder`, which is not open yet. Some options
/// are set in the context, and others in `options`, which the caller passes to avcodec_open2().
/// `first` is the first frame.
/// @throws InvalidArgument  the encoder does not support a crf or a lossless mode
void set_encoder_options(AVCodecContext& encoder, const Container& container, const AVFrame& first,
                         const SinkOptions& wanted, Dictionary& options);

}  // namespace lull::io
