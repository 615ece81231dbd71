#include "io/muxer.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/ffmpeg_log.h"

namespace lull::io {
namespace {

/// Entries that describe the old file rather than its content; the muxer writes its own.
bool describes_the_file(std::string_view key, bool encoded) {
  constexpr std::array<std::string_view, 4> always = {"major_brand", "minor_version",
                                                      "compatible_brands", "encoder"};
  constexpr std::array<std::string_view, 5> of_encoded = {"ENCODER", "DURATION", "BPS",
                                                          "NUMBER_OF_BYTES", "NUMBER_OF_FRAMES"};
  if (std::ranges::find(always, key) != always.end()) return true;
  return encoded && (std::ranges::find(of_encoded, key) != of_encoded.end() ||
                     key.starts_with("_STATISTICS_"));
}

void copy_metadata(const AVDictionary* from, AVDictionary** to, bool encoded) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)))
    if (!describes_the_file(entry->key, encoded)) av_dict_set(to, entry->key, entry->value, 0);
}

std::string describe(const AVStream& stream) {
  const char* type = av_get_media_type_string(stream.codecpar->codec_type);
  return "stream " + std::to_string(stream.index) + " (" + (type ? type : "unknown") + ", " +
         avcodec_get_name(stream.codecpar->codec_id) + ")";
}

/// The old tag if it means the same in the new container, else 0: the muxer's own.
std::uint32_t tag_for(const AVOutputFormat& format, const AVCodecParameters& codec) {
  unsigned own = 0;
  const bool same = !format.codec_tag ||
                    av_codec_get_id(format.codec_tag, codec.codec_tag) == codec.codec_id ||
                    !av_codec_get_tag2(format.codec_tag, codec.codec_id, &own);
  return same ? codec.codec_tag : 0;
}

bool holds(const AVOutputFormat& format, const AVCodecParameters& codec) {
  const int known = avformat_query_codec(&format, codec.codec_id, FF_COMPLIANCE_EXPERIMENTAL);
  if (known >= 0) return known > 0;
  // No opinion; but one that names no codec of this type by default takes none.
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO) return format.audio_codec != AV_CODEC_ID_NONE;
  if (codec.codec_type == AVMEDIA_TYPE_SUBTITLE) return format.subtitle_codec != AV_CODEC_ID_NONE;
  return codec.codec_type == AVMEDIA_TYPE_VIDEO;
}

}  // namespace

Muxer::Muxer(OutputFile& file, const Container& container, const FileSource& source,
             const Encoder& encoder, Dictionary& options)
    : file_(file), extension_(container.extension), damage_(source.passes_damage()) {
  AVFormatContext* context = nullptr;
  avformat_alloc_output_context2(&context, container.format, nullptr,
                                 ("file:" + file.temporary()).c_str());
  context_.reset(non_null(context));
  context_->pb = file.io();
  // No random identifiers, no dates: equal input gives equal files.
  context_->flags |= AVFMT_FLAG_BITEXACT;
  // What the input has may stay, standard or not: FLAC in MP4, Y4M of more than 8 bits.
  context_->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  add_video(source, encoder);
  if (!container.still()) add_copies(source);
  copy_global(source.demuxer().context());
  write_header(container, options);
}

void Muxer::add_video(const FileSource& source, const Encoder& encoder) {
  const AVStream& from = source.demuxer().video();
  AVStream* to = non_null(avformat_new_stream(context_.get(), nullptr));
  check<InternalError>(avcodec_parameters_from_context(to->codecpar, &encoder.context()),
                       "cannot describe the video stream");
  encoder_time_base_ = encoder.context().time_base;
  to->time_base = encoder_time_base_;
  to->avg_frame_rate = to->r_frame_rate = encoder.context().framerate;
  to->sample_aspect_ratio = encoder.context().sample_aspect_ratio;
  to->disposition = from.disposition;
  copy_metadata(from.metadata, &to->metadata, true);
  copy_side_data(from, *to);
}

void Muxer::add_copies(const FileSource& source) {
  const AVFormatContext& from = source.demuxer().context();
  copies_.resize(from.nb_streams);
  for (unsigned i = 0; i < from.nb_streams; ++i) {
    const AVStream& stream = *from.streams[i];
    // The demuxer uses some streams itself: chapters of MP4, for one.
    if (&stream == &source.demuxer().video() || stream.discard == AVDISCARD_ALL) continue;
    add_copy(stream, extension_);
  }
}

