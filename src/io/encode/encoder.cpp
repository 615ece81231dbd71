#include "io/encode/encoder.h"

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "io/encode/encoder_options.h"
#include "io/encode/frame_sei.h"
#include "io/encode/picture_side_data.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/ffmpeg/float_map.h"
#include "io/ffmpeg/side_data.h"
#include "io/metadata/orientation.h"

namespace lull::io {
namespace {

AVRational frame_time(AVRational rate) { return rate.num > 0 ? av_inv_q(rate) : AVRational{1, 25}; }

/// Returns whether the codec requires a constant frame rate. MPEG-1 and MPEG-2 require it because
/// they support only a fixed list of frame rates. MPEG-4 part 2 requires it for input ticks whose
/// denominator exceeds 65535.
bool needs_constant_rate(const AVCodec& codec, AVRational tick) {
  return codec.supported_framerates || (codec.id == AV_CODEC_ID_MPEG4 && tick.den > 65535);
}

bool is_rgb(AVPixelFormat format) {
  return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

}  // namespace

std::int64_t FrameTimes::next(const Frame& frame) {
  const std::int64_t number = frames_++;
  if (number == 0) first_pts_ = frame.pts;
  if (numbered_) return number;
  const AVRational input_tick = to_av(frame.time_base);
  // The function subtracts the time of the first frame before it rounds, so that the rounding
  // errors do not depend on this time.
  const std::int64_t origin = constant_rate_ || frames_only_ ? first_pts_ : 0;
  const std::int64_t distance = av_rescale_q(frame.pts - origin, input_tick, tick_);
  std::int64_t time = distance + (frames_only_ ? 0 : av_rescale_q(origin, input_tick, tick_));
  const bool irregular = frames_only_ ? time != number : constant_rate_ && time <= last_;
  if (irregular && number > 0)
    throw InvalidArgument(codec_ + " in ." + extension_ +
                          " cannot hold frames at varying times (frame " + std::to_string(number) +
                          "); use .mkv");
  // With a constant frame rate, the encoder may have to change the times of frames. `moved_`
  // records whether the time of any frame changed by more than one input tick. If the output does
  // not keep the start time, a shift of all frames by the same time does not count as a change.
  const std::int64_t back = keeps_start_ ? av_rescale_q(time, tick_, input_tick)
                                         : av_rescale_q(distance, tick_, input_tick) + origin;
  if (constant_rate_ && !frames_only_ && std::abs(back - frame.pts) > 1) moved_ = true;
  if (last_ != AV_NOPTS_VALUE && time <= last_) time = last_ + 1;
  last_ = time;
  return time;
}

EncoderInput::EncoderInput(const FileSource& source, const SinkOptions& options)
    : format(written_format(source, options)),
      source_height(source.format().height),
      pixel_format(source.pixel_format()),
      traits(source.traits()),
      half_floats(source.half_floats()),
      frame_rate(to_av(source.info().frame_rate)),
      tick(source.demuxer().video().time_base),
      aspect(av_guess_sample_aspect_ratio(&source.demuxer().context(), &source.demuxer().video(),
                                          const_cast<AVFrame*>(&source.first()))),
      field_order(source.decoder().field_order),
      interlaced(source.info().interlaced),
      first(make_frame()) {
  check<InternalError>(av_frame_copy_props(first.get(), &source.first()), "cannot copy side data");
  // Some containers state HDR10 metadata that the frames lack, for example WebM with VP9.
  copy_picture_data(source, *first);
  first->width = format.width;
  first->height = format.height;
  first->format = source.first().format;
}

Encoder::Encoder(const EncoderChoice& choice, const Container& container, const EncoderInput& input,
                 const SinkOptions& options, Dictionary& leftover,
                 std::shared_ptr<FrameTimes> times)
    : choice_(choice),
      traits_(encoder_traits(*choice.codec)),
      times_(std::move(times)),
      pictures_(choice.format,
                swaps_sides(container.rotation) ? input.format.height : input.format.width,
                swaps_sides(container.rotation) ? input.format.width : input.format.height),
      packer_(input.pixel_format, input.traits, input.format, choice, options.dither),
      rotation_(container.rotation) {
  context_.reset(non_null(avcodec_alloc_context3(choice.codec)));
  describe(input, container);
  // With more than `max_threads` threads, the encoder fails or is not faster.
  context_->thread_count = std::min(options.threads, traits_.max_threads);
  set_encoder_options(*context_, container, *input.first, options, leftover);
  if (input.half_floats && choice.codec->id == AV_CODEC_ID_EXR && !leftover.has("format"))
    leftover.set("format", "half");
  open(leftover);
  if (rotation_ != 1) unrotated_.emplace(choice.format, input.format.width, input.format.height);
}

void Encoder::describe(const EncoderInput& input, const Container& container) {
  AVCodecContext& c = *context_;
  const AVFrame& first = *input.first;
  c.width = first.width;
  c.height = first.height;
  c.pix_fmt = choice_.format;
  c.sample_aspect_ratio = input.aspect;
  if (swaps_sides(container.rotation)) {
    std::swap(c.width, c.height);
    if (input.aspect.num > 0) c.sample_aspect_ratio = av_inv_q(input.aspect);
  }
  // FFmpeg would write an unknown aspect ratio to PNG files as zero pixels per unit (chunk pHYs).
  const bool is_png = choice_.codec->id == AV_CODEC_ID_PNG || choice_.codec->id == AV_CODEC_ID_APNG;
  if (is_png && c.sample_aspect_ratio.num == 0) c.sample_aspect_ratio = {1, 1};
  c.framerate = input.frame_rate;
  const bool constant_rate =
      container.constant_rate() || needs_constant_rate(*choice_.codec, input.tick);
  c.time_base = constant_rate ? frame_time(input.frame_rate) : input.tick;
  if (!times_)
    times_ = std::make_shared<FrameTimes>(*choice_.codec, container, constant_rate, c.time_base);
  c.color_range = first.color_range;
  c.color_primaries = first.color_primaries;
  c.color_trc = first.color_trc;
  c.colorspace = first.colorspace;
  // If a file states no colour matrix, players derive the matrix from the height. If the output has
  // another height than the input, players could therefore use another matrix. Such an output must
  // state the matrix of the input.
  const bool guessed = c.colorspace == AVCOL_SPC_UNSPECIFIED && input.format.layout == Layout::yuv;
  if (guessed && default_colour_space(input.source_height) != default_colour_space(first.height))
    c.colorspace = default_colour_space(input.source_height);
  c.chroma_sample_location = first.chroma_location;
  c.field_order = input.field_order;
  mark_fields_ = input.interlaced && !is_interlaced(first);
  if (input.interlaced) {
    c.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
    // Some decoders report the field order only in the frames.
    const AVFieldOrder order = c.field_order;
    if (order == AV_FIELD_UNKNOWN || order == AV_FIELD_PROGRESSIVE)
      c.field_order = top_field_first(first) ? AV_FIELD_TT : AV_FIELD_BB;
  }
  if (is_full_range_yuv(choice_.format)) c.color_range = AVCOL_RANGE_JPEG;
  if (choice_.convert && is_rgb(choice_.format) != is_rgb(input.pixel_format)) {
    c.colorspace = is_rgb(choice_.format) ? AVCOL_SPC_RGB : default_colour_space(c.height);
    c.color_range = is_rgb(choice_.format) || is_full_range_yuv(choice_.format) ? AVCOL_RANGE_JPEG
                                                                                : AVCOL_RANGE_MPEG;
  }
  // JFIF requires the colour matrix of BT.601.
  if (choice_.convert && c.codec_id == AV_CODEC_ID_MJPEG) c.colorspace = AVCOL_SPC_BT470BG;
  if (container.format->flags & AVFMT_GLOBALHEADER) c.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
}

void Encoder::open(Dictionary& leftover) {
  const std::string name = choice_.codec->name;
  const LogWatch watch;
  const int code = avcodec_open2(context_.get(), choice_.codec, leftover.address());
  // If x264-params or x265-params contain an unknown option, x264 and x265 only log a message.
  const std::string unknown = watch.find("Error parsing option");
  const std::string unknown_x265 = watch.find("Unknown option:");
  const std::string& bad = unknown.empty() ? unknown_x265 : unknown;
  if (!bad.empty()) throw InvalidArgument(name + ": " + bad);
  if (code == AVERROR(ENOMEM)) throw std::bad_alloc();
  if (code < 0)
    throw InvalidArgument(with_log("cannot encode " + std::to_string(context_->width) + "x" +
                                       std::to_string(context_->height) + " " +
                                       name_of(choice_.format) + " with " + name,
                                   watch));
}

// Returns a picture that shares the samples of `frame`. If the encoder needs another memory layout,
// the function returns null, and the caller must use `pack_samples()` instead.
FramePtr Encoder::share_samples(const Frame& frame) const {
  if (!packer_.is_direct() || rotation_ != 1 || (frame.side_data && frame.side_data->alpha.pixels))
    return nullptr;
  FramePtr picture = make_frame();
  picture->format = choice_.format;
  picture->width = frame.format.width;
  picture->height = frame.format.height;
  if (!share_planes(frame, *picture)) return nullptr;
  auto pixels = std::make_unique<std::shared_ptr<std::byte[]>>(frame.pixels);
  const auto release = [](void* held, std::uint8_t*) {
    delete static_cast<std::shared_ptr<std::byte[]>*>(held);
  };
  const std::byte *begin = frame.planes[0].data, *end = begin;
  for (int i = 0; i < frame.format.planes(); ++i) {
    begin = std::min<const std::byte*>(begin, frame.planes[i].data);
    end = std::max<const std::byte*>(end, frame.planes[i].row(frame.planes[i].height));
  }
  // The encoder must not change the picture, because the owner of the frame may still read the
  // samples.
  picture->buf[0] = av_buffer_create(reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(begin)),
                                     static_cast<std::size_t>(end - begin), release, pixels.get(),
                                     AV_BUFFER_FLAG_READONLY);
  if (!picture->buf[0]) throw std::bad_alloc();
  (void)pixels.release();  // the buffer owns this object now
  return picture;
}

// Returns a picture from the pool with a copy of the samples of `frame`, in the format of the
// encoder.
AVFrame& Encoder::pack_samples(const Frame& frame) {
  AVFrame& out = pictures_.writable();
  if (rotation_ == 1) {
    packer_.pack(frame, *context_, out);
    return out;
  }
  AVFrame& unrotated = unrotated_->writable();
  packer_.pack(frame, *context_, unrotated);
  rotate_samples(unrotated, rotation_, out);
  return out;
}

void Encoder::send(const Frame& frame) {
  FramePtr picture = share_samples(frame);
  if (!picture) picture.reset(non_null(av_frame_clone(&pack_samples(frame))));
  if (frame.side_data)
    check<InternalError>(av_frame_copy_props(picture.get(), frame.side_data->properties.get()),
                         "cannot copy side data");
  if (mark_fields_) set_interlaced(*picture, top_field_first(context_->field_order));
  picture->pts = times_->next(frame);
  if (sent_++ == 0) first_time_ = picture->pts;
  const std::int64_t duration =
      av_rescale_q(frame.duration, to_av(frame.time_base), context_->time_base);
  set_frame_duration(*picture, duration);
  pending_[picture->pts] = {duration, sei_messages(*picture, *context_)};
  picture->quality = context_->global_quality;
  picture->colorspace = context_->colorspace;
  picture->color_range = context_->color_range;
  if (keeps_bottom_up_rows(*context_->codec)) flip_rows(*picture);
  const LogWatch watch;
  const int code = avcodec_send_frame(context_.get(), picture.get());
  if (code < 0)
    throw IoError(with_log(std::string("cannot encode frame ") +
                               std::to_string(times_->frames() - 1) + " with " +
                               choice_.codec->name,
                           watch));
}

void Encoder::send_end() {
  ended_ = true;
  avcodec_send_frame(context_.get(), nullptr);
}

// x265 3.5 returns uninitialised DTS for videos of at most two frames. The function sets these DTS
// to consecutive ticks before the first PTS.
void Encoder::repair_decoding_time(AVPacket& packet) const {
  const int delay = traits_.uninitialised_dts_frames;
  if (ended_ && sent_ <= delay) packet.dts = first_time_ - delay + received_;
}

PacketPtr Encoder::receive() {
  PacketPtr packet = make_packet();
  const int code = avcodec_receive_packet(context_.get(), packet.get());
  if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return nullptr;
  check<IoError>(code, std::string("cannot encode with ") + choice_.codec->name);
  repair_decoding_time(*packet);
  ++received_;
  if (const auto frame = pending_.find(packet->pts); frame != pending_.end()) {
    if (packet->duration <= 0) packet->duration = frame->second.duration;
    insert_sei_messages(frame->second.messages, context_->codec_id, *packet);
    pending_.erase(frame);
  }
  return packet;
}

std::unique_ptr<Encoder> open_encoder(const std::vector<EncoderChoice>& choices,
                                      const Container& container, const FileSource& source,
                                      const SinkOptions& options, Dictionary& leftover) {
  const EncoderInput input(source, options);
  std::exception_ptr reason;
  for (const EncoderChoice& choice : choices) {
    try {
      leftover.clear();
      return std::make_unique<Encoder>(choice, container, input, options, leftover);
    } catch (const InvalidArgument&) {
      if (!reason) reason = std::current_exception();
      // lull applies the user's encoder options and crf only to the first encoder of the list, and
      // then tries no other encoder.
      if (!options.vopts.empty() || options.crf) break;
    }
  }
  std::rethrow_exception(reason);
}

}  // namespace lull::io
