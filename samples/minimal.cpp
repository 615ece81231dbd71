// Denoises a picture or a video with the library: minimal IN OUT SIGMA
#include <bm3d/bm3d.h>
#include <core/error.h>
#include <io/media.h>
#include <pipeline/run.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: minimal IN OUT SIGMA\n";
    return 2;
  }
  const float sigma = std::strtof(argv[3], nullptr);
  const auto params = lull::bm3d::make_params(lull::bm3d::Profile::balanced, {sigma, sigma, sigma});

  const auto source = lull::io::open_source(argv[1]);
  const auto denoiser = lull::bm3d::open(params, source->format(), {});
  const auto sink = lull::io::open_sink(argv[2], *source, {.overwrite = true});
  const auto stats = lull::pipeline::run(*source, *denoiser, *sink);
  std::cout << stats.frames << " frames, " << stats.fps() << " frames per second\n";
} catch (const lull::Error& error) {
  std::cerr << "minimal: " << error.what() << '\n';
  return 1;
}