void Muxer::add_copy(const AVStream& from, const std::string& extension) {
  const AVCodecParameters& codec = *from.codecpar;
  // MP4's time code is made anew from the video's metadata.
  if (codec.codec_tag == MKTAG('t', 'm', 'c', 'd')) return;
  const std::string_view name = context_->oformat->name;
  if (from.disposition & AV_DISPOSITION_ATTACHED_PIC && name == "matroska")
    return attach_cover(from);
  const bool unknown = codec.codec_id == AV_CODEC_ID_NONE;
  const bool held = !unknown && holds(*context_->oformat, codec);
  if (!held) {
    if (unknown || codec.codec_type == AVMEDIA_TYPE_DATA) {
      left_out_.push_back(describe(from));
      return;
    }
    throw InvalidArgument("." + extension + " cannot hold " + describe(from) +
                          " of the input; use .mkv");
  }
  AVStream* to = non_null(avformat_new_stream(context_.get(), nullptr));
  if (avcodec_parameters_copy(to->codecpar, &codec) < 0) throw std::bad_alloc();
  to->codecpar->codec_tag = tag_for(*context_->oformat, codec);
  to->time_base = from.time_base;
  to->avg_frame_rate = from.avg_frame_rate;
  to->r_frame_rate = from.r_frame_rate;
  to->sample_aspect_ratio = from.sample_aspect_ratio;
  to->duration = from.duration;
  to->disposition = from.disposition;
  copy_metadata(from.metadata, &to->metadata, false);
  copy_side_data(from, *to);
  copies_[from.index] = {to, from.time_base};
}

// A cover picture is a stream of one packet in MP4 and in what FFmpeg reads, in Matroska a file.
void Muxer::attach_cover(const AVStream& from) {
  const AVPacket& picture = from.attached_pic;
  const bool png = from.codecpar->codec_id == AV_CODEC_ID_PNG;
  if (picture.size <= 0 || (!png && from.codecpar->codec_id != AV_CODEC_ID_MJPEG)) {
    left_out_.push_back(describe(from));
    return;
  }
  AVStream* to = non_null(avformat_new_stream(context_.get(), nullptr));
  to->codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
  to->codecpar->codec_id = from.codecpar->codec_id;
  to->codecpar->extradata =
      static_cast<std::uint8_t*>(non_null(av_mallocz(picture.size + AV_INPUT_BUFFER_PADDING_SIZE)));
  to->codecpar->extradata_size = picture.size;
  std::copy_n(picture.data, picture.size, to->codecpar->extradata);
  copy_metadata(from.metadata, &to->metadata, false);
  av_dict_set(&to->metadata, "filename", png ? "cover.png" : "cover.jpg", AV_DICT_DONT_OVERWRITE);
  av_dict_set(&to->metadata, "mimetype", png ? "image/png" : "image/jpeg", AV_DICT_DONT_OVERWRITE);
}

void Muxer::copy_global(const AVFormatContext& from) {
  copy_metadata(from.metadata, &context_->metadata, false);
  copy_chapters(from);
}

void Muxer::copy_chapters(const AVFormatContext& from) {
  if (from.nb_chapters == 0) return;
  context_->chapters =
      static_cast<AVChapter**>(non_null(av_calloc(from.nb_chapters, sizeof *context_->chapters)));
  for (unsigned i = 0; i < from.nb_chapters; ++i) {
    auto* chapter = static_cast<AVChapter*>(non_null(av_mallocz(sizeof(AVChapter))));
    context_->chapters[context_->nb_chapters++] = chapter;  // now the context frees it
    chapter->id = from.chapters[i]->id;
    chapter->time_base = from.chapters[i]->time_base;
    chapter->start = from.chapters[i]->start;
    chapter->end = from.chapters[i]->end;
    copy_metadata(from.chapters[i]->metadata, &chapter->metadata, false);
  }
}

