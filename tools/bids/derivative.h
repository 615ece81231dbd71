#pragma once
// Writes the BIDS derivative: a dataset with the denoised images of another dataset.

#include <string>

#include "tools/bids/dataset.h"

namespace lull::tools {

/// Describes how lull has denoised an image, for the JSON file of the result.
struct BidsProcessing {
  std::string method, profile;  // "BM4D", "BM3D" or "NLM"; for example "balanced"
  double sigma = 0;             // standard deviation of the noise, in the image's units
  std::string noise;            // "Rician" or "Gaussian"
  bool stated = false;          // true: the user gave sigma; false: it was estimated
  double strength = 1;
  int components = 0;  // number of components with signal of a series; 0: not denoised as a series
  std::string phase;   // phase image that was used, relative to the dataset's folder; empty: none
};

/// Returns the JSON text of a result, from the metadata of the source image and the description of
/// the denoising.
[[nodiscard]] Json sidecar_of(Json metadata, const BidsImage& image,
                              const BidsProcessing& processing);

/// Creates the folder of the derivative with its description and README. If an earlier run of lull
/// has created these files, the function does not change them.
/// @throws InvalidArgument  the folder is the folder of the source dataset
/// @throws CannotCreate  the folder contains another dataset or a link to another folder, or lull
///     cannot create it
void create_derivative(const BidsDataset& raw, const std::string& folder);

}  // namespace lull::tools
