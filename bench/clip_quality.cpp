// Measures the quality of filtered clips. The program adds Gaussian noise in float, white or
// averaged over squares, to the first plane of each frame of clean clips, or to all planes, filters
// the clips and compares the results with the clean clips. For each combination of parameters and
// each clip it prints:
//   psnr        PSNR of the first plane over the complete sequence, in dB
//   chroma      with --colour: PSNR of the two other planes together
//   first, last PSNR of the first and the last frame minus the mean over the frames, in dB
//   flicker     mean absolute difference between neighbouring frames where the clean frames are
//               equal (to a grey level), relative to the noisy clip: 0 means no flicker, 1 means as
//               much flicker as in the noisy clip
//   steady      rms change of the means of 16x16 samples between neighbouring frames, divided by
//               sqrt(2), in grey levels, over blocks where the clean frames are equal; 0 if there
//               are none
//   cpu         CPU seconds per megapixel
// The program also prints the mean over the clips. Clips are files that lull can read.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "bench/support/gaussian.h"
#include "bench/support/parameter_grid.h"
#include "bench/support/pictures.h"
#include "bm3d/bm3d.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "io/media.h"

namespace {

using namespace lull;
using namespace lull::bench;

struct ClipOptions {
  std::vector<std::string> clips;
  int frames = 1000;
  std::uint64_t seed = 1;
  std::string device = "cpu";
  int streams = bm3d::default_streams, threads = 1;
  bool each = false, colour = false;
  ParameterGrid grid;
};

struct Clip {
  std::string name;
  std::vector<Frame> frames;  // clean, as floats
};

struct Figures {
  double psnr = 0, chroma = 0, first = 0, last = 0, flicker = 0, steady = 0, cpu = 0;
  void add(const Figures& other, double share) {
    psnr += other.psnr * share;
    chroma += other.chroma * share;
    first += other.first * share;
    last += other.last * share;
    flicker += other.flicker * share;
    steady += other.steady * share;
    cpu += other.cpu * share;
  }
};

/// Calls use(x, y) for every sample.
template <class Use>
void for_samples(int width, int height, Use&& use) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) use(x, y);
}

Clip load_clip(const std::string& path, const ClipOptions& options) {
  Clip clip{path.substr(path.find_last_of('/') + 1), {}};
  const auto source = io::open_source(path);
  FrameFormat format = source->format();
  format.sample = SampleType::f32;
  format.bits = 32;
  if (!options.colour) format = {format.width, format.height, Layout::gray, format.sample, 32};
  FramePool pool(format);
  for (int n = 0; n < options.frames; ++n) {
    const auto frame = source->read();
    if (!frame) break;
    clip.frames.push_back(pool.acquire());
    for (int i = 0; i < format.planes(); ++i) {
      const auto plane = clip.frames.back().plane<float>(i);
      load_plane(*frame, i, plane);
      for_samples(plane.width, plane.height, [&](int x, int y) { plane(x, y) /= 255; });
    }
  }
  return clip;
}

std::vector<Frame> with_noise(const Clip& clip, double sigma, int squares, std::uint64_t seed) {
  std::vector<Frame> frames;
  Gaussian gaussian(seed);
  FramePool pool(clip.frames[0].format);
  for (const Frame& clean : clip.frames) {
    frames.push_back(pool.acquire());
    for (int i = 0; i < clean.format.planes(); ++i) {
      const auto from = clean.plane<const float>(i);
      const auto to = frames.back().plane<float>(i);
      const auto noise = averaged_noise(to.width, to.height, std::max(squares, 1), gaussian);
      auto sample = noise.begin();
      for_samples(to.width, to.height, [&](int x, int y) {
        to(x, y) = static_cast<float>(from(x, y) + sigma / 255 * *sample++);
      });
    }
  }
  return frames;
}

double mean_squared_error(const Frame& clean, const Frame& result, int plane) {
  const auto a = clean.plane<const float>(plane), b = result.plane<const float>(plane);
  double sum = 0;
  for_samples(a.width, a.height, [&](int x, int y) {
    const double d = static_cast<double>(a(x, y)) - static_cast<double>(b(x, y));
    sum += d * d;
  });
  return sum / a.width / a.height;
}

double decibels(double mse) { return -10 * std::log10(mse); }

/// Returns the mean absolute difference of neighbouring frames at samples where the clean frames
/// are equal (to a grey level).
double temporal_difference(const Clip& clip, const std::vector<Frame>& frames) {
  double sum = 0, count = 0;
  for (std::size_t n = 1; n < frames.size(); ++n) {
    const auto a = clip.frames[n - 1].plane<float>(0), b = clip.frames[n].plane<float>(0);
    const auto u = frames[n - 1].plane<float>(0), v = frames[n].plane<float>(0);
    for_samples(a.width, a.height, [&](int x, int y) {
      if (std::abs(a(x, y) - b(x, y)) > 1.001f / 255) return;
      sum += static_cast<double>(std::abs(u(x, y) - v(x, y)));
      ++count;
    });
  }
  return count > 0 ? sum / count : 0;
}

