#include "io/read/gpu_context.h"

#include <dlfcn.h>

#include "io/ffmpeg/ffmpeg_log.h"

// The macro CUDA_VERSION prevents FFmpeg's header from including the CUDA driver's header, so that
// this file builds without the CUDA toolkit.
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

/// Driver functions that retain and release the primary context of a GPU.
struct Driver {
  int (*retain)(CUcontext* context, int device) = nullptr;
  int (*release)(int device) = nullptr;
};

/// Returns the driver functions; null pointers without an installed driver.
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

/// Makes an FFmpeg device from the GPU's primary context, without changing the flags of the
/// context. Returns null if FFmpeg or the driver reports an error.
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
  // If the flags of the primary context differ from FFmpeg's flags, FFmpeg returns an error,
  // although it could decode with this context. This fallback therefore uses the context directly.
  if ((opened = open_active_context(device))) return opened;
  const std::string cause = watch.first_error();
  problem = cause.empty() ? error_text(code) : cause;
  return nullptr;
}

}  // namespace lull::io
