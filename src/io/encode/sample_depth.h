#pragma once
// Determines the format of the integer samples that a denoising session returns for an encoder.
// With this format, the samples are rounded only once.

#include "core/denoiser.h"
#include "io/encode/encoder_choice.h"
#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// Returns a pixel format with the given traits, but with integer samples of `bits` bits in native
/// byte order. Returns AV_PIX_FMT_NONE if FFmpeg has no such format.
AVPixelFormat format_with_bits(const PixelTraits& traits, int bits);

/// Returns whether the samples of a source have the full range: 0 is black and the maximum is
/// white. Grey samples without a stated range have the full range.
bool has_full_range(const FileSource& source);

/// Returns whether the conversion for a JPEG changes the range or the matrix of YCbCr samples. If
/// it does, FFmpeg must convert the samples of the source to the output format in one step. In a
/// conversion with a 16-bit format between, FFmpeg would see equal formats and copy the samples,
/// without a change of the range or the matrix.
bool changes_range(Layout source, AVPixelFormat target);

/// Returns the sample format in which a denoising session returns its results for an encoder. If
/// the encoder's pixel format differs from the format of the source only in bit depth, the results
/// have the bit depth of the encoder.
///
/// Otherwise, FFmpeg must convert the results to the encoder's pixel format. The results then have
/// the largest bit depth up to 16 for which FFmpeg has a format. Their scale is the scale of the
/// source multiplied by a power of two. However, if the conversion changes the range
/// (changes_range()), the results have the bit depth of the source.
ResultSamples samples_for(const EncoderChoice& choice, const FileSource& source, Dither dither);

}  // namespace lull::io
