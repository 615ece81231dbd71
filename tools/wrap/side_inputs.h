#pragma once
// Opens all side inputs of a run: a guide and feature buffers.

#include <memory>
#include <optional>
#include <vector>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/features.h"
#include "tools/wrap/side_input.h"

namespace lull::tools {

class SideInputs {
 public:
  /// Makes an object for a run that has no guide and no feature buffers.
  SideInputs() = default;
  /// Opens the side inputs that the command line (`given`) names, with the source options of
  /// `input`. `input` must outlive this object.
  /// @throws any error of open_guide() and open_features()
  SideInputs(const DenoiseOptions& given, const io::SourceOptions& options,
             const io::MediaSource& input);

  /// Returns whether the run has side inputs from files. The first frame of such a file corresponds
  /// to the first frame of the input.
  bool has_files() const { return !job_sources().empty(); }
  /// Describes the guide and the feature buffers as additional inputs of a job in segments. The
  /// caller must call this function before attach_to().
  [[nodiscard]] std::vector<io::AdditionalSource> job_sources() const;
  /// Returns a denoiser that sets Frame::guide and Frame::features of every frame and passes the
  /// frame to `denoiser`. Only one call is allowed.
  /// @throws any error of guided() and featured()
  [[nodiscard]] std::unique_ptr<Denoiser> attach_to(std::unique_ptr<Denoiser> denoiser,
                                                    FirstFrame first_frame = {});

 private:
  const io::MediaSource* input_ = nullptr;
  std::optional<SideInput> guide_;
  std::optional<FeatureSources> features_;
};

}  // namespace lull::tools
