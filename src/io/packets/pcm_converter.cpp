#include "io/packets/pcm_converter.h"

#include <algorithm>
#include <array>
#include <string>

namespace lull::io {
namespace {

/// Returns whether the codec is uncompressed audio, such as SMPTE 302M in MPEG transport streams.
bool is_uncompressed(AVCodecID id) {
  return (id >= AV_CODEC_ID_PCM_S16LE && id < AV_CODEC_ID_ADPCM_IMA_QT) || id == AV_CODEC_ID_S302M;
}

/// Returns the number of bits of an audio sample; 0 if unknown.
int bits_of(const AVCodecParameters& stream) {
  return stream.bits_per_raw_sample > 0 ? stream.bits_per_raw_sample : stream.bits_per_coded_sample;
}

CodecPtr open(const AVCodec& codec, CodecPtr context) {
  check<InvalidArgument>(avcodec_open2(context.get(), &codec, nullptr),
                         std::string("cannot convert audio (") + codec.name + ")");
  return context;
}

}  // namespace

std::span<const AVCodecID> equivalent_pcm(const AVCodecParameters& stream) {
  static constexpr std::array bytes{AV_CODEC_ID_PCM_U8}, words{AV_CODEC_ID_PCM_S16LE},
      long_words{AV_CODEC_ID_PCM_S32LE}, floats{AV_CODEC_ID_PCM_F32LE},
      doubles{AV_CODEC_ID_PCM_F64LE};
  // FFmpeg's decoder returns 24-bit samples in the upper three bytes of 32-bit numbers.
  static constexpr std::array three_bytes{AV_CODEC_ID_PCM_S24LE, AV_CODEC_ID_PCM_S32LE};
  if (!is_uncompressed(stream.codec_id) || !avcodec_find_decoder(stream.codec_id)) return {};
  const int bits = bits_of(stream);
  switch (stream.format) {
    case AV_SAMPLE_FMT_U8:
      return bytes;
    case AV_SAMPLE_FMT_S16:
      return words;
    case AV_SAMPLE_FMT_S32:
      if (bits > 0 && bits <= 24) return three_bytes;
      return long_words;
    case AV_SAMPLE_FMT_FLT:
      return floats;
    case AV_SAMPLE_FMT_DBL:
      return doubles;
    default:
      return {};
  }
}

PcmConverter::PcmConverter(const AVStream& from, AVCodecID to) {
  const AVCodec* reader = non_null(avcodec_find_decoder(from.codecpar->codec_id));
  CodecPtr decoder(non_null(avcodec_alloc_context3(reader)));
  check<InternalError>(avcodec_parameters_to_context(decoder.get(), from.codecpar),
                       "cannot describe audio");
  decoder->pkt_timebase = from.time_base;
  decoder_ = open(*reader, std::move(decoder));
  const AVCodec* writer = avcodec_find_encoder(to);
  if (!writer)
    throw InvalidArgument(std::string("cannot convert audio (FFmpeg lacks ") +
                          avcodec_get_name(to) + ")");
  CodecPtr encoder(non_null(avcodec_alloc_context3(writer)));
  encoder->sample_fmt = static_cast<AVSampleFormat>(from.codecpar->format);
  encoder->sample_rate = from.codecpar->sample_rate;
  encoder->bits_per_raw_sample = bits_of(*from.codecpar);
  encoder->time_base = from.time_base;
  check<InternalError>(av_channel_layout_copy(&encoder->ch_layout, &from.codecpar->ch_layout),
                       "cannot describe audio");
  encoder_ = open(*writer, std::move(encoder));
}

PacketPtr PcmConverter::encode(const AVFrame& samples) {
  if (samples.format != encoder_->sample_fmt || samples.sample_rate != encoder_->sample_rate ||
      samples.ch_layout.nb_channels != encoder_->ch_layout.nb_channels)
    throw BadData("audio changes its format");
  check<BadData>(avcodec_send_frame(encoder_.get(), &samples), "audio cannot be converted");
  PacketPtr packet = make_packet();
  check<BadData>(avcodec_receive_packet(encoder_.get(), packet.get()), "audio cannot be converted");
  return packet;
}

PacketPtr PcmConverter::convert(const AVPacket& packet) {
  check<BadData>(avcodec_send_packet(decoder_.get(), &packet), "audio cannot be read");
  PacketPtr result;
  for (FramePtr samples = make_frame();
       avcodec_receive_frame(decoder_.get(), samples.get()) >= 0;) {
    const PacketPtr part = encode(*samples);
    if (!result) {
      result.reset(non_null(av_packet_clone(part.get())));
      continue;
    }
    const int before = result->size;
    if (av_grow_packet(result.get(), part->size) < 0) throw std::bad_alloc();
    std::copy_n(part->data, part->size, result->data + before);
  }
  if (!result) return nullptr;
  set_converted_from(packet, *result);
  return result;
}

}  // namespace lull::io
