// lull_hand_held FILES --sigma 25 --frames 8 --degrees 0.5 --shift 10: measures the gain of a burst
// over a single frame. A burst consists of crops of a picture with random shifts and rotations, to
// which noise is added in float. The middle crop is the reference frame. The program prints the
// PSNR of that frame and CPU-seconds for three methods: the frame filtered alone, filtered over
// time with motion estimation, and filtered with the other frames aligned to it.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <numbers>
#include <vector>

#include "bench/stills/pictures.h"
#include "bm3d/bm3d.h"
#include "bm3d/names.h"
#include "burst/affine_warp.h"
#include "burst/burst.h"
#include "time/frame_relation.h"

namespace {

using namespace lull;
using bench::Gaussian;

struct Options {
  std::vector<std::string> files;
  std::vector<int> temporal{4};
  std::string profile = "balanced", device = "cpu";
  double sigma = 25, degrees = 0.5, shift = 10;
  int frames = 8, margin = 40;
  std::uint64_t seed = 1;
  bool colour = false;
};

/// Returns the centre of the picture after the warp `hand`.
Frame crop(const Frame& picture, const burst::Alignment& hand, int margin) {
  const FrameFormat& format = picture.format;
  Frame result = bench::float_frame(format, format.width - 2 * margin, format.height - 2 * margin);
  Plane<float> scratch(format.width, format.height), warped(format.width, format.height);
  for (int i = 0; i < format.planes(); ++i) {
    burst::warp(picture.plane<float>(i), burst::AffineWarp(hand, 1, 1), scratch.view(),
                warped.view());
    const auto to = result.plane<float>(i);
    for (int y = 0; y < to.height; ++y)
      std::copy_n(warped.view().row(y + margin) + margin, to.width, to.row(y));
  }
  return result;
}

struct Figures {
  double psnr, cpu;
};

Figures measure(const std::vector<Frame>& burst, std::size_t keep, const Frame& clean,
                const Options& options, int temporal, bool align) {
  const auto sigma = static_cast<float>(options.sigma);
  const FrameFormat& format = clean.format;
  bm3d::Params params = bm3d::make_params(parse_name<Profile>(options.profile).value(),
                                          {sigma, sigma, sigma}, temporal);
  params.scene_cut = 0;
  const bm3d::Backend backend{.kind =
                                  options.device == "cuda" ? BackendKind::cuda : BackendKind::cpu};
  const std::clock_t start = std::clock();
  auto session = bm3d::open(params, format, backend);
  if (align)
    session = burst::aligned(std::move(session), format, main_plane(format.layout == Layout::rgb),
                             static_cast<std::int64_t>(keep), 16);
  std::vector<Frame> results;
  for (const Frame& frame : burst)
    for (auto out = session->push(frame); out; out = session->next())
      results.push_back(*std::move(out));
  while (auto out = session->drain()) results.push_back(*std::move(out));
  const double cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return {bench::decibels(results.at(keep), clean), cpu};
}

void measure_picture(const std::string& file, const Options& options) {
  const Frame picture = bench::load_picture(file, !options.colour);
  std::mt19937_64 random(options.seed);
  const auto random_in = [&](double max_value) {
    return max_value * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  };
  Gaussian gaussian(options.seed);
  const std::size_t keep = static_cast<std::size_t>(options.frames) / 2;
  std::vector<Frame> burst;
  Frame clean;
  for (std::size_t i = 0; i < static_cast<std::size_t>(options.frames); ++i) {
    const double angle = random_in(options.degrees) * std::numbers::pi / 180;
    const double x = random_in(options.shift), y = random_in(options.shift);
    burst::Alignment hand{std::cos(angle), std::sin(angle), x, y};
    if (i == keep) hand = {};
    const Frame seen = crop(picture, hand, options.margin);
    if (i == keep) clean = seen;
    burst.push_back(bench::noisy(seen, options.sigma, gaussian));
  }
  const std::string name = file.substr(file.find_last_of('/') + 1);
  const auto print = [&](const char* how, int temporal, const Figures& f) {
    std::printf("%s,%s,%d,%.2f,%.2f\n", name.c_str(), how, temporal, f.psnr, f.cpu);
    std::fflush(stdout);
  };
  print("alone", 0, measure({burst[keep]}, 0, clean, options, 0, false));
  for (const int temporal : options.temporal) {
    print("motion", temporal, measure(burst, keep, clean, options, temporal, false));
    print("align", temporal, measure(burst, keep, clean, options, temporal, true));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("PSNR gain of a simulated hand-held burst over a single frame");
  app.add_option("files", o.files)->required();
  app.add_option("--sigma", o.sigma, "noise level on the 0..255 scale");
  app.add_option("--frames", o.frames, "number of frames in a burst");
  app.add_option("--degrees", o.degrees, "maximum rotation of a frame");
  app.add_option("--shift", o.shift, "maximum shift of a frame in samples");
  app.add_option("--margin", o.margin, "margin around the crops in samples");
  app.add_option("--temporal", o.temporal, "temporal radius")->delimiter(',');
  app.add_option("--profile", o.profile);
  app.add_option("--device", o.device, "cpu or cuda");
  app.add_option("--seed", o.seed);
  app.add_flag("--colour", o.colour, "filter all planes, not only luma");
  CLI11_PARSE(app, argc, argv);
  std::printf("picture,how,temporal,psnr,cpu_s\n");
  for (const std::string& file : o.files) measure_picture(file, o);
}
