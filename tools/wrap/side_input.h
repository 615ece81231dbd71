#pragma once
// Opens side inputs: files, such as a guide or feature buffers, that are read frame by frame in
// parallel with the input.

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
  /// Number of frames of the side input before the first frame of the input. It is above 0 if a
  /// part of a shared job reads the side input from an earlier position than the input.
  std::int64_t leading_frames = 0;

  /// Returns the description of this side input for a job in segments, valid as long as this object
  /// exists.
  io::AdditionalSource job_source() const { return {name, path, source.get()}; }
};

/// Opens a side input with `options`, like the input. In a shared job, the source starts at the
/// position of the part. Damage of the side input is an error.
/// @throws NoInput  the file cannot be opened
/// @throws BadData  the file is damaged
[[nodiscard]] SideInput open_side_input(const std::string& name, const std::string& path,
                                        const DenoiseOptions& given, io::SourceOptions options);

/// Index in the input of the first frame that is pushed; empty: all frames of the input are pushed.
using FirstFrame = std::optional<std::int64_t>;

}  // namespace lull::tools
