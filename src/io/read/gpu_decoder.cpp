#include "io/read/gpu_decoder.h"

#include "io/ffmpeg/pixel_formats.h"
#include "io/read/gpu_context.h"

namespace lull::io {
namespace {

bool runs_on_cuda(const AVCodec& codec) {
  for (int i = 0;; ++i) {
    const AVCodecHWConfig* config = avcodec_get_hw_config(&codec, i);
    if (!config) return false;
    if (config->device_type == AV_HWDEVICE_TYPE_CUDA &&
        config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX)
      return true;
  }
}

AVPixelFormat choose_format(AVCodecContext*, const AVPixelFormat* offered) {
  const AVPixelFormat* plain = nullptr;
  for (; *offered != AV_PIX_FMT_NONE; ++offered) {
    if (*offered == AV_PIX_FMT_CUDA) return *offered;
    const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(*offered);
    if (!plain && d && !(d->flags & AV_PIX_FMT_FLAG_HWACCEL)) plain = offered;
  }
  return plain ? *plain : AV_PIX_FMT_NONE;
}

const AVHWFramesContext& surfaces_of(const AVFrame& picture) {
  return *reinterpret_cast<const AVHWFramesContext*>(picture.hw_frames_ctx->data);
}

/// A decoded picture in GPU memory, and the FFmpeg frame that owns the memory.
struct OwnedPicture {
  DevicePicture picture;
  FramePtr memory;
};

}  // namespace

const AVCodec* find_gpu_decoder(AVCodecID id) {
  void* state = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&state))
    // The function skips FFmpeg's wrapper decoders ("cuvid"), because they parse streams
    // differently from FFmpeg's CPU decoders.
    if (codec->id == id && av_codec_is_decoder(codec) && !codec->wrapper_name &&
        runs_on_cuda(*codec))
      return codec;
  return nullptr;
}

GpuDecoder::GpuDecoder(int device) : index_(device) {
  std::string problem;
  device_.reset(open_gpu(device, problem));
  if (!device_)
    throw DeviceUnavailable("FFmpeg cannot use GPU " + std::to_string(device) + ": " + problem);
}

void GpuDecoder::attach(AVCodecContext& decoder) const {
  decoder.hw_device_ctx = non_null(av_buffer_ref(device_.get()));
  decoder.get_format = choose_format;
  decoder.thread_count = 1;  // more threads would only occupy surfaces, which are limited
}

void GpuDecoder::make_pool(const AVHWFramesContext& like) {
  pool_.reset(non_null(av_hwframe_ctx_alloc(device_.get())));
  AVHWFramesContext& context = *reinterpret_cast<AVHWFramesContext*>(pool_->data);
  context.format = AV_PIX_FMT_CUDA;
  context.sw_format = like.sw_format;
  context.width = like.width;
  context.height = like.height;
  check<DeviceUnavailable>(av_hwframe_ctx_init(pool_.get()), "no GPU memory for decoded frames");
}

FramePtr GpuDecoder::copy(const AVFrame& surface) {
  const AVHWFramesContext& from = surfaces_of(surface);
  const auto* own = pool_ ? reinterpret_cast<const AVHWFramesContext*>(pool_->data) : nullptr;
  if (!own || own->sw_format != from.sw_format || own->width != from.width ||
      own->height != from.height)
    make_pool(from);
  FramePtr copy = make_frame();
  check<DeviceUnavailable>(av_hwframe_get_buffer(pool_.get(), copy.get(), 0),
                           "no GPU memory for decoded frames");
  // The function copies the complete surface, not only its visible part. If the height is odd and
  // chroma is vertically subsampled, FFmpeg would not copy the last chroma row of the visible part.
  const FramePtr whole(non_null(av_frame_clone(&surface)));
  whole->width = from.width;
  whole->height = from.height;
  check<DeviceUnavailable>(av_hwframe_transfer_data(copy.get(), whole.get(), 0),
                           "cannot copy a decoded frame on the GPU");
  check<InternalError>(av_frame_copy_props(copy.get(), &surface), "cannot copy side data");
  copy->width = surface.width;
  copy->height = surface.height;
  return copy;
}

bool GpuDecoder::works() const {
  const BufferPtr pool(av_hwframe_ctx_alloc(device_.get()));
  if (!pool) return false;
  AVHWFramesContext& context = *reinterpret_cast<AVHWFramesContext*>(pool->data);
  context.format = AV_PIX_FMT_CUDA;
  context.sw_format = AV_PIX_FMT_NV12;
  context.width = context.height = 64;
  const FramePtr frame = make_frame();
  return av_hwframe_ctx_init(pool.get()) >= 0 &&
         av_hwframe_get_buffer(pool.get(), frame.get(), 0) >= 0;
}

std::string GpuDecoder::objection(const AVFrame& picture, AVPixelFormat nominal) const {
  // If a picture has a crop at the top or left, GPU decoders return a surface that begins with the
  // cropped rows and columns. CPU decoders, in contrast, move the plane pointers.
  if (picture.crop_left != 0 || picture.crop_top != 0) return "it is cropped at the left or top";
  const std::optional<PixelTraits> traits = traits_of(nominal);
  // If the height is odd and chroma is vertically subsampled, the GPU decoders of FFmpeg 5.1 to 7.1
  // (VP8, VP9, AV1) return a wrong address of the chroma plane. The address is one row too low.
  if (picture.height % 2 != 0 && traits && traits->format.chroma_shift_y != 0)
    return "its height is odd";
  const AVPixelFormat format = surfaces_of(picture).sw_format;
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  const bool fits = traits && d && traits->format.layout == Layout::yuv && !traits->alpha &&
                    d->nb_components == 3 && !(d->flags & AV_PIX_FMT_FLAG_RGB) &&
                    d->log2_chroma_w == traits->format.chroma_shift_x &&
                    d->log2_chroma_h == traits->format.chroma_shift_y &&
                    d->comp[0].step == traits->format.bytes_per_sample() && d->comp[1].plane == 1;
  return fits ? "" : std::string("the GPU gives ") + name_of(format) + " for " + name_of(nominal);
}

std::shared_ptr<const DevicePicture> GpuDecoder::samples(FramePtr picture,
                                                         const FrameFormat& format) const {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(surfaces_of(*picture).sw_format);
  auto owned = std::make_shared<OwnedPicture>();
  DevicePicture& out = owned->picture;
  out.device = index_;
  out.shift = 8 * format.bytes_per_sample() - format.bits;
  const bool interleaved = d.comp[2].plane == 1;
  for (int i = 0; i < (interleaved ? 2 : 3); ++i) {
    const int samples = format.plane_width(i) * (interleaved && i == 1 ? 2 : 1);
    out.planes[i] = {reinterpret_cast<const std::byte*>(picture->data[i]),
                     samples * format.bytes_per_sample(), format.plane_height(i),
                     picture->linesize[i]};
  }
  owned->memory = std::move(picture);
  return {owned, &owned->picture};
}

}  // namespace lull::io
