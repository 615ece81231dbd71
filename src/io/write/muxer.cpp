#include "io/write/muxer.h"

#include <algorithm>
#include <numeric>

#include "io/demux/packet_times.h"
#include "io/encode/picture_side_data.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/ffmpeg/tags.h"
#include "io/packets/pcm_converter.h"
#include "io/packets/subtitle_converter.h"
#include "io/write/animation.h"
#include "io/write/chapters.h"
#include "io/write/losses.h"
#include "io/write/stream_handling.h"

namespace lull::io {
namespace {

/// Returns the input's codec tag if the tag means the same codec in the new container. Otherwise,
/// returns 0, so that the muxer chooses the tag.
std::uint32_t tag_for(const AVOutputFormat& format, const AVCodecParameters& codec) {
  unsigned own = 0;
  const bool same = !format.codec_tag ||
                    av_codec_get_id(format.codec_tag, codec.codec_tag) == codec.codec_id ||
                    !av_codec_get_tag2(format.codec_tag, codec.codec_id, &own);
  return same ? codec.codec_tag : 0;
}

/// Returns the time scale (ticks per second, at most `limit`) that best represents the start times
/// of audio and video streams. FFmpeg's default scale of 1000 would round these times.
std::int64_t exact_timescale(const AVFormatContext& context) {
  constexpr std::int64_t least = 1000, limit = 10000000;
  std::int64_t scale = 1;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVCodecParameters& codec = *context.streams[i]->codecpar;
    const std::int64_t ticks = codec.codec_type == AVMEDIA_TYPE_AUDIO ? codec.sample_rate
                               : codec.codec_type == AVMEDIA_TYPE_VIDEO
                                   ? context.streams[i]->time_base.den
                                   : 1;
    const std::int64_t both = std::lcm(scale, std::max<std::int64_t>(ticks, 1));
    if (both <= limit) scale = both;
  }
  return scale * ((least + scale - 1) / scale);
}

}  // namespace

Muxer::Muxer(Output& file, const Container& container, const FileSource& source,
             const Encoder& encoder, Dictionary& options)
    : file_(file),
      extension_(container.extension),
      traits_(*container.traits),
      drops_(container.drops),
      pipe_(container.pipe),
      selector_(source.selector()),
      damage_(source.tolerates_damage()) {
  AVFormatContext* context = nullptr;
  avformat_alloc_output_context2(&context, container.format, nullptr,
                                 ("file:" + file.temporary()).c_str());
  context_.reset(non_null(context));
  context_->pb = file.io();
  // AVFMT_FLAG_BITEXACT disables random identifiers and dates, so that equal inputs give equal
  // outputs.
  context_->flags |= AVFMT_FLAG_BITEXACT;
  // The muxer must flush each frame, because the reader of a pipe waits for the frame.
  if (pipe_) context_->flags |= AVFMT_FLAG_FLUSH_PACKETS;
  // The muxer must accept streams that the container's standard does not allow. Examples are FLAC
  // in MP4 and samples of more than 8 bits in Y4M.
  context_->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  encoder_time_base_ = encoder.context().time_base;
  set_shift(source, container);
  // If the user has chosen the video stream, the stream keeps its position among the streams.
  // Otherwise, it becomes the first stream of the output.
  if (!source.options().video || container.still()) add_video(source, encoder);
  if (!container.still()) add_copies(source, container, encoder);
  copy_global(source.demuxer().context());
  note_dropped(source);
  write_header(source, container, options);
}

void Muxer::add_video(const FileSource& source, const Encoder& encoder) {
  const AVStream& from = source.demuxer().video();
  AVStream* to = non_null(avformat_new_stream(context_.get(), nullptr));
  check<InternalError>(avcodec_parameters_from_context(to->codecpar, &encoder.context()),
                       "cannot describe the video stream");
  video_ = to;
  to->time_base = encoder_time_base_;
  to->avg_frame_rate = to->r_frame_rate = encoder.context().framerate;
  to->sample_aspect_ratio = encoder.context().sample_aspect_ratio;
  to->disposition = from.disposition;
  copy_metadata(from.metadata, &to->metadata, true);
  if (selector_ && find_tag(to->metadata, "timecode")) {
    av_dict_set(&to->metadata, "timecode", nullptr, 0);
    losses_.push_back("the time code (the input is cut)");
  }
  copy_picture_data(source, *to);
  if (to->codecpar->codec_id == AV_CODEC_ID_HEVC && traits_.hevc_tag)
    to->codecpar->codec_tag = traits_.hevc_tag;
}

