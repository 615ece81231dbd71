#include "io/encode/encoder_options.h"

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

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", number);
  return text;
}

bool has_option(const AVCodecContext& encoder, const char* name) {
  return encoder.priv_data && av_opt_find(encoder.priv_data, name, nullptr, 0, 0);
}

void set_lossless(const AVCodecContext& encoder, const EncoderTraits& traits, Dictionary& options) {
  const AVCodecDescriptor* d = avcodec_descriptor_get(encoder.codec_id);
  const bool lossless = d && d->props & AV_CODEC_PROP_LOSSLESS && !(d->props & AV_CODEC_PROP_LOSSY);
  if (traits.lossless.empty() && !traits.lossless_params && !lossless)
    throw InvalidArgument(std::string("--lossless with ") + encoder.codec->name +
                          " (it has no lossless mode known to lull); leave --vcodec out");
  for (const auto& [key, value] : traits.lossless) options.set(key, value);
}

// Throws an error for an unknown preset or tune, which x264 reports only on stderr.
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
  for (std::size_t at = 0; at < tune.size();) {  // `tune` is a list with any of these separators
    const std::size_t end = std::min(tune.find_first_of(",./-+", at), tune.size());
    const std::string one = tune.substr(at, end - at);
    if (std::ranges::find(tunes, one) == tunes.end())
      throw InvalidArgument("no such tune of libx264: " + one);
    at = end + 1;
  }
}

void set_quality(AVCodecContext& encoder, const EncoderTraits& traits, const SinkOptions& wanted,
                 Dictionary& options) {
  if (wanted.crf) {
    if (!has_option(encoder, "crf"))
      throw InvalidArgument("--crf with " + std::string(encoder.codec->name) +
                            " (it has no constant rate factor); leave --crf out");
    if (!(*wanted.crf >= 0 && *wanted.crf <= traits.max_crf))
      throw InvalidArgument("--crf is out of range for " + std::string(encoder.codec->name) +
                            " (must be 0 to " + std::to_string(static_cast<int>(traits.max_crf)) +
                            ")");
    if (wanted.lossless) throw InvalidArgument("--crf with --lossless; give one of them");
    options.set("crf", text_of(*wanted.crf));
  }
  if (wanted.lossless) return;
  const bool chosen = options.has("crf") || options.has("qp") || options.has("b") ||
                      options.has("cqp") || options.has("global_quality") ||
                      std::ranges::any_of(traits.quality_settings, [&](const Setting& setting) {
                        return options.has(setting.key);
                      });
  // Users commonly regard the quality at the default CRF as visually lossless.
  if (traits.default_crf >= 0 && !chosen) options.set("crf", text_of(traits.default_crf));
  if (!chosen)
    for (const auto& [key, value] : traits.quality_settings) options.set(key, value);
  for (const auto& [key, value] : traits.lossy_settings) set_default(options, key, value);
  if (av_pix_fmt_desc_get(encoder.pix_fmt)->flags & AV_PIX_FMT_FLAG_RGB)
    for (const auto& [key, value] : traits.rgb_settings) set_default(options, key, value);
  const AVCodecDescriptor* d = avcodec_descriptor_get(encoder.codec_id);
  // The default of FFmpeg's own encoders is a bit rate of 200 kbit/s, which gives poor quality.
  // lull sets a constant quality instead.
  if (d && d->props & AV_CODEC_PROP_LOSSY && !chosen && !has_option(encoder, "crf") &&
      !traits.percent_quality && traits.quality_settings.empty()) {
    encoder.flags |= AV_CODEC_FLAG_QSCALE;
    encoder.global_quality = traits.default_quality * FF_QP2LAMBDA;
  }
}

// Returns CPU flags for x264 without AVX-512. In build 164, x264's AVX-512 code reads uninitialised
// memory in the macroblock tree, so equal inputs may give different streams.
std::string safe_x264_flags() {
#if defined(__x86_64__)
  if (av_get_cpu_flags() & AV_CPU_FLAG_AVX512) return "asm=avx2,fma3,bmi1,bmi2,lzcnt";
#endif
  return {};
}

// Returns the options for HDR10 static metadata (ITU-T H.265 D.2.28 and D.2.35), in units of
// 0.00002 (chromaticities) and 0.0001 cd/m^2 (luminances).
std::string hdr_params(const AVFrame& first, const EncoderTraits& traits) {
  std::string params;
  char text[160];
  if (const AVFrameSideData* data =
          av_frame_get_side_data(&first, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)) {
    const auto& m = *reinterpret_cast<const AVMasteringDisplayMetadata*>(data->data);
    const auto chroma = [](AVRational r) { return static_cast<int>(av_q2d(r) * 50000 + 0.5); };
    const auto light = [](AVRational r) { return static_cast<unsigned>(av_q2d(r) * 10000 + 0.5); };
    if (m.has_primaries && m.has_luminance) {
      std::snprintf(text, sizeof text, "%s=G(%d,%d)B(%d,%d)R(%d,%d)WP(%d,%d)L(%u,%u)",
                    traits.mastering_key, chroma(m.display_primaries[1][0]),
                    chroma(m.display_primaries[1][1]), chroma(m.display_primaries[2][0]),
                    chroma(m.display_primaries[2][1]), chroma(m.display_primaries[0][0]),
                    chroma(m.display_primaries[0][1]), chroma(m.white_point[0]),
                    chroma(m.white_point[1]), light(m.max_luminance), light(m.min_luminance));
      params = text;
    }
  }
  if (const AVFrameSideData* data =
          av_frame_get_side_data(&first, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)) {
    const auto& light = *reinterpret_cast<const AVContentLightMetadata*>(data->data);
    std::snprintf(text, sizeof text, "%s=%u,%u", traits.light_level_key, light.MaxCLL,
                  light.MaxFALL);
    params.append(params.empty() ? "" : ":").append(text);
  }
  return params;
}

