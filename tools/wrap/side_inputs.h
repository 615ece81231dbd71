#pragma once
// All that comes beside the frames of a run: a guide, or features.

#include <memory>
#include <optional>
#include <vector>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/side_input.h"
#include "tools/wrap/features.h"

namespace lull::tools {

class SideInputs {
 public:
  /// Nothing.
  SideInputs() = default;
  /// What `given` names, opened as `input` was, with `options`; `input` outlives it.
  /// @throws as open_guide() and open_features()
  SideInputs(const DenoiseOptions& given, const io::SourceOptions& options,
          const io::MediaSource& input);

  /// Whether other files are read, whose frames are counted from the first one on.
  bool has_files() const { return !job_sources().empty(); }
  /// What a job in segments has to know of it, before give().
  [[nodiscard]] std::vector<io::AdditionalSource> job_sources() const;
  /// Gives it to each frame that goes into `denoiser`. Once.
  /// @throws as guided() and featured()
  [[nodiscard]] std::unique_ptr<Denoiser> attach_to(std::unique_ptr<Denoiser> denoiser,
                                               FirstFrame first_frame = {});

 private:
  const io::MediaSource* input_ = nullptr;
  std::optional<SideInput> guide_;
  std::optional<FeatureSources> features_;
};

}  // namespace lull::tools
