#pragma once
// Volumes for the tests of BM4D: their slices are float frames in which 255 is white.

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "bm4d/bm4d.h"
#include "bm4d/cubes.h"
#include "bm4d/volume_engine.h"
#include "core/frame_pool.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm4d::test_support {

using namespace lull::test_support;

struct Size {
  int width = 16, height = 14, slices = 12;
};

inline FrameFormat format_of(const Size& size) {
  FrameFormat format{.width = size.width, .height = size.height};
  format.sample = SampleType::f32;
  format.bits = 32;
  format.white = 255;
  return format;
}

/// Slices with the voxels value(x, y, z).
inline std::vector<Frame> volume_of(const Size& size,
                                    const std::function<double(int, int, int)>& value) {
  FramePool pool(format_of(size));
  std::vector<Frame> slices;
  for (int z = 0; z < size.slices; ++z) {
    Frame slice = pool.acquire();
    slice.slice = z;
    slice.pts = z;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        slice.plane<float>(0)(x, y) = static_cast<float>(value(x, y, z));
    slices.push_back(std::move(slice));
  }
  return slices;
}

/// Returns a voxel of the clean volume, which contains a ball and waves on a slope.
inline double clean_voxel(const Size& size, int x, int y, int z) {
  const double dx = x - 0.4 * size.width, dy = y - 0.5 * size.height, dz = z - 0.5 * size.slices;
  const double r = 0.3 * size.width;
  return dx * dx + dy * dy + dz * dz < r * r ? 190 - 2 * dz
                                             : 70 + 2 * x + y + 15 * std::sin(0.7 * (x + y + z));
}
inline std::vector<Frame> clean_volume(const Size& size) {
  return volume_of(size, [&](int x, int y, int z) { return clean_voxel(size, x, y, z); });
}
/// Returns the clean volume with white noise, quantised to `levels` per unit of value, or
/// unquantised if `levels` is 0.
inline std::vector<Frame> noisy_volume(const Size& size, double sigma, int levels = 0,
                                       unsigned seed = 1) {
  std::mt19937 rng{seed};
  std::normal_distribution<double> noise{0, sigma};
  return volume_of(size, [&](int x, int y, int z) {
    const double v = clean_voxel(size, x, y, z) + noise(rng);
    return levels == 0 ? v : std::round(v * levels) / levels;
  });
}

inline double psnr(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  double sum = 0, count = 0;
  for (std::size_t z = 0; z < a.size(); ++z)
    for (int y = 0; y < a[z].format.height; ++y)
      for (int x = 0; x < a[z].format.width; ++x, ++count)
        sum += std::pow(static_cast<double>(a[z].plane<float>(0)(x, y)) -
                            static_cast<double>(b.at(z).plane<float>(0)(x, y)),
                        2);
  return 10 * std::log10(255 * 255 * count / sum);
}

/// Returns the maximum difference between two voxels.
inline double max_difference(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  double most = 0;
  for (std::size_t z = 0; z < a.size(); ++z)
    for (int y = 0; y < a[z].format.height; ++y)
      for (int x = 0; x < a[z].format.width; ++x)
        most = std::max(most, std::abs(static_cast<double>(a[z].plane<float>(0)(x, y)) -
                                       static_cast<double>(b.at(z).plane<float>(0)(x, y))));
  return most;
}

/// Small parameters, so that the reference is fast.
inline Params small_params(float sigma = 20) {
  Params params = make_params(Profile::balanced, {sigma, sigma, sigma});
  params.hard.window = params.wiener.window = 5;
  return params;
}

inline std::vector<Frame> denoise(const Params& params, const std::vector<Frame>& slices,
                                  const Backend& backend = {.threads = 1}) {
  return run_clip(*open(params, slices.front().format, backend), slices);
}

}  // namespace lull::bm4d::test_support
