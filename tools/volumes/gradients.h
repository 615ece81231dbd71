#pragma once
// Reads the b values (strengths of the diffusion weighting) of a series from its .bval file.

#include <string>
#include <vector>

namespace lull::tools {

/// Returns the b value of each volume of a NIfTI series in s/mm^2, from the file with the name of
/// the series and the extension .bval, as FSL and dcm2niix write it. Returns nothing if there is no
/// such file, or if it does not contain one number per volume.
[[nodiscard]] std::vector<double> b_values_of(const std::string& series, std::size_t volumes);

/// Returns the indices of the volumes without diffusion weighting, in order: those with b values of
/// up to 50, which scanners state for such volumes.
[[nodiscard]] std::vector<int> unweighted_volumes(const std::vector<double>& b_values);

}  // namespace lull::tools
