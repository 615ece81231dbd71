#pragma once
// Series with known content: samples in memory, and a phantom of a few components.

#include <tbb/task_arena.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "series/samples/samples.h"
#include "series/samples/series_noise.h"

namespace lull::series::test {

/// A series that owns its samples.
struct TestSeries {
  Shape shape;
  std::vector<float> values;

  explicit TestSeries(const Shape& of) : shape(of), values(of.samples()) {}
  Samples samples() { return {shape, values.data()}; }
  float& at(int volume, std::size_t voxel) { return values[volume * shape.voxels() + voxel]; }
  /// Sets every sample to value(volume, x, y, z).
  template <class Value>
  void fill(const Value& value) {
    std::size_t i = 0;
    for (int v = 0; v < shape.volumes; ++v)
      for (int z = 0; z < shape.slices; ++z)
        for (int y = 0; y < shape.height; ++y)
          for (int x = 0; x < shape.width; ++x) values[i++] = static_cast<float>(value(v, x, y, z));
  }
};

/// Weight of component `k` (0..2) in a volume.
inline double weight(int k, int volume) {
  return k == 0 ? 1 + 0.3 * (volume % 3) : k == 1 ? std::cos(0.7 * volume) : std::sin(1.3 * volume);
}

/// A smooth signal with three components over the volumes.
inline double three_components(int volume, int x, int y, int z) {
  return 120 + 30 * weight(0, volume) * std::sin(0.15 * x + 0.1 * z) +
         20 * weight(1, volume) * std::cos(0.2 * y) +
         15 * weight(2, volume) * std::sin(0.11 * (x + y) - 0.2 * z);
}

/// Noise with a fixed sequence.
class Normal {
 public:
  double operator()() { return normal_(rng_); }

 private:
  std::mt19937 rng_{7};
  std::normal_distribution<double> normal_{0, 1};
};

/// Gaussian noise of one level in all volumes.
inline SeriesNoise gaussian(int volumes, float level) {
  SeriesNoise noise;
  noise.levels.assign(volumes, level);
  return noise;
}

inline std::vector<int> all_volumes(int count) {
  std::vector<int> volumes(count);
  std::iota(volumes.begin(), volumes.end(), 0);
  return volumes;
}
inline std::vector<std::uint32_t> all_voxels(const Shape& shape) {
  std::vector<std::uint32_t> voxels(shape.voxels());
  std::iota(voxels.begin(), voxels.end(), 0u);
  return voxels;
}

/// Returns work() computed by this number of threads.
template <class Work>
auto with_threads(int threads, const Work& work) {
  tbb::task_arena arena(threads);
  return arena.execute(work);
}

}  // namespace lull::series::test
