#include "io/encoder_options.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

extern "C" {
#include <libavutil/cpu.h>
#include <libavutil/mastering_display_metadata.h>
}

namespace lull::io {
namespace {

void set_default(Dictionary& options, const char* key, const std::string& value) {
  if (!options.has(key)) options.set(key, value);
}

bool has_option(const AVCodecContext& encoder, const char* name) {
  return encoder.priv_data && av_opt_find(encoder.priv_data, name, nullptr, 0, 0);
}

void set_lossless(const AVCodecContext& encoder, Dictionary& options, std::string& x265) {
  const std::string_view name = encoder.codec->name;
  const AVCodecDescriptor* d = avcodec_descriptor_get(encoder.codec_id);
  if (name == "libx264" || name == "libx264rgb") {
    options.set("qp", "0");
  } else if (name == "libx265") {
    x265 += ":lossless=1";
  } else if (name == "libvpx-vp9") {
    options.set("lossless", "1");
  } else if (!d || !(d->props & AV_CODEC_PROP_LOSSLESS) || d->props & AV_CODEC_PROP_LOSSY) {
    throw InvalidArgument(std::string("--lossless with ") + encoder.codec->name +
                          " (it has no lossless mode known to lull); leave --vcodec out");
  }
}

// x264 would complain on stderr by itself.
void check_x264_preset(const Dictionary& options) {
  constexpr std::array<std::string_view, 10> presets = {
      "ultrafast", "superfast", "veryfast", "faster",   "fast",
      "medium",    "slow",      "slower",   "veryslow", "placebo"};
  constexpr std::array<std::string_view, 8> tunes = {
      "film", "animation", "grain", "stillimage", "psnr", "ssim", "fastdecode", "zerolatency"};
  const std::string preset = options.get("preset"), tune = options.get("tune");
  const bool numbered = preset.size() == 1 && preset[0] >= '0' && preset[0] <= '9';
  if (!preset.empty() && !numbered && std::ranges::find(presets, preset) == presets.end())
    throw InvalidArgument("no such preset of libx264: " + preset);
  for (std::size_t at = 0; at < tune.size();) {  // several, with any of these between
    const std::size_t end = std::min(tune.find_first_of(",./-+", at), tune.size());
    const std::string one = tune.substr(at, end - at);
    if (std::ranges::find(tunes, one) == tunes.end())
      throw InvalidArgument("no such tune of libx264: " + one);
    at = end + 1;
  }
}

void set_quality(AVCodecContext& encoder, const SinkOptions& wanted, Dictionary& options) {
  const std::string_view name = encoder.codec->name;
  const bool x26 = name.starts_with("libx26");
  if (wanted.crf) {
    if (!has_option(encoder, "crf"))
      throw InvalidArgument("--crf with " + std::string(name) +
                            " (it has no constant rate factor); leave --crf out");
    // 63 ends the longest scale, VP9's; x264 and x265 end at 51 and take more for 51.
    const double worst = x26 ? 51 : 63;
    if (!(*wanted.crf >= 0 && *wanted.crf <= worst))
      throw InvalidArgument("--crf is out of range for " + std::string(name) + " (must be 0 to " +
                            std::to_string(static_cast<int>(worst)) + ")");
    if (wanted.lossless) throw InvalidArgument("--crf with --lossless; give one of them");
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", *wanted.crf);
    options.set("crf", text);
  }
  if (wanted.lossless) return;
  const bool chosen = options.has("crf") || options.has("qp") || options.has("b") ||
                      options.has("cqp") || options.has("global_quality");
  // Visually lossless, by common experience; other encoders' scales are set to about the same.
  if (x26 && !chosen) options.set("crf", "18");
  if (name == "libvpx-vp9" && !chosen) options.set("crf", "24");
  if (name.starts_with("libvpx")) set_default(options, "b", "0");  // or crf is no more than a bound
  const AVCodecDescriptor* d = avcodec_descriptor_get(encoder.codec_id);
  // FFmpeg's own encoders default to 200 kbit/s.
  if (d && d->props & AV_CODEC_PROP_LOSSY && !chosen && !has_option(encoder, "crf")) {
    encoder.flags |= AV_CODEC_FLAG_QSCALE;
    encoder.global_quality = 2 * FF_QP2LAMBDA;
  }
}

// x264's code for AVX-512 reads memory that it never wrote, so that equal input gives unequal
// streams now and then (build 164; the trees of macroblocks are to blame). Its code for AVX2 is
// sound.
std::string sound_x264_code() {
#if defined(__x86_64__)
  if (av_get_cpu_flags() & AV_CPU_FLAG_AVX512) return "asm=avx2,fma3,bmi1,bmi2,lzcnt";
#endif
  return {};
}

// HDR10's static metadata, ITU-T H.265 D.2.28 and D.2.35; x265 takes chromaticities in units of
// 0.00002 and luminances of 0.0001 cd/m^2.
std::string hdr_params(const AVFrame& first, bool x265) {
  std::string params;
  char text[160];
  if (const AVFrameSideData* data =
          av_frame_get_side_data(&first, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)) {
    const auto& m = *reinterpret_cast<const AVMasteringDisplayMetadata*>(data->data);
    const auto chroma = [](AVRational r) { return static_cast<int>(av_q2d(r) * 50000 + 0.5); };
    const auto light = [](AVRational r) { return static_cast<unsigned>(av_q2d(r) * 10000 + 0.5); };
    if (m.has_primaries && m.has_luminance) {
      std::snprintf(text, sizeof text, ":%s=G(%d,%d)B(%d,%d)R(%d,%d)WP(%d,%d)L(%u,%u)",
                    x265 ? "master-display" : "mastering-display",
                    chroma(m.display_primaries[1][0]), chroma(m.display_primaries[1][1]),
                    chroma(m.display_primaries[2][0]), chroma(m.display_primaries[2][1]),
                    chroma(m.display_primaries[0][0]), chroma(m.display_primaries[0][1]),
                    chroma(m.white_point[0]), chroma(m.white_point[1]), light(m.max_luminance),
                    light(m.min_luminance));
      params += text;
    }
  }
  if (const AVFrameSideData* data =
          av_frame_get_side_data(&first, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)) {
    const auto& light = *reinterpret_cast<const AVContentLightMetadata*>(data->data);
    std::snprintf(text, sizeof text, ":%s=%u,%u", x265 ? "max-cll" : "cll", light.MaxCLL,
                  light.MaxFALL);
    params += text;
  }
  return params;
}

}  // namespace

void set_encoder_options(AVCodecContext& encoder, const Container& container, const AVFrame& first,
                         const SinkOptions& wanted, Dictionary& options) {
  const std::string_view name = encoder.codec->name;
  for (const auto& [key, value] : wanted.vopts) options.set(key, value);
  if (name.starts_with("libx264")) check_x264_preset(options);
  std::string x265 = "log-level=none";  // it would write to stderr by itself
  if (wanted.lossless) set_lossless(encoder, options, x265);
  set_quality(encoder, wanted, options);
  if (name == "libx265") {
    x265 += hdr_params(first, true);
    // x265 3.5 writes beyond its buffers there: its SIMD code takes 4 blocks of 16x16 at a time.
    if (encoder.width < 64 || encoder.height < 64) x265 += ":cutree=0";
    if (options.has("x265-params")) x265.append(":").append(options.get("x265-params"));
    options.set("x265-params", x265);
  }
  if (name.starts_with("libx264")) {
    std::string x264 = sound_x264_code() + hdr_params(first, false);
    if (options.has("x264-params")) x264.append(":").append(options.get("x264-params"));
    if (x264.starts_with(":")) x264.erase(0, 1);
    if (!x264.empty()) options.set("x264-params", x264);
  }
  if (name == "ffv1") {
    // Slices in parallel, each with its checksum. They need some rows and columns each, and
    // FFmpeg's lose samples where chroma has a quarter of the columns.
    const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(encoder.pix_fmt);
    const bool sliced = encoder.width >= 16 && encoder.height >= 16 && d.log2_chroma_w < 2;
    set_default(options, "level", sliced ? "3" : "1");
    if (sliced && options.get("level") == "3") set_default(options, "slicecrc", "1");
  }
  if (name == "libvpx-vp9") set_default(options, "row-mt", "1");
  if (name == "png") set_default(options, "pred", "mixed");
  if (name == "exr") set_default(options, "compression", "zip16");
  if (name == "tiff") set_default(options, "compression_algo", "deflate");
  // AVI has no presentation times, so pictures must be stored in their order.
  if (container.extension == "avi") set_default(options, "bf", "0");
  // Depths beyond 8 bits are FFmpeg's extension of Y4M, which other programs read, too.
  if (container.extension == "y4m") encoder.strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
}

}  // namespace lull::io
