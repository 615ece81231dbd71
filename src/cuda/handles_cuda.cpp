#include <cuda.h>
#include <dlfcn.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.h"
#include "cuda/driver_version.h"
#include "cuda/handles.h"

namespace lull::cuda {
namespace {

/// Returns whether the cause of an error status lies in the machine: its devices, its driver, or
/// the limits of its Multi-Process Service (MPS).
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

/// Functions of the CUDA driver that read and set the context of a thread. The CUDA runtime has no
/// such functions. lull loads the driver's functions at run time, because programs must start even
/// without a driver.
struct ContextFunctions {
  decltype(&cuCtxGetCurrent) current = nullptr;
  decltype(&cuCtxSetCurrent) make_current = nullptr;
  decltype(&cuDeviceGet) device = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&cuDevicePrimaryCtxRelease) release = nullptr;

  ContextFunctions() {
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver == nullptr) return;
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(driver, name));
    };
    load(current, "cuCtxGetCurrent");
    load(make_current, "cuCtxSetCurrent");
    load(device, "cuDeviceGet");
    load(retain, "cuDevicePrimaryCtxRetain");
    load(release, "cuDevicePrimaryCtxRelease_v2");
  }
  explicit operator bool() const { return current && make_current && device && retain && release; }
};

const ContextFunctions& context_functions() {
  static const ContextFunctions functions;
  return functions;
}

/// Throws an error if a function of the CUDA driver has failed. check() accepts the status, because
/// the driver and the CUDA runtime use the same error codes.
void check_driver(CUresult status, std::source_location where = std::source_location::current()) {
  check(static_cast<cudaError_t>(status), where);
}

}  // namespace

DeviceScope::DeviceScope(int device) {
  check(cudaInitDevice(device, 0, 0));  // creates the context of the runtime, the primary context
  const ContextFunctions& driver = context_functions();
  if (!driver) throw DeviceUnavailable(driver_problem(0, CUDART_VERSION));
  check_driver(driver.current(&previous_));
  CUdevice handle = 0;
  check_driver(driver.device(&handle, device));
  CUcontext primary = nullptr;
  check_driver(driver.retain(&primary, handle));
  const CUresult status = driver.make_current(primary);
  (void)driver.release(handle);  // the runtime also retains the context
  check_driver(status);
}

DeviceScope::~DeviceScope() { (void)context_functions().make_current(previous_); }

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
