#include "io/packets/subtitle_converter.h"

#include <algorithm>
#include <string>

namespace lull::io {
namespace {

CodecPtr open(const AVCodec& codec, CodecPtr context, const std::string& what) {
  check<InvalidArgument>(avcodec_open2(context.get(), &codec, nullptr),
                         "cannot " + what + " subtitles (" + codec.name + ")");
  return context;
}

/// Owns the subtitles that FFmpeg has decoded from one packet.
struct Subtitle {
  AVSubtitle text{};
  Subtitle() = default;
  Subtitle(const Subtitle&) = delete;
  Subtitle& operator=(const Subtitle&) = delete;
  ~Subtitle() { avsubtitle_free(&text); }
};

}  // namespace

bool can_convert_subtitles(AVCodecID from, AVCodecID to) {
  const AVCodecDescriptor* d = avcodec_descriptor_get(from);
  return d && d->type == AVMEDIA_TYPE_SUBTITLE && d->props & AV_CODEC_PROP_TEXT_SUB &&
         from != AV_CODEC_ID_EIA_608 &&  // a caption's text grows from packet to packet
         avcodec_find_decoder(from) && to != AV_CODEC_ID_NONE && avcodec_find_encoder(to);
}

SubtitleConverter::SubtitleConverter(const AVStream& from, AVCodecID to) : text_(1 << 20) {
  const AVCodec* reader = non_null(avcodec_find_decoder(from.codecpar->codec_id));
  CodecPtr decoder(non_null(avcodec_alloc_context3(reader)));
  check<InternalError>(avcodec_parameters_to_context(decoder.get(), from.codecpar),
                       "cannot describe subtitles");
  decoder->pkt_timebase = from.time_base;
  decoder_ = open(*reader, std::move(decoder), "read");
  const AVCodec* writer = non_null(avcodec_find_encoder(to));
  CodecPtr encoder(non_null(avcodec_alloc_context3(writer)));
  encoder->time_base = {1, 1000};
  // The decoder returns subtitles in the ASS format. The encoder needs the ASS header, which
  // defines the styles.
  if (const int size = decoder_->subtitle_header_size; size > 0) {
    encoder->subtitle_header = static_cast<std::uint8_t*>(
        non_null(av_mallocz(static_cast<std::size_t>(size) + AV_INPUT_BUFFER_PADDING_SIZE)));
    std::copy_n(decoder_->subtitle_header, size, encoder->subtitle_header);
    encoder->subtitle_header_size = size;
  }
  encoder_ = open(*writer, std::move(encoder), "write");
}

PacketPtr SubtitleConverter::convert(const AVPacket& packet) {
  Subtitle subtitle;
  int found = 0;
  const PacketPtr copy(non_null(av_packet_clone(&packet)));  // some releases modify the packet
  check<BadData>(avcodec_decode_subtitle2(decoder_.get(), &subtitle.text, &found, copy.get()),
                 "a subtitle cannot be read");
  if (!found || subtitle.text.num_rects == 0) return nullptr;
  subtitle.text.start_display_time = 0;  // relative to the packet's time, which is kept
  subtitle.text.end_display_time =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(packet.duration, 0, UINT32_MAX));
  const int size =
      check<BadData>(avcodec_encode_subtitle(encoder_.get(), text_.data(),
                                             static_cast<int>(text_.size()), &subtitle.text),
                     "a subtitle cannot be written");
  if (size == 0) return nullptr;
  PacketPtr result = make_packet();
  if (av_new_packet(result.get(), size) < 0) throw std::bad_alloc();
  std::copy_n(text_.data(), size, result->data);
  set_converted_from(packet, *result);
  return result;
}

}  // namespace lull::io
