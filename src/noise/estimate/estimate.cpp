#include "noise/estimate/estimate.h"

#include "core/error.h"
#include "core/validate_format.h"
#include "noise/estimate/clipped_noise.h"
#include "noise/estimate/estimate_clip.h"
#include "noise/estimate/estimate_still.h"
#include "noise/estimate/narrow_samples.h"

namespace lull {
namespace {

void check(std::span<const Excerpt> excerpts) {
  const Frame* first = nullptr;
  for (const Excerpt& excerpt : excerpts)
    for (const Frame& frame : excerpt) {
      if (!first) first = &frame;
      if (frame.format != first->format)
        throw InvalidArgument(
            "frames of different formats (noise is estimated from one format); give frames of one "
            "format");
      if (frame.on_device || !frame.planes[0].data)
        throw InvalidArgument(
            "a frame whose samples are not in host memory (noise is estimated there); copy it to "
            "the host");
    }
  if (!first)
    throw InvalidArgument("no frames (noise is estimated from frames); give at least one");
  validate(first->format);
}

}  // namespace

NoiseEstimate estimate_noise(std::span<const Excerpt> given) {
  check(given);
  if (const int bits = used_bits(given); bits > 0)
    return at_16_bits(estimate_noise(with_bits(given, bits)), bits);
  std::vector<Excerpt> excerpts(given.begin(), given.end());
  std::erase_if(excerpts, [](const Excerpt& excerpt) { return excerpt.empty(); });
  if (const ClipMeasurement clip = measure_clip(excerpts); clip.found) {
    const Layout layout = excerpts.front().front().format.layout;
    NoiseEstimate estimate = estimate_of(clip, layout);
    if (excerpts.size() == given.size()) estimate.excerpt_level = clip.excerpt_level;
    estimate.by_luma = clip.by_luma;
    // The estimate contains the measured noise curve only if the noise level of the first plane, on
    // the 0..255 scale, is above `min_level`. At lower levels, the measured curve shows texture.
    constexpr float min_level = 1.5f;
    const bool curved = clip.level[0] > min_level && layout != Layout::rgb;
    add_clip_limits(excerpts, curved ? clip.curve : nullptr, estimate);
    return estimate;
  }
  // The function examines only the first frame of each excerpt, because the later frames usually
  // repeat the first frame.
  std::vector<Frame> pictures;
  for (const Excerpt& excerpt : excerpts) pictures.push_back(excerpt.front());
  NoiseEstimate estimate = estimate_stills(pictures);
  // Clipping lowers the measured noise level of still pictures. The function corrects this error
  // only for white noise, by clipping limits. For camera noise, filters already assume a level
  // above the measured level (camera_noise.h).
  if (estimate.noise.is_white()) add_clip_limits(excerpts, nullptr, estimate);
  return estimate;
}

}  // namespace lull
