// The table of encoders and of the picture properties that they can store.

#include <algorithm>

#include "io/encode/traits.h"
#include "io/media.h"

namespace lull::io {
namespace {

// Properties of pictures that all H.264 and HEVC encoders can store. lull itself writes the SEI
// messages for captions and HDR10+ (`frame_sei.h`).
constexpr PictureProperties h26x{.colour = true,
                                 .range = true,
                                 .chroma_location = true,
                                 .aspect = true,
                                 .dynamic_hdr = true,
                                 .captions = true};

constexpr PictureProperties with_static_hdr(PictureProperties p) {
  p.static_hdr = true;
  return p;
}
constexpr PictureProperties with_fields(PictureProperties p) {
  p.fields = true;
  return p;
}

constexpr Setting zero_qp[] = {{"qp", "0"}};
constexpr Setting vp9_lossless[] = {{"lossless", "1"}};
constexpr Setting vpx_quality[] = {{"b", "0"}};  // without this setting, crf is only an upper bound
// The bit rate of libvpx for VP8 is at most `b`. If `b` is 0, libvpx uses 256 kbit/s.
constexpr Setting vp8_quality[] = {{"b", "200M"}};
// Quality of NVENC: `cq` is the target quality, and requires a variable bit rate (`rc`). The option
// -q:v is not suitable, because FFmpeg would pass NVENC a quantiser far above the maximum.
constexpr Setting nvenc_quality[] = {{"rc", "vbr"}, {"cq", "18"}};
constexpr Setting vp9_settings[] = {{"row-mt", "1"}};
constexpr Setting png_settings[] = {{"pred", "mixed"}};
constexpr Setting exr_settings[] = {{"compression", "zip16"}};
constexpr Setting webp_quality[] = {{"quality", "95"}};
constexpr Setting webp_lossless[] = {{"lossless", "1"}};
constexpr Setting tiff_settings[] = {{"compression_algo", "deflate"}};

constexpr EncoderTraits x264(std::string_view name) {
  return {.name = name,
          .codec = AV_CODEC_ID_H264,
          .picture = with_fields(with_static_hdr(h26x)),
          .max_threads = 64,
          .default_crf = 18,
          .max_crf = 51,  // x264 accepts larger values and clamps them
          .lossless = zero_qp,
          .params = "x264-params",
          .mastering_key = "mastering-display",
          .light_level_key = "cll",
          .named_presets = true,
          .broken_avx512 = true,
          .bottom_first_params = "bff=1"};
}

// Returns the traits of an encoder for WebP: lossless RGB, or lossy 4:2:0 YCbCr.
constexpr EncoderTraits webp(std::string_view name) {
  return {.name = name,
          .codec = AV_CODEC_ID_WEBP,
          .lossy_settings = webp_quality,
          .rgb_settings = webp_lossless,
          .percent_quality = true,
          .lossless = webp_lossless};
}

constexpr EncoderTraits encoders[] = {
    x264("libx264"),
    x264("libx264rgb"),
    {.name = "libx265",
     .codec = AV_CODEC_ID_HEVC,
     .picture = with_static_hdr(h26x),
     .max_threads = 15,  // number of parallel frames; x265 3.5 rejects 17 and warns at 16
     .depends_on_cores = true,
     .default_crf = 18,
     .max_crf = 51,
     .params = "x265-params",
     .quiet_params = "log-level=none",
     .lossless_params = "lossless=1",
     .mastering_key = "master-display",
     .light_level_key = "max-cll",
     .broken_small_cutree = true,
     .uninitialised_dts_frames = 2},
    {.name = "libvpx",
     .codec = AV_CODEC_ID_VP8,
     .max_threads = 64,
     .default_crf = 10,
     .lossy_settings = vp8_quality},
    {.name = "libvpx-vp9",
     .codec = AV_CODEC_ID_VP9,
     .picture = {.range = true},
     .max_threads = 64,
     .default_crf = 24,
     .settings = vp9_settings,
     .lossy_settings = vpx_quality,
     .lossless = vp9_lossless},
    // lull writes film grain tables only with libaom-av1, because libsvtav1 1.4 hangs with a table
    // and lull cannot detect this version.
    {.name = "libaom-av1",
     .codec = AV_CODEC_ID_AV1,
     .picture = {.colour = true, .range = true},
     .max_threads = 64,
     .grain_option = "aom-params",
     .grain_key = "film-grain-table"},
    {.name = "libtheora",
     .codec = AV_CODEC_ID_THEORA,
     .depends_on_cores = true,
     .default_quality = 10},
    // FFV1 stores the aspect ratio and the field order only from level 3 on.
    {.name = "ffv1",
     .codec = AV_CODEC_ID_FFV1,
     .picture = {.aspect = true, .fields = true},
     .picture_from_level = 3,
     .sliced = true},
    {.name = "wrapped_avframe", .codec = AV_CODEC_ID_WRAPPED_AVFRAME},
    {.name = "rawvideo", .codec = AV_CODEC_ID_RAWVIDEO},
    {.name = "png", .codec = AV_CODEC_ID_PNG, .settings = png_settings},
    {.name = "exr", .codec = AV_CODEC_ID_EXR, .settings = exr_settings},
    {.name = "tiff", .codec = AV_CODEC_ID_TIFF, .settings = tiff_settings},
    {.name = "pfm", .codec = AV_CODEC_ID_PFM},
    {.name = "pgm", .codec = AV_CODEC_ID_PGM},
    {.name = "ppm", .codec = AV_CODEC_ID_PPM},
    {.name = "pam", .codec = AV_CODEC_ID_PAM},
    {.name = "bmp", .codec = AV_CODEC_ID_BMP},
    {.name = "mjpeg", .codec = AV_CODEC_ID_MJPEG},
    {.name = "dpx", .codec = AV_CODEC_ID_DPX},
    {.name = "apng", .codec = AV_CODEC_ID_APNG, .settings = png_settings},
    {.name = "gif", .codec = AV_CODEC_ID_GIF},
    webp("libwebp"),
    webp("libwebp_anim"),
    // Traits by codec, for the encoders whose names are not in the rows above.
    {.codec = AV_CODEC_ID_H264, .picture = h26x},
    {.codec = AV_CODEC_ID_HEVC, .picture = h26x},
    {.codec = AV_CODEC_ID_MPEG2VIDEO,
     .picture = {.colour = true, .aspect = true, .captions = true, .fields = true}},
    {.codec = AV_CODEC_ID_VP9, .picture = {.range = true}},
    {.codec = AV_CODEC_ID_AV1, .picture = {.colour = true, .range = true}},
    {.codec = AV_CODEC_ID_VVC, .picture = {.colour = true, .range = true}},
    {.codec = AV_CODEC_ID_MPEG4, .picture = {.aspect = true, .fields = true}},
    {.codec = AV_CODEC_ID_PRORES, .picture = {.colour = true, .aspect = true, .fields = true}},
    {.codec = AV_CODEC_ID_VP8},
    {.codec = AV_CODEC_ID_H263},
    {.codec = AV_CODEC_ID_DVVIDEO}};

}  // namespace

std::span<const EncoderTraits> encoder_table() { return encoders; }

EncoderTraits encoder_traits(const AVCodec& encoder) {
  if (const auto* found =
          std::ranges::find(encoders, std::string_view(encoder.name), &EncoderTraits::name);
      found != std::end(encoders))
    return *found;
  const auto* found = std::ranges::find_if(
      encoders, [&](const EncoderTraits& e) { return e.name.empty() && e.codec == encoder.id; });
  EncoderTraits traits = found == std::end(encoders) ? EncoderTraits{} : *found;
  // The output of FFmpeg's own encoders depends only on the number of threads. The output of other
  // encoders may depend on the number of cores.
  traits.depends_on_cores = encoder.wrapper_name != nullptr;
  if (encoder.wrapper_name && std::string_view(encoder.wrapper_name) == "nvenc")
    traits.quality_settings = nvenc_quality;
  return traits;
}

bool supports_grain_table(const std::string& encoder) {
  const auto* found = std::ranges::find(encoders, encoder, &EncoderTraits::name);
  return found != std::end(encoders) && found->grain_key;
}

int threads_of(const EncoderTraits& encoder, int asked, int cores) {
  return std::clamp(asked > 0 ? asked : cores, 1, encoder.max_threads);
}

}  // namespace lull::io
