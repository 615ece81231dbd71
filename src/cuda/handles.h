#pragma once
// Owners of CUDA runtime handles and of device memory.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "cuda/check.h"

struct CUctx_st;  // a context, as in the driver's header cuda.h

namespace lull::cuda {

/// Releases a CUDA handle. The function ignores the status, because destructors must not throw.
template <auto Release>
struct Releaser {
  template <class T>
  void operator()(T* handle) const noexcept {
    (void)Release(handle);
  }
};
using Stream = std::unique_ptr<CUstream_st, Releaser<cudaStreamDestroy>>;
using Event = std::unique_ptr<CUevent_st, Releaser<cudaEventDestroy>>;

using Graph = std::unique_ptr<CUgraph_st, Releaser<cudaGraphDestroy>>;
using GraphExec = std::unique_ptr<CUgraphExec_st, Releaser<cudaGraphExecDestroy>>;

enum class Priority { normal, high };

/// Creates a stream that does not synchronise with the legacy default stream.
[[nodiscard]] inline Stream make_stream(Priority priority = Priority::normal) {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                     priority == Priority::high ? greatest : least));
  return Stream(stream);
}

enum class Timing { off, on };

/// Creates a CUDA event with blocking waits: a thread that waits for the event releases its CPU
/// core to other threads, for example to decoders and encoders.
[[nodiscard]] inline Event make_event(Timing timing = Timing::off) {
  cudaEvent_t event = nullptr;
  const unsigned flags =
      cudaEventBlockingSync | (timing == Timing::off ? cudaEventDisableTiming : 0);
  check(cudaEventCreateWithFlags(&event, flags));
  return Event(event);
}

/// Returns a CUDA graph of the work that `work` queues on `stream`. The work does not run during
/// the capture.
template <class Work>
[[nodiscard]] GraphExec capture(cudaStream_t stream, Work work) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  work();
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph));
  const Graph owner(graph);
  cudaGraphExec_t launchable = nullptr;
  check(cudaGraphInstantiateWithFlags(&launchable, graph, 0));
  return GraphExec(launchable);
}

/// Uninitialised device memory for `size` values of type T.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    void* data = nullptr;
    if (size > 0) check(cudaMalloc(&data, size * sizeof(T)));
    data_.reset(static_cast<T*>(data));
  }
  T* get() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  explicit operator bool() const noexcept { return data_ != nullptr; }

 private:
  std::unique_ptr<T, Releaser<cudaFree>> data_;
  std::size_t size_ = 0;
};

/// Makes a device current for a scope. The destructor restores the previous CUDA context of the
/// thread, which may be a context of another library, or no context. cudaSetDevice() would instead
/// create a context on the previous device.
class DeviceScope {
 public:
  /// @throws DeviceUnavailable, DeviceFailure
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  CUctx_st* previous_ = nullptr;  // null: the thread had no context
};

}  // namespace lull::cuda
