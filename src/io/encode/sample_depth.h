#pragma once
// Determines which samples sessions deliver for an encoder, so that the samples are rounded only
// once.

#include "core/denoiser.h"
#include "io/encode/encoder_choice.h"
#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// Returns a pixel format with integer samples of `bits` bits in native byte order that otherwise
/// has the given traits; AV_PIX_FMT_NONE if FFmpeg has none.
AVPixelFormat format_with_bits(const PixelTraits& traits, int bits);

/// Returns whether the samples of a source have their full range, in which 0 is black and the
/// maximum is white. Grey samples without a stated range have the full range.
bool has_full_range(const FileSource& source);

/// Returns whether, for a JPEG, a conversion changes the range or the matrix of YCbCr samples.
/// FFmpeg copies samples between equal formats of 16 bits without this change. In this case it must
/// therefore get the samples of the source, and convert them to the output directly.
bool changes_range(Layout source, AVPixelFormat target);

/// Returns the samples that sessions deliver for an encoder: those of its pixel format if only the
/// bit depth differs from the source's samples. If FFmpeg must convert the samples, sessions
/// deliver 16-bit samples that are multiples of the source's samples.
ResultSamples samples_for(const EncoderChoice& choice, const FileSource& source, Dither dither);

}  // namespace lull::io
