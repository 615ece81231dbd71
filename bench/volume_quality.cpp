// Measures the quality of filtered volumes. The program adds Gaussian noise in float to a clean
// volume or a part of it, filters the volume and compares the result with the clean volume. For
// each profile and level it prints the PSNR over the voxels where the clean volume is above 15/255
// of its maximum, with that maximum as the peak, and CPU-seconds per megavoxel. With --thick each
// slice is the mean of several slices.
//
// With --result the program measures how much anatomy a filter has removed from a volume with real
// noise: the correlation of the residual (volume minus result) and of its magnitude with the
// gradient magnitude of the result.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/support/gaussian.h"
#include "bm3d/bm3d.h"
#include "bm4d/bm4d.h"
#include "core/frame_pool.h"
#include "core/params/profile.h"
#include "io/media.h"
#include "pipeline/part_scheduler.h"

namespace {

using namespace lull;

struct Options {
  std::string file, result, device = "cpu";
  std::vector<int> crop;  // x0 x1 y0 y1 z0 z1
  std::vector<std::string> profiles{"fast", "balanced", "high"};
  std::vector<double> levels{3, 9};  // in percent of the maximum
  std::vector<int> windows, steps, groups, cubes;
  float lambda = -1, lambda_mean = -1, mu2 = -1, mu2_mean = -1, kaiser = -1;
  std::vector<int> size;  // width, height, slices
  int phases = 2, threads = 1, thick = 1, gpus = 1;
  std::uint64_t seed = 1;
};

/// Slices with samples from 0 to 1, the maximum of the volume.
struct Volume {
  FrameFormat format;
  std::vector<Frame> slices;
  double voxels() const { return 1.0 * format.width * format.height * slices.size(); }
};

/// Reads the values of a file.
Volume read_volume(const std::string& file, const std::vector<int>& part) {
  const auto source = io::open_source(file);
  FrameFormat format = source->format();
  if (!source->info().stack) throw std::runtime_error("not a volume");
  const int width = format.width;
  const std::vector<int> crop =
      part.empty() ? std::vector{0, width, 0, format.height, 0, 1 << 30} : part;
  format = {.width = crop[1] - crop[0], .height = crop[3] - crop[2]};
  format.sample = SampleType::f32;
  format.bits = 32;
  FramePool pool(format);
  Volume volume{format, {}};
  std::vector<double> values;
  for (int z = 0; auto frame = source->read(); ++z) {
    if (z < crop[4] || z >= crop[5] || z >= source->info().slices) continue;
    source->values_of(*frame, values);
    Frame slice = pool.acquire();
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        slice.plane<float>(0)(x, y) =
            static_cast<float>(values[(y + crop[2]) * width + x + crop[0]]);
    slice.slice = z - crop[4];
    volume.slices.push_back(std::move(slice));
  }
  return volume;
}

float max_value(const Volume& volume) {
  float maximum = 0;
  for (const Frame& slice : volume.slices)
    for (int y = 0; y < volume.format.height; ++y)
      maximum =
          std::max(maximum, *std::max_element(slice.plane<float>(0).row(y),
                                              slice.plane<float>(0).row(y) + volume.format.width));
  return maximum;
}

/// Returns slices that are the mean of `count` slices each.
Volume with_thick_slices(const Volume& volume, int count) {
  FramePool pool(volume.format);
  Volume thick{volume.format, {}};
  for (std::size_t z = 0; z + count <= volume.slices.size(); z += count) {
    Frame mean = pool.acquire();
    mean.slice = static_cast<int>(thick.slices.size());
    for (int y = 0; y < volume.format.height; ++y)
      for (int x = 0; x < volume.format.width; ++x) {
        float sum = 0;
        for (int k = 0; k < count; ++k) sum += volume.slices[z + k].plane<float>(0)(x, y);
        mean.plane<float>(0)(x, y) = sum / static_cast<float>(count);
      }
    thick.slices.push_back(std::move(mean));
  }
  return thick;
}

/// Returns the volume repeated up to a size.
Volume repeated(const Volume& volume, const std::vector<int>& size) {
  Volume large{volume.format, {}};
  large.format.width = size[0], large.format.height = size[1];
  FramePool pool(large.format);
  for (int z = 0; z < size[2]; ++z) {
    const auto from = volume.slices[z % volume.slices.size()].plane<float>(0);
    Frame slice = pool.acquire();
    slice.slice = z;
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x)
        slice.plane<float>(0)(x, y) = from(x % from.width, y % from.height);
    large.slices.push_back(std::move(slice));
  }
  return large;
}

