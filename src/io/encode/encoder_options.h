#pragma once
// Sets encoder options: the user's options, and lull's defaults for all other options.

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Sets the quality, the lossless mode and other options of `encoder`, which must not be open yet.
/// The caller must pass `options` to `avcodec_open2()`. `first` is the first frame.
/// @throws InvalidArgument  the encoder does not support a crf or a lossless mode
void set_encoder_options(AVCodecContext& encoder, const Container& container, const AVFrame& first,
                         const SinkOptions& wanted, Dictionary& options);

}  // namespace lull::io