// Computes the shift of timestamps for the video stream and for all other streams. The two shifts
// can differ, because the encoder rounds the time of the first frame to its ticks.
void Muxer::set_shift(const FileSource& source, const Container& container) {
  shift_ = shift_on_grid(source, container, encoder_time_base_);
  if (shift_.ticks == 0) return;
  const AVRational tick = source.demuxer().video().time_base;
  video_shift_ = shifted_start(source, shift_, encoder_time_base_) -
                 av_rescale_q(source.first_time(), tick, encoder_time_base_);
  if (const std::string note = note_of_start(source, container); !note.empty())
    notes_.push_back(note);
}

void Muxer::add_copies(const FileSource& source, const Container& container,
                       const Encoder& encoder) {
  const AVFormatContext& from = source.demuxer().context();
  copies_.resize(from.nb_streams);
  for (unsigned i = 0; i < from.nb_streams; ++i) {
    const AVStream& stream = *from.streams[i];
    // The muxer does not copy streams that the demuxer converts to properties of the file, such as
    // the chapter stream of MP4.
    if (stream.discard == AVDISCARD_ALL) continue;
    if (&stream == &source.demuxer().video()) {
      if (!video_) add_video(source, encoder);
      continue;
    }
    try {
      add_copy(stream, container);
    } catch (const InvalidArgument& error) {
      refuse_streams(source, drops_, error.what());
    }
  }
}

