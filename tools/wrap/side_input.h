#pragma once
// Side inputs: files that lull reads frame by frame in parallel with the input, for example a guide
// or a feature buffer.

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
  /// Number of frames of the side input before the frame that corresponds to the first input frame.
  /// 0 except in shared jobs.
  std::int64_t leading_frames = 0;

  /// Describes this guide or feature buffer as an additional input of a job in segments. The
  /// description is valid while this object exists.
  io::AdditionalSource job_source() const { return {name, path, source.get()}; }
};

/// Opens a side input with `options`. In a shared job, the source starts at the part of this
/// process. The function treats any damage of the side input as an error.
/// @throws NoInput  lull cannot open the file
/// @throws BadData  the file is damaged
[[nodiscard]] SideInput open_side_input(const std::string& name, const std::string& path,
                                        const DenoiseOptions& given, io::SourceOptions options);

/// Index of the first frame that the run pushes, counted from the first frame of the input. Empty
/// if the run pushes all frames.
using FirstFrame = std::optional<std::int64_t>;

}  // namespace lull::tools
