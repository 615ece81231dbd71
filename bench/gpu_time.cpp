// lull_gpu_time NOISY --clean CLEAN: GPU time of one frame, by events on the stream: copies apart
// from kernels, both phases and the first alone, with the PSNR of the first plane.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm3d/cuda_slot.h"
#include "bm3d/names.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "cuda/handles.h"
#include "io/media.h"

namespace {

using namespace lull;

struct Options {
  std::string noisy, clean, csv;
  std::vector<std::string> profiles{"fast", "balanced", "high", "paper"};
  float sigma = 20;
  int device = 0, repeats = 50;
};

Options parse(int argc, char** argv) {
  CLI::App app{"GPU time of BM3D on one frame"};
  Options o;
  app.add_option("NOISY", o.noisy, "still or clip; its first frame is used")->required();
  app.add_option("--clean", o.clean, "the same without noise, for the PSNR");
  app.add_option("--profile", o.profiles, "fast, balanced, high, paper")->delimiter(',');
  app.add_option("--sigma", o.sigma, "noise, on the 0..255 scale");
  app.add_option("--device", o.device, "number of the GPU");
  app.add_option("--repeats", o.repeats, "frames; the median counts");
  app.add_option("--csv", o.csv, "write the table to this file too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return o;
}

struct Times {
  double median = 0, tenth = 0, ninetieth = 0;  // ms
};

/// Runs `work`, which queues on `stream`, again and again.
template <class Work>
Times time_on(cudaStream_t stream, int repeats, const Work& work) {
  const auto begin = cuda::make_event(cuda::Timing::on), end = cuda::make_event(cuda::Timing::on);
  std::vector<float> times;
  for (int i = -3; i < repeats; ++i) {  // the first ones warm up
    cuda::check(cudaEventRecord(begin.get(), stream));
    work();
    cuda::check(cudaEventRecord(end.get(), stream));
    cuda::check(cudaEventSynchronize(end.get()));
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    if (i >= 0) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return static_cast<double>(times[static_cast<std::size_t>(share * (times.size() - 1))]);
  };
  return {at(0.5), at(0.1), at(0.9)};
}

double psnr(const Frame& a, const Frame& b) {
  if (a.format != b.format) throw InvalidArgument("NOISY and CLEAN have different formats");
  const auto sum = [&]<class T>(T) {
    double total = 0;
    for (int y = 0; y < a.format.height; ++y)
      for (int x = 0; x < a.format.width; ++x) {
        const double d =
            static_cast<double>(a.plane<T>(0)(x, y)) - static_cast<double>(b.plane<T>(0)(x, y));
        total += d * d;
      }
    return total;
  };
  const double total =
      a.format.sample == SampleType::u8 ? sum(std::uint8_t{}) : sum(std::uint16_t{});
  const double mse = total / a.format.width / a.format.height;
  return 10 * std::log10(a.format.full_scale() * a.format.full_scale() / mse);
}

Frame first_frame(const std::string& path) {
  const bm3d::Backend backend{.kind = bm3d::BackendKind::cuda};
  auto frame = io::open_source(path, {.memory = bm3d::frame_memory(backend)})->read();
  if (!frame) throw BadData(path + " (no frame)");
  return *std::move(frame);
}

std::string measure(const Options& o, const std::string& profile, int phases, const Frame& noisy) {
  const auto parsed = bm3d::parse<bm3d::Profile>(profile);
  if (!parsed) throw InvalidArgument(profile + " (no such profile); see --help");
  bm3d::Params params = bm3d::make_params(*parsed, {o.sigma, o.sigma, o.sigma});
  params.phases = phases;
  FramePool pool(noisy.format, bm3d::frame_memory({.kind = bm3d::BackendKind::cuda}));
  Frame result = pool.acquire();
  bm3d::CudaSlot slot(params, noisy.format);
  const Times up = time_on(slot.stream(), o.repeats, [&] { slot.upload(noisy); });
  const Times filter = time_on(slot.stream(), o.repeats, [&] { slot.filter(); });
  const Times down = time_on(slot.stream(), o.repeats, [&] { slot.download(noisy, result); });
  const double quality = o.clean.empty() ? 0 : psnr(first_frame(o.clean), result);
  char text[200];
  std::snprintf(text, sizeof text, "cuda:%d,%s,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f", o.device,
                profile.c_str(), phases, quality, up.median, filter.median, filter.tenth,
                filter.ninetieth, down.median);
  return text;
}

void run(const Options& o) {
  const cuda::DeviceScope scope(o.device);
  const Frame noisy = first_frame(o.noisy);
  std::ofstream csv;
  if (!o.csv.empty()) csv.open(o.csv);
  const auto say = [&](const std::string& line) {
    std::cout << line << std::endl;
    if (csv.is_open()) csv << line << std::endl;
  };
  say("device,profile,phases,psnr_db,upload_ms,kernels_ms,kernels_p10_ms,kernels_p90_ms,"
      "download_ms");
  for (const std::string& profile : o.profiles)
    for (const int phases : {1, 2}) say(measure(o, profile, phases, noisy));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "lull_gpu_time: " << error.what() << '\n';
    return 1;
  }
}