void Muxer::add_copy(const AVStream& from, const Container& container) {
  switch (handling_of(from, container)) {
    case StreamHandling::copied:
      break;
    case StreamHandling::as_file:
      return attach_file(from);
    case StreamHandling::as_cover:
      return attach_cover(from);
    case StreamHandling::converted:
      return convert(from, container);
    case StreamHandling::regenerated:
    case StreamHandling::dropped:
      return;
    case StreamHandling::omitted: {
      const std::string reason = reason_of_omission(from, container);
      losses_.push_back(describe(from) + (reason.empty() ? "" : " (" + reason + ")"));
      return;
    }
    case StreamHandling::refused:
      throw InvalidArgument("." + extension_ + " cannot hold " + describe(from) +
                            " of the input; " + (traits_.attachments ? "" : "use .mkv, or ") +
                            "leave it out with --drop " + std::to_string(from.index));
  }
  AVStream& to = new_stream(from);
  if (avcodec_parameters_copy(to.codecpar, from.codecpar) < 0) throw std::bad_alloc();
  to.codecpar->codec_tag = tag_for(*context_->oformat, *from.codecpar);
  to.avg_frame_rate = from.avg_frame_rate;
  to.r_frame_rate = from.r_frame_rate;
  to.sample_aspect_ratio = from.sample_aspect_ratio;
  copy_side_data(from, to);
  const bool picture = (from.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
  copies_[from.index].picture = picture;
  if (from.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !picture)
    notes_.push_back(describe(from) +
                     " is copied, not denoised; --video all denoises each, --drop " +
                     std::to_string(from.index) + " leaves it out");
}

/// Creates the output stream for the packets of the input stream `from`.
AVStream& Muxer::new_stream(const AVStream& from) {
  AVStream* to = non_null(avformat_new_stream(context_.get(), nullptr));
  to->time_base = from.time_base;
  if (!selector_) to->duration = from.duration;
  to->disposition = from.disposition;
  copy_metadata(from.metadata, &to->metadata, false);
  Copy& copy = copies_[from.index];
  copy.to = to;
  copy.time_base = from.time_base;
  copy.fills_gaps = from.codecpar->codec_id == AV_CODEC_ID_MOV_TEXT;
  return *to;
}

void Muxer::convert(const AVStream& from, const Container& container) {
  const AVCodecID codec = converted_codec(from, container);
  std::unique_ptr<PacketConverter> converter;
  if (from.codecpar->codec_type == AVMEDIA_TYPE_AUDIO)
    converter = std::make_unique<PcmConverter>(from, codec);
  else
    converter = std::make_unique<SubtitleConverter>(from, codec);
  AVStream& to = new_stream(from);
  check<InternalError>(avcodec_parameters_from_context(to.codecpar, &converter->encoder()),
                       "cannot describe a converted stream");
  copies_[from.index].converter = std::move(converter);
  const bool is_audio = from.codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  notes_.push_back(describe(from) + " becomes " + avcodec_get_name(codec) +
                   (is_audio ? " (with equal samples)" : ""));
}

// Copies an attached file. Matroska requires a name and a type for an attached file.
void Muxer::attach_file(const AVStream& from) {
  AVStream* to = non_null(avformat_new_stream(context_.get(), nullptr));
  if (avcodec_parameters_copy(to->codecpar, from.codecpar) < 0) throw std::bad_alloc();
  to->codecpar->codec_tag = 0;
  to->disposition = from.disposition;
  copy_metadata(from.metadata, &to->metadata, false);
  const std::string name = "attachment-" + std::to_string(from.index);
  av_dict_set(&to->metadata, "filename", name.c_str(), AV_DICT_DONT_OVERWRITE);
  if (from.codecpar->codec_id == AV_CODEC_ID_NONE)
    av_dict_set(&to->metadata, "mimetype", "application/octet-stream", AV_DICT_DONT_OVERWRITE);
}

// Copies a cover picture as an attached file, as Matroska stores it. MP4 files and FFmpeg's
// demuxers represent a cover picture as a stream of one packet.
void Muxer::attach_cover(const AVStream& from) {
  const AVPacket& picture = from.attached_pic;
  const bool png = from.codecpar->codec_id == AV_CODEC_ID_PNG;
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

void Muxer::note_dropped(const FileSource& source) {
  const AVFormatContext& from = source.demuxer().context();
  std::string list;
  const auto add = [&](const std::string& what) { list += (list.empty() ? "" : ", ") + what; };
  for (unsigned i = 0; i < from.nb_streams; ++i)
    if (const AVStream& stream = *from.streams[i];
        &stream != &source.demuxer().video() && is_dropped(stream, drops_))
      add(describe(stream));
  if (drops_.chapters && from.nb_chapters > 0)
    add(std::to_string(from.nb_chapters) + (from.nb_chapters == 1 ? " chapter" : " chapters"));
  if (drops_.tags && from.metadata) add("the tags of the file");
  if (!list.empty()) notes_.push_back("dropped by --drop: " + list);
}

void Muxer::copy_global(const AVFormatContext& from) {
  if (!drops_.tags) copy_metadata(from.metadata, &context_->metadata, false);
  if (selector_) {
    av_dict_set(&context_->metadata, "timecode", nullptr, 0);
    if (from.nb_chapters > 0 && !drops_.chapters) losses_.push_back("chapters (the input is cut)");
    return;
  }
  // In AVI, the time code is a property of the file, not of a stream.
  const AVDictionaryEntry* timecode = find_tag(video_->metadata, "timecode");
  if (timecode && traits_.file_timecode)
    av_dict_set(&context_->metadata, "timecode", timecode->value, AV_DICT_DONT_OVERWRITE);
  if (!drops_.chapters) copy_chapters(from, shift_, *context_);
}

void Muxer::write_header(const FileSource& source, const Container& container,
                         Dictionary& options) {
  for (const auto& [key, value] : traits_.settings)
    if (!options.has(key)) options.set(key, value);
  if (needs_free_tags(traits_, context_->metadata)) {
    const std::string flags = options.get("movflags");
    options.set("movflags", (flags.empty() ? "" : flags + "+") + "use_metadata_tags");
  }
  copy_plays(source.demuxer().path(), *context_->oformat, options);
  if (traits_.timescale_option && !options.has(traits_.timescale_option))
    options.set(traits_.timescale_option, std::to_string(exact_timescale(*context_)));
  // By default, FFmpeg shifts all streams if a timestamp is negative, for example if audio begins
  // before the video. The muxer disables this shift for containers that can store negative time
  // stamps.
  using NegativeTimes = ContainerTraits::NegativeTimes;
  if (traits_.negative_times == NegativeTimes::kept ||
      (traits_.negative_times == NegativeTimes::single_stream && context_->nb_streams == 1))
    context_->avoid_negative_ts = 0;
  const LogWatch watch;
  const int code = avformat_write_header(context_.get(), options.address());
  file_.check_written();
  if (code < 0)
    refuse_streams(source, drops_,
                   with_log("." + extension_ + " cannot hold these streams; " +
                                (pipe_ ? "give --output-format nut" : "use .mkv") +
                                (context_->nb_streams > 1 ? ", or leave some out with --drop" : ""),
                            watch));
  if (const std::string key = options.first_key(); !key.empty())
    throw InvalidArgument("no such option: " + key + " (neither the encoder nor " +
                          container.format->name + " has it)");
}

void Muxer::write_video(PacketPtr packet) {
  if (traits_.raw_frames) return write_y4m(*reinterpret_cast<const AVFrame*>(packet->data));
  shift_times(*packet, video_shift_);
  av_packet_rescale_ts(packet.get(), encoder_time_base_, video_->time_base);
  packet->stream_index = video_->index;
  // The decoding times of a stream must not decrease. If the durations of frames vary, the first
  // packets of a segment can have lower decoding times than the last packets of the previous
  // segment.
  make_dts_increase(last_video_dts_, *packet);
  last_video_duration_ = packet->duration;
  const LogWatch watch;
  check_write(write(packet.get()), watch);
}

// Writes a frame of a Y4M file. FFmpeg's Y4M muxer loses chroma samples if the width is odd and
// samples have two bytes.
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
  if (pipe_) avio_flush(io);
  file_.check_written();
}

void Muxer::write_copied(PacketPtr packet) {
  const auto index = static_cast<std::size_t>(packet->stream_index);
  if (index >= copies_.size() || !copies_[index].to) return;
  Copy& copy = copies_[index];
  // Drops the empty packets (two bytes) that fill the gaps between MP4 subtitles, because FFmpeg's
  // muxer adds new empty packets.
  if (copy.fills_gaps && packet->size <= 2) return;
  using Preroll = ContainerTraits::Preroll;
  if (packet->flags & AV_PKT_FLAG_DISCARD && traits_.preroll != Preroll::all) {
    if (traits_.preroll == Preroll::one_packet) copy.preroll = std::move(packet);
    return;
  }
  if (copy.preroll) select_and_write(copy, std::move(copy.preroll));
  select_and_write(copy, std::move(packet));
}

void Muxer::select_and_write(Copy& copy, PacketPtr packet) {
  if (!selector_ || copy.picture) return write_copy(copy, std::move(packet));
  copy.waiting.push_back(std::move(packet));
  select_and_write(copy);
}

// Writes the selected packets of a stream. If the selection of a packet depends on later frames,
// this packet and all later packets of the stream wait, so that packets stay in order.
void Muxer::select_and_write(Copy& copy) {
  const bool subtitle = copy.to->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
  for (; !copy.waiting.empty(); copy.waiting.pop_front()) {
    const FrameSelector::PacketVerdict verdict =
        selector_->judge_packet(*copy.waiting.front(), copy.time_base, subtitle);
    if (verdict == FrameSelector::PacketVerdict::wait) return;
    if (verdict == FrameSelector::PacketVerdict::keep)
      write_copy(copy, std::move(copy.waiting.front()));
  }
}

void Muxer::flush_copies() {
  if (!selector_) return;
  for (Copy& copy : copies_)
    if (copy.to) select_and_write(copy);
}

void Muxer::write_copy(Copy& copy, PacketPtr packet) {
  const int from = packet->stream_index;
  if (copy.converter && !(packet = converted(copy, *packet))) return;
  if (!copy.picture) shift_times(*packet, shift_.in(copy.time_base));
  av_packet_rescale_ts(packet.get(), copy.time_base, copy.to->time_base);
  packet->stream_index = copy.to->index;
  packet->pos = -1;
  make_dts_increase(copy.last_dts, *packet);
  if (packet->dts != AV_NOPTS_VALUE && packet->pts != AV_NOPTS_VALUE)
    packet->pts = std::max(packet->pts, packet->dts);
  const LogWatch watch;
  const int code = write(packet.get());
  // If a packet is too damaged for the muxer, the error counts as damage of the input.
  if (code == AVERROR_INVALIDDATA)
    damage_.add_frame(
        with_log("a packet of stream " + std::to_string(from) + " cannot be copied", watch),
        AV_NOPTS_VALUE);
  else
    check_write(code, watch);
}

/// Converts a packet to the codec of the output stream. Returns null if there is no data to write.
PacketPtr Muxer::converted(Copy& copy, const AVPacket& packet) {
  try {
    return copy.converter->convert(packet);
  } catch (const BadData& error) {
    damage_.add_frame(
        std::string(error.what()) + " of stream " + std::to_string(packet.stream_index),
        AV_NOPTS_VALUE);
    return nullptr;
  }
}

// Raises the decoding timestamp (DTS) of the packet if it is less than `last_dts`. The function
// raises an equal timestamp only if the muxer requires strictly increasing timestamps. Equal time
// stamps can result from conversion to a coarser time base.
void Muxer::make_dts_increase(std::int64_t& last_dts, AVPacket& packet) const {
  if (packet.dts == AV_NOPTS_VALUE) return;
  const bool strict = !(context_->oformat->flags & AVFMT_TS_NONSTRICT);
  if (last_dts != AV_NOPTS_VALUE) packet.dts = std::max(packet.dts, last_dts + (strict ? 1 : 0));
  last_dts = packet.dts;
}

int Muxer::write(AVPacket* packet) {
  const int code = av_interleaved_write_frame(context_.get(), packet);
  file_.check_written();
  return code;
}

void Muxer::check_write(int code, const LogWatch& watch) const {
  if (code < 0)
    throw IoError(with_log("cannot write the output (" + error_text(code) + ")", watch));
}

void Muxer::write_trailer() {
  set_last_duration(*context_, last_video_duration_);
  const LogWatch watch;
  const int code = av_write_trailer(context_.get());
  file_.check_written();
  if (code < 0)
    throw IoError(with_log("cannot write the output (" + error_text(code) + ")", watch));
}

}  // namespace lull::io