void Muxer::write_header(const Container& container, Dictionary& options) {
  const std::string_view name = container.format->name;
  // Its own offset of over a second would move every time stamp.
  if (name == "mpegts" && !options.has("mpegts_copyts")) options.set("mpegts_copyts", "1");
  // Audio may begin before the video, and before 0: a block's time is relative to its cluster's and
  // may be negative. FFmpeg would move all streams instead.
  // NUT has no negative times, such as audio may have, but no decoding times either, which are
  // negative where B frames are.
  if (name == "matroska" || name == "webm" || (name == "nut" && context_->nb_streams == 1))
    context_->avoid_negative_ts = 0;
  const LogWatch watch;
  const int code = avformat_write_header(context_.get(), options.address());
  if (file_.write_error()) check<IoError>(file_.write_error(), "cannot write the output");
  if (code < 0)
    throw InvalidArgument(
        with_log("." + extension_ + " cannot hold these streams; use .mkv", watch));
  if (const std::string key = options.first_key(); !key.empty())
    throw InvalidArgument("no such option: " + key + " (neither the encoder nor " +
                          container.format->name + " has it)");
}

void Muxer::write_video(PacketPtr packet) {
  if (extension_ == "y4m") return write_y4m(*reinterpret_cast<const AVFrame*>(packet->data));
  av_packet_rescale_ts(packet.get(), encoder_time_base_, context_->streams[0]->time_base);
  packet->stream_index = 0;
  const LogWatch watch;
  check_sent(write(packet.get()), watch);
}

// FFmpeg's own writer loses chroma where the width is odd and samples have two bytes.
void Muxer::write_y4m(const AVFrame& picture) {
  AVIOContext* io = context_->pb;
  const auto format = static_cast<AVPixelFormat>(picture.format);
  avio_write(io, reinterpret_cast<const unsigned char*>("FRAME\n"), 6);
  for (int plane = 0; plane < av_pix_fmt_count_planes(format); ++plane) {
    const int bytes = av_image_get_linesize(format, picture.width, plane);
    const int shift = plane == 0 ? 0 : av_pix_fmt_desc_get(format)->log2_chroma_h;
    for (int y = 0; y < AV_CEIL_RSHIFT(picture.height, shift); ++y)
      avio_write(io, picture.data[plane] + std::ptrdiff_t{y} * picture.linesize[plane], bytes);
  }
  check<IoError>(file_.write_error(), "cannot write the output");
}

void Muxer::write_copied(PacketPtr packet) {
  const auto index = static_cast<std::size_t>(packet->stream_index);
  if (index >= copies_.size() || !copies_[index].to) return;
  Copy& copy = copies_[index];
  // The gaps between subtitles of MP4, two bytes each: the muxer fills them itself.
  if (copy.to->codecpar->codec_id == AV_CODEC_ID_MOV_TEXT && packet->size <= 2) return;
  av_packet_rescale_ts(packet.get(), copy.time_base, copy.to->time_base);
  packet->stream_index = copy.to->index;
  packet->pos = -1;
  keep_order(copy, *packet);
  const LogWatch watch;
  const int code = write(packet.get());
  // What another container wants to be told of the content cannot be found in damaged content.
  if (code == AVERROR_INVALIDDATA)
    damage_.frame(
        with_log("a packet of stream " + std::to_string(index) + " cannot be copied", watch),
        AV_NOPTS_VALUE);
  else
    check_sent(code, watch);
}

// A coarser time base can make two decoding times one, which many muxers refuse.
void Muxer::keep_order(Copy& copy, AVPacket& packet) const {
  if (packet.dts == AV_NOPTS_VALUE) return;
  const bool strict = !(context_->oformat->flags & AVFMT_TS_NONSTRICT);
  const std::int64_t earliest =
      copy.last_dts == AV_NOPTS_VALUE ? packet.dts : copy.last_dts + (strict ? 1 : 0);
  packet.dts = std::max(packet.dts, earliest);
  if (packet.pts != AV_NOPTS_VALUE) packet.pts = std::max(packet.pts, packet.dts);
  copy.last_dts = packet.dts;
}

int Muxer::write(AVPacket* packet) {
  const int code = av_interleaved_write_frame(context_.get(), packet);
  check<IoError>(file_.write_error(), "cannot write the output");
  return code;
}

void Muxer::check_sent(int code, const LogWatch& watch) const {
  if (code < 0)
    throw IoError(with_log("cannot write the output (" + error_text(code) + ")", watch));
}

void Muxer::write_trailer() {
  const LogWatch watch;
  const int code = av_write_trailer(context_.get());
  check<IoError>(file_.write_error(), "cannot write the output");
  if (code < 0)
    throw IoError(with_log("cannot write the output (" + error_text(code) + ")", watch));
}

}  // namespace lull::io
