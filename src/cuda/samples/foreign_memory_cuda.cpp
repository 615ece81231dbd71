#include <cuda.h>
#include <dlfcn.h>

#include "cuda/handles.h"
#include "cuda/samples/foreign_memory.h"

namespace lull::cuda {
namespace {

/// CUDA driver functions that the CUDA runtime does not offer. lull loads them at run time, because
/// programs must start even without a driver.
struct ImportFunctions {
  decltype(&cuImportExternalMemory) import = nullptr;
  decltype(&cuExternalMemoryGetMappedBuffer) map = nullptr;
  decltype(&cuDestroyExternalMemory) destroy = nullptr;
  decltype(&cuMemFree) free = nullptr;

  ImportFunctions() {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver == nullptr) return;
    import = reinterpret_cast<decltype(import)>(dlsym(driver, "cuImportExternalMemory"));
    map = reinterpret_cast<decltype(map)>(dlsym(driver, "cuExternalMemoryGetMappedBuffer"));
    destroy = reinterpret_cast<decltype(destroy)>(dlsym(driver, "cuDestroyExternalMemory"));
    free = reinterpret_cast<decltype(free)>(dlsym(driver, "cuMemFree_v2"));
  }
  explicit operator bool() const { return import && map && destroy && free; }
};

const ImportFunctions& driver_functions() {
  static const ImportFunctions functions;
  return functions;
}

}  // namespace

void wait_for_stream(void* stream, int device) {
  const DeviceScope scope(device);
  if (stream == nullptr) return;
  const Event now = make_event();
  check(cudaEventRecord(now.get(), static_cast<cudaStream_t>(stream)));
  check(cudaStreamWaitEvent(cudaStreamLegacy, now.get()));
  check(cudaStreamWaitEvent(cudaStreamPerThread, now.get()));
}

std::shared_ptr<std::byte> import_dma_buf(int descriptor, std::size_t bytes, int device) {
  const ImportFunctions& driver = driver_functions();
  if (!driver) return nullptr;
  const DeviceScope scope(device);
  check(cudaFree(nullptr));  // creates the context, which the functions of the driver need
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC memory{};
  constexpr int dma_buf_type = 9;  // CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD, from CUDA 13 on
  memory.type = static_cast<CUexternalMemoryHandleType>(dma_buf_type);
  memory.handle.fd = descriptor;
  memory.size = bytes;
  CUexternalMemory imported = nullptr;
  if (driver.import(&imported, &memory) != CUDA_SUCCESS) return nullptr;
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole{};
  whole.size = bytes;
  CUdeviceptr address = 0;
  if (driver.map(&address, imported, &whole) != CUDA_SUCCESS) {
    (void)driver.destroy(imported);
    return nullptr;
  }
  return {reinterpret_cast<std::byte*>(address), [imported, address, device](std::byte*) {
            try {
              const DeviceScope scope(device);
              (void)driver_functions().free(address);
              (void)driver_functions().destroy(imported);
            } catch (...) {
            }
          }};
}

}  // namespace lull::cuda
