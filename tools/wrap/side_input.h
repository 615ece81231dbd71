#pragma once
// Other inputs that are read beside the one that is denoised, frame by frame: a guide, features.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct SideInput {
  std::string name, path;  // "--feature albedo", "albedo.%04d.exr"
  std::unique_ptr<io::MediaSource> source;
  /// Frames that it gives before the one that belongs to the input's first: of a shared job's part,
  /// which begins in the middle of either.
  std::int64_t leading_frames = 0;

  /// What a job in segments has to know of it, as long as it is there.
  io::AdditionalSource job_source() const { return {name, path, source.get()}; }
};

/// Opened as the input was, with `options`, where a shared job has its part. Damage is an error.
/// @throws NoInput, BadData as io::open_source()
[[nodiscard]] SideInput open_side_input(const std::string& name, const std::string& path,
                                 const DenoiseOptions& given, io::SourceOptions options);

/// The number of the input's first frame that goes in; none: all do, to their end.
using FirstFrame = std::optional<std::int64_t>;

}  // namespace lull::tools
