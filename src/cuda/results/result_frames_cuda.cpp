#include <deque>
#include <mutex>
#include <utility>

#include "cuda/handles.h"
#include "cuda/pinned_memory.h"
#include "cuda/results/result_frames.h"

namespace lull::cuda {
namespace {

class DeviceMemory final : public std::pmr::memory_resource {
 public:
  explicit DeviceMemory(int device) : device_(device) {}
  int device() const { return device_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t /*alignment: 256*/) override {
    const DeviceScope scope(device_);
    void* data = nullptr;
    check(cudaMalloc(&data, bytes));
    return data;
  }
  void do_deallocate(void* data, std::size_t, std::size_t) override {
    try {
      // Any thread may release a frame, also a thread without a CUDA context. In such a thread,
      // cudaFree() would create a context on GPU 0. DeviceScope therefore selects the GPU that owns
      // the memory.
      const DeviceScope scope(device_);
      (void)cudaFree(data);
    } catch (...) {  // the GPU has failed, and its memory with it
    }
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  int device_;
};

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device));
  return device;
}

}  // namespace

std::pmr::memory_resource* device_memory(int device) {
  static std::mutex mutex;
  // The program never destroys the memory resources, because frames may outlive static objects.
  static auto& memories = *new std::deque<DeviceMemory>;
  const std::lock_guard lock(mutex);
  for (DeviceMemory& memory : memories)
    if (memory.device() == device) return &memory;
  return &memories.emplace_back(device);
}

ResultFrames::ResultFrames(const FrameFormat& format, bool on_device)
    : device_(on_device ? current_device() : -1),
      pool_(format, on_device ? device_memory(device_) : pinned_memory()) {}

Frame ResultFrames::acquire() {
  Frame frame = pool_.acquire();
  return device_ < 0 ? frame : on_device(std::move(frame), device_);
}

void synchronize(int device) {
  const DeviceScope scope(device);
  check(cudaDeviceSynchronize());
}

void copy_bytes(void* to, const void* from, std::size_t bytes, int device) {
  const DeviceScope scope(device);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cudaStreamPerThread));
  check(cudaStreamSynchronize(cudaStreamPerThread));
}

}  // namespace lull::cuda
