#pragma once
// What lull writes of a BIDS dataset: a derivative of it.

#include <string>

#include "tools/bids/dataset.h"

namespace lull::tools {

/// How an image was denoised.
struct BidsProcessing {
  std::string method, profile;  // "BM4D", "balanced"
  double sigma = 0;             // standard deviation of the noise, in the image's units
  std::string noise;            // "Rician" or "Gaussian"
  bool stated = false;          // by a user
  double strength = 1;
};

/// The JSON file beside the result: the metadata of its source, and what was done to it.
[[nodiscard]] Json sidecar_of(Json metadata, const BidsImage& image,
                              const BidsProcessing& processing);

/// The folder of the derivative, with its description and README, which stay if lull wrote them.
/// @throws CannotCreate  the folder holds something else, a link leads out of it, or it cannot be
/// made
void create_derivative(const BidsDataset& raw, const std::string& folder);

}  // namespace lull::tools
