#pragma once
// Reads the b values (strengths of the diffusion weighting) of a series from its .bval file.

#include <string>
#include <vector>

namespace lull::tools {

/// Returns the b value of each volume of a NIfTI series in s/mm^2. The values are in a .bval file,
/// which FSL and dcm2niix write beside the series. Returns no values if the file does not exist, or
/// does not contain one number for each volume.
[[nodiscard]] std::vector<double> b_values_of(const std::string& series, std::size_t volumes);

/// Returns the indices of the volumes without diffusion weighting, in order. The b values of such
/// volumes are at most 50, because some scanners do not write 0.
[[nodiscard]] std::vector<int> unweighted_volumes(const std::vector<double>& b_values);

}  // namespace lull::tools
