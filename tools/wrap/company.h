#pragma once
// All that comes beside the frames of a run: a guide, or features.

#include <memory>
#include <optional>
#include <vector>

#include "core/denoiser.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/wrap/beside.h"
#include "tools/wrap/features.h"

namespace lull::tools {

class Company {
 public:
  /// Nothing.
  Company() = default;
  /// What `given` names, opened as `input` was, with `options`; `input` outlives it.
  /// @throws as open_guide() and open_features()
  Company(const DenoiseOptions& given, const io::SourceOptions& options,
          const io::MediaSource& input);

  /// Whether other files are read, whose frames are counted from the first one on.
  bool has_files() const { return !in_job().empty(); }
  /// What a job in segments has to know of it, before give().
  [[nodiscard]] std::vector<io::AdditionalSource> in_job() const;
  /// Gives it to each frame that goes into `denoiser`. Once.
  /// @throws as guided() and featured()
  [[nodiscard]] std::unique_ptr<Denoiser> give(std::unique_ptr<Denoiser> denoiser,
                                               PartFrom part_from = {});

 private:
  const io::MediaSource* input_ = nullptr;
  std::optional<Beside> guide_;
  std::optional<FeatureSources> features_;
};

}  // namespace lull::tools
