#pragma once
// Determines the integer format of a denoising session's results, so that lull rounds each sample
// only once.

#include "core/denoiser.h"
#include "io/encode/encoder_choice.h"
#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// Returns a pixel format with the given traits, but with integer samples of `bits` bits in native
/// byte order; AV_PIX_FMT_NONE if FFmpeg has no such format.
AVPixelFormat format_with_bits(const PixelTraits& traits, int bits);

/// Returns whether the samples of a source have the full range: 0 is black and the maximum is
/// white. Grey samples without a stated range have the full range.
bool has_full_range(const FileSource& source);

/// Returns whether the conversion for a JPEG file changes the range or the matrix of YCbCr samples.
/// If so, FFmpeg must convert the samples in one step. With an intermediate 16-bit format, FFmpeg
/// would find no difference between the formats, and copy the samples unchanged.
bool changes_range(Layout source, AVPixelFormat target);

/// Returns the sample format of a denoising session's results for an encoder. If the encoder's
/// pixel format differs only in bit depth from the source, the results have the bit depth of the
/// encoder. In all other cases, FFmpeg must convert the results, and the results have up to 16
/// bits.
ResultSamples samples_for(const EncoderChoice& choice, const FileSource& source, Dither dither);

}  // namespace lull::io
