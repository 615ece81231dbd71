#pragma once
// Determines the integer format in which a denoising session returns samples for an encoder, so
// that samples are rounded only once.

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

/// Returns whether the conversion for a JPEG changes the range or the matrix of YCbCr samples.
/// FFmpeg must then convert the samples in one step. With a 16-bit format in between, FFmpeg would
/// see equal formats and copy the samples unchanged.
bool changes_range(Layout source, AVPixelFormat target);

/// Returns the sample format in which a denoising session returns results for an encoder. If the
/// pixel formats of encoder and source differ only in bit depth, the results have the encoder's bit
/// depth.
///
/// Otherwise, FFmpeg must convert the results. They then have the largest bit depth up to 16 for
/// which FFmpeg has a format, and the scale of the source multiplied by a power of two. If the
/// conversion changes the range (changes_range()), they have the bit depth of the source.
ResultSamples samples_for(const EncoderChoice& choice, const FileSource& source, Dither dither);

}  // namespace lull::io
