#pragma once
// Determines the sample format in which sessions deliver results for an encoder, so that the
// samples are rounded only once.

#include "core/denoiser.h"
#include "io/encode/encoder_choice.h"
#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// Returns a pixel format with integer samples of `bits` bits in native byte order that otherwise
/// has the given traits; AV_PIX_FMT_NONE if FFmpeg has none.
AVPixelFormat format_with_bits(const PixelTraits& traits, int bits);

/// Returns whether the samples of a source have the full range, in which 0 is black and the maximum
/// is white. Grey samples without a stated range have the full range.
bool has_full_range(const FileSource& source);

/// Returns whether the conversion for a JPEG changes the range or the matrix of YCbCr samples. A
/// conversion by way of 16 bits would omit this change, because FFmpeg only copies samples between
/// equal 16-bit formats. FFmpeg must therefore convert the samples of the source to the output
/// format directly.
bool changes_range(Layout source, AVPixelFormat target);

/// Returns the sample format in which sessions deliver results for an encoder. If the encoder's
/// pixel format differs from the format of the source only in bit depth, results have the bit depth
/// of the encoder. If FFmpeg must convert the samples, results have the largest bit depth up to 16
/// for which FFmpeg has a format, and a power of two times the scale of the source; if the
/// conversion changes the range (changes_range()), results have the bit depth of the source.
ResultSamples samples_for(const EncoderChoice& choice, const FileSource& source, Dither dither);

}  // namespace lull::io
