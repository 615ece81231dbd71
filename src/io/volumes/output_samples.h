#pragma once
// The samples of a volume's output: their type, byte order and scale.

#include <string>

#include "io/media.h"
#include "io/volumes/nifti_header.h"
#include "io/volumes/volume_name.h"

namespace lull::io {

struct OutputSamples {
  StoredFormat format;
  bool scaled = false;  // the header states format.slope and format.inter
  std::string loss;     // what the samples lose because of the format; empty: nothing
};

/// What the choice of the type depends on.
struct SampleChoice {
  std::string path;  // the input, for messages
  VolumeFormat output = VolumeFormat::nifti;
  DataType type = DataType::same;
  bool has_scale = true;            // whether the header of the output can state a scale
  double minimum = 0, maximum = 0;  // of the values of the input
};

/// Returns the samples of an output. Without a scale in the header of the output, the samples are
/// the values: integers if the values are integers, floats otherwise.
/// @throws InvalidArgument  int16 cannot hold the values
[[nodiscard]] OutputSamples output_samples(const NiftiHeader& input, const SampleChoice& choice);

}  // namespace lull::io