/// Returns whether the encoder receives frames whose bottom field comes first.
bool is_bottom_first(const AVCodecContext& encoder, const AVFrame& first) {
  if (!(encoder.flags & AV_CODEC_FLAG_INTERLACED_DCT)) return false;
  if (is_interlaced(first)) return !top_field_first(first);
  return !top_field_first(encoder.field_order);
}

/// Sets options in the encoder's own syntax. The user's options come last, because the encoder uses
/// the last value of an option.
void set_params(const AVCodecContext& encoder, const EncoderTraits& traits, const AVFrame& first,
                bool lossless, Dictionary& options) {
  std::string params;
  const auto add = [&](const std::string& more) {
    params.append(params.empty() || more.empty() ? "" : ":").append(more);
  };
  if (traits.quiet_params) add(traits.quiet_params);
  if (lossless && traits.lossless_params) add(traits.lossless_params);
  if (traits.broken_avx512) add(safe_x264_flags());
  if (traits.bottom_first_params && is_bottom_first(encoder, first))
    add(traits.bottom_first_params);
  add(hdr_params(first, traits));
  // In x265 3.5, the SIMD code of the macroblock tree (cutree) writes beyond the buffers of small
  // pictures.
  if (traits.broken_small_cutree && (encoder.width < 64 || encoder.height < 64)) add("cutree=0");
  add(options.get(traits.params));
  if (!params.empty()) options.set(traits.params, params);
}

/// Enables the slices of FFV1 level 3, which FFmpeg encodes in parallel and protects with
/// checksums. FFmpeg loses samples if the chroma is subsampled by 4 and a slice does not begin at a
/// multiple of 4. For such chroma, the function therefore enables only 2x2 slices.
void set_slices(const AVCodecContext& encoder, Dictionary& options) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(encoder.pix_fmt);
  const bool coarse = d.log2_chroma_w >= 2 || d.log2_chroma_h >= 2;
  const bool even = (d.log2_chroma_w < 2 || encoder.width % 8 == 0) &&
                    (d.log2_chroma_h < 2 || encoder.height % 8 == 0);
  const bool sliced = encoder.width >= 16 && encoder.height >= 16 && even;
  set_default(options, "level", sliced ? "3" : "1");
  if (!sliced || options.get("level") != "3") return;
  set_default(options, "slicecrc", "1");
  if (coarse) set_default(options, "slices", "4");
}

/// Sets the path of the film grain table in the encoder's own syntax. The function escapes special
/// characters of the path.
void set_grain_table(const AVCodecContext& encoder, const EncoderTraits& traits,
                     const std::string& path, Dictionary& options) {
  if (!traits.grain_key || !has_option(encoder, traits.grain_option))
    throw InvalidArgument("--grain keep with " + std::string(encoder.codec->name) +
                          " (it does not support film grain tables); give --vcodec libaom-av1");
  std::string params = options.get(traits.grain_option);
  params.append(params.empty() ? "" : ":").append(traits.grain_key).append("=");
  for (const char c : path) {
    if (std::string_view(":=\\' \t\n").find(c) != std::string_view::npos) params += '\\';
    params += c;
  }
  options.set(traits.grain_option, params);
}

}  // namespace

void set_encoder_options(AVCodecContext& encoder, const Container& container, const AVFrame& first,
                         const SinkOptions& wanted, Dictionary& options) {
  const EncoderTraits traits = encoder_traits(*encoder.codec);
  for (const auto& [key, value] : wanted.vopts) options.set(key, value);
  if (traits.named_presets) check_x264_preset(options);
  if (wanted.lossless) set_lossless(encoder, traits, options);
  set_quality(encoder, traits, wanted, options);
  if (traits.params) set_params(encoder, traits, first, wanted.lossless, options);
  if (traits.sliced) set_slices(encoder, options);
  if (!wanted.grain_table.empty()) set_grain_table(encoder, traits, wanted.grain_table, options);
  for (const auto& [key, value] : traits.settings) set_default(options, key, value);
  if (!container.traits->presentation_times) set_default(options, "bf", "0");
  // FFmpeg writes Y4M files of more than 8 bits only with FF_COMPLIANCE_UNOFFICIAL. Other programs
  // can read these files.
  if (container.traits->raw_frames) encoder.strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
}

}  // namespace lull::io
