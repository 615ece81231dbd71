#include "noise/depth/find_depth_noise.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/frame_pool.h"
#include "noise/depth/vst_depth.h"
#include "noise/estimate/estimate.h"
#include "noise/holes.h"

namespace lull {
namespace {

constexpr int block = 8;        // side of the blocks of the noise estimator
constexpr int min_blocks = 64;  // minimum number of blocks of a map that contain no hole

/// Sets the samples of holes to NaN, because these samples come from interpolation and contain no
/// noise. The noise estimation ignores NaN. If too few blocks are free of holes, the function does
/// nothing.
void exclude_holes(const Frame& stabilised) {
  const Holes& holes = *stabilised.holes;
  int whole = 0;
  for (int y = 0; y + block <= holes.height(); y += block)
    for (int x = 0; x + block <= holes.width(); x += block)
      whole += holes.any_in(x, y, block) ? 0 : 1;
  if (whole < min_blocks) return;
  const PlaneView<float> samples = stabilised.plane<float>(0);
  for (int y = 0; y < samples.height; ++y)
    for (int x = 0; x < samples.width; ++x)
      if (holes.at(x, y)) samples(x, y) = std::numeric_limits<float>::quiet_NaN();
}

/// Estimates the noise of depth maps after `scale` has converted them to stabilised samples on the
/// 0..255 scale. The function ignores maps in which all samples are holes.
PlaneNoise find_noise(const DepthScale& scale, std::span<const Frame> maps) {
  std::vector<Excerpt> excerpts;
  for (const Frame& map : maps) {
    Frame stabilised = FramePool(stabilised_depth_format(map.format)).acquire();
    stabilised.copy_info(map);
    stabilise_depth(scale, map, stabilised);
    if (stabilised.holes &&
        stabilised.holes->count() == std::int64_t{map.format.width} * map.format.height)
      continue;
    if (stabilised.holes) exclude_holes(stabilised);
    excerpts.push_back({std::move(stabilised)});
  }
  if (excerpts.empty()) return {};
  const NoiseEstimate estimate = estimate_noise(excerpts);
  const PlaneNoise& plane = estimate.noise.plane(0);
  return {plane.level_in_samples(), plane.correlation, nullptr};
}

}  // namespace

DepthSetup prepare_depth(const DepthStatistics& statistics, std::span<const Frame> maps,
                         std::optional<double> sigma, std::optional<double> reference) {
  DepthSetup known{.scale = statistics.scale(0, reference), .noise = {}};
  if (!sigma) {
    known.noise = find_noise(known.scale, maps);
    sigma = static_cast<double>(known.noise.sigma) * known.scale.span / 255;
  }
  known.scale = statistics.scale(*sigma, reference);
  known.noise.sigma = static_cast<float>(known.scale.level());
  return known;
}

}  // namespace lull
