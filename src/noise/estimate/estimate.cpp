#include "noise/estimate/estimate.h"

#include "core/error.h"
#include "noise/estimate/clipped_noise.h"
#include "noise/estimate/estimate_clip.h"
#include "noise/estimate/estimate_still.h"

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

NoiseEstimate estimate_noise(std::span<const Look> given) {
  check(given);
  std::vector<Look> looks(given.begin(), given.end());
  std::erase_if(looks, [](const Look& look) { return look.empty(); });
  if (const ClipMeasurement clip = measure_clip(looks); clip.found) {
    const Layout layout = looks.front().front().format.layout;
    NoiseEstimate estimate = estimate_of(clip, layout);
    if (looks.size() == given.size()) estimate.look_level = clip.look_level;
    estimate.by_luma = clip.by_luma;
    // (Of noise weaker than that the curve is one of texture.)
    constexpr float least_level = 1.5f;
    const bool curved = clip.level[0] > least_level && layout != Layout::rgb;
    consider_ends(looks, curved ? clip.curve : nullptr, estimate);
    return estimate;
  }
  // One picture of each look, as others of a look that says nothing over time repeat it.
  std::vector<Frame> pictures;
  for (const Look& look : looks) pictures.push_back(look.front());
  NoiseEstimate estimate = estimate_stills(pictures);
  // Camera noise is told for more than it is, for what is clipped too.
  if (estimate.noise.is_white()) consider_ends(looks, nullptr, estimate);
  return estimate;
}

}  // namespace lull
