#include "tools/wrap/side_inputs.h"

#include <utility>

#include "tools/wrap/guides.h"

namespace lull::tools {

SideInputs::SideInputs(const DenoiseOptions& given, const io::SourceOptions& options,
                       const io::MediaSource& input)
    : input_(&input), guide_(open_guide(given, options, input)) {
  if (uses_features(given.method)) features_ = open_features(given, options, input);
}

std::vector<io::AdditionalSource> SideInputs::job_sources() const {
  std::vector<io::AdditionalSource> all;
  if (guide_) all.push_back(guide_->job_source());
  if (features_)
    for (const FeatureSources::File& one : features_->files) all.push_back(one.file.job_source());
  return all;
}

std::unique_ptr<Denoiser> SideInputs::attach_to(std::unique_ptr<Denoiser> denoiser,
                                                FirstFrame first_frame) {
  if (guide_) denoiser = guided(std::move(denoiser), *std::move(guide_), *input_, first_frame);
  if (features_) denoiser = featured(std::move(denoiser), *std::move(features_), first_frame);
  return denoiser;
}

}  // namespace lull::tools
