// lull_kernel_bench: measures the GPU time of each kernel of the CUDA backend on one grey frame,
// with events on the stream. Counters: ms (median), reference patches per second, share of the
// frame time. `lull_kernel_bench --help` lists the program's own options, in addition to those of
// Google Benchmark.

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>

#include "bench/support/benchmark_arguments.h"
#include "bench/support/device_time.h"
#include "bench/support/kernel_stages.h"
#include "bench/support/parameter_grid.h"
#include "bench/support/pictures.h"
#include "cuda/device_list.h"
#include "cuda/pinned_memory.h"
#include "cuda/shared_memory.h"

namespace {

using namespace lull;
using namespace lull::bench;

struct Options {
  std::string noisy, clean;
  ParameterGrid grid{.sigmas = {20}, .profiles = {"fast", "balanced", "high", "paper"}};
  std::vector<std::string> sizes{"1920x1080"};
  int device = 0, repeats = 50;
  bool black = false;
  std::size_t shared_memory = 0;  // limit in KB; 0: that of the device
};

/// Returns the device limits for which the kernels are planned.
cuda::DeviceLimits limits(const Options& o) {
  cuda::DeviceLimits device = cuda::device_limits();
  if (o.shared_memory > 0) {
    device.shared_memory = o.shared_memory << 10;
    device.block_shared_memory = device.shared_memory - device.reserved;
  }
  return device;
}

/// One setting at one frame size. The kernels are created when the first stage is timed. Only one
/// object of this kind exists at a time.
struct Bench {
  Bench(const Configuration& configuration, const Frame& noisy, int repeats,
        const cuda::DeviceLimits& device)
      : kernels(configuration.params, noisy, device), timer(kernels.stream()) {
    frame_ms =
        timer.repeat(repeats, [&] { kernels.launch_until(kernels.stages().size()); }).median();
  }
  KernelStages kernels;
  DeviceTimer timer;
  double frame_ms = 0;  // time of all stages, median
};

void time_stage(benchmark::State& state, const Bench& bench, std::size_t index) {
  const KernelStage& stage = bench.kernels.stages()[index];
  bench.kernels.launch_until(index + 1);
  std::vector<float> times;
  for (auto _ : state) {
    times.push_back(bench.timer.once(stage.launch));
    state.SetIterationTime(1e-3 * static_cast<double>(times.back()));
  }
  const double median = Times(std::move(times)).median();
  state.counters["ms"] = median;
  if (stage.references > 0)
    state.counters["references/s"] = 1e3 * static_cast<double>(stage.references) / median;
  state.counters["share"] = median / bench.frame_ms;
}

void blacken(Frame& frame) {
  for (int i = 0; i < frame.format.planes(); ++i)
    for (int y = 0; y < frame.format.plane_height(i); ++y)
      std::fill_n(frame.planes[i].data + y * frame.planes[i].stride,
                  frame.format.plane_width(i) * frame.format.bytes_per_sample(), std::byte{0});
}

/// Registers the stages by name. Registration requires no device, because `bench` is created only
/// when the stages run.
void add_benchmarks(const Options& o, const PicturePair& picture) {
  auto current = std::make_shared<std::pair<std::string, std::unique_ptr<Bench>>>();
  const cuda::DeviceLimits device = limits(o);
  for (const std::string& size : o.sizes) {
    const FrameFormat format = format_of({parse_size(size), "gray"}, picture.noisy.format);
    const PicturePair pair{reshape(picture.noisy, format, 0, cuda::pinned_memory()),
                           reshape(picture.clean, format, 0, cuda::pinned_memory())};
    for (const Configuration& configuration : configurations(o.grid)) {
      const std::string key = configuration.setting + "/" + size;
      Frame noisy = with_noise(pair, static_cast<double>(configuration.sigma),
                               configuration.squares, cuda::pinned_memory());
      if (o.black) blacken(noisy);
      const KernelStages probe(configuration.params, noisy, device);
      for (std::size_t i = 0; i < probe.stages().size(); ++i)
        benchmark::RegisterBenchmark((key + "/" + probe.stages()[i].name).c_str(),
                                     [=, repeats = o.repeats](benchmark::State& state) {
                                       if (current->first != key) {
                                         current->second.reset();
                                         current->second = std::make_unique<Bench>(
                                             configuration, noisy, repeats, device);
                                         current->first = key;
                                       }
                                       time_stage(state, *current->second, i);
                                     })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->Iterations(o.repeats);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "GPU time of each BM3D kernel on one grey frame. Without NOISY: the still of "
      "LULL_TEST_DATA,\n"
      "or a synthetic picture."};
  Options o;
  app.add_option("NOISY", o.noisy, "still or clip; the first plane of its first frame is used");
  app.add_option("--clean", o.clean, "clean version, for --squares");
  add_grid_options(app, o.grid);
  add_squares_option(app, o.grid);
  app.add_option("--size", o.sizes, "WIDTHxHEIGHT; several with commas")->delimiter(',');
  app.add_option("--device", o.device, "number of the GPU");
  app.add_flag("--black", o.black, "use a black frame, in which all candidates are equal");
  app.add_option("--shared-memory", o.shared_memory,
                 "plan kernels for a GPU with this shared memory per multiprocessor in KB (64, "
                 "100, 164, 228)");
  app.add_option("--repeats", o.repeats, "number of launches; the median is printed")
      ->check(CLI::PositiveNumber);
  parse_arguments(app, argc, argv);

  try {
    const cuda::DeviceList list = cuda::list_devices();
    if (list.devices.empty()) {
      std::printf("lull_kernel_bench: skipped (no GPU: %s)\n", list.reason.c_str());
      return 0;
    }
    const cuda::DeviceScope scope(o.device);
    add_benchmarks(o, load_pair(o.noisy, o.clean, cuda::pinned_memory()));
    TableReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::ClearRegisteredBenchmarks();  // destroys the frames before the device context
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lull_kernel_bench: %s\n", error.what());
    return 1;
  }
}
