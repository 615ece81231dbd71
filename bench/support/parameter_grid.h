#pragma once
// The settings that a benchmark program measures: the Cartesian product of lists of parameters.

#include <map>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"

namespace CLI {
class App;
}

namespace lull::bench {

struct ParameterGrid {
  std::vector<float> sigmas{25};
  std::vector<std::string> profiles{"balanced"};
  std::vector<int> temporal{0};  // temporal radii, with the profile's parameters for them
  /// Sides of squares in samples. The added noise is white noise averaged over such squares; 1:
  /// white noise; 0: no noise is added, and the noise of the picture itself is assumed to be white.
  std::vector<int> squares{0};
  /// Values for each parameter that overrides the profile. "A:B" means A for the first phase and B
  /// for the second; "A" is for both.
  std::map<std::string, std::vector<std::string>> axes;
};

/// One combination of parameters.
struct Configuration {
  float sigma = 0;  // on the 0..255 scale, equal for all planes
  std::string profile;
  std::string setting;  // profile and changed parameters: "fast step=8 window=9:11"
  bm3d::Params params;
  int squares = 0;  // see ParameterGrid
};

/// Adds an option for each list of `grid`; values are separated by commas.
void add_grid_options(CLI::App& app, ParameterGrid& grid);
/// Adds the option for ParameterGrid::squares, for programs that add the noise themselves.
void add_squares_option(CLI::App& app, ParameterGrid& grid);

/// Returns every combination of the lists.
/// @throws InvalidArgument
[[nodiscard]] std::vector<Configuration> configurations(const ParameterGrid& grid);

/// Parses "cpu", "reference", "cuda" or "cuda:N".
/// @throws InvalidArgument
[[nodiscard]] bm3d::Backend backend_of(const std::string& device, int streams, int threads);

}  // namespace lull::bench
