#include "io/carriage.h"

#include <string_view>

namespace lull::io {
namespace {

bool holds(const AVOutputFormat& format, const AVCodecParameters& codec) {
  if (std::string_view(format.name) == "mpegts") return has_transport_type(codec.codec_id);
  const int known = avformat_query_codec(&format, codec.codec_id, FF_COMPLIANCE_EXPERIMENTAL);
  if (known >= 0) return known > 0;
  // No opinion; but one that names no codec of this type by default takes none.
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO) return format.audio_codec != AV_CODEC_ID_NONE;
  if (codec.codec_type == AVMEDIA_TYPE_SUBTITLE) return format.subtitle_codec != AV_CODEC_ID_NONE;
  return codec.codec_type == AVMEDIA_TYPE_VIDEO;
}

}  // namespace

Carriage carriage_of(const AVStream& stream, const Container& container) {
  const AVCodecParameters& codec = *stream.codecpar;
  const AVOutputFormat& format = *container.format;
  // MP4's time code is made anew from the video's metadata.
  if (codec.codec_tag == MKTAG('t', 'm', 'c', 'd')) return Carriage::made_anew;
  if (stream.disposition & AV_DISPOSITION_ATTACHED_PIC &&
      std::string_view(format.name) == "matroska") {
    const bool picture = codec.codec_id == AV_CODEC_ID_PNG || codec.codec_id == AV_CODEC_ID_MJPEG;
    return picture && stream.attached_pic.size > 0 ? Carriage::as_cover : Carriage::left_out;
  }
  if (codec.codec_id == AV_CODEC_ID_NONE) return Carriage::left_out;
  if (holds(format, codec)) return Carriage::copied;
  return container.pipe || codec.codec_type == AVMEDIA_TYPE_DATA ? Carriage::left_out
                                                                 : Carriage::refused;
}

}  // namespace lull::io
