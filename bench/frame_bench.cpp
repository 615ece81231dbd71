// lull_frame_bench [NOISY --clean CLEAN]: measures one complete frame on a GPU. "kernels" is the
// GPU time of all kernels, measured with events on the stream, without copies and sample
// conversion. "frames" is the time per frame from host memory to host memory with 1, 2, 4 .. frames
// in flight. The output includes PSNR, device memory of a session and the spread of the times;
// --csv writes one line per setting and shape.

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>

#include "bench/support/benchmark_arguments.h"
#include "bench/support/device_time.h"
#include "bench/support/parameter_grid.h"
#include "bench/support/pictures.h"
#include "bm3d/cuda/slot.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "cuda/device_list.h"
#include "cuda/pinned_memory.h"

namespace {

using namespace lull;
using namespace lull::bench;
using bm3d::CudaSlot;

struct Options {
  std::string noisy, clean, csv;
  ParameterGrid grid{.sigmas = {20}, .profiles = {"fast", "balanced", "high", "paper"}};
  std::vector<std::string> sizes, layouts;  // empty: those of the picture
  std::vector<int> in_flight{1, 2, 4};
  int device = 0, repeats = 50;
};

/// A setting, a shape, and all figures that were measured for this combination.
struct Case {
  Configuration configuration;
  PicturePair pair;
  std::vector<std::pair<std::string, double>> figures{};  // columns of the table, in order

  const FrameFormat& format() const { return pair.noisy.format; }
  std::string name() const {
    std::string text = configuration.setting + "/" + describe_shape(format());
    text[text.rfind(' ')] = '/';
    return text;
  }
  void note(benchmark::State& state, const std::string& figure, double value) {
    state.counters[figure] = value;
    for (auto& [name, old] : figures)
      if (name == figure) return void(old = value);
    figures.emplace_back(figure, value);
  }
};

std::size_t free_device_memory() {
  std::size_t free = 0, total = 0;
  cuda::check(cudaDeviceSynchronize());
  cuda::check(cudaMemGetInfo(&free, &total));
  return free;
}

Frame new_frame(const FrameFormat& format) {
  return FramePool(format, cuda::pinned_memory()).acquire();
}

Frame denoise(CudaSlot& slot, const Frame& noisy) {
  slot.start(noisy, new_frame(noisy.format));
  return slot.finish().value();
}

/// Returns the device memory of a slot after its first frame. Another frame is filtered before, so
/// that the code of the kernels has already been loaded.
double session_megabytes(const Case& c) {
  denoise(*std::make_unique<CudaSlot>(c.configuration.params, c.format()), c.pair.noisy);
  const std::size_t before = free_device_memory();
  CudaSlot slot(c.configuration.params, c.format());
  denoise(slot, c.pair.noisy);
  return 1e-6 * static_cast<double>(before - free_device_memory());
}

void time_kernels(benchmark::State& state, Case& c, int repeats) {
  const double megabytes = session_megabytes(c);
  CudaSlot slot(c.configuration.params, c.format());
  const DeviceTimer timer(slot.stream());
  Frame result = denoise(slot, c.pair.noisy);
  if (c.pair.clean.pixels) {
    c.note(state, "psnr_db", psnr(result, c.pair.clean));
    if (c.format().planes() > 1) c.note(state, "psnr_chroma_db", psnr(result, c.pair.clean, 1, 2));
  }
  const double upload = timer.repeat(repeats, [&] { slot.upload(c.pair.noisy); }).median();
  // The kernels run as a CUDA graph, as in a slot of a session.
  const cuda::GraphExec kernels = cuda::capture(slot.stream(), [&] { slot.filter(); });
  const auto launch = [&] { cuda::check(cudaGraphLaunch(kernels.get(), slot.stream())); };
  timer.repeat(3, launch);
  std::vector<float> ms;
  for (auto _ : state) {
    ms.push_back(timer.once(launch));
    state.SetIterationTime(1e-3 * static_cast<double>(ms.back()));
  }
  const Times times(std::move(ms));
  c.note(state, "upload_ms", upload);
  c.note(state, "kernels_ms", times.median());
  c.note(state, "kernels_p10_ms", times.at(0.1));
  c.note(state, "kernels_p90_ms", times.at(0.9));
  c.note(state, "download_ms",
         timer.repeat(repeats, [&] { slot.download(c.pair.noisy, result); }).median());
  c.note(state, "memory_mb", megabytes);
}

/// Measures the time per frame like a session with several slots: if all slots are in use, the
/// function waits for the oldest frame.
void time_frames(benchmark::State& state, Case& c, int in_flight) {
  std::vector<std::unique_ptr<CudaSlot>> slots;
  std::vector<Frame> results;
  for (int i = 0; i < in_flight; ++i) {
    slots.push_back(std::make_unique<CudaSlot>(c.configuration.params, c.format()));
    results.push_back(new_frame(c.format()));
  }
  std::size_t next = 0;
  const auto push_next = [&] {
    (void)slots[next]->finish();
    slots[next]->start(c.pair.noisy, results[next]);
    next = (next + 1) % slots.size();
  };
  for (int i = 0; i < 2 * in_flight; ++i) push_next();  // after this all slots are in use
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) push_next();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  c.note(state, "in_flight_" + std::to_string(in_flight) + "_ms",
         elapsed.count() / static_cast<double>(state.iterations()));
}

