#pragma once
// Inputs that begin before 0.

#include <cstdint>

#include "io/encode/encoder_choice.h"

namespace lull::io {

/// By how much all streams move, in ticks of the encoder, so that none begins before 0. MP4 hides
/// what does, readers of Matroska make up times for it, and other containers cannot say it. 0: they
/// stay. Before the first read of `source`.
std::int64_t start_shift(const FileSource& source, const Container& container,
                         const AVCodecContext& encoder);

}  // namespace lull::io
