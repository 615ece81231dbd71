#include "tools/wrap/company.h"

#include <utility>

#include "tools/wrap/guides.h"

namespace lull::tools {

Company::Company(const DenoiseOptions& given, const io::SourceOptions& options,
                 const io::MediaSource& input)
    : input_(&input), guide_(open_guide(given, options, input)) {
  if (uses_features(given)) features_ = open_features(given, options, input);
}

std::vector<io::AdditionalSource> Company::in_job() const {
  std::vector<io::AdditionalSource> all;
  if (guide_) all.push_back(guide_->in_job());
  if (features_)
    for (const FeatureSources::File& one : features_->files) all.push_back(one.file.in_job());
  return all;
}

std::unique_ptr<Denoiser> Company::give(std::unique_ptr<Denoiser> denoiser, PartFrom part_from) {
  if (guide_) denoiser = guided(std::move(denoiser), *std::move(guide_), *input_, part_from);
  if (features_) denoiser = featured(std::move(denoiser), *std::move(features_), part_from);
  return denoiser;
}

}  // namespace lull::tools
