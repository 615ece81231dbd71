#include "io/ffmpeg/float_map.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace lull::io {
namespace {

constexpr AVPixelFormat floats = AV_PIX_FMT_GRAYF32LE;

/// Returns the bytes of a float in little-endian order.
std::array<std::uint8_t, 4> little_endian(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::array<std::uint8_t, 4> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
  return bytes;
}
const std::array<std::uint8_t, 4> first = little_endian(1), second = little_endian(2);

bool begins_with_first(const std::uint8_t* bytes) {
  return std::memcmp(bytes, first.data(), first.size()) == 0;
}

/// Returns whether the decoder preserves the row order of a test file with two rows; false if
/// decoding fails.
bool decodes_in_order_of_file(const AVCodec& codec) {
  std::string file = "Pf\n1 2\n-1.0\n";
  for (const auto& value : {first, second})
    file.append(reinterpret_cast<const char*>(value.data()), value.size());
  const PacketPtr packet = make_packet();
  if (av_new_packet(packet.get(), static_cast<int>(file.size())) < 0) throw std::bad_alloc();
  std::memcpy(packet->data, file.data(), file.size());
  const CodecPtr decoder(non_null(avcodec_alloc_context3(&codec)));
  const FramePtr picture = make_frame();
  return avcodec_open2(decoder.get(), &codec, nullptr) >= 0 &&
         avcodec_send_packet(decoder.get(), packet.get()) >= 0 &&
         avcodec_receive_frame(decoder.get(), picture.get()) >= 0 && picture->format == floats &&
         begins_with_first(picture->data[0]);
}

bool encodes_in_order_of_picture(const AVCodec& codec) {
  const CodecPtr encoder(non_null(avcodec_alloc_context3(&codec)));
  encoder->width = 1;
  encoder->height = 2;
  encoder->pix_fmt = floats;
  encoder->time_base = {1, 25};
  const FramePtr picture = make_picture(floats, 1, 2);
  std::memcpy(picture->data[0], first.data(), first.size());
  std::memcpy(picture->data[0] + picture->linesize[0], second.data(), second.size());
  const PacketPtr packet = make_packet();
  return avcodec_open2(encoder.get(), &codec, nullptr) >= 0 &&
         avcodec_send_frame(encoder.get(), picture.get()) >= 0 &&
         avcodec_receive_packet(encoder.get(), packet.get()) >= 0 && packet->size >= 8 &&
         begins_with_first(packet->data + packet->size - 8);
}

}  // namespace

bool keeps_bottom_up_rows(const AVCodec& codec) {
  if (codec.id != AV_CODEC_ID_PFM) return false;
  if (av_codec_is_encoder(&codec) != 0) {
    static const bool encoder = encodes_in_order_of_picture(codec);
    return encoder;
  }
  static const bool decoder = decodes_in_order_of_file(codec);
  return decoder;
}

void flip_rows(AVFrame& picture) {
  if (av_frame_make_writable(&picture) < 0) throw std::bad_alloc();
  for (int i = 0; i < AV_NUM_DATA_POINTERS && picture.data[i] != nullptr; ++i) {
    const std::ptrdiff_t stride = picture.linesize[i];
    for (int y = 0; y < picture.height / 2; ++y) {
      std::uint8_t* const row = picture.data[i] + y * stride;
      std::swap_ranges(row, row + stride, picture.data[i] + (picture.height - 1 - y) * stride);
    }
  }
}

}  // namespace lull::io
