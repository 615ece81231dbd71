#pragma once
// Implements --scale, which enlarges the results.

#include <memory>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Checks whether lull can enlarge the input. The caller must call this function before it opens
/// the outputs.
/// @throws InvalidArgument  the input has slices or fields
/// @throws BadData  the results would exceed the maximum frame size
void check_scale(const DenoiseOptions& options, const io::MediaSource& source);

/// Sets the frame size of the sink to the enlarged size.
void add_size(const OutputOptions& options, const FrameFormat& format, io::SinkOptions& sink);

/// Returns the host memory in bytes that the enlargement needs in addition to the sessions. Returns
/// 0 without --scale.
[[nodiscard]] double scale_memory(const DenoiseOptions& options, const FrameFormat& format,
                                  const std::vector<bm3d::Backend>& backends);

/// Returns a denoiser that passes frames to `denoiser` and enlarges its results, which must be
/// floats or samples of the type precise_samples(results). Without --scale, returns `denoiser`
/// itself. The first element of `backends` computes the enlargement.
[[nodiscard]] std::unique_ptr<Denoiser> enlarged(std::unique_ptr<Denoiser> denoiser,
                                                 const DenoiseOptions& options,
                                                 const io::MediaSource& source,
                                                 const std::vector<bm3d::Backend>& backends,
                                                 const ResultSamples& results);

}  // namespace lull::tools
