// Quality of filtered clips: adds Gaussian noise, in float, to the first plane of each frame of
// clean clips, filters them and compares. For each combination of parameters and each clip it
// prints
//   psnr        of the whole sequence, in dB
//   first, last PSNR of the first and last frame less the mean over the frames, in dB
//   steadiness  mean absolute difference between neighbouring frames where the clean ones are equal
//               (to a grey level), as a share of the noisy clip's: 0 is still, 1 flickers as before
//   cpu         CPU seconds a megapixel
// and a mean over the clips. Frames of clips: files that lull reads.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "bench/gaussian.h"
#include "bench/parameter_grid.h"
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
  int streams = 4, threads = 1;
  bool each = false;
  ParameterGrid grid;
};

struct Clip {
  std::string name;
  std::vector<Plane<float>> frames;  // clean, on the 0..255 scale
};

struct Figures {
  double psnr = 0, first = 0, last = 0, steadiness = 0, cpu = 0;
  void add(const Figures& other, double share) {
    psnr += other.psnr * share;
    first += other.first * share;
    last += other.last * share;
    steadiness += other.steadiness * share;
    cpu += other.cpu * share;
  }
};

Clip load_clip(const std::string& path, int frames) {
  Clip clip{path.substr(path.find_last_of('/') + 1), {}};
  const auto source = io::open_source(path);
  for (int n = 0; n < frames; ++n) {
    const auto frame = source->read();
    if (!frame) break;
    Plane<float> plane(frame->format.plane_width(0), frame->format.plane_height(0));
    load_plane(*frame, 0, plane.view());
    clip.frames.push_back(std::move(plane));
  }
  return clip;
}

std::vector<Frame> with_noise(const Clip& clip, double sigma, std::uint64_t seed) {
  std::vector<Frame> frames;
  Gaussian gaussian(seed);
  const FrameFormat format{.width = clip.frames[0].width(),
                           .height = clip.frames[0].height(),
                           .sample = SampleType::f32,
                           .bits = 32};
  FramePool pool(format);
  for (const Plane<float>& clean : clip.frames) {
    Frame frame = pool.acquire();
    const auto noisy = frame.plane<float>(0);
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        noisy(x, y) = static_cast<float>((clean.view()(x, y) + sigma * gaussian()) / 255);
    frames.push_back(frame);
  }
  return frames;
}

double mean_squared_error(PlaneView<const float> clean, PlaneView<const float> frame) {
  double sum = 0;
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x) {
      const double d = static_cast<double>(clean(x, y)) - 255.0 * static_cast<double>(frame(x, y));
      sum += d * d;
    }
  return sum / clean.width / clean.height;
}

double decibels(double mse) { return 10 * std::log10(255.0 * 255.0 / mse); }

/// Mean absolute difference of neighbouring frames where the clean ones stay as they are.
double unrest(const Clip& clip, const std::vector<Frame>& frames) {
  double sum = 0, count = 0;
  for (std::size_t n = 1; n < frames.size(); ++n) {
    const auto a = clip.frames[n - 1].view(), b = clip.frames[n].view();
    const auto u = frames[n - 1].plane<float>(0), v = frames[n].plane<float>(0);
    for (int y = 0; y < a.height; ++y)
      for (int x = 0; x < a.width; ++x)
        if (std::abs(a(x, y) - b(x, y)) <= 1) {
          sum += static_cast<double>(std::abs(u(x, y) - v(x, y)));
          ++count;
        }
  }
  return count > 0 ? sum / count : 0;
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
  double total = 0, mean = 0;
  std::vector<double> psnr;
  for (std::size_t n = 0; n < clean.size(); ++n) {
    const double mse = mean_squared_error(clip.frames[n].view(), clean[n].plane<const float>(0));
    total += mse;
    psnr.push_back(decibels(mse));
    mean += psnr.back();
  }
  const auto count = static_cast<double>(clean.size());
  mean /= count;
  const FrameFormat& format = noisy[0].format;
  figures.psnr = decibels(total / count);
  figures.first = psnr.front() - mean;
  figures.last = psnr.back() - mean;
  figures.steadiness = unrest(clip, clean) / unrest(clip, noisy);
  figures.cpu = seconds / (count * format.width * format.height * 1e-6);
  return figures;
}

void print(const Configuration& configuration, const std::string& clip, const Figures& f) {
  std::printf("%g,%s,%s,%.3f,%.2f,%.2f,%.3f,%.3f\n", static_cast<double>(configuration.sigma),
              configuration.setting.c_str(), clip.c_str(), f.psnr, f.first, f.last, f.steadiness,
              f.cpu);
  std::fflush(stdout);
}

ClipOptions parse(int argc, char** argv) {
  ClipOptions options;
  CLI::App app{"Quality of filtered clips with noise added"};
  app.add_option("clips", options.clips, "clean clips")->required();
  app.add_option("--frames", options.frames, "of each clip at most");
  app.add_option("--seed", options.seed, "of the noise");
  app.add_option("--device", options.device, "cpu, reference, cuda or cuda:N");
  app.add_option("--streams", options.streams, "frames in flight on a GPU");
  app.add_option("--threads", options.threads, "CPU threads");
  app.add_flag("--each", options.each, "a line for each clip");
  add_grid_options(app, options.grid);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

void run(const ClipOptions& options) {
  std::vector<Clip> clips;
  for (const std::string& path : options.clips) clips.push_back(load_clip(path, options.frames));
  std::printf("sigma,setting,clip,psnr,first,last,steadiness,cpu_s_per_mpixel\n");
  for (const Configuration& configuration : configurations(options.grid)) {
    Figures mean;
    for (std::size_t n = 0; n < clips.size(); ++n) {
      const auto noisy = with_noise(clips[n], static_cast<double>(configuration.sigma),
                                    options.seed + 1000003 * n);
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
