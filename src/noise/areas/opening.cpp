#include "noise/areas/opening.h"

#include <algorithm>
#include <utility>

namespace lull {
namespace {

/// One pass of a morphological opening along a row. If `all` is true, the pass is an erosion over
/// each sample and the next `side - 1` samples. If `all` is false, the pass is a dilation over each
/// sample and the previous `side - 1` samples.
void slide_row(std::uint8_t* row, int count, std::ptrdiff_t stride, int side, bool all) {
  // The result of an erosion depends on the next samples, so the loop begins at the end of the row.
  // The result of a dilation depends on the previous samples, so the loop begins at the start of
  // the row.
  int since = side;  // dilation: number of samples since the last marked sample
  for (int i = 0; i < count; ++i) {
    std::uint8_t& place = row[(all ? count - 1 - i : i) * stride];
    if (all) {
      // In an erosion, `since` is the number of consecutive marked samples.
      since = i == 0 ? 0 : since;
      since = place != 0 ? since + 1 : 0;
      place = since >= side ? 1 : 0;
    } else {
      since = place != 0 ? 0 : since + 1;
      place = since < side ? 1 : 0;
    }
  }
}

void slide(SampleSet& set, int side, bool all) {
  for (int y = 0; y < set.height; ++y)
    slide_row(&set.marked[static_cast<std::size_t>(y) * set.width], set.width, 1, side, all);
  for (int x = 0; x < set.width; ++x) slide_row(&set.marked[x], set.height, set.width, side, all);
}

}  // namespace

SampleSet opened(const SampleSet& set, int side) {
  SampleSet result = set;
  if (set.marked.empty()) return result;
  slide(result, side, true);
  slide(result, side, false);
  return result;
}

}  // namespace lull
