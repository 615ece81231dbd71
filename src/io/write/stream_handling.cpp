#include "io/write/stream_handling.h"

#include <algorithm>

#include "io/packets/pcm_converter.h"
#include "io/packets/subtitle_converter.h"

namespace lull::io {
namespace {

bool holds(const Container& container, const AVCodecParameters& codec) {
  if (codec.codec_type == AVMEDIA_TYPE_ATTACHMENT) return false;
  if (container.traits->holds) return container.traits->holds(codec.codec_id);
  const AVOutputFormat& format = *container.format;
  const int known = avformat_query_codec(&format, codec.codec_id, FF_COMPLIANCE_EXPERIMENTAL);
  if (known >= 0) return known > 0;
  // `known` is negative if FFmpeg does not know whether the muxer supports the codec. If a format
  // has a default codec for audio or subtitles, the function assumes that the format supports all
  // codecs of this type.
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO) return format.audio_codec != AV_CODEC_ID_NONE;
  if (codec.codec_type == AVMEDIA_TYPE_SUBTITLE) return format.subtitle_codec != AV_CODEC_ID_NONE;
  return codec.codec_type == AVMEDIA_TYPE_VIDEO;
}

/// Returns the index of the first copied stream whose format FFmpeg has not detected; -1 if there
/// is none. The packets of such a stream are damaged, or begin too late for the detection.
int find_unknown(const FileSource& source, const Drops& drops) {
  const AVFormatContext& context = source.demuxer().context();
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream& stream = *context.streams[i];
    const AVCodecParameters& codec = *stream.codecpar;
    const bool lacks_sound = codec.codec_type == AVMEDIA_TYPE_AUDIO &&
                             (codec.sample_rate <= 0 || codec.ch_layout.nb_channels <= 0);
    const bool lacks_size = codec.codec_type == AVMEDIA_TYPE_VIDEO && codec.width <= 0;
    const bool is_copied = &stream != &source.demuxer().video() && !is_dropped(stream, drops) &&
                           stream.discard != AVDISCARD_ALL;
    if (is_copied && (lacks_sound || lacks_size)) return stream.index;
  }
  return -1;
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

void refuse_streams(const FileSource& source, const Drops& drops, const std::string& text) {
  if (const int unknown = find_unknown(source, drops); unknown >= 0)
    throw BadData("stream " + std::to_string(unknown) + " of '" + source.demuxer().path() +
                  "' has no known format (it is damaged, or begins too late); leave it out with "
                  "--drop " +
                  std::to_string(unknown));
  if (const Damage damage = source.damage(); damage.frames > 0)
    throw BadData(damage.first + "; with these streams nothing can be written (" +
                  without_suggestion(text) + ")");
  throw InvalidArgument(text);
}

AVCodecID converted_codec(const AVStream& stream, const Container& container) {
  const AVCodecParameters& codec = *stream.codecpar;
  if (can_convert_subtitles(codec.codec_id, container.traits->text_subtitles))
    return container.traits->text_subtitles;
  const std::span<const AVCodecID> equivalent = equivalent_pcm(codec);
  const auto held = std::ranges::find_if(equivalent, [&](AVCodecID id) {
    AVCodecParameters other = codec;
    other.codec_id = id;
    return holds(container, other);
  });
  return held == equivalent.end() ? AV_CODEC_ID_NONE : *held;
}

StreamHandling handling_of(const AVStream& stream, const Container& container) {
  const AVCodecParameters& codec = *stream.codecpar;
  if (is_dropped(stream, container.drops)) return StreamHandling::dropped;
  // The muxer creates the time code track of an MP4 file from the metadata of the video stream.
  if (codec.codec_tag == MKTAG('t', 'm', 'c', 'd')) return StreamHandling::regenerated;
  if (stream.disposition & AV_DISPOSITION_ATTACHED_PIC && container.traits->attachments) {
    const bool picture = codec.codec_id == AV_CODEC_ID_PNG || codec.codec_id == AV_CODEC_ID_MJPEG;
    return picture && stream.attached_pic.size > 0 ? StreamHandling::as_cover
                                                   : StreamHandling::omitted;
  }
  // The output omits a cover picture if the container cannot store covers. A cover with further
  // disposition flags remains in the output, because FFmpeg writes it as a video track.
  if (stream.disposition == AV_DISPOSITION_ATTACHED_PIC && !container.covers)
    return StreamHandling::omitted;
  const bool file = codec.codec_type == AVMEDIA_TYPE_ATTACHMENT;
  if (file && container.traits->attachments) return StreamHandling::as_file;
  if (codec.codec_id == AV_CODEC_ID_NONE && !file) return StreamHandling::omitted;
  if (holds(container, codec)) return StreamHandling::copied;
  if (converted_codec(stream, container) != AV_CODEC_ID_NONE) return StreamHandling::converted;
  return container.pipe || codec.codec_type == AVMEDIA_TYPE_DATA ? StreamHandling::omitted
                                                                 : StreamHandling::refused;
}

std::string reason_of_omission(const AVStream& stream, const Container& container) {
  const bool cover = stream.disposition == AV_DISPOSITION_ATTACHED_PIC;
  if (!cover || container.traits->covers != ContainerTraits::Covers::with_listed_tags) return {};
  return "." + container.extension +
         " cannot hold it beside tags that MP4 does not define; --drop tags keeps it";
}

}  // namespace lull::io
