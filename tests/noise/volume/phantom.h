#pragma once
// Volumes with known noise: an ellipsoid of tissue with slow waves, surrounded by air; 255 is
// white.

#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "core/frame_pool.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/estimate_volume.h"

namespace lull::test_support {

struct Phantom {
  int width = 64, height = 60, slices = 56;

  FrameFormat format() const {
    FrameFormat format{.width = width, .height = height};
    format.sample = SampleType::f32;
    format.bits = 32;
    format.white = 255;
    return format;
  }
  bool is_tissue(int x, int y, int z) const {
    const double dx = 2.3 * x / width - 1.15, dy = 2.3 * y / height - 1.15,
                 dz = 2.3 * z / slices - 1.15;
    return dx * dx + dy * dy + dz * dz < 1;
  }
  /// Returns the noise-free value; 0 in air.
  double clean(int x, int y, int z) const {
    if (!is_tissue(x, y, z)) return 0;
    return (x + y < 60 ? 120 : 170) + 8 * std::sin(0.1 * x) + 6 * std::sin(0.08 * (y + z));
  }
  /// Slices with the voxels value(x, y, z).
  template <class Value>
  std::vector<Frame> slices_of(const Value& value) const {
    FramePool pool(format());
    std::vector<Frame> all;
    for (int z = 0; z < slices; ++z) {
      Frame slice = pool.acquire();
      slice.slice = z;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          slice.plane<float>(0)(x, y) = static_cast<float>(value(x, y, z));
      all.push_back(std::move(slice));
    }
    return all;
  }
};

/// A noise generator with a fixed sequence.
class Draw {
 public:
  explicit Draw(unsigned seed = 1) : rng_(seed) {}
  double gaussian(double v, double sigma) { return v + sigma * normal_(rng_); }
  double rician(double v, double sigma) {
    const double real = gaussian(v, sigma);
    return std::hypot(real, sigma * normal_(rng_));
  }

 private:
  std::mt19937 rng_;
  std::normal_distribution<double> normal_{0, 1};
};

inline VolumeEstimate estimate(const std::vector<Frame>& slices,
                               std::optional<NoiseKind> kind = std::nullopt, float zero = 0) {
  CubeCollector collector(slices.front().format, static_cast<std::int64_t>(slices.size()));
  for (const Frame& slice : slices) collector.add(slice);
  return estimate_volume(collector, kind, zero);
}

}  // namespace lull::test_support
