#pragma once
// Writes the BIDS derivative: a dataset with the denoised images of another dataset.

#include <string>

#include "tools/bids/dataset.h"

namespace lull::tools {

/// How an image was denoised.
struct BidsProcessing {
  std::string method, profile;  // for example "BM4D", "balanced"
  double sigma = 0;             // standard deviation of the noise, in the image's units
  std::string noise;            // "Rician" or "Gaussian"
  bool stated = false;          // given by the user, not estimated
  double strength = 1;
};

/// The content of the JSON file of a result: the metadata of its source and how it was denoised.
[[nodiscard]] Json sidecar_of(Json metadata, const BidsImage& image,
                              const BidsProcessing& processing);

/// Creates the folder of the derivative with its description and README. Existing ones are kept if
/// lull wrote them.
/// @throws CannotCreate  the folder holds another dataset, a link leads out of the folder, or the
///         folder cannot be created
void create_derivative(const BidsDataset& raw, const std::string& folder);

}  // namespace lull::tools