/// Returns the volume scaled to a maximum of 1.
Volume clean_volume(const Options& options) {
  Volume volume = read_volume(options.file, options.crop);
  if (options.thick > 1) volume = with_thick_slices(volume, options.thick);
  const float maximum = max_value(volume);
  for (Frame& slice : volume.slices)
    for (int y = 0; y < volume.format.height; ++y)
      for (int x = 0; x < volume.format.width; ++x) slice.plane<float>(0)(x, y) /= maximum;
  return volume;
}

/// Computes the Pearson correlation of two variables.
class Correlation {
 public:
  void add(double a, double b) {
    n_ += 1, a_ += a, b_ += b, aa_ += a * a, bb_ += b * b, ab_ += a * b;
  }
  double value() const {
    return (ab_ - a_ * b_ / n_) / std::sqrt((aa_ - a_ * a_ / n_) * (bb_ - b_ * b_ / n_));
  }
  double deviation() const { return std::sqrt(aa_ / n_ - a_ * a_ / (n_ * n_)); }

 private:
  double n_ = 0, a_ = 0, b_ = 0, aa_ = 0, bb_ = 0, ab_ = 0;
};

/// Evaluates voxels where the result is above 15/255 of its maximum.
void print_residual(const Options& options) {
  const Volume before = read_volume(options.file, options.crop);
  const Volume after = read_volume(options.result, options.crop);
  if (before.format != after.format || before.slices.size() != after.slices.size())
    throw std::runtime_error("volume and result differ in size");
  const float min_value = max_value(after) * 15 / 255;
  Correlation residual, magnitude;
  for (std::size_t z = 1; z + 1 < after.slices.size(); ++z) {
    const auto of = [&](std::size_t slice) { return after.slices[slice].plane<float>(0); };
    for (int y = 1; y + 1 < after.format.height; ++y)
      for (int x = 1; x + 1 < after.format.width; ++x) {
        if (of(z)(x, y) <= min_value) continue;
        const double gradient = static_cast<double>(std::hypot(of(z)(x + 1, y) - of(z)(x - 1, y),
                                                               of(z)(x, y + 1) - of(z)(x, y - 1),
                                                               of(z + 1)(x, y) - of(z - 1)(x, y)));
        const auto r = static_cast<double>(before.slices[z].plane<float>(0)(x, y) - of(z)(x, y));
        residual.add(r, gradient);
        magnitude.add(std::abs(r), gradient);
      }
  }
  std::printf("residual %.2f, correlation with the gradient %.4f, of its magnitude %.4f\n",
              residual.deviation(), residual.value(), magnitude.value());
}

/// Returns memory with fast copies to and from a GPU.
std::pmr::memory_resource* memory_for(const Options& options) {
  return bm3d::frame_memory(
      {.kind = options.device == "cuda" ? bm3d::BackendKind::cuda : bm3d::BackendKind::cpu});
}

std::vector<Frame> add_noise(const Volume& volume, double sigma, const Options& options) {
  bench::Gaussian noise(options.seed);
  FramePool pool(volume.format, memory_for(options));
  std::vector<Frame> noisy;
  for (const Frame& clean : volume.slices) {
    Frame frame = pool.acquire();
    frame.slice = clean.slice;
    for (int y = 0; y < volume.format.height; ++y)
      for (int x = 0; x < volume.format.width; ++x)
        frame.plane<float>(0)(x, y) =
            clean.plane<float>(0)(x, y) + static_cast<float>(sigma * noise());
    noisy.push_back(std::move(frame));
  }
  return noisy;
}

class Score {
 public:
  void add(const Frame& clean, const Frame& result) {
    for (int y = 0; y < clean.format.height; ++y)
      for (int x = 0; x < clean.format.width; ++x) {
        const auto v = static_cast<double>(clean.plane<float>(0)(x, y));
        if (v <= 15.0 / 255) continue;
        sum_ += std::pow(v - static_cast<double>(result.plane<float>(0)(x, y)), 2);
        ++count_;
      }
  }
  double psnr() const { return -10 * std::log10(sum_ / count_); }

 private:
  double sum_ = 0, count_ = 0;
};

template <class T>
void set_phases(const std::vector<T>& values, T& first, T& second) {
  if (values.empty()) return;
  first = values.front();
  second = values.back();
}

