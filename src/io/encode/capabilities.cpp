#include "io/capabilities.h"

#include <dlfcn.h>

#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/read/gpu_decoder.h"

namespace lull::io {
namespace {

/// Tries to open a hardware encoder. Returns the reason for a failure; empty if the encoder works.
std::string problem_of_hardware(const AVCodec& codec) {
  const LogWatch watch;
  const CodecPtr encoder(non_null(avcodec_alloc_context3(&codec)));
  encoder->width = 640;  // above the minimum of all NVENC generations
  encoder->height = 480;
  encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder->time_base = {1, 25};
  const int code = avcodec_open2(encoder.get(), &codec, nullptr);
  if (code >= 0) return {};
  const std::string cause = watch.first_error();
  return cause.empty() ? error_text(code) : cause;
}

}  // namespace

std::vector<EncoderState> encoder_states() {
  capture_ffmpeg_log();
  std::vector<EncoderState> states;
  for (const char* name : {"libx264", "libx265", "libsvtav1", "libaom-av1", "libvpx-vp9", "ffv1",
                           "prores_ks", "h264_nvenc", "hevc_nvenc", "av1_nvenc"}) {
    const AVCodec* codec = avcodec_find_encoder_by_name(name);
    const bool needs_hardware = codec && (codec->capabilities & AV_CODEC_CAP_HARDWARE) != 0;
    states.push_back({name, !codec           ? "not in this build of FFmpeg"
                            : needs_hardware ? problem_of_hardware(*codec)
                                             : ""});
  }
  return states;
}

std::string gpu_decoding_problem(int device) {
  capture_ffmpeg_log();
  if (!find_gpu_decoder(AV_CODEC_ID_H264)) return "this build of FFmpeg has no NVDEC";
  try {
    const GpuDecoder decoder(device);
  } catch (const DeviceUnavailable& error) {
    return error.what();
  }
  void* library = dlopen("libnvcuvid.so.1", RTLD_LAZY);
  if (!library) return "the driver's library libnvcuvid.so.1 is missing";
  dlclose(library);
  return {};
}

}  // namespace lull::io
