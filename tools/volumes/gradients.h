#pragma once
// Reads the b values of a series, which are the strengths of the diffusion weighting, from the
// .bval file of the series.

#include <string>
#include <vector>

namespace lull::tools {

/// Returns the b value of each volume of a NIfTI series in s/mm^2. FSL and dcm2niix write the b
/// values to a file with the name of the series and the extension .bval. Returns nothing if there
/// is no such file, or if the file does not contain one number per volume.
[[nodiscard]] std::vector<double> b_values_of(const std::string& series, std::size_t volumes);

/// Returns the indices of the volumes without diffusion weighting, in order. Scanners state b
/// values of up to 50 for such volumes.
[[nodiscard]] std::vector<int> unweighted_volumes(const std::vector<double>& b_values);

}  // namespace lull::tools
