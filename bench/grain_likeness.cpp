// lull_grain_likeness NOISY CLEAN GRAIN PLAIN: compares the grain that a player adds with the
// original noise. The noise is NOISY - CLEAN. The grain is GRAIN - PLAIN, where both are decoded
// from the same stream, with and without its film grain. For each plane the program prints standard
// deviations by the luma of CLEAN and PLAIN, and correlations of samples up to 3 apart, after
// division by the standard deviation at their luma. Columns: plane, quantity, noise, grain.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include "core/error.h"
#include "core/plane.h"
#include "core/samples.h"
#include "io/media.h"

namespace {

using namespace lull;

constexpr int steps = 16, reach = 3;

struct Picture {
  std::array<Plane<float>, 3> planes;
};

Picture load(const Frame& frame) {
  Picture picture;
  for (int i = 0; i < frame.format.planes(); ++i) {
    picture.planes[i] = Plane<float>(frame.format.plane_width(i), frame.format.plane_height(i));
    load_plane(frame, i, picture.planes[i].view());
  }
  return picture;
}

std::vector<Picture> read(const char* path, FrameFormat& format) {
  const auto source = io::open_source(path);
  format = source->format();
  std::vector<Picture> pictures;
  while (const auto frame = source->read()) pictures.push_back(load(*frame));
  return pictures;
}

struct Moments {
  std::array<double, steps> sum{}, squares{}, count{};
  std::array<std::array<double, 2 * reach + 1>, reach + 1> pairs{}, pair_count{};
  double sigma(int i) const {
    const double mean = sum[i] / count[i];
    return std::sqrt(squares[i] / count[i] - mean * mean);
  }
  double correlation(int dx, int dy) const {
    return pairs[dy][dx + reach] / pair_count[dy][dx + reach] /
           (pairs[0][reach] / pair_count[0][reach]);
  }
};

/// Statistics of `with` - `without` of one plane, by the luma of `without`.
Moments measure(const std::vector<Picture>& with, const std::vector<Picture>& without, int plane,
                const FrameFormat& format) {
  Moments m;
  const int sx = plane ? format.chroma_shift_x : 0, sy = plane ? format.chroma_shift_y : 0;
  const int w = format.plane_width(plane), h = format.plane_height(plane);
  const std::size_t frames = std::min(with.size(), without.size());
  const auto step_at = [&](std::size_t k, int x, int y) {
    const auto luma = without[k].planes[0].view();
    const float at = luma(std::min(x << sx, luma.width - 1), std::min(y << sy, luma.height - 1));
    return std::min(static_cast<int>(at * steps / 256), steps - 1);
  };
  const auto noise_at = [&](std::size_t k, int x, int y) {
    return static_cast<double>(with[k].planes[plane].view()(x, y) -
                               without[k].planes[plane].view()(x, y));
  };
  for (std::size_t k = 0; k < frames; ++k)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const int step = step_at(k, x, y);
        const double noise = noise_at(k, x, y);
        m.sum[step] += noise;
        m.squares[step] += noise * noise;
        ++m.count[step];
      }
  Plane<double> normal(w, h);
  for (std::size_t k = 0; k < frames; ++k) {
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const int step = step_at(k, x, y);
        const double sigma = m.sigma(step);
        normal.view()(x, y) =
            sigma > 0.1 ? (noise_at(k, x, y) - m.sum[step] / m.count[step]) / sigma : 0;
      }
    for (int dy = 0; dy <= reach; ++dy)
      for (int dx = dy ? -reach : 0; dx <= reach; ++dx)
        for (int y = 0; y + dy < h; ++y)
          for (int x = reach; x + reach < w; ++x) {
            m.pairs[dy][dx + reach] += normal.view()(x, y) * normal.view()(x + dx, y + dy);
            ++m.pair_count[dy][dx + reach];
          }
  }
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: lull_grain_likeness NOISY CLEAN GRAIN PLAIN\n";
    return 2;
  }
  try {
    FrameFormat format;
    std::array<std::vector<Picture>, 4> clips;
    for (int i = 0; i < 4; ++i) clips[i] = read(argv[i + 1], format);
    std::printf("plane,what,noise,grain\n");
    for (int plane = 0; plane < format.planes(); ++plane) {
      const Moments noise = measure(clips[0], clips[1], plane, format);
      const Moments grain = measure(clips[2], clips[3], plane, format);
      for (int i = 0; i < steps; ++i)
        if (std::min(noise.count[i], grain.count[i]) >= 0.01 * noise.pair_count[0][reach])
          std::printf("%d,sigma at luma %d,%.3f,%.3f\n", plane, i * 16 + 8, noise.sigma(i),
                      grain.sigma(i));
      for (int dy = 0; dy <= reach; ++dy)
        for (int dx = dy ? -reach : 1; dx <= reach; ++dx)
          std::printf("%d,correlation %d %d,%.3f,%.3f\n", plane, dx, dy, noise.correlation(dx, dy),
                      grain.correlation(dx, dy));
    }
  } catch (const std::exception& error) {
    std::cerr << "lull_grain_likeness: " << error.what() << '\n';
    return 1;
  }
}
