#pragma once
// Writes the file of --residuals: the residual of a volume or series.

#include <memory>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Writes the file of --residuals. Without this option, the object does nothing.
class ResidualFile {
 public:
  /// @throws InvalidArgument  the input is not a volume
  /// @throws CannotCreate
  ResidualFile(const DenoiseOptions& options, io::MediaSource& source);

  /// Returns a denoiser that passes slices to `denoiser` and writes the residual (input minus
  /// result) of each slice, in the units of the input.
  [[nodiscard]] std::unique_ptr<Denoiser> observe(std::unique_ptr<Denoiser> denoiser);
  /// Completes the file after the last slice.
  /// @throws IoError, CannotCreate
  void finish();

 private:
  void write(const Frame& noisy, const Frame& result);

  const io::MediaSource& source_;
  std::unique_ptr<io::MediaSink> sink_;  // null: no file is requested
};

}  // namespace lull::tools
