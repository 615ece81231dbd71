#include "noise/depth/find_depth_noise.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/frame_pool.h"
#include "noise/depth/even_depth.h"
#include "noise/estimate/estimate.h"
#include "noise/holes.h"

namespace lull {
namespace {

constexpr int block = 8;           // what estimates look at
constexpr int enough_blocks = 64;  // of a map, to do without the others

/// What holes are filled with has no noise: blocks that reach into one are left out, unless hardly
/// any other is there. (Estimates pass over what is not a number.)
void leave_out_holes(const Frame& even) {
  const Holes& holes = *even.holes;
  int whole = 0;
  for (int y = 0; y + block <= holes.height(); y += block)
    for (int x = 0; x + block <= holes.width(); x += block)
      whole += holes.any_in(x, y, block) ? 0 : 1;
  if (whole < enough_blocks) return;
  const PlaneView<float> samples = even.plane<float>(0);
  for (int y = 0; y < samples.height; ++y)
    for (int x = 0; x < samples.width; ++x)
      if (holes.at(x, y)) samples(x, y) = std::numeric_limits<float>::quiet_NaN();
}

/// On the 0..255 scale of `scale`. Maps that are nothing but holes say nothing.
PlaneNoise find_noise(const DepthScale& scale, std::span<const Frame> maps) {
  std::vector<Look> looks;
  for (const Frame& map : maps) {
    Frame even = FramePool(even_depth_format(map.format)).acquire();
    even.take_identity(map);
    make_even_depth(scale, map, even);
    if (even.holes && even.holes->count() == std::int64_t{map.format.width} * map.format.height)
      continue;
    if (even.holes) leave_out_holes(even);
    looks.push_back({std::move(even)});
  }
  if (looks.empty()) return {};
  const NoiseEstimate estimate = estimate_noise(looks);
  const PlaneNoise& plane = estimate.noise.plane(0);
  return {plane.level_in_samples(), plane.correlation, nullptr};
}

}  // namespace

KnownDepth known_depth(const DepthLook& look, std::span<const Frame> maps,
                       std::optional<double> sigma, std::optional<double> reference) {
  KnownDepth known{.scale = look.scale(0, reference), .noise = {}};
  if (!sigma) {
    known.noise = find_noise(known.scale, maps);
    sigma = static_cast<double>(known.noise.sigma) * known.scale.span / 255;
  }
  known.scale = look.scale(*sigma, reference);
  known.noise.sigma = static_cast<float>(known.scale.level());
  return known;
}

}  // namespace lull
