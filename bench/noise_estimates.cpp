// lull_noise_estimates PICTURES --sigma 0,5,10: prints noise estimates for pictures to which white
// noise of known levels is added (rounded and clipped to the pictures' bit depth). With --pairs the
// pictures NAME_real.* are already noisy, and NAME_mean.* in the same folder are their clean
// versions. The program then measures the gain of denoising with the estimate.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory_resource>
#include <string>
#include <vector>

#include "bench/support/pictures.h"
#include "bm3d/bm3d.h"
#include "bm3d/names.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "io/media.h"
#include "noise/estimate/estimate.h"

namespace {

using namespace lull;
using namespace lull::bench;

struct Options {
  std::vector<std::string> pictures;
  std::vector<double> sigmas{0};
  bool pairs = false, denoise = false;
  bm3d::Profile profile = bm3d::Profile::high;
  float strength = 1;
};

Options read_options(int argc, char** argv) {
  CLI::App app{"Noise estimates for pictures, and the PSNR of denoising with the estimated noise."};
  Options o;
  std::string profile = "high";
  app.add_option("PICTURES", o.pictures, "stills")->required();
  app.add_option("--sigma", o.sigmas, "levels of the added white noise, on the 0..255 scale")
      ->delimiter(',');
  app.add_flag("--pairs", o.pairs, "NAME_real.* are noisy, NAME_mean.* are clean");
  app.add_flag("--denoise", o.denoise, "compare denoising with the estimate and with --sigma");
  app.add_option("--profile", profile, "fast, balanced, high or paper");
  app.add_option("--strength", o.strength, "factor for the estimated level");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  const auto named = parse_name<Profile>(profile);
  if (!named) throw InvalidArgument("profile \"" + profile + "\" (unknown); see --help");
  o.profile = *named;
  return o;
}

Frame picture(const std::string& path) {
  auto frame = io::open_source(path)->read();
  if (!frame) throw BadData(path + " (no frame)");
  return *std::move(frame);
}

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename(); }

NoiseEstimate estimate(const Frame& frame, double& seconds) {
  const Excerpt excerpt{frame};
  const std::clock_t start = std::clock();
  NoiseEstimate result = estimate_noise(std::span(&excerpt, 1));
  seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return result;
}

Frame denoised(const Frame& noisy, const NoiseModel& noise, const Options& options) {
  const auto session = bm3d::open(bm3d::make_params(options.profile, noise), noisy.format, {});
  auto out = session->push(noisy);
  if (!out) out = session->drain();
  return out.value();
}

double psnr_of_all(const Frame& a, const Frame& b) { return psnr(a, b, 0, a.format.planes() - 1); }

void print(const std::string& name, const NoiseEstimate& e, double seconds) {
  std::printf("%-44s level %.2f %.2f %.2f  filters %.2f %.2f %.2f  %s%s  %.3f s", name.c_str(),
              static_cast<double>(e.level[0]), static_cast<double>(e.level[1]),
              static_cast<double>(e.level[2]), static_cast<double>(e.noise.sigma(0)),
              static_cast<double>(e.noise.sigma(1)), static_cast<double>(e.noise.sigma(2)),
              e.noise.is_white() ? "white" : "coloured",
              e.certain ? "" : (" (" + e.why + ")").c_str(), seconds);
}

/// Prints the median, the minimum and the maximum of the estimates, relative to sigma if it is
/// above 0.
void print_spread(double sigma, std::vector<double> found) {
  std::ranges::sort(found);
  const auto at = [&](double share) {
    return found[static_cast<std::size_t>(share * static_cast<double>(found.size() - 1) + 0.5)];
  };
  std::printf("sigma %g: %s median %.3f, 5 %% to 95 %% %.3f .. %.3f, all %.3f .. %.3f\n", sigma,
              sigma > 0 ? "estimated / true" : "estimated", at(0.5), at(0.05), at(0.95), at(0),
              at(1));
}

void with_known_noise(const Options& options) {
  for (const double sigma : options.sigmas) {
    std::vector<double> found;
    double blind = 0, known = 0;
    for (std::size_t n = 0; n < options.pictures.size(); ++n) {
      const Frame clean = picture(options.pictures[n]);
      FramePool pool(clean.format);
      Gaussian gaussian(1 + n);
      const Frame noisy = sigma > 0 ? add_noise(clean, sigma, gaussian, pool) : clean;
      double seconds = 0;
      const NoiseEstimate e = estimate(noisy, seconds);
      print(name_of(options.pictures[n]), e, seconds);
      for (int i = 0; i < clean.format.planes(); ++i)
        found.push_back(static_cast<double>(e.level[i]) / (sigma > 0 ? sigma : 1));
      if (options.denoise && sigma > 0) {
        const auto level = static_cast<float>(sigma);
        const double b =
            psnr_of_all(denoised(noisy, scaled(e.noise, options.strength), options), clean);
        const double k = psnr_of_all(
            denoised(noisy, NoiseModel(std::array<float, 3>{level, level, level}), options), clean);
        std::printf("  blind %.3f known %.3f", b, k);
        blind += b / static_cast<double>(options.pictures.size());
        known += k / static_cast<double>(options.pictures.size());
      }
      std::puts("");
    }
    print_spread(sigma, found);
    if (options.denoise && sigma > 0)
      std::printf("sigma %g: blind %.3f dB, known %.3f dB, %+.3f\n", sigma, blind, known,
                  blind - known);
  }
}

void with_truth(const Options& options) {
  double before = 0, after = 0, min_gain = 1e9;
  for (const std::string& path : options.pictures) {
    std::string mean = path;
    const auto at = mean.rfind("_real.");
    if (at == std::string::npos)
      throw InvalidArgument(path + " (must be NAME_real.*); name pictures that have a NAME_mean.*");
    mean.replace(at, 6, "_mean.");
    const Frame noisy = picture(path), clean = picture(mean);
    double seconds = 0;
    const NoiseEstimate e = estimate(noisy, seconds);
    const double was = psnr_of_all(noisy, clean);
    const double is =
        psnr_of_all(denoised(noisy, scaled(e.noise, options.strength), options), clean);
    print(name_of(path), e, seconds);
    std::printf("  noisy %.2f blind %.2f %+.2f\n", was, is, is - was);
    std::fflush(stdout);
    before += was / static_cast<double>(options.pictures.size());
    after += is / static_cast<double>(options.pictures.size());
    min_gain = std::min(min_gain, is - was);
  }
  std::printf("mean: noisy %.3f dB, blind %.3f dB, minimum gain %+.2f dB\n", before, after,
              min_gain);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = read_options(argc, argv);
    options.pairs ? with_truth(options) : with_known_noise(options);
  } catch (const std::exception& error) {
    std::cerr << "lull_noise_estimates: " << error.what() << '\n';
    return 1;
  }
}
