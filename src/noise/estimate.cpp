#include "noise/estimate.h"

#include "core/error.h"
#include "noise/estimate_clip.h"
#include "noise/estimate_still.h"

namespace lull {
namespace {

void check(std::span<const Look> looks) {
  const Frame* first = nullptr;
  for (const Look& look : looks)
    for (const Frame& frame : look) {
      if (!first) first = &frame;
      if (frame.format != first->format)
        throw InvalidArgument(
            "frames of different formats (noise is estimated from equal ones); give those of one");
      if (frame.on_device || !frame.planes[0].data)
        throw InvalidArgument(
            "a frame without samples in the host's memory (noise is estimated there); copy it");
    }
  if (!first) throw InvalidArgument("no frame (noise is estimated from some); give one at least");
}

}  // namespace

NoiseEstimate estimate_noise(std::span<const Look> looks) {
  check(looks);
  if (const ClipMeasurement clip = measure_clip(looks); clip.found) {
    NoiseEstimate estimate = estimate_of(clip, looks.front().front().format.layout);
    estimate.look_level = clip.look_level;
    return estimate;
  }
  // One picture of each look, as others of a look that says nothing over time repeat it.
  std::vector<Frame> pictures;
  for (const Look& look : looks)
    if (!look.empty()) pictures.push_back(look.front());
  return estimate_stills(pictures);
}

}  // namespace lull
