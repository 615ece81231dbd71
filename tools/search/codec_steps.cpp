#include "tools/search/codec_steps.h"

#include <array>

#include "io/quantiser.h"
#include "noise/estimate/codec_error.h"

namespace lull::tools {

void add_codec_error(const std::vector<Excerpt>& excerpts, NoiseEstimate& estimate) {
  std::array<float, 3> sums{};
  float known = 0;
  Layout layout = Layout::gray;
  for (const Excerpt& excerpt : excerpts)
    for (const Frame& frame : excerpt) {
      const std::array<float, 3> steps = io::quantiser_steps(frame);
      if (!(steps[0] > 0)) continue;
      for (int i = 0; i < 3; ++i) sums[i] += steps[i];
      layout = frame.format.layout;
      ++known;
    }
  if (known == 0) return;
  for (float& sum : sums) sum /= known;
  lull::add_codec_error(sums, layout, estimate);
}

}  // namespace lull::tools
