#pragma once
// An area of equal samples, and statistics of the samples around it.

#include <cstdint>
#include <limits>
#include <vector>

#include "noise/areas/constant_areas.h"

namespace lull {

/// Statistics of the samples around an area.
struct AreaBorder {
  std::int64_t samples = 0, similar = 0, single_steps = 0, above = 0, below = 0;
  double step = std::numeric_limits<double>::infinity();  // smallest difference from the area

  double share(std::int64_t count) const {
    return samples > 0 ? static_cast<double>(count) / static_cast<double>(samples) : 0;
  }
  bool is_one_sided() const { return above == 0 || below == 0; }
};

/// A connected area of equal samples.
struct EqualArea {
  std::vector<SampleRun> runs;
  std::int64_t samples = 0;
  int left = 0, right = 0, top = 0, bottom = 0;  // bounds; right and bottom are exclusive
};

}  // namespace lull
