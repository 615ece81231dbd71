#include "io/write/stream_handling.h"

#include <algorithm>

#include "io/write/subtitle_converter.h"

namespace lull::io {
namespace {

bool holds(const Container& container, const AVCodecParameters& codec) {
  if (codec.codec_type == AVMEDIA_TYPE_ATTACHMENT) return false;
  if (container.traits->holds) return container.traits->holds(codec.codec_id);
  const AVOutputFormat& format = *container.format;
  const int known = avformat_query_codec(&format, codec.codec_id, FF_COMPLIANCE_EXPERIMENTAL);
  if (known >= 0) return known > 0;
  // The muxer does not know the codec. A format without a default codec of this type accepts no
  // such stream.
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO) return format.audio_codec != AV_CODEC_ID_NONE;
  if (codec.codec_type == AVMEDIA_TYPE_SUBTITLE) return format.subtitle_codec != AV_CODEC_ID_NONE;
  return codec.codec_type == AVMEDIA_TYPE_VIDEO;
}

}  // namespace

bool is_dropped(const AVStream& stream, const Drops& drops) {
  if (std::ranges::find(drops.streams, stream.index) != drops.streams.end()) return true;
  if (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) return drops.attachments;
  switch (stream.codecpar->codec_type) {
    case AVMEDIA_TYPE_AUDIO:
      return drops.audio;
    case AVMEDIA_TYPE_SUBTITLE:
      return drops.subtitles;
    case AVMEDIA_TYPE_ATTACHMENT:
      return drops.attachments;
    case AVMEDIA_TYPE_VIDEO:
      return drops.video;
    default:
      return drops.data;
  }
}

void check_drops(const Drops& drops, const FileSource& source) {
  const auto count = static_cast<int>(source.demuxer().context().nb_streams);
  for (const int index : drops.streams) {
    const std::string option = "--drop " + std::to_string(index);
    if (index == source.demuxer().video().index)
      throw InvalidArgument(option + " (that stream is the video to denoise); give another");
    if (index < 0 || index >= count)
      throw InvalidArgument(option + " (the input has the streams 0 to " +
                            std::to_string(count - 1) + "); lull probe lists them");
  }
}

StreamHandling handling_of(const AVStream& stream, const Container& container) {
  const AVCodecParameters& codec = *stream.codecpar;
  if (is_dropped(stream, container.drops)) return StreamHandling::dropped;
  // MP4's time code is regenerated from the video's metadata.
  if (codec.codec_tag == MKTAG('t', 'm', 'c', 'd')) return StreamHandling::regenerated;
  if (stream.disposition & AV_DISPOSITION_ATTACHED_PIC && container.traits->attachments) {
    const bool picture = codec.codec_id == AV_CODEC_ID_PNG || codec.codec_id == AV_CODEC_ID_MJPEG;
    return picture && stream.attached_pic.size > 0 ? StreamHandling::as_cover
                                                   : StreamHandling::omitted;
  }
  const bool file = codec.codec_type == AVMEDIA_TYPE_ATTACHMENT;
  if (file && container.traits->attachments) return StreamHandling::as_file;
  if (codec.codec_id == AV_CODEC_ID_NONE && !file) return StreamHandling::omitted;
  if (holds(container, codec)) return StreamHandling::copied;
  if (can_convert_subtitles(codec.codec_id, container.traits->text_subtitles))
    return StreamHandling::converted;
  return container.pipe || codec.codec_type == AVMEDIA_TYPE_DATA ? StreamHandling::omitted
                                                                 : StreamHandling::refused;
}

}  // namespace lull::io
