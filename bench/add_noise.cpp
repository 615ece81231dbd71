// lull_add_noise IN OUT --sigma S --seed N: a copy of a clip or picture with known noise.
//
// White Gaussian noise is added in floating point to every plane, then rounded and clipped to the
// input's depth, as a camera's converter would.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <string>

#include "bench/support/gaussian.h"
#include "bench/support/pictures.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "io/media.h"

namespace {

using namespace lull;
using bench::Gaussian;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Adds Gaussian noise of known strength to every plane of a clip or picture"};
  std::string in, out;
  double sigma = 0;
  std::uint64_t seed = 1;
  app.add_option("IN", in, "clip or picture")->required();
  app.add_option("OUT", out, "result; clips are written lossless (FFV1)")->required();
  app.add_option("--sigma", sigma, "standard deviation on the 0..255 scale")
      ->required()
      ->check(CLI::Range(0.0, 255.0));
  app.add_option("--seed", seed, "seed of the noise");
  CLI11_PARSE(app, argc, argv);

  try {
    const auto source = io::open_source(in);
    const bool still = source->info().still;
    const auto sink = io::open_sink(out, *source, {.lossless = !still, .overwrite = true});
    FramePool pool(source->format());
    Gaussian gaussian(seed);
    while (const auto frame = source->read())
      sink->write(bench::add_noise(*frame, sigma, gaussian, pool));
    sink->finish();
  } catch (const std::exception& error) {
    std::cerr << "lull_add_noise: " << error.what() << '\n';
    return 1;
  }
}
