// Functions of the C interface that concern the whole library.

#include <array>
#include <string>

#include "c/src/log.h"
#include "c/src/support.h"
#include "core/version.h"
#include "cuda/device_list.h"

using namespace lull::c;

const char* lull_version(void) { return lull::version; }

const char* lull_status_name(lull_status status) {
  switch (status) {
    case LULL_OK:
      return "success";
    case LULL_NONE:
      return "no further item";
    case LULL_INVALID_ARGUMENT:
      return "invalid argument";
    case LULL_BAD_DATA:
      return "unusable data";
    case LULL_DEVICE_UNAVAILABLE:
      return "device unavailable";
    case LULL_OUT_OF_MEMORY:
      return "out of memory";
    case LULL_OUT_OF_DEVICE_MEMORY:
      return "out of device memory";
    case LULL_DEVICE_FAILED:
      return "device failed";
    case LULL_CANCELLED:
      return "cancelled";
    case LULL_UNSUPPORTED:
      return "unsupported";
    case LULL_CLOSED:
      return "session closed";
    case LULL_INTERNAL:
      return "internal error";
    default:
      return "unknown status";
  }
}

const char* lull_last_error(void) { return thread_error().get(); }

lull_status lull_set_log(lull_log_function function, void* user) {
  return guarded([&] {
    set_log(function, user);
    return LULL_OK;
  });
}

lull_status lull_get_device(std::size_t index, lull_device_info* info) {
  return guarded([&] {
    lull_device_info found{};
    if (index == 0) {
      copy_text("cpu", found.name);
      copy_text("the processor of this machine", found.description);
    } else {
      const auto devices = lull::cuda::list_devices().devices;
      if (index > devices.size()) return LULL_NONE;
      const lull::cuda::DeviceInfo& gpu = devices[index - 1];
      copy_text("cuda:" + std::to_string(gpu.index), found.name);
      copy_text(gpu.name, found.description);
      found.memory = gpu.memory;
      found.major = gpu.major;
      found.minor = gpu.minor;
    }
    write_struct(info, found, "info");
    return LULL_OK;
  });
}
