#include <cstdio>
#include <thread>

#include "cuda/device_list.h"
#include "tools/commands/commands.h"
#include "tools/sessions/device_choice.h"

namespace lull::tools {

int devices() {
  std::printf("%-10s %s, %u threads\n", "cpu", cpu_target().c_str(),
              std::thread::hardware_concurrency());
  std::printf("%-10s scalar, 1 thread; slow, for checks\n", "reference");
  const cuda::DeviceList list = cuda::list_devices();
  for (const cuda::DeviceInfo& gpu : list.devices) {
    const std::string name = "cuda:" + std::to_string(gpu.index);
    std::printf("%-10s %s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n", name.c_str(),
                gpu.name.c_str(), gpu.major, gpu.minor, gpu.multiprocessors,
                static_cast<double>(gpu.memory) / (1 << 30));
  }
  if (list.devices.empty()) std::printf("%-10s none (%s)\n", "cuda", list.reason.c_str());
  return 0;
}

}  // namespace lull::tools
