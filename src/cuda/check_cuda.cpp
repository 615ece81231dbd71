#include <string>
#include <string_view>

#include "core/error.h"
#include "cuda/check.h"

namespace lull::cuda {
namespace {

/// Returns whether the status is a property of the machine: its devices, its driver, or the limits
/// of its Multi-Process Service (MPS).
bool is_device_unavailable(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDeviceNotLicensed:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorInsufficientDriver:
    case cudaErrorCallRequiresNewerDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
      return true;
    default:
      return false;
  }
}

/// Returns whether the status is a failure of the device or of a kernel. After most of these
/// failures, all CUDA calls of the process fail.
bool is_device_failure(cudaError_t status) {
  constexpr int contained = 226;  // cudaErrorContained, which CUDA 12 does not declare
  if (static_cast<int>(status) == contained) return true;
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
    case cudaErrorContextIsDestroyed:
    case cudaErrorDeviceUninitialized:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsClientTerminated:
    case cudaErrorOperatingSystem:
    case cudaErrorSystemNotReady:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

void check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // without this call, the next CUDA call would report the same error
  const std::string_view path = where.file_name();
  const std::string text = std::string("CUDA: ") + cudaGetErrorString(status) + " (at " +
                           std::string(path.substr(path.rfind('/') + 1)) + ":" +
                           std::to_string(where.line()) + ")";
  if (status == cudaErrorMemoryAllocation)
    throw OutOfDeviceMemory(text + "; use fewer streams or smaller batches");
  if (is_device_failure(status)) throw DeviceFailure(text);
  if (is_device_unavailable(status)) throw DeviceUnavailable(text);
  throw InternalError(text);
}

}  // namespace lull::cuda
