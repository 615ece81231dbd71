#pragma once
// Handling of inputs that begin before time 0.

#include <cstdint>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// Returns by how much all streams are shifted, in ticks of the encoder, so that none begins before
/// 0. MP4 hides content before 0, readers of Matroska change its times, and other containers cannot
/// store it. 0: no shift. Must be called before the first read of `source`.
std::int64_t start_shift(const FileSource& source, const Container& container,
                         const AVCodecContext& encoder);

}  // namespace lull::io
