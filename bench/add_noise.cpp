// lull_add_noise IN OUT --sigma S --seed N: writes a copy of a clip or picture with known noise.
//
// White Gaussian noise is added in floating point to every plane. The result is rounded and clipped
// to the input's bit depth, as an analogue-to-digital converter would do.

#include <cstdint>
#include <iostream>
#include <string>

#include "bench/support/arguments.h"
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
  bench::Arguments arguments(
      argc, argv, 2,
      "lull_add_noise IN OUT --sigma S [--seed N]\n"
      "Adds Gaussian noise of known strength to every plane of a clip or picture.\n"
      "  IN           clip or picture\n"
      "  OUT          result; clips are written lossless (FFV1)\n"
      "  --sigma S    standard deviation on the 0..255 scale\n"
      "  --seed N     seed of the noise (default: 1)");
  const std::string in = arguments.name(0), out = arguments.name(1);
  const double sigma = arguments.number("--sigma", 255);
  const auto seed = static_cast<std::uint64_t>(arguments.number("--seed", 1e15, 1));
  arguments.reject_others();

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
