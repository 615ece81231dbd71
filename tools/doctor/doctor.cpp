// Implements `lull doctor`. The output is for public bug reports, so it contains no serial numbers,
// and no names of users, hosts or folders.

#include "tools/doctor/doctor.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "choose/choose.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "cuda/device_list.h"
#include "io/capabilities.h"
#include "tools/doctor/build_facts.h"
#include "tools/sessions/device_choice.h"

namespace lull::tools {
namespace {

void print_fact(const std::string& name, const std::string& text) {
  std::printf("%-14s %s\n", (name + ":").c_str(), text.c_str());
}

/// Finds NAME : VALUE or NAME="VALUE" in a system file. Returns VALUE, or an empty string.
std::string system_value(const char* file, const std::string& name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t from = line.find_first_not_of(" \t:=\"", name.size());
    if (from == std::string::npos) return {};
    const std::size_t to = line.find_last_not_of(" \"");
    return line.substr(from, to - from + 1);
  }
  return {};
}

std::string system_text() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  const std::string distribution = system_value("/etc/os-release", "PRETTY_NAME");
  return std::string(names.sysname) + " " + names.release + " " + names.machine +
         (distribution.empty() ? "" : ", " + distribution);
}

std::string memory_text() {
  const auto gibibytes = [](const char* name) {
    const std::string value = system_value("/proc/meminfo", name);
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", std::atof(value.c_str()) / (1 << 20));
    return std::string(text);
  };
  return gibibytes("MemTotal") + ", available " + gibibytes("MemAvailable");
}

/// Returns a noisy grey picture and its clean original. The noise level is 20 on the 0..255 scale.
std::pair<Frame, Frame> test_pictures() {
  FramePool pool({.width = 96, .height = 80});
  Frame clean = pool.acquire(), noisy = pool.acquire();
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 20);
  for (int y = 0; y < 80; ++y)
    for (int x = 0; x < 96; ++x) {
      const double value = 128 + 50 * std::sin(x * 0.13) * std::cos(y * 0.11);
      clean.plane<std::uint8_t>(0).row(y)[x] = static_cast<std::uint8_t>(std::lround(value));
      noisy.plane<std::uint8_t>(0).row(y)[x] =
          static_cast<std::uint8_t>(std::lround(std::clamp(value + noise(random), 0.0, 255.0)));
    }
  return {clean, noisy};
}

double mean_square_difference(const Frame& a, const Frame& b) {
  double sum = 0;
  for (int y = 0; y < a.format.height; ++y)
    for (int x = 0; x < a.format.width; ++x) {
      const double d = a.plane<std::uint8_t>(0).row(y)[x] - b.plane<std::uint8_t>(0).row(y)[x];
      sum += d * d;
    }
  return sum / (a.format.width * a.format.height);
}

/// Denoises a small picture on a device. Returns a description of the problem, or an empty string.
std::string problem_of_device(const std::string& device) {
  try {
    const auto [clean, noisy] = test_pictures();
    SessionChoice choice{.device = device};
    choice.noise = NoiseModel({20, 20, 20});
    const ChosenSession session = open_chosen(choice, noisy.format);
    std::optional<Frame> result = session.denoiser->push(noisy);
    if (!result) result = session.denoiser->drain();
    if (!result) return "the session returned no result";
    // A correct session reduces the noise variance to 5 % of its original value. The test allows up
    // to 10 %.
    if (mean_square_difference(*result, clean) > 0.1 * mean_square_difference(noisy, clean))
      return "wrong result for a test picture";
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string verdict(const std::string& problem) {
  return problem.empty() ? "works" : "does not work (" + problem + ")";
}

/// Prints the state of all GPUs. Returns whether at least one GPU works.
bool print_gpus() {
  const cuda::DeviceList list = cuda::list_devices();
  if (list.devices.empty()) {
    print_fact("GPU", "none (" + list.reason + ")");
    return false;
  }
  print_fact("driver", "supports CUDA up to " + cuda::driver_version());
  bool any = false;
  for (const cuda::DeviceInfo& gpu : list.devices) {
    const std::string name = "cuda:" + std::to_string(gpu.index);
    const std::string problem = problem_of_device(name);
    any = any || problem.empty();
    char facts[64];
    std::snprintf(facts, sizeof facts, ", compute capability %d.%d, %.1f GiB: ", gpu.major,
                  gpu.minor, static_cast<double>(gpu.memory) / (1 << 30));
    print_fact(name, gpu.name + facts + verdict(problem));
    print_fact("NVDEC " + std::to_string(gpu.index), verdict(io::gpu_decoding_problem(gpu.index)));
  }
  return any;
}

void print_encoders() {
  std::string usable, missing;
  for (const io::EncoderState& encoder : io::encoder_states()) {
    std::string& list = encoder.problem.empty() ? usable : missing;
    list += (list.empty() ? "" : ", ") + encoder.name;
    if (!encoder.problem.empty()) list += " (" + encoder.problem + ")";
  }
  print_fact("encoders", usable.empty() ? "none" : usable);
  if (!missing.empty()) print_fact("not usable", missing);
}

}  // namespace

int doctor() {
  std::printf("%s\n", version_text().c_str());
  print_fact("system", system_text());
  const std::string model = system_value("/proc/cpuinfo", "model name");
  const std::string cpu_problem = problem_of_device("cpu");
  print_fact("cpu", (model.empty() ? "" : model + ", ") +
                        std::to_string(std::thread::hardware_concurrency()) + " threads, " +
                        cpu_target() + ": " + verdict(cpu_problem));
  print_fact("memory", memory_text());
  const bool gpu_works = print_gpus();
  print_encoders();
  if (cpu_problem.empty() || gpu_works) return 0;
  throw DeviceUnavailable(
      "no device works (neither the CPU nor a GPU denoised the test picture); report this output");
}

}  // namespace lull::tools