std::vector<std::shared_ptr<Case>> make_cases(const Options& o) {
  const PicturePair picture = load_pair(o.noisy, o.clean, cuda::pinned_memory());
  const auto sizes = o.sizes.empty() ? std::vector<std::string>{""} : o.sizes;
  const auto layouts = o.layouts.empty() ? std::vector<std::string>{""} : o.layouts;
  std::vector<std::shared_ptr<Case>> cases;
  for (const std::string& size : sizes)
    for (const std::string& layout : layouts) {
      const FrameFormat format =
          format_of({size.empty() ? Size{} : parse_size(size), layout}, picture.noisy.format);
      const PicturePair pair{reshape(picture.noisy, format, 0, cuda::pinned_memory()),
                             reshape(picture.clean, format, 0, cuda::pinned_memory())};
      for (const Configuration& configuration : configurations(o.grid)) {
        Case c{configuration, pair};
        c.pair.noisy = with_noise(pair, static_cast<double>(configuration.sigma),
                                  configuration.squares, cuda::pinned_memory());
        cases.push_back(std::make_shared<Case>(std::move(c)));
      }
    }
  return cases;
}

void add_benchmarks(const std::vector<std::shared_ptr<Case>>& cases, const Options& o) {
  for (const auto& c : cases) {
    benchmark::RegisterBenchmark(
        ("kernels/" + c->name()).c_str(),
        [c, repeats = o.repeats](benchmark::State& state) { time_kernels(state, *c, repeats); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(o.repeats);
    for (const int n : o.in_flight)
      benchmark::RegisterBenchmark(
          ("frames/" + c->name() + "/in_flight:" + std::to_string(n)).c_str(),
          [c, n](benchmark::State& state) { time_frames(state, *c, n); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond)
          ->MinTime(0.2);
  }
}

/// Writes the table. Cases that the filter excluded have no figures and are left out.
void write_table(const std::string& path, const std::vector<std::shared_ptr<Case>>& cases,
                 int device) {
  std::vector<std::string> columns;
  for (const auto& c : cases)
    for (const auto& [name, value] : c->figures)
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  std::ofstream csv(path);
  if (!csv) throw CannotCreate(path + " (cannot be written); choose another name");
  csv << "device,setting,sigma,phases,width,height,layout";
  for (const std::string& name : columns) csv << ',' << name;
  csv << '\n';
  for (const auto& c : cases) {
    if (c->figures.empty()) continue;
    const std::string shape = describe_shape(c->format());
    csv << "cuda:" << device << ',' << c->configuration.setting << ',' << c->configuration.sigma
        << ',' << c->configuration.params.phases << ',' << c->format().width << ','
        << c->format().height << ',' << shape.substr(shape.rfind(' ') + 1);
    for (const std::string& name : columns) {
      csv << ',';
      char text[32];
      for (const auto& [figure, value] : c->figures)
        if (figure == name && std::snprintf(text, sizeof text, "%.4f", value) > 0) csv << text;
    }
    csv << '\n';
  }
}

Options parse(int argc, char** argv) {
  CLI::App app{
      "GPU time of complete frames. Without NOISY: the still of LULL_TEST_DATA, or a synthetic "
      "one.\n"
      "For other sizes and layouts, its first plane is mirrored at its borders."};
  Options o;
  app.add_option("NOISY", o.noisy, "still or clip; its first frame is used");
  app.add_option("--clean", o.clean, "clean version, for the PSNR");
  add_grid_options(app, o.grid);
  add_squares_option(app, o.grid);
  app.add_option("--size", o.sizes, "WIDTHxHEIGHT; several with commas")->delimiter(',');
  app.add_option("--layout", o.layouts, "gray, 420; several with commas")->delimiter(',');
  app.add_option("--in-flight", o.in_flight, "frames in flight; several with commas")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--device", o.device, "number of the GPU");
  app.add_option("--repeats", o.repeats, "number of frames; the median is printed")
      ->check(CLI::PositiveNumber);
  app.add_option("--csv", o.csv, "write all figures to this file");
  parse_arguments(app, argc, argv);
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  try {
    const cuda::DeviceList list = cuda::list_devices();
    if (list.devices.empty()) {
      std::printf("lull_frame_bench: skipped (no GPU: %s)\n", list.reason.c_str());
      return 0;
    }
    const cuda::DeviceScope scope(o.device);
    const auto cases = make_cases(o);
    add_benchmarks(cases, o);
    TableReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::ClearRegisteredBenchmarks();  // destroys the frames before the device context
    if (!o.csv.empty()) write_table(o.csv, cases, o.device);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lull_frame_bench: %s\n", error.what());
    return 1;
  }
}
