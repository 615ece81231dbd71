// lull_throughput NOISY --clean CLEAN: frames per second of BM3D sessions, from host memory to host
// memory, without decoding and encoding. The first frame of NOISY goes through again and again; the
// PSNR against CLEAN stands beside every time.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/quality_options.h"
#include "bm3d/names.h"
#include "core/error.h"
#include "io/media.h"
#include "pipeline/sharded_denoiser.h"

namespace {

using namespace lull;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string noisy, clean, csv;
  std::vector<std::string> devices{"cpu"}, profiles{"fast", "balanced", "high", "paper"};
  std::vector<int> streams{2};
  float sigma = 20;
  int threads = 0, frames = 0, phases = 2, repeats = 3;
};

Options parse(int argc, char** argv) {
  CLI::App app{"Frames per second of BM3D from host memory to host memory"};
  Options o;
  app.add_option("NOISY", o.noisy, "still or clip; its first frame is used")->required();
  app.add_option("--clean", o.clean, "the same without noise, for the PSNR of the first plane");
  app.add_option("--device", o.devices, "cpu, reference, cuda:0 or cuda:0+1; several with commas")
      ->delimiter(',');
  app.add_option("--profile", o.profiles, "fast, balanced, high, paper")->delimiter(',');
  app.add_option("--streams", o.streams, "frames in flight on each GPU")->delimiter(',');
  app.add_option("--sigma", o.sigma, "noise, on the 0..255 scale");
  app.add_option("--threads", o.threads, "threads of the cpu backend, 0 for every core");
  app.add_option("--phases", o.phases, "1: the first phase alone");
  app.add_option("--frames", o.frames, "frames in a run; 0: about 2 seconds' worth");
  app.add_option("--repeats", o.repeats, "runs; the median counts");
  app.add_option("--csv", o.csv, "write the table to this file too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return o;
}

/// "cuda:0+1" as one backend for each GPU.
std::vector<bm3d::Backend> backends_of(const std::string& device, const Options& o, int streams) {
  bench::QualityOptions one;
  one.streams = streams;
  one.threads = o.threads;
  std::vector<bm3d::Backend> backends;
  const std::string gpus = device.rfind("cuda:", 0) == 0 ? device.substr(5) : "";
  for (std::size_t from = 0; from <= gpus.size();) {
    const std::size_t to = std::min(gpus.find('+', from), gpus.size());
    one.device = gpus.empty() ? device : "cuda:" + gpus.substr(from, to - from);
    backends.push_back(bench::backend_of(one));
    from = to + 1;
  }
  return backends;
}

std::unique_ptr<Denoiser> open_all(const bm3d::Params& params, const FrameFormat& format,
                                   const std::vector<bm3d::Backend>& backends) {
  std::vector<std::unique_ptr<Denoiser>> sessions;
  for (const auto& backend : backends) sessions.push_back(bm3d::open(params, format, backend));
  if (sessions.size() == 1) return std::move(sessions.front());
  return pipeline::shard(std::move(sessions));
}

/// Sends `count` frames through; the last result. Wall time and CPU time of all threads in seconds.
struct Run {
  double wall = 0, cpu = 0;
  Frame result;
};
Run run(Denoiser& session, const Frame& noisy, int count) {
  Run r;
  const auto start = Clock::now();
  const std::clock_t cpu_start = std::clock();
  for (int i = 0; i < count; ++i)
    if (auto out = session.push(noisy)) r.result = *std::move(out);
  while (auto out = session.drain()) r.result = *std::move(out);
  r.cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  r.wall = std::chrono::duration<double>(Clock::now() - start).count();
  return r;
}

template <class T>
double mean_squared_error(PlaneView<const T> a, PlaneView<const T> b) {
  double sum = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      const double d = static_cast<double>(a(x, y)) - static_cast<double>(b(x, y));
      sum += d * d;
    }
  return sum / a.width / a.height;
}

double psnr(const Frame& a, const Frame& b) {
  if (a.format != b.format) throw InvalidArgument("NOISY and CLEAN have different formats");
  const double mse =
      a.format.sample == SampleType::u8
          ? mean_squared_error<std::uint8_t>(a.plane<std::uint8_t>(0), b.plane<std::uint8_t>(0))
          : mean_squared_error<std::uint16_t>(a.plane<std::uint16_t>(0), b.plane<std::uint16_t>(0));
  return 10 * std::log10(a.format.full_scale() * a.format.full_scale() / mse);
}

Frame first_frame(const std::string& path, const bm3d::Backend& backend) {
  const auto source = io::open_source(path, {.memory = bm3d::frame_memory(backend)});
  auto frame = source->read();
  if (!frame) throw BadData(path + " (no frame)");
  return *std::move(frame);
}

std::string measure(const Options& o, const std::string& device, const std::string& profile,
                    int streams) {
  const auto backends = backends_of(device, o, streams);
  auto params =
      bm3d::make_params(bm3d::parse<bm3d::Profile>(profile).value(), {o.sigma, o.sigma, o.sigma});
  params.phases = o.phases;
  const Frame noisy = first_frame(o.noisy, backends.front());
  // A fresh session for each run: what comes after drain() is not promised.
  const double once = run(*open_all(params, noisy.format, backends), noisy, 1).wall;
  const int count =
      o.frames > 0 ? o.frames : std::clamp(static_cast<int>(std::lround(2 / once)), 2, 2000);
  std::vector<Run> runs;
  for (int i = 0; i < std::max(1, o.repeats); ++i) {
    const auto session = open_all(params, noisy.format, backends);
    runs.push_back(run(*session, noisy, count));
  }
  std::sort(runs.begin(), runs.end(), [](auto& a, auto& b) { return a.wall < b.wall; });
  const Run& median = runs[runs.size() / 2];
  const double megapixels = 1e-6 * noisy.format.width * noisy.format.height;
  const double quality =
      o.clean.empty() ? 0 : psnr(first_frame(o.clean, backends.front()), median.result);
  char text[200];
  std::snprintf(text, sizeof text, "%s,%s,%d,%d,%d,%.3f,%.2f,%.3f,%.3f,%.4f", device.c_str(),
                profile.c_str(), o.phases, streams, count, quality, count / median.wall,
                1000 * median.wall / count, 1000 * (runs.back().wall - runs.front().wall) / count,
                median.cpu / count / megapixels);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  try {
    std::ofstream csv;
    if (!o.csv.empty()) csv.open(o.csv);
    const std::string header =
        "device,profile,phases,streams,frames,psnr_db,fps,ms,ms_spread,cpu_s_per_mpixel";
    std::cout << header << std::endl;
    if (csv.is_open()) csv << header << std::endl;
    for (const auto& device : o.devices)
      for (const auto& profile : o.profiles)
        for (const int streams : o.streams) {
          const std::string line = measure(o, device, profile, streams);
          std::cout << line << std::endl;
          if (csv.is_open()) csv << line << std::endl;
        }
  } catch (const std::exception& error) {
    std::cerr << "lull_throughput: " << error.what() << '\n';
    return 1;
  }
}
