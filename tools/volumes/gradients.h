#pragma once
// Reads the b values (strengths of the diffusion weighting) of a series from its .bval file.

#include <string>
#include <vector>

namespace lull::tools {

/// Returns the b values of a NIfTI series in s/mm^2, one for each volume. The values come from the
/// .bval file beside the series. If this file is missing or invalid, the function returns an empty
/// vector.
[[nodiscard]] std::vector<double> b_values_of(const std::string& series, std::size_t volumes);

/// Returns the indices of the volumes without diffusion weighting, in order. Their b values are at
/// most 50, because some scanners do not write 0.
[[nodiscard]] std::vector<int> unweighted_volumes(const std::vector<double>& b_values);

}  // namespace lull::tools
