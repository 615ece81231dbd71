#pragma once
// What --scale asks for: results that are larger than the input.

#include <memory>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Before anything is opened for writing. @throws InvalidArgument  the input's frames cannot be
/// enlarged: slices, fields; BadData  results would be larger than frames may be
void check_scale(const DenoiseOptions& options, const io::MediaSource& source);

/// Says how large the frames are that the sink gets.
void add_size(const DenoiseOptions& options, const FrameFormat& format, io::SinkOptions& sink);

/// Bytes of the host's memory that enlarging takes beside all else; 0 without --scale.
[[nodiscard]] double scale_memory(const DenoiseOptions& options, const FrameFormat& format,
                                  const std::vector<bm3d::Backend>& backends);

/// The results of `denoiser`, enlarged on the first of `backends`, alpha with them; without --scale
/// that itself. Frames without samples, and those that nobody wants, pass.
[[nodiscard]] std::unique_ptr<Denoiser> enlarged(std::unique_ptr<Denoiser> denoiser,
                                                 const DenoiseOptions& options,
                                                 const io::MediaSource& source,
                                                 const std::vector<bm3d::Backend>& backends);

}  // namespace lull::tools
