#include "io/source.h"

#include <cmath>
#include <filesystem>
#include <string_view>

#include "io/passenger.h"
#include "io/stack.h"

namespace lull::io {
namespace {

/// The alpha of WebM lies in side data.
bool has_side_alpha(const AVStream& stream) {
  const AVDictionaryEntry* alpha = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
  return alpha && std::string_view(alpha->value) == "1";
}

const AVCodec* find_decoder(const AVStream& stream) {
  if (has_side_alpha(stream)) {  // libvpx alone decodes it
    const AVCodecID id = stream.codecpar->codec_id;
    const char* name = id == AV_CODEC_ID_VP9 ? "libvpx-vp9" : id == AV_CODEC_ID_VP8 ? "libvpx" : "";
    if (const AVCodec* codec = avcodec_find_decoder_by_name(name)) return codec;
  }
  return avcodec_find_decoder(stream.codecpar->codec_id);
}

/// Codecs whose decoders would rather show half a picture than complain. Video codecs mark what
/// they concealed (decode_error_flags), and stop at trifles if told to explode.
bool must_explode(const AVCodecDescriptor* codec) {
  // TIFF's explodes at tags that it does not know; check_tiff looks for the samples instead.
  constexpr int exact = AV_CODEC_PROP_INTRA_ONLY | AV_CODEC_PROP_LOSSLESS;
  return codec && codec->props & exact && codec->id != AV_CODEC_ID_TIFF &&
         !(codec->props & AV_CODEC_PROP_REORDER);
}

FramePtr properties_of(const AVFrame& picture) {
  FramePtr properties = make_frame();
  check<InternalError>(av_frame_copy_props(properties.get(), &picture), "cannot copy side data");
  properties->pict_type = AV_PICTURE_TYPE_NONE;          // the encoder decides
  properties->crop_right = properties->crop_bottom = 0;  // done, on a GPU too
  return properties;
}

}  // namespace

FileSource::FileSource(const std::string& path, const SourceOptions& options)
    : damage_(options.pass_damage), demuxer_(path, damage_) {
  FramePtr first = options.gpu ? first_from_gpu(*options.gpu) : nullptr;
  if (!first) {
    open_decoder(options.threads);
    first = decode();
  }
  if (!first) throw BadData(with_log("'" + path + "' has no picture in its video stream", watch_));
  pixel_format_ = format_of(*first);
  const std::optional<PixelTraits> traits =
      is_on_gpu(*first) ? traits_of(pixel_format_) : traits_of(*first);
  if (!traits)
    throw BadData("'" + path + "' has the pixel format " + name_of(pixel_format_) +
                  " (must be grey, YCbCr or RGB of 8 to 16 bits); convert it first");
  traits_ = *traits;
  FrameFormat format = traits_.format;
  format.width = first->width;
  format.height = first->height;
  pool_.emplace(format, options.memory);
  if (traits_.alpha) {
    FrameFormat alpha;
    alpha.width = format.width;
    alpha.height = format.height;
    alpha.sample = format.sample;
    alpha.bits = format.bits;
    alpha_pool_.emplace(alpha);
  }
  ahead_.push_back(std::move(first));
  fill_info();
}

void FileSource::open_decoder(int threads) {
  const AVStream& stream = demuxer_.video();
  const AVCodec* codec = find_decoder(stream);
  const std::string name = avcodec_get_name(stream.codecpar->codec_id);
  if (!codec)
    throw BadData("no decoder for " + name + " (in '" + demuxer_.path() + "'); convert it first");
  set_up_decoder(codec);
  decoder_->thread_count = threads;
  // So that what FFV1's decoder mentions is of the frame that comes out.
  if (damage_.passes() && decoder_->codec_id == AV_CODEC_ID_FFV1)
    decoder_->thread_type = FF_THREAD_SLICE;
  if (must_explode(avcodec_descriptor_get(stream.codecpar->codec_id)))
    decoder_->err_recognition |= AV_EF_EXPLODE;
  if (avcodec_open2(decoder_.get(), codec, nullptr) < 0)
    throw BadData(with_log("cannot decode " + name + " of '" + demuxer_.path() + "'", watch_));
}

void FileSource::set_up_decoder(const AVCodec* codec) {
  const AVStream& stream = demuxer_.video();
  decoder_.reset(non_null(avcodec_alloc_context3(codec)));
  check<BadData>(avcodec_parameters_to_context(decoder_.get(), stream.codecpar),
                 std::string("bad ") + avcodec_get_name(stream.codecpar->codec_id));
  decoder_->pkt_timebase = stream.time_base;
  decoder_->err_recognition = AV_EF_CRCCHECK;
}

/// @throws Error  the GPU cannot decode this
void FileSource::open_gpu_decoder(int device) {
  const AVStream& stream = demuxer_.video();
  const AVCodecID id = stream.codecpar->codec_id;
  const AVCodec* codec = find_gpu_decoder(id);
  if (!codec)
    throw DeviceUnavailable(std::string("FFmpeg has no decoder of ") + avcodec_get_name(id) +
                            " for GPUs");
  if (must_explode(avcodec_descriptor_get(id)))
    throw DeviceUnavailable(std::string("damage in ") + avcodec_get_name(id) +
                            " shows on the CPU alone");
  if (has_side_alpha(stream)) throw DeviceUnavailable("it has an alpha channel");
  gpu_.emplace(device);
  set_up_decoder(codec);
  gpu_->attach(*decoder_);
  check<BadData>(avcodec_open2(decoder_.get(), codec, nullptr), "cannot open the decoder");
}

/// Null if the GPU does not decode the stream, which may show as late as at the first frame: then
/// `why_not_gpu_` says why, and the packets that were read are read again.
FramePtr FileSource::first_from_gpu(int device) {
  const LogWatch watch;
  try {
    open_gpu_decoder(device);
    FramePtr first = make_frame();
    keep_packets_ = true;
    const int code = receive(*first);
    keep_packets_ = false;
    if (code < 0 || !is_on_gpu(*first)) {
      const std::string cause = watch.first_error();
      throw DeviceUnavailable("the GPU does not decode this stream" +
                              (cause.empty() ? "" : ": " + cause));
    }
    const std::string objection = gpu_->objection(*first, format_of(*first));
    if (!objection.empty()) throw DeviceUnavailable(objection);
    check_decoded(*first);
    first = gpu_->copy(*first);
    replay_.clear();
    ++decoded_;
    return first;
  } catch (const DeviceUnavailable& error) {
    why_not_gpu_ = error.what();
  }
  decoder_.reset();
  gpu_.reset();
  watch_ = LogWatch();  // what was said until now was the GPU's business
  return nullptr;
}

void FileSource::fill_info() {
  AVFormatContext& context = demuxer_.context();
  AVStream& stream = demuxer_.video();
  info_.codec = avcodec_get_name(stream.codecpar->codec_id);
  info_.pixel_format = name_of(pixel_format_);
  info_.container = context.iformat->name;
  info_.frame_rate = to_rational(av_guess_frame_rate(&context, &stream, nullptr));
  info_.time_base = to_rational(stream.time_base);
  info_.values.span = info_.values.full = format().full_scale();
  info_.still = demuxer_.holds_pictures() && !has_second_frame();
  if (info_.still) {
    info_.frames_estimate = 1;
    return;
  }
  if (stream.duration > 0)
    info_.duration_s = static_cast<double>(stream.duration) * av_q2d(stream.time_base);
  else if (context.duration > 0)
    info_.duration_s = static_cast<double>(context.duration) / AV_TIME_BASE;
  if (stream.nb_frames > 0)
    info_.frames_estimate = stream.nb_frames;
  else if (info_.frame_rate.num > 0)
    info_.frames_estimate = std::llround(info_.duration_s * av_q2d(to_av(info_.frame_rate)));
}

bool FileSource::has_second_frame() {
  if (ahead_.size() < 2)
    if (FramePtr second = decode()) ahead_.push_back(std::move(second));
  return ahead_.size() >= 2;
}

std::optional<Frame> FileSource::read() {
  demuxer_.relay().close_unless_attached();
  FramePtr picture;
  if (ahead_.empty()) {
    picture = decode();
  } else {
    picture = std::move(ahead_.front());
    ahead_.pop_front();
  }
  if (!picture) {
    damage_.end(info_.frames_estimate - decoded_);
    return std::nullopt;
  }
  check_unchanged(*picture);
  auto passenger = std::make_shared<Passenger>();
  passenger->properties = properties_of(*picture);
  Frame frame;
  if (is_on_gpu(*picture)) {
    frame.format = format();
    stamp(frame, *picture);
    frame.on_device = gpu_->samples(std::move(picture), format());
  } else {
    frame = pool_->acquire();
    stamp(frame, *picture);
    if (alpha_pool_) passenger->alpha = alpha_pool_->acquire();
    unpack(*picture, frame, alpha_pool_ ? &passenger->alpha : nullptr);
  }
  frame.passenger = std::move(passenger);
  return frame;
}

void FileSource::check_unchanged(const AVFrame& picture) const {
  const std::string from = "'" + demuxer_.path() + "' changes ";
  if (format_of(picture) != pixel_format_ || picture.width != format().width ||
      picture.height != format().height)
    throw BadData(
        from + "to " + std::to_string(picture.width) + "x" + std::to_string(picture.height) + " " +
        name_of(format_of(picture)) + " on the way (from " + std::to_string(format().width) + "x" +
        std::to_string(format().height) + " " + name_of(pixel_format_) + "); split it there");
  const std::string objection =
      is_on_gpu(picture) ? gpu_->objection(picture, pixel_format_) : std::string();
  if (!objection.empty())
    throw BadData(from + "on the way (" + objection + "); decode it on the CPU");
}

FramePtr FileSource::decode() {
  FramePtr picture = make_frame();
  const int code = receive(*picture);
  if (code == AVERROR_EOF) return nullptr;
  if (code == AVERROR(ENOMEM) && !gpu_) throw std::bad_alloc();
  if (code < 0)
    throw BadData(with_log("'" + demuxer_.path() + "' is damaged or cut short near frame " +
                               std::to_string(decoded_),
                           watch_) +
                  (gpu_ ? "; try to decode it on the CPU" : ""));
  check_decoded(*picture);
  if (is_on_gpu(*picture)) picture = gpu_->copy(*picture);
  ++decoded_;
  return picture;
}

/// The decoder's next frame, or the code that it fails with; AVERROR_EOF at the end. Throws only
/// what the demuxer throws.
int FileSource::receive(AVFrame& picture) {
  for (;;) {
    const int code = avcodec_receive_frame(decoder_.get(), &picture);
    if (code != AVERROR(EAGAIN)) {
      if (pass(code)) continue;
      return std::min(code, 0);
    }
    const PacketPtr packet = next_packet();
    const int sent = avcodec_send_packet(decoder_.get(), packet.get());  // null: give what is left
    // A broadcast that was recorded from its middle has no parameter sets at first.
    const bool warming_up =
        decoded_ == 0 && demuxer_.context().iformat->flags & AVFMT_TS_DISCONT && packet;
    if (sent < 0 && sent != AVERROR_EOF && !warming_up && !pass(sent)) return sent;
  }
}

// While the GPU tries the first frame, an error is a reason to take the CPU.
bool FileSource::pass(int code) {
  const bool damaged = code < 0 && code != AVERROR_EOF && code != AVERROR(ENOMEM);
  if (!damaged || keep_packets_ || !damage_.passes()) return false;
  damage_.no_frame(with_log(
      "'" + demuxer_.path() + "' is damaged or cut short near frame " + std::to_string(decoded_),
      watch_));
  return true;
}

PacketPtr FileSource::next_packet() {
  if (!keep_packets_ && !replay_.empty()) {
    PacketPtr packet = std::move(replay_.front());
    replay_.pop_front();
    return packet;
  }
  PacketPtr packet = demuxer_.read();
  if (keep_packets_ && packet) replay_.emplace_back(non_null(av_packet_clone(packet.get())));
  return packet;
}

AVPixelFormat FileSource::format_of(const AVFrame& picture) const {
  return is_on_gpu(picture) ? decoder_->sw_pix_fmt : static_cast<AVPixelFormat>(picture.format);
}

void FileSource::check_decoded(const AVFrame& picture) {
  const bool damaged = picture.decode_error_flags != 0 || picture.flags & AV_FRAME_FLAG_CORRUPT;
  // The decoder of JPEG fills up with grey what a cut took away, that of FFV1 a slice whose
  // checksum is wrong with the last frame; both only mention it.
  const char* phrase = decoder_->codec_id == AV_CODEC_ID_MJPEG  ? "EOI missing"
                       : decoder_->codec_id == AV_CODEC_ID_FFV1 ? "CRC mismatch"
                                                                : nullptr;
  if (!damaged && (!phrase || watch_.find(phrase).empty())) return;
  damage_.frame(with_log("frame " + std::to_string(decoded_) + " of '" + demuxer_.path() +
                             "' is damaged or cut short",
                         watch_),
                picture.best_effort_timestamp);
  // Else each of the following frames would be damaged, too. The decoder of JPEG, whose threads are
  // frames ahead, says it once for each frame, that of FFV1 for each slice of this one.
  if (phrase && decoder_->codec_id == AV_CODEC_ID_MJPEG)
    watch_.skip(phrase);
  else
    watch_ = LogWatch();
}

void FileSource::stamp(Frame& frame, const AVFrame& picture) {
  const AVRational tick = demuxer_.video().time_base;
  frame.time_base = to_rational(tick);
  frame.duration = frame_duration(picture);
  if (frame.duration <= 0 && info_.frame_rate.num > 0)
    frame.duration =
        std::max<std::int64_t>(av_rescale_q(1, av_inv_q(to_av(info_.frame_rate)), tick), 1);
  frame.pts = picture.best_effort_timestamp;
  if (frame.pts == AV_NOPTS_VALUE) frame.pts = next_pts_ == AV_NOPTS_VALUE ? 0 : next_pts_;
  next_pts_ = frame.pts + std::max<std::int64_t>(frame.duration, 1);
}

std::unique_ptr<MediaSource> open_source(const std::string& path, const SourceOptions& options) {
  const StackKind stack = stack_kind(path);
  if (stack != StackKind::nifti && options.axis)
    throw InvalidArgument("an axis for '" + path +
                          "' (only NIfTI volumes have axes); leave --axis out");
  if (stack == StackKind::nifti) return open_nifti_source(path, options);
  if (stack == StackKind::tiff) return open_tiff_source(path, options);
  capture_ffmpeg_log();
  return std::make_unique<FileSource>(path, options);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return std::filesystem::equivalent(a, b, code) && !code;
}

}  // namespace lull::io