/// Returns the rms change of block means that clip_quality prints as `steady`.
double change_of_means(const Clip& clip, const std::vector<Frame>& frames) {
  constexpr int block = 16;
  double sum = 0;
  int count = 0;
  for (std::size_t n = 1; n < frames.size(); ++n) {
    const auto a = clip.frames[n - 1].plane<float>(0), b = clip.frames[n].plane<float>(0);
    const auto u = frames[n - 1].plane<float>(0), v = frames[n].plane<float>(0);
    for_samples(a.width / block, a.height / block, [&](int i, int j) {
      double change = 0;
      bool still = true;
      for_samples(block, block, [&](int dx, int dy) {
        const int x = block * i + dx, y = block * j + dy;
        still = still && std::abs(a(x, y) - b(x, y)) <= 1.001f / 255;
        change += static_cast<double>(v(x, y)) - static_cast<double>(u(x, y));
      });
      if (!still) return;
      change *= 255.0 / (block * block);
      sum += change * change / 2;
      ++count;
    });
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

Figures measure(const Clip& clip, const std::vector<Frame>& noisy, const bm3d::Params& params,
                const ClipOptions& options) {
  const auto session =
      open(params, noisy[0].format, backend_of(options.device, options.streams, options.threads));
  std::vector<Frame> clean;
  const std::clock_t start = std::clock();
  for (const Frame& frame : noisy)
    if (auto out = session->push(frame)) clean.push_back(*out);
  while (auto out = session->drain()) clean.push_back(*out);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;

  Figures figures;
  double total = 0, chroma = 0, mean = 0;
  std::vector<double> psnr;
  for (std::size_t n = 0; n < clean.size(); ++n) {
    const double mse = mean_squared_error(clip.frames[n], clean[n], 0);
    total += mse;
    for (int i = 1; i < clean[n].format.planes(); ++i)
      chroma += mean_squared_error(clip.frames[n], clean[n], i) / 2;
    psnr.push_back(decibels(mse));
    mean += psnr.back();
  }
  const auto count = static_cast<double>(clean.size());
  mean /= count;
  const FrameFormat& format = noisy[0].format;
  figures.psnr = decibels(total / count);
  if (chroma > 0) figures.chroma = decibels(chroma / count);
  figures.first = psnr.front() - mean;
  figures.last = psnr.back() - mean;
  figures.flicker = temporal_difference(clip, clean) / temporal_difference(clip, noisy);
  figures.steady = change_of_means(clip, clean);
  figures.cpu = seconds / (count * format.width * format.height * 1e-6);
  return figures;
}

void print(const Configuration& configuration, const std::string& clip, const Figures& f) {
  std::printf("%g,%s,%s,%.3f,", static_cast<double>(configuration.sigma),
              configuration.setting.c_str(), clip.c_str(), f.psnr);
  if (f.chroma > 0) std::printf("%.3f,", f.chroma);
  std::printf("%.2f,%.2f,%.3f,%.3f,%.3f\n", f.first, f.last, f.flicker, f.steady, f.cpu);
  std::fflush(stdout);
}

ClipOptions parse(int argc, char** argv) {
  ClipOptions options;
  CLI::App app{"Quality of filtered clips with noise added"};
  app.add_option("clips", options.clips, "clean clips")->required();
  app.add_option("--frames", options.frames, "maximum number of frames per clip");
  app.add_option("--seed", options.seed, "seed of the noise");
  app.add_option("--device", options.device, "cpu, reference, cuda or cuda:N");
  app.add_option("--streams", options.streams, "frames in flight on a GPU");
  app.add_option("--threads", options.threads, "CPU threads");
  app.add_flag("--each", options.each, "print a line for each clip");
  app.add_flag("--colour", options.colour, "filter all planes, not only the first");
  add_grid_options(app, options.grid);
  add_squares_option(app, options.grid);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

void run(const ClipOptions& options) {
  std::vector<Clip> clips;
  for (const std::string& path : options.clips) clips.push_back(load_clip(path, options));
  std::printf("sigma,setting,clip,psnr,%sfirst,last,flicker,steady,cpu_s_per_mpixel\n",
              options.colour ? "chroma," : "");
  for (const Configuration& configuration : configurations(options.grid)) {
    Figures mean;
    for (std::size_t n = 0; n < clips.size(); ++n) {
      const auto noisy = with_noise(clips[n], static_cast<double>(configuration.sigma),
                                    configuration.squares, options.seed + 1000003 * n);
      const Figures figures = measure(clips[n], noisy, configuration.params, options);
      if (options.each) print(configuration, clips[n].name, figures);
      mean.add(figures, 1.0 / static_cast<double>(clips.size()));
    }
    print(configuration, "mean", mean);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "lull_clip_quality: " << error.what() << '\n';
    return 1;
  }
}
