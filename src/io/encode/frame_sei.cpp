#include "io/encode/frame_sei.h"

extern "C" {
#include <libavutil/hdr_dynamic_metadata.h>
}

#include <algorithm>
#include <array>
#include <cmath>

namespace lull::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t united_states = 0xB5;  // country code of ITU-T T.35

class BitWriter {
 public:
  void put(std::uint32_t value, int bits) {
    for (int i = bits - 1; i >= 0; --i) {
      if (used_ == 0) bytes_.push_back(0);
      bytes_.back() |= static_cast<std::uint8_t>((value >> i & 1) << (7 - used_));
      used_ = (used_ + 1) % 8;
    }
  }
  /// Appends `value` * `scale`, rounded and clamped to an unsigned integer of `bits` bits.
  void put(AVRational value, double scale, int bits) {
    const double units = value.den != 0 ? av_q2d(value) * scale : 0;
    const double maximum = std::ldexp(1.0, bits) - 1;
    put(static_cast<std::uint32_t>(std::clamp(std::round(units), 0.0, maximum)), bits);
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
  int used_ = 0;  // number of bits of the last byte that are in use
};

void put_window(const AVHDRPlusColorTransformParams& w, BitWriter& out) {
  for (const AVRational corner : {w.window_upper_left_corner_x, w.window_upper_left_corner_y,
                                  w.window_lower_right_corner_x, w.window_lower_right_corner_y})
    out.put(corner, 1, 16);
  out.put(w.center_of_ellipse_x, 16);
  out.put(w.center_of_ellipse_y, 16);
  out.put(w.rotation_angle, 8);
  out.put(w.semimajor_axis_internal_ellipse, 16);
  out.put(w.semimajor_axis_external_ellipse, 16);
  out.put(w.semiminor_axis_external_ellipse, 16);
  out.put(w.overlap_process_option, 1);
}

void put_peaks(const AVRational (&peaks)[25][25], bool present, int rows, int columns,
               BitWriter& out) {
  out.put(present, 1);
  if (!present) return;
  out.put(rows, 5);
  out.put(columns, 5);
  for (int i = 0; i < std::min(rows, 25); ++i)
    for (int j = 0; j < std::min(columns, 25); ++j) out.put(peaks[i][j], 15, 4);
}

void put_light(const AVHDRPlusColorTransformParams& w, BitWriter& out) {
  for (const AVRational& maximum : w.maxscl) out.put(maximum, 100000, 17);
  out.put(w.average_maxrgb, 100000, 17);
  const int count = std::min<int>(w.num_distribution_maxrgb_percentiles, 15);
  out.put(count, 4);
  for (int i = 0; i < count; ++i) {
    out.put(w.distribution_maxrgb[i].percentage, 7);
    out.put(w.distribution_maxrgb[i].percentile, 100000, 17);
  }
  out.put(w.fraction_bright_pixels, 1000, 10);
}

void put_mapping(const AVHDRPlusColorTransformParams& w, BitWriter& out) {
  out.put(w.tone_mapping_flag, 1);
  if (w.tone_mapping_flag) {
    out.put(w.knee_point_x, 4095, 12);
    out.put(w.knee_point_y, 4095, 12);
    const int count = std::min<int>(w.num_bezier_curve_anchors, 15);
    out.put(count, 4);
    for (int i = 0; i < count; ++i) out.put(w.bezier_curve_anchors[i], 1023, 10);
  }
  out.put(w.color_saturation_mapping_flag, 1);
  if (w.color_saturation_mapping_flag) out.put(w.color_saturation_weight, 8, 6);
}

// Returns HDR10+ metadata (SMPTE ST 2094-40) as an ITU-T T.35 message in the layout of CTA-861,
// Annex S.
Bytes hdr10_plus(const AVDynamicHDRPlus& hdr) {
  BitWriter out;
  out.put(united_states, 8);
  out.put(0x003C, 16);  // provider: Samsung
  out.put(1, 16);       // code of ST 2094-40, assigned by the provider
  out.put(4, 8);        // application of ST 2094
  out.put(hdr.application_version, 8);
  const int windows = std::clamp<int>(hdr.num_windows, 1, 3);
  out.put(windows, 2);
  for (int w = 1; w < windows; ++w) put_window(hdr.params[w], out);
  out.put(hdr.targeted_system_display_maximum_luminance, 1, 27);
  put_peaks(hdr.targeted_system_display_actual_peak_luminance,
            hdr.targeted_system_display_actual_peak_luminance_flag,
            hdr.num_rows_targeted_system_display_actual_peak_luminance,
            hdr.num_cols_targeted_system_display_actual_peak_luminance, out);
  for (int w = 0; w < windows; ++w) put_light(hdr.params[w], out);
  put_peaks(hdr.mastering_display_actual_peak_luminance,
            hdr.mastering_display_actual_peak_luminance_flag,
            hdr.num_rows_mastering_display_actual_peak_luminance,
            hdr.num_cols_mastering_display_actual_peak_luminance, out);
  for (int w = 0; w < windows; ++w) put_mapping(hdr.params[w], out);
  return out.take();
}

// Returns closed captions (three bytes each) in the layout of ATSC A/53 part 4, 6.2.3; at most 31
// captions.
Bytes captions(std::span<const std::uint8_t> data) {
  const std::size_t count = std::min<std::size_t>(data.size() / 3, 31);
  Bytes out = {united_states, 0x00, 0x31, 'G', 'A', '9', '4', 0x03};
  out.push_back(static_cast<std::uint8_t>(0x40 | count));
  out.push_back(0xFF);
  out.insert(out.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(3 * count));
  out.push_back(0xFF);
  return out;
}

/// Appends a NAL unit with one SEI message "registered by ITU-T T.35".
void append_message(const Bytes& payload, AVCodecID codec, Bytes& out) {
  constexpr std::uint8_t registered = 4;
  Bytes body = {registered};
  std::size_t size = payload.size();
  for (; size >= 255; size -= 255) body.push_back(255);
  body.push_back(static_cast<std::uint8_t>(size));
  body.insert(body.end(), payload.begin(), payload.end());
  body.push_back(0x80);  // the stop bit
  out.insert(out.end(), {0, 0, 0, 1});
  if (codec == AV_CODEC_ID_H264)
    out.push_back(6);
  else
    out.insert(out.end(), {39 << 1, 1});
  int zeros = 0;
  for (const std::uint8_t byte : body) {
    if (zeros == 2 && byte <= 3) {  // an emulation prevention byte avoids a start code
      out.push_back(3);
      zeros = 0;
    }
    out.push_back(byte);
    zeros = byte == 0 ? zeros + 1 : 0;
  }
}

bool is_slice(std::uint8_t head, AVCodecID codec) {
  if (codec == AV_CODEC_ID_H264) return (head & 31) >= 1 && (head & 31) <= 5;
  return (head >> 1 & 63) < 32;
}

/// Returns the position of the start code of the first slice, or the end of the data.
std::size_t first_slice(std::span<const std::uint8_t> data, AVCodecID codec) {
  for (std::size_t i = 0; i + 3 < data.size(); ++i)
    if (data[i] == 0 && data[i + 1] == 0 && data[i + 2] == 1 && is_slice(data[i + 3], codec))
      return i > 0 && data[i - 1] == 0 ? i - 1 : i;
  return data.size();
}

}  // namespace

