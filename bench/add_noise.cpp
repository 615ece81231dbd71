// lull_add_noise IN OUT --sigma S --seed N: a copy of a clip or picture with known noise.
//
// White Gaussian noise is added in floating point to every plane, then rounded and clipped to the
// input's depth, as a camera's converter would.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>

#include "bench/gaussian.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "io/media.h"

namespace {

using namespace lull;
using bench::Gaussian;

template <class T>
void add_noise(PlaneView<const T> clean, double sigma, double full_scale, Gaussian& gaussian,
               PlaneView<T> noisy) {
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x) {
      const double value = clean(x, y) + sigma * gaussian();
      noisy(x, y) = static_cast<T>(std::lround(std::clamp(value, 0.0, full_scale)));
    }
}

/// @param sigma  on the 0..255 scale
Frame add_noise(const Frame& clean, double sigma, Gaussian& gaussian, FramePool& pool) {
  Frame noisy = pool.acquire();
  noisy.take_identity(clean);
  const double full_scale = clean.format.full_scale(), scaled = sigma * full_scale / 255.0;
  for (int i = 0; i < clean.format.planes(); ++i) {
    if (clean.format.sample == SampleType::u8)
      add_noise<std::uint8_t>(clean.plane<std::uint8_t>(i), scaled, full_scale, gaussian,
                              noisy.plane<std::uint8_t>(i));
    else
      add_noise<std::uint16_t>(clean.plane<std::uint16_t>(i), scaled, full_scale, gaussian,
                               noisy.plane<std::uint16_t>(i));
  }
  return noisy;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Adds Gaussian noise of known strength to every plane of a clip or picture"};
  std::string in, out;
  double sigma = 0;
  std::uint64_t seed = 1;
  app.add_option("IN", in, "clip or picture")->required();
  app.add_option("OUT", out, "result; clips are written without loss (FFV1)")->required();
  app.add_option("--sigma", sigma, "standard deviation on the 0..255 scale")
      ->required()
      ->check(CLI::Range(0.0, 255.0));
  app.add_option("--seed", seed, "another seed gives other noise");
  CLI11_PARSE(app, argc, argv);

  try {
    const auto source = io::open_source(in);
    const bool still = source->info().still;
    const auto sink = io::open_sink(out, *source, {.lossless = !still, .overwrite = true});
    FramePool pool(source->format());
    Gaussian gaussian(seed);
    while (const auto frame = source->read()) sink->write(add_noise(*frame, sigma, gaussian, pool));
    sink->finish();
  } catch (const std::exception& error) {
    std::cerr << "lull_add_noise: " << error.what() << '\n';
    return 1;
  }
}
