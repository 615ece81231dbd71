#include "io/read/gpu_context.h"

#include <dlfcn.h>

#include "io/ffmpeg/ffmpeg_log.h"

// FFmpeg's header includes the header of the CUDA driver unless CUDA_VERSION is defined. The
// driver's header is a part of the CUDA toolkit. This file does not need the toolkit, because it
// defines CUDA_VERSION and the two driver types that FFmpeg's header uses.
struct CUctx_st;
struct CUstream_st;
using CUcontext = CUctx_st*;
using CUstream = CUstream_st*;
#define CUDA_VERSION 0
extern "C" {
#include <libavutil/hwcontext_cuda.h>
}
#undef CUDA_VERSION

namespace lull::io {
namespace {

/// The functions of the CUDA driver that retain and release the primary context of a GPU.
struct Driver {
  int (*retain)(CUcontext* context, int device) = nullptr;
  int (*release)(int device) = nullptr;
};

/// Returns the functions of the CUDA driver. The pointers are null if no driver is installed.
const Driver& driver() {
  static const Driver functions = [] {
    Driver found;
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return found;
    found.retain =
        reinterpret_cast<decltype(found.retain)>(dlsym(library, "cuDevicePrimaryCtxRetain"));
    found.release =
        reinterpret_cast<decltype(found.release)>(dlsym(library, "cuDevicePrimaryCtxRelease_v2"));
    return found;
  }();
  return functions;
}

void release_context(AVHWDeviceContext* context) {
  driver().release(static_cast<int>(reinterpret_cast<std::intptr_t>(context->user_opaque)));
}

/// Makes an FFmpeg device from the primary context of the GPU, and leaves the flags of the context
/// unchanged. Returns null if FFmpeg or the driver reports an error.
AVBufferRef* open_active_context(int device) {
  if (!driver().retain || !driver().release) return nullptr;
  AVBufferRef* opened = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
  if (!opened) return nullptr;
  CUcontext primary = nullptr;
  if (driver().retain(&primary, device) == 0) {
    auto& context = *reinterpret_cast<AVHWDeviceContext*>(opened->data);
    static_cast<AVCUDADeviceContext*>(context.hwctx)->cuda_ctx = primary;
    context.user_opaque = reinterpret_cast<void*>(static_cast<std::intptr_t>(device));
    context.free = release_context;
    if (av_hwdevice_ctx_init(opened) >= 0) return opened;
  }
  av_buffer_unref(&opened);
  return nullptr;
}

}  // namespace

AVBufferRef* open_gpu(int device, std::string& problem) {
  const LogWatch watch;
  Dictionary options;
  options.set("primary_ctx", "1");
  AVBufferRef* opened = nullptr;
  const std::string name = std::to_string(device);
  const int code =
      av_hwdevice_ctx_create(&opened, AV_HWDEVICE_TYPE_CUDA, name.c_str(), *options.address(), 0);
  if (code >= 0) return opened;
  // FFmpeg refuses a primary context whose flags differ from FFmpeg's flags, although FFmpeg can
  // decode with such a context. Other code of the program may have created the context with other
  // flags.
  if ((opened = open_active_context(device))) return opened;
  const std::string cause = watch.first_error();
  problem = cause.empty() ? error_text(code) : cause;
  return nullptr;
}

}  // namespace lull::io
