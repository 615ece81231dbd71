#pragma once
// Side inputs: files that are read frame by frame in parallel with the input, such as a guide or
// features.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct SideInput {
  std::string name, path;  // for example "--feature albedo" and "albedo.%04d.exr"
  std::unique_ptr<io::MediaSource> source;
  /// Number of frames that the source returns before the frame that belongs to the input's first
  /// frame. In a part of a shared job, the number is above 0 if reading of the side input starts at
  /// an earlier position than reading of the input.
  std::int64_t leading_frames = 0;

  /// Returns the description of this side input for a job in segments. It is valid as long as this
  /// object exists.
  io::AdditionalSource job_source() const { return {name, path, source.get()}; }
};

/// Opens a side input with `options`, like the input. In a shared job, reading starts at the
/// position of the part. Damage is an error.
/// @throws NoInput  the file cannot be opened
/// @throws BadData  the file is damaged
[[nodiscard]] SideInput open_side_input(const std::string& name, const std::string& path,
                                        const DenoiseOptions& given, io::SourceOptions options);

/// Index of the first frame of the input that is pushed. If it is not set, all frames are pushed,
/// from the first to the last.
using FirstFrame = std::optional<std::int64_t>;

}  // namespace lull::tools
