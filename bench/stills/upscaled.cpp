// lull_upscaled FILES --sigma 10 --factor 2: measures PSNR and CPU-seconds for pictures that are
// reduced by area averaging, made noisy in float, denoised, and enlarged again, both with Lanczos
// interpolation and with the method of lull denoise --scale.

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

#include "bench/stills/pictures.h"
#include "bm3d/bm3d.h"
#include "bm3d/names.h"
#include "core/plane.h"
#include "scale/enlarger.h"
#include "scale/resampling.h"

namespace {

using namespace lull;

struct Options {
  std::vector<std::string> files, profiles{"fast", "balanced", "high"};
  std::vector<double> sigmas{10};
  std::string device = "cpu";
  double factor = 2;
  std::uint64_t seed = 1;
  bool colour = false;
};

/// Resamples all planes of `from` to the size of `to`.
void resample(const Frame& from, const Frame& to, bool larger) {
  const auto taps = [&](int in, int out) {
    return larger ? scale::enlarging_taps(in, out, 1.0 * out / in, 0.5)
                  : scale::reducing_taps(out, in, 1.0 * in / out, 0.5);
  };
  const scale::Taps x = taps(from.format.width, to.format.width);
  const scale::Taps y = taps(from.format.height, to.format.height);
  Plane<float> rows(to.format.width, from.format.height);
  for (int i = 0; i < to.format.planes(); ++i) {
    scale::resample_rows(x, from.plane<const float>(i), rows.view());
    scale::resample_columns(y, std::as_const(rows).view(), to.plane<float>(i));
  }
}

double seconds(std::clock_t from) {
  return static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
}

void measure(const std::string& file, double sigma, const Options& options) {
  const Frame picture = bench::load_picture(file, !options.colour);
  // The reduced picture has an integer number of samples. The original is cropped to the area that
  // it covers.
  const int width = static_cast<int>(picture.format.width / options.factor);
  const int height = static_cast<int>(picture.format.height / options.factor);
  const FrameFormat small_format = bench::float_frame(picture.format, width, height).format;
  const FrameFormat large = scale::scaled_format(small_format, options.factor);
  const Frame clean = bench::float_frame(picture.format, large.width, large.height);
  for (int i = 0; i < clean.format.planes(); ++i)
    for (int y = 0; y < large.height; ++y)
      for (int x = 0; x < large.width; ++x)
        clean.plane<float>(i)(x, y) = picture.plane<float>(i)(
            std::min(x, picture.format.width - 1), std::min(y, picture.format.height - 1));
  const Frame small = bench::float_frame(picture.format, width, height);
  resample(clean, small, false);
  bench::Gaussian gaussian(options.seed);
  const Frame noisy = bench::noisy(small, sigma, gaussian);
  const std::string name = file.substr(file.find_last_of('/') + 1);
  const bm3d::Backend backend{.kind =
                                  options.device == "cuda" ? BackendKind::cuda : BackendKind::cpu};
  for (const std::string& profile : options.profiles) {
    const bm3d::Profile which = parse_name<Profile>(profile).value();
    const auto s = static_cast<float>(sigma);
    std::clock_t start = std::clock();
    auto session = bm3d::open(bm3d::make_params(which, {s, s, s}), small_format, backend);
    auto denoised = session->push(noisy);
    while (auto rest = session->drain()) denoised = std::move(rest);
    const double denoising = seconds(start);
    const Frame lanczos = bench::float_frame(picture.format, large.width, large.height);
    resample(*denoised, lanczos, true);
    start = std::clock();
    scale::Enlarger enlarger({.factor = options.factor, .profile = which}, small_format, backend);
    const Frame enlarged = enlarger.enlarged(*denoised);
    const double enlarging = seconds(start);
    std::printf("%s,%g,%s,%.3f,%.3f,%.2f,%.2f\n", name.c_str(), sigma, profile.c_str(),
                bench::decibels(lanczos, clean), bench::decibels(enlarged, clean), denoising,
                enlarging);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Denoise and enlarge");
  app.add_option("files", o.files)->required();
  app.add_option("--sigma", o.sigmas, "noise levels on the 0..255 scale")->delimiter(',');
  app.add_option("--factor", o.factor, "factor for width and height");
  app.add_option("--profile", o.profiles)->delimiter(',');
  app.add_option("--device", o.device, "cpu or cuda");
  app.add_option("--seed", o.seed);
  app.add_flag("--colour", o.colour, "filter all planes, not only luma");
  CLI11_PARSE(app, argc, argv);
  std::printf("picture,sigma,profile,lanczos_db,scale_db,denoise_cpu_s,scale_cpu_s\n");
  for (const double sigma : o.sigmas)
    for (const std::string& file : o.files) measure(file, sigma, o);
}
