#pragma once
// Chooses the type, the byte order and the scale of the samples in an output volume.

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

/// Properties of input and output that determine the sample type of the output.
struct SampleChoice {
  std::string path;  // path of the input, for messages
  VolumeFormat output = VolumeFormat::nifti;
  DataType type = DataType::same;
  bool has_scale = true;            // whether the header of the output can state a scale
  double minimum = 0, maximum = 0;  // range of the input's values
};

/// Returns the sample format of an output. Formats without a scale store integers if all values are
/// integers, and floats otherwise.
/// @throws InvalidArgument  int16 cannot store the values
[[nodiscard]] OutputSamples output_samples(const NiftiHeader& input, const SampleChoice& choice);

}  // namespace lull::io
