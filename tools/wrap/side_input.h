#pragma once
// Opens side inputs. A side input is a file that lull reads frame by frame in parallel with the
// input, for example a guide or a feature buffer.

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
  /// Number of frames of the side input before the first frame of the input. The number is above 0
  /// if a part of a shared job starts to read the side input at an earlier position than the input.
  std::int64_t leading_frames = 0;

  /// Returns the description of this side input for a job in segments. The description is valid
  /// while this object exists.
  io::AdditionalSource job_source() const { return {name, path, source.get()}; }
};

/// Opens a side input with `options`. In a shared job, the source starts at the position of the
/// part. Damage of the side input is an error.
/// @throws NoInput  the file cannot be opened
/// @throws BadData  the file is damaged
[[nodiscard]] SideInput open_side_input(const std::string& name, const std::string& path,
                                        const DenoiseOptions& given, io::SourceOptions options);

/// Index in the input of the first frame that the run pushes. If the index is empty, the run pushes
/// all frames of the input.
using FirstFrame = std::optional<std::int64_t>;

}  // namespace lull::tools
