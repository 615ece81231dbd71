#pragma once
// Implements --scale, with which results are larger than the input.

#include <memory>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Checks whether the input can be enlarged. The caller must call this function before any output
/// is opened.
/// @throws InvalidArgument  the input cannot be enlarged: it has slices or fields
/// @throws BadData  the results would exceed the maximum frame size
void check_scale(const DenoiseOptions& options, const io::MediaSource& source);

/// Sets the size of the frames that the sink receives.
void add_size(const OutputOptions& options, const FrameFormat& format, io::SinkOptions& sink);

/// Returns the additional host memory in bytes that enlarging needs; 0 without --scale.
[[nodiscard]] double scale_memory(const DenoiseOptions& options, const FrameFormat& format,
                                  const std::vector<bm3d::Backend>& backends);

/// Wraps `denoiser` so that the first of `backends` enlarges its results and their alpha channels.
/// Unless the results of `denoiser` are floats, their samples must be precise_samples(results).
/// Context frames and frames without samples are not changed. Without --scale the function returns
/// `denoiser` unchanged.
[[nodiscard]] std::unique_ptr<Denoiser> enlarged(std::unique_ptr<Denoiser> denoiser,
                                                 const DenoiseOptions& options,
                                                 const io::MediaSource& source,
                                                 const std::vector<bm3d::Backend>& backends,
                                                 const ResultSamples& results);

}  // namespace lull::tools
