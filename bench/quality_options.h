#pragma once
// What lull_quality is asked to measure: the Cartesian product of lists of parameters.

#include <map>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"

namespace lull::bench {

/// One combination of parameters, ready to run.
struct Configuration {
  float sigma = 0;  // on the 0..255 scale, the same for each plane
  std::string profile;
  bm3d::Params params;
};

struct QualityOptions {
  std::vector<std::string> pictures;
  std::vector<float> sigmas{25};
  std::vector<std::string> profiles{"balanced"};
  /// For each parameter that overrides the profiles': the values to try. "A:B" gives the first
  /// phase A and the second B, "A" both.
  std::map<std::string, std::vector<std::string>> grid;
  std::string device = "cpu";  // cpu, reference, cuda, cuda:N
  int streams = 2, threads = 0, frames = 1;
  unsigned seed = 1;
  int crop_width = 0, crop_height = 0;  // of the middle; 0: the whole picture
  bool colour = false;                  // all planes as they are, not luma alone
  bool basic = true;                    // also the PSNR of the first phase
  bool each = false;                    // a line for each picture, not for the mean alone
  std::string csv;
};

/// Reads the command line; prints help or the error and exits where that is what is to be done.
[[nodiscard]] QualityOptions parse_quality_options(int argc, char** argv);

/// Every combination of sigmas, profiles and grid. @throws InvalidArgument
[[nodiscard]] std::vector<Configuration> configurations(const QualityOptions& options);

/// @throws InvalidArgument
[[nodiscard]] bm3d::Backend backend_of(const QualityOptions& options);

}  // namespace lull::bench
