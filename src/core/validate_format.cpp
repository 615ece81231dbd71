#include "core/validate_format.h"

#include <cmath>
#include <string>

#include "core/error.h"

namespace lull {

namespace {

/// Maximum log2 of the chroma subsampling, as in VapourSynth.
constexpr int max_chroma_shift = 4;

}  // namespace

void validate(const FrameFormat& f) {
  if (f.width < 1 || f.height < 1)
    throw InvalidArgument("a picture of " + std::to_string(f.width) + "x" +
                          std::to_string(f.height) +
                          " samples (it is empty); use a picture of at least 1x1");
  const bool bits_fit = f.sample == SampleType::u8    ? f.bits == 8
                        : f.sample == SampleType::u16 ? f.bits >= 8 && f.bits <= 16
                                                      : f.bits == 32;
  if (!bits_fit)
    throw InvalidArgument("samples of " + std::to_string(f.bits) +
                          " bits (must be 8 to 16 bits, or 32-bit float); convert them first");
  const bool white_fits =
      f.sample == SampleType::f32 ? f.white > 0 && std::isfinite(f.white) : f.white == 1;
  if (!white_fits)
    throw InvalidArgument("white = " + std::to_string(f.white) +
                          " (must be a number above 0 for floats, 1 for integers); choose another");
  for (const float scale : {f.luma_scale, f.chroma_scale})
    if (!(scale >= 0 && std::isfinite(scale)))
      throw InvalidArgument("a scale of samples of " + std::to_string(scale) +
                            " (must be 0 or a positive number); choose another");
  for (const int shift : {f.chroma_shift_x, f.chroma_shift_y})
    if (shift < 0 || shift > max_chroma_shift)
      throw InvalidArgument("chroma subsampled by 2^" + std::to_string(shift) +
                            " (the exponent must be from 0 to " + std::to_string(max_chroma_shift) +
                            "); convert the chroma");
  if (f.subsampled() && f.layout != Layout::yuv)
    throw InvalidArgument("subsampled planes without chroma (only YUV has them); convert to YUV");
}

void validate(const Backend& backend) {
  if (backend.threads < 0)
    throw InvalidArgument("threads = " + std::to_string(backend.threads) +
                          " (must be at least 0); use 0 for one thread per core");
  if (const int bits = backend.results.bits; bits != 0 && (bits < 8 || bits > 16))
    throw InvalidArgument(
        "results of " + std::to_string(bits) +
        " bits (must be 8 to 16, or 0 for the input's bit depth); choose another");
  if (backend.results_on_device && backend.kind != BackendKind::cuda)
    throw InvalidArgument(
        "results in GPU memory (the session runs on the CPU); leave results in host memory");
}

}  // namespace lull
