#include <string>
#include <string_view>

#include "core/error.h"
#include "cuda/check.h"

namespace lull::cuda {
namespace {

bool blames_the_device(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return true;
    default:
      return false;
  }
}

}  // namespace

void check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // else the next, innocent call would report it again
  const std::string_view path = where.file_name();
  const std::string text = std::string("CUDA: ") + cudaGetErrorString(status) + " (at " +
                           std::string(path.substr(path.rfind('/') + 1)) + ":" +
                           std::to_string(where.line()) + ")";
  if (status == cudaErrorMemoryAllocation)
    throw OutOfDeviceMemory(text + "; use fewer streams or smaller batches");
  if (blames_the_device(status)) throw DeviceUnavailable(text);
  throw InternalError(text);
}

}  // namespace lull::cuda