bm4d::Params params_of(const Options& options, const std::string& profile, float sigma) {
  const auto which = parse_name<Profile>(profile);
  if (!which) throw std::runtime_error("unknown profile '" + profile + "'");
  bm4d::Params p = bm4d::make_params(*which, {sigma, sigma, sigma});
  set_phases(options.windows, p.hard.window, p.wiener.window);
  set_phases(options.steps, p.hard.step, p.wiener.step);
  set_phases(options.groups, p.hard.group, p.wiener.group);
  set_phases(options.cubes, p.hard.cube, p.wiener.cube);
  if (options.lambda >= 0) p.lambda = options.lambda;
  if (options.lambda_mean >= 0) p.lambda_mean = options.lambda_mean;
  if (options.mu2 >= 0) p.mu2 = options.mu2;
  if (options.mu2_mean >= 0) p.mu2_mean = options.mu2_mean;
  if (options.kaiser >= 0) p.hard.kaiser = p.wiener.kaiser = options.kaiser;
  p.phases = options.phases;
  return p;
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Opens one session per GPU; each one filters an equal part of the volume.
std::unique_ptr<Denoiser> open_session(const Options& options, const bm4d::Params& params,
                                       const Volume& volume) {
  bm4d::Backend backend{.kind = options.device == "cuda"        ? bm4d::BackendKind::cuda
                                : options.device == "reference" ? bm4d::BackendKind::reference
                                                                : bm4d::BackendKind::cpu,
                        .threads = options.threads};
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (; backend.device < options.gpus; ++backend.device)
    sessions.push_back(bm4d::open(params, volume.format, backend));
  if (options.gpus == 1) return std::move(sessions.front());
  const int slices = static_cast<int>(volume.slices.size());
  return pipeline::shard_parts(
      std::move(sessions),
      {.margin = margin(params), .frames = (slices + options.gpus - 1) / options.gpus});
}

void measure(const Options& options, const Volume& volume, const std::vector<Frame>& noisy,
             const std::string& profile, double level) {
  const auto sigma = static_cast<float>(level / 100 * 255);
  const bm4d::Params params = params_of(options, profile, sigma);
  const auto session = open_session(options, params, volume);
  Score score;
  double cpu = 0, wall = 0;
  // On a GPU the first pass warms up clocks and memory.
  for (int pass = 0; pass < (options.device == "cuda" ? 2 : 1); ++pass) {
    score = {};
    std::size_t out = 0;
    const auto add_result = [&](const Frame& result) { score.add(volume.slices[out++], result); };
    const double before = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    std::vector<Frame> results;
    for (const Frame& frame : noisy)
      for (auto result = session->push(frame); result; result = session->next())
        results.push_back(*std::move(result));
    while (auto result = session->drain()) results.push_back(*std::move(result));
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    cpu = cpu_seconds() - before;
    for (const Frame& result : results) add_result(result);
  }
  const double megavoxels = volume.voxels() / 1e6;
  std::printf("%-9s %5.1f %%  %7.3f dB  cpu %8.3f s/Mvoxel  wall %9.2f ms/Mvoxel\n",
              profile.c_str(), level, score.psnr(), cpu / megavoxels, 1000 * wall / megavoxels);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Adds noise to a clean volume, filters it with BM4D and compares"};
  app.add_option("volume", options.file, "NIfTI file")->required();
  app.add_option("--crop", options.crop, "x0 x1 y0 y1 z0 z1")->expected(6);
  app.add_option("--profile", options.profiles)->delimiter(',');
  app.add_option("--noise", options.levels, "noise levels in percent of the maximum")
      ->delimiter(',');
  app.add_option("--window", options.windows, "A or A,B")->delimiter(',');
  app.add_option("--step", options.steps, "A or A,B")->delimiter(',');
  app.add_option("--group", options.groups, "A or A,B")->delimiter(',');
  app.add_option("--cube", options.cubes, "A or A,B")->delimiter(',');
  app.add_option("--lambda", options.lambda);
  app.add_option("--lambda-mean", options.lambda_mean);
  app.add_option("--mu2", options.mu2);
  app.add_option("--mu2-mean", options.mu2_mean);
  app.add_option("--kaiser", options.kaiser);
  app.add_option("--phases", options.phases);
  app.add_option("--device", options.device, "cpu, reference or cuda");
  app.add_option("--threads", options.threads);
  app.add_option("--gpus", options.gpus, "number of GPUs that share the volume; with cuda");
  app.add_option("--size", options.size, "X Y Z: repeat the volume up to this size")->expected(3);
  app.add_option("--seed", options.seed);
  app.add_option("--thick", options.thick,
                 "replace each slice by the mean of this number of slices");
  app.add_option("--result", options.result, "a filtered volume, to evaluate the residual");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.result.empty()) {
      print_residual(options);
      return 0;
    }
    Volume volume = clean_volume(options);
    if (!options.size.empty()) volume = repeated(volume, options.size);
    for (const double level : options.levels) {
      const std::vector<Frame> noisy = add_noise(volume, level / 100, options);
      Score before;
      for (std::size_t z = 0; z < noisy.size(); ++z) before.add(volume.slices[z], noisy[z]);
      std::printf("noisy     %5.1f %%  %7.3f dB\n", level, before.psnr());
      for (const std::string& profile : options.profiles)
        measure(options, volume, noisy, profile, level);
    }
  } catch (const std::exception& error) {
    std::cerr << "lull_volume_quality: " << error.what() << "\n";
    return 1;
  }
}
