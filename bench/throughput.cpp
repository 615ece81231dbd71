// lull_throughput NOISY --clean CLEAN: measures frames per second through lull's pipeline without
// codecs. Frames in memory pass through a session, or one session per GPU, to a sink that drops
// them. The program also prints the PSNR of the first frame and, on GPUs without temporal search,
// the rate of the kernels alone, measured in the same run.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/support/kernel_time.h"
#include "bench/support/memory_stream.h"
#include "bench/support/parameter_grid.h"
#include "bench/support/pictures.h"
#include "core/error.h"
#include "pipeline/run.h"
#include "tools/sessions/open_denoiser.h"

namespace {

using namespace lull;
using namespace lull::bench;

struct Options {
  std::string noisy, clean, csv, size, layout;
  ParameterGrid grid{.sigmas = {20}, .profiles = {"fast", "balanced", "high", "paper"}};
  std::vector<std::string> devices{"cpu"};
  std::vector<int> streams{4};  // per device; docs/measurements/gpu-speed.md has the tables
  int threads = 0, frames = 0, repeats = 3;
  bool hash = false;
};

Options parse(int argc, char** argv) {
  CLI::App app{
      "Frames per second from host memory to host memory, through the pipeline. Without NOISY: "
      "the\n"
      "still of LULL_TEST_DATA, or a synthetic one."};
  Options o;
  app.add_option("NOISY", o.noisy, "still or clip; its first frame is used");
  app.add_option("--clean", o.clean, "clean version, for the PSNR of the first plane");
  app.add_option("--size", o.size, "WIDTHxHEIGHT; frames are made from the first plane");
  app.add_option("--layout", o.layout, "gray or 420; frames are made from the first plane");
  app.add_option("--device", o.devices, "cpu, reference, cuda:0 or cuda:0+1; several with commas")
      ->delimiter(',');
  app.add_option("--streams", o.streams, "frames in flight on each GPU")->delimiter(',');
  add_grid_options(app, o.grid);
  app.add_option("--threads", o.threads, "threads of the cpu backend; 0: all cores");
  app.add_option("--frames", o.frames, "frames per run; 0: about 2 seconds");
  app.add_option("--repeats", o.repeats, "number of runs; the median is printed")
      ->check(CLI::PositiveNumber);
  app.add_flag("--hash", o.hash, "also filter 40 different frames and print a hash of the results");
  app.add_option("--csv", o.csv, "also write the table to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return o;
}

/// Returns one backend per GPU for a name such as "cuda:0+1".
std::vector<bm3d::Backend> backends_of(const std::string& device, const Options& o, int streams) {
  std::vector<bm3d::Backend> backends;
  const std::string gpus = device.rfind("cuda:", 0) == 0 ? device.substr(5) : "";
  for (std::size_t from = 0; from <= gpus.size();) {
    const std::size_t to = std::min(gpus.find('+', from), gpus.size());
    backends.push_back(backend_of(gpus.empty() ? device : "cuda:" + gpus.substr(from, to - from),
                                  streams, o.threads));
    from = to + 1;
  }
  return backends;
}

/// A setting on a device, with `streams` frames in flight.
struct Case {
  Configuration configuration;
  std::string device;
  int streams;
  std::vector<bm3d::Backend> backends;
  std::vector<Frame> noisy;  // used in turn
  Frame clean;
};

struct Run {
  pipeline::PipelineStats stats;
  double cpu = 0;  // seconds of all threads
  std::uint64_t hash = 0;
  Frame first;  // the first result
};
Run run(const Case& c, int count, Keep keep) {
  MemorySource source(c.noisy, count);
  DroppingSink sink(keep);
  // Each run needs a new session: sessions cannot be used after drain().
  const auto session =
      tools::open_denoiser(c.configuration.params, c.noisy.front().format, c.backends,
                           tools::Fallback::none, [](const std::string&) {})
          .denoiser;
  Run r;
  const std::clock_t start = std::clock();
  r.stats = pipeline::run(source, *session, sink);
  r.cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  r.hash = sink.hash();
  r.first = sink.first();
  return r;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Returns the number of frames that take about two seconds. The first frames of a session are slow
/// because buffers are allocated, so a short run is not representative.
int frames_for(const Case& c) {
  int count = 8;
  for (const double seconds : {0.25, 2.0})
    count = std::clamp(
        static_cast<int>(std::lround(seconds * run(c, count, Keep::nothing).stats.fps())), count,
        10000);
  return count;
}

std::string measure(const Options& o, const Case& c) {
  const FrameFormat& format = c.noisy.front().format;
  const Run one = run(c, 2 * c.configuration.params.temporal + 1, Keep::first);
  const int count = o.frames > 0 ? o.frames : frames_for(c);
  std::vector<double> seconds, cpu, kernels, ratios;
  for (int i = 0; i < o.repeats;
       ++i) {  // alternating, so that both measurements see the same GPU clocks
    const double ms =
        c.backends.front().kind == bm3d::BackendKind::cuda && c.configuration.params.temporal == 0
            ? kernels_ms(c.configuration.params, c.noisy.front(), c.backends.front().device)
            : 0;
    const Run r = run(c, count, Keep::nothing);
    seconds.push_back(r.stats.seconds / count);
    cpu.push_back(r.cpu / count);
    if (ms <= 0) continue;
    kernels.push_back(1000 / ms * static_cast<double>(c.backends.size()));
    ratios.push_back(1 / seconds.back() / kernels.back());
  }
  const auto [min_seconds, max_seconds] = std::minmax_element(seconds.begin(), seconds.end());
  char text[300];
  std::snprintf(text, sizeof text, "%s,%s,%d,%d,%d,%.3f,%.2f,%.3f,%.3f,%.4f,%s", c.device.c_str(),
                c.configuration.setting.c_str(), c.configuration.params.phases, c.streams, count,
                c.clean.pixels ? psnr(one.first, c.clean) : 0.0, 1 / median(seconds),
                1000 * median(seconds), 1000 * (*max_seconds - *min_seconds),
                median(cpu) * 1e6 / format.width / format.height, describe_shape(format).c_str());
  std::string line = text;
  if (kernels.empty()) {
    line += ",,";
  } else {
    std::snprintf(text, sizeof text, ",%.2f,%.3f", median(kernels), median(ratios));
    line += text;
  }
  line += ',';
  if (!o.hash) return line;
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(run(c, 40, Keep::hash).hash));
  return line + text;
}

/// Creates different frames: the picture, shifted by 4 samples per frame. The first frame is the
/// noisy picture itself. If the clean picture is known, the other frames get new noise.
std::vector<Frame> make_frames(const PicturePair& pair, const FrameFormat& format, double sigma,
                               std::pmr::memory_resource* memory) {
  std::vector<Frame> frames;
  Gaussian gaussian(1);
  FramePool pool(format, memory);
  for (int i = 0; i < 2 * max_temporal + 2; ++i) {
    const bool fresh_noise = i > 0 && pair.clean.pixels && format.sample != SampleType::f32;
    const Frame moved = reshape(fresh_noise ? pair.clean : pair.noisy, format, 4 * i, memory);
    frames.push_back(fresh_noise ? add_noise(moved, sigma, gaussian, pool) : moved);
  }
  return frames;
}

void measure_all(const Options& o) {
  std::ofstream csv;
  if (!o.csv.empty()) {
    csv.open(o.csv);
    if (!csv) throw CannotCreate(o.csv + " (cannot be written); choose another name");
  }
  const auto say = [&](const std::string& line) {
    std::cout << line << std::endl;
    if (csv.is_open()) csv << line << std::endl;
  };
  say("device,setting,phases,streams,frames,psnr_db,fps,ms,ms_spread,cpu_s_per_mpixel,shape,"
      "kernels_fps,ratio,hash");
  for (const std::string& device : o.devices) {
    const auto memory = bm3d::frame_memory(backends_of(device, o, 1).front());
    const PicturePair pair = load_pair(o.noisy, o.clean, memory);
    const FrameFormat format =
        format_of({o.size.empty() ? Size{} : parse_size(o.size), o.layout}, pair.noisy.format);
    const std::vector<Frame> noisy = make_frames(pair, format, o.grid.sigmas.front(), memory);
    const Frame clean = reshape(pair.clean, format, 0, memory);
    for (const Configuration& configuration : configurations(o.grid))
      for (const int streams : o.streams)
        say(measure(
            o, {configuration, device, streams, backends_of(device, o, streams), noisy, clean}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure_all(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "lull_throughput: " << error.what() << '\n';
    return 1;
  }
}
