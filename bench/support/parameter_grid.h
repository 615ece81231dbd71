#pragma once
// What a program of this folder is asked to measure: the Cartesian product of lists of parameters.

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
  std::vector<int> temporal{0};  // the profiles' for so many frames on either side
  /// Noise to measure with: white noise averaged over squares of so many samples a side, 1 being
  /// white; 0: what a picture comes with, which is taken for white.
  std::vector<int> squares{0};
  /// For each parameter that overrides the profiles': the values to try. "A:B" gives the first
  /// phase A and the second B, "A" both.
  std::map<std::string, std::vector<std::string>> axes;
};

/// One combination of parameters, ready to run.
struct Configuration {
  float sigma = 0;  // on the 0..255 scale, the same for each plane
  std::string profile;
  std::string setting;  // the profile and what was changed of it: "fast step=8 window=9:11"
  bm3d::Params params;
  int squares = 0;  // see ParameterGrid
};

/// An option for each list of `grid`; lists take commas.
void add_grid_options(CLI::App& app, ParameterGrid& grid);
/// That for ParameterGrid::squares, for programs that add the noise themselves.
void add_squares_option(CLI::App& app, ParameterGrid& grid);

/// Every combination. @throws InvalidArgument
[[nodiscard]] std::vector<Configuration> configurations(const ParameterGrid& grid);

/// "cpu", "reference", "cuda" or "cuda:N". @throws InvalidArgument
[[nodiscard]] bm3d::Backend backend_of(const std::string& device, int streams, int threads);

}  // namespace lull::bench
