#include "linear/guide.h"

#include <algorithm>

#include "linear/params.h"

namespace lull::linear {

void quantise(PlaneView<const float> guide, const GuideRange& range, PlaneView<std::uint8_t> to) {
  constexpr float levels = guide_levels;
  const float scale = levels / (range.high - range.low);
  for (int y = 0; y < guide.height; ++y) {
    const float* const from = guide.row(y);
    std::uint8_t* const row = to.row(y);
    for (int x = 0; x < guide.width; ++x) {
      const float level = std::min(std::max((from[x] - range.low) * scale, 0.0f), levels);
      row[x] = static_cast<std::uint8_t>(static_cast<int>(level + 0.5f));
    }
  }
}

}  // namespace lull::linear
