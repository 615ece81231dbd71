#include "tools/pages/panels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"

namespace lull::tools {
namespace {

std::uint8_t panel_byte(int v) {
  return static_cast<std::uint8_t>((std::clamp(v, 0, 65535) * 255 + 32767) / 65535);
}

}  // namespace

Frame panels(const Frame& before, const Frame& after, int factor) {
  constexpr int gap = 4;  // number of black columns between panels
  const int width = before.format.width, height = before.format.height;
  FramePool pool({.width = 3 * width + 2 * gap, .height = height, .layout = Layout::rgb});
  Frame all = pool.acquire();
  for (int plane = 0; plane < 3; ++plane) {
    const PlaneView<const std::uint16_t> noisy = before.plane<std::uint16_t>(plane);
    const PlaneView<const std::uint16_t> clean = after.plane<std::uint16_t>(plane);
    const PlaneView<std::uint8_t> out = all.plane<std::uint8_t>(plane);
    for (int y = 0; y < height; ++y) {
      std::fill_n(out.row(y), all.format.width, std::uint8_t{0});
      for (int x = 0; x < width; ++x) {
        out(x, y) = panel_byte(noisy(x, y));
        out(width + gap + x, y) = panel_byte(clean(x, y));
        out(2 * (width + gap) + x, y) = panel_byte(32896 + factor * (noisy(x, y) - clean(x, y)));
      }
    }
  }
  return all;
}

float rms_difference(const Frame& before, const Frame& after) {
  double sum = 0;
  for (int plane = 0; plane < 3; ++plane) {
    const PlaneView<const std::uint16_t> a = before.plane<std::uint16_t>(plane);
    const PlaneView<const std::uint16_t> b = after.plane<std::uint16_t>(plane);
    for (int y = 0; y < a.height; ++y)
      for (int x = 0; x < a.width; ++x) {
        const double difference = a(x, y) - b(x, y);
        sum += difference * difference;
      }
  }
  const double samples = 3.0 * before.format.width * before.format.height;
  return static_cast<float>(std::sqrt(sum / samples) / 257);
}

DisplayedDepths displayed_depths(const Frame& map, const DepthSamples& samples) {
  DepthStatistics statistics(samples);
  statistics.add(map);
  if (statistics.empty()) return {};
  constexpr double tail_share = 1e-3;
  return {statistics.quantile(tail_share), statistics.quantile(1 - tail_share)};
}

Frame depth_picture(const Frame& map, const DepthSamples& samples, const DisplayedDepths& range) {
  constexpr double darkest = 32 * 257;  // brighter than holes, which are black
  const int width = map.format.width, height = map.format.height;
  FramePool pool({.width = width,
                  .height = height,
                  .layout = Layout::rgb,
                  .sample = SampleType::u16,
                  .bits = 16});
  Frame picture = pool.acquire();
  Plane<float> values(width, height);
  load_plane(map, 0, values.view());
  const double unit = map.format.full_scale() / 255, span = range.high - range.low;
  const std::vector<bool> holes = samples.holes_of(map);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::uint16_t grey = 0;
      if (!holes[static_cast<std::size_t>(y) * width + x]) {
        const double depth = samples.depth(static_cast<double>(values.view()(x, y)) * unit);
        const double share = span > 0 ? std::clamp((depth - range.low) / span, 0.0, 1.0) : 0.5;
        grey = static_cast<std::uint16_t>(std::lround(darkest + share * (65535 - darkest)));
      }
      for (int plane = 0; plane < 3; ++plane) picture.plane<std::uint16_t>(plane)(x, y) = grey;
    }
  return picture;
}

}  // namespace lull::tools
