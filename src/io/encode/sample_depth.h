#pragma once
// Chooses the integer format of a denoising session's results, so that lull rounds each sample only
// once.

#include "core/denoiser.h"
#include "io/encode/encoder_choice.h"
#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// Returns a pixel format with the given traits and integer samples of `bits` bits in native byte
/// order; AV_PIX_FMT_NONE if FFmpeg has no such format.
AVPixelFormat format_with_bits(const PixelTraits& traits, int bits);

/// Returns whether the samples have the full range. Grey samples without a stated range count as
/// full range.
bool has_full_range(const FileSource& source);

/// Returns whether the conversion for JPEG changes the range or the colour matrix of YCbCr samples.
/// FFmpeg must then convert in one step: with an intermediate 16-bit format, FFmpeg would leave the
/// range and the matrix unchanged.
bool changes_range(Layout source, AVPixelFormat target);

/// Returns the format in which a denoising session must return its results. If the encoder's pixel
/// format differs from the source only in bit depth, the results have the encoder's bit depth.
/// Otherwise, the results have up to 16 bits, and FFmpeg converts them.
ResultSamples samples_for(const EncoderChoice& choice, const FileSource& source, Dither dither);

}  // namespace lull::io