std::vector<std::uint8_t> sei_messages(const AVFrame& properties, const AVCodecContext& encoder) {
  const AVCodecID codec = encoder.codec_id;
  if (codec != AV_CODEC_ID_H264 && codec != AV_CODEC_ID_HEVC) return {};
  Bytes messages;
  const AVFrameSideData* data = av_frame_get_side_data(&properties, AV_FRAME_DATA_A53_CC);
  const bool own = encoder.priv_data && av_opt_find(encoder.priv_data, "a53cc", nullptr, 0, 0);
  if (data && !own) append_message(captions({data->data, data->size}), codec, messages);
  data = av_frame_get_side_data(&properties, AV_FRAME_DATA_DYNAMIC_HDR_PLUS);
  if (data && data->size >= sizeof(AVDynamicHDRPlus))
    append_message(hdr10_plus(*reinterpret_cast<const AVDynamicHDRPlus*>(data->data)), codec,
                   messages);
  return messages;
}

void insert_sei_messages(std::span<const std::uint8_t> messages, AVCodecID codec,
                         AVPacket& packet) {
  const auto size = static_cast<std::size_t>(packet.size);
  const std::size_t at = first_slice({packet.data, size}, codec);
  if (messages.empty() || at == size) return;
  if (av_grow_packet(&packet, static_cast<int>(messages.size())) < 0) throw std::bad_alloc();
  std::copy_backward(packet.data + at, packet.data + size, packet.data + packet.size);
  std::ranges::copy(messages, packet.data + at);
}

}  // namespace lull::io
