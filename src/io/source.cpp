#include "io/source.h"

#include <cmath>
#include <filesystem>
#include <string_view>

#include "io/exr_head.h"
#include "io/float_tiff.h"
#include "io/passenger.h"

namespace lull::io {
namespace {

/// libvpx alone decodes the alpha of WebM, which lies in side data.
const AVCodec* find_decoder(const AVStream& stream) {
  const AVDictionaryEntry* alpha = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
  if (alpha && std::string_view(alpha->value) == "1") {
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
  properties->pict_type = AV_PICTURE_TYPE_NONE;  // the encoder decides
  return properties;
}

}  // namespace

FileSource::FileSource(const std::string& path, const SourceOptions& options)
    : demuxer_(path, options), limits_(options.limits) {
  open_decoder(options.threads);
  info_.frame_rate =
      to_rational(av_guess_frame_rate(&demuxer_.context(), &demuxer_.video(), nullptr));
  if (demuxer_.sequence().empty() && !options.selection.all())
    cut_ = std::make_shared<Cut>(options.selection, demuxer_.video().time_base);
  std::optional<Timed> start = next();
  if (!start && stamped_ > 0)
    throw BadData("no frame is selected ('" + demuxer_.path() + "' has " +
                  std::to_string(stamped_) + "); give other frames or times");
  if (!start)
    throw BadData(with_log("'" + demuxer_.path() + "' has no picture in its video stream", watch_));
  const AVFrame* first = start->picture.get();
  pixel_format_ = static_cast<AVPixelFormat>(first->format);
  const std::optional<PixelTraits> traits = traits_of(*first);
  if (!traits)
    throw BadData(
        "'" + demuxer_.path() + "' has the pixel format " + name_of(pixel_format_) +
        " (must be grey, YCbCr or RGB of 8 to 16 bits, or planar floats); convert it first");
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
  ahead_.push_back(*std::move(start));
  fill_info(options.selection);
}

void FileSource::open_decoder(int threads) {
  const AVStream& stream = demuxer_.video();
  const AVCodec* codec = find_decoder(stream);
  const std::string name = avcodec_get_name(stream.codecpar->codec_id);
  if (!codec)
    throw BadData("no decoder for " + name + " (in '" + demuxer_.path() + "'); convert it first");
  decoder_.reset(non_null(avcodec_alloc_context3(codec)));
  check<BadData>(avcodec_parameters_to_context(decoder_.get(), stream.codecpar), "bad " + name);
  decoder_->pkt_timebase = stream.time_base;
  decoder_->max_pixels = limits_.pixels;
  decoder_->thread_count = threads;
  decoder_->err_recognition = AV_EF_CRCCHECK;
  if (must_explode(avcodec_descriptor_get(stream.codecpar->codec_id)))
    decoder_->err_recognition |= AV_EF_EXPLODE;
  if (avcodec_open2(decoder_.get(), codec, nullptr) < 0)
    throw BadData(with_log("cannot decode " + name + " of '" + demuxer_.path() + "'", watch_));
}

void FileSource::fill_info(const Selection& selection) {
  AVFormatContext& context = demuxer_.context();
  AVStream& stream = demuxer_.video();
  info_.codec = avcodec_get_name(stream.codecpar->codec_id);
  info_.pixel_format = name_of(pixel_format_);
  info_.container = context.iformat->name;
  info_.time_base = to_rational(stream.time_base);
  info_.still = demuxer_.holds_pictures() && !has_second_frame();
  if (stream.codecpar->codec_id == AV_CODEC_ID_EXR) look_into_exr();
  if (const auto& files = demuxer_.sequence(); !files.empty()) {
    info_.frames_estimate = static_cast<std::int64_t>(files.size());
    info_.duration_s = static_cast<double>(files.size()) / av_q2d(to_av(info_.frame_rate));
    if (const std::string missing = missing_numbers(files); !missing.empty())
      info_.notes.push_back("the sequence has no number " + missing + "; its frames close up");
    return;
  }
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
  if (cut_) estimate_cut(selection);
}

void FileSource::look_into_exr() {
  const ExrHead head = read_exr_head(demuxer_.path());
  half_floats_ = head.half;
  if (head.parts)
    info_.notes.push_back("'" + demuxer_.path() + "' has several parts; the first alone is read");
  std::string names;
  for (const std::string& name : head.other) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty())
    info_.notes.push_back("'" + demuxer_.path() + "' has channels that are not read: " + names);
}

void FileSource::estimate_cut(const Selection& selection) {
  if (info_.frames_estimate <= 0) return;
  std::int64_t frames = 0;
  for (const FrameRange& range : selection.ranges)
    frames += std::max<std::int64_t>(
        std::min(range.last, info_.frames_estimate - 1) - range.first + 1, 0);
  if (selection.ranges.empty()) {
    const double start = static_cast<double>(selection.start_us) * 1e-6;
    double length = info_.duration_s - start;
    if (selection.duration_us)
      length = std::min(length, static_cast<double>(*selection.duration_us) * 1e-6);
    frames = std::llround(std::max(length, 0.0) * av_q2d(to_av(info_.frame_rate)));
  }
  info_.frames_estimate = frames;
}

bool FileSource::has_second_frame() {
  if (ahead_.size() < 2)
    if (std::optional<Timed> second = next()) ahead_.push_back(*std::move(second));
  return ahead_.size() >= 2;
}

std::optional<Frame> FileSource::read() {
  demuxer_.relay().close_unless_attached();
  std::optional<Timed> taken;
  if (ahead_.empty()) {
    taken = next();
  } else {
    taken = std::move(ahead_.front());
    ahead_.pop_front();
  }
  if (!taken) {
    check_all_decoded();
    return std::nullopt;
  }
  const AVFrame* picture = taken->picture.get();
  if (picture->format != pixel_format_ || picture->width != format().width ||
      picture->height != format().height)
    fail_change(*taken);
  Frame frame = pool_->acquire();
  auto passenger = std::make_shared<Passenger>();
  if (alpha_pool_) passenger->alpha = alpha_pool_->acquire();
  unpack(*picture, frame, alpha_pool_ ? &passenger->alpha : nullptr);
  passenger->properties = properties_of(*picture);
  const auto& files = demuxer_.sequence();
  const auto at = static_cast<std::size_t>(taken->number);
  passenger->number = at < files.size() ? files[at].number : taken->number;
  if (at < files.size()) passenger->match = files[at].match;
  frame.passenger = std::move(passenger);
  frame.time_base = to_rational(demuxer_.video().time_base);
  frame.pts = taken->pts;
  frame.duration = taken->duration;
  return frame;
}

// The next picture that stays.
std::optional<FileSource::Timed> FileSource::next() {
  if (cut_ended_) return std::nullopt;
  while (FramePtr picture = decode()) {
    Timed timed = stamp(std::move(picture));
    const auto verdict =
        cut_ ? cut_->judge(timed.number, timed.pts, timed.duration) : Cut::Verdict::keep;
    if (verdict == Cut::Verdict::keep) return timed;
    if (verdict == Cut::Verdict::end) break;
    // Before the first that stays, nobody takes the other streams' packets away.
    demuxer_.relay().drop_if([&](const AVPacket& packet) {
      const AVStream& stream = *demuxer_.context().streams[packet.stream_index];
      return !(stream.disposition & AV_DISPOSITION_ATTACHED_PIC) &&
             cut_->is_before(packet, stream.time_base);
    });
  }
  end_cut();
  return std::nullopt;
}

void FileSource::end_cut() {
  if (!cut_ || cut_ended_) return;
  cut_ended_ = true;
  demuxer_.read_others_until(cut_->end());
  cut_->finish();
}

// Each file of a sequence gives one picture, or names and pictures would not fit each other.
void FileSource::check_all_decoded() const {
  const auto files = static_cast<std::int64_t>(demuxer_.sequence().size());
  if (files > 0 && decoded_ != files)
    throw BadData("a sequence of " + std::to_string(files) + " files has " +
                  std::to_string(decoded_) + " pictures (one file gave none); check them");
}

/// For messages: what is being decoded.
std::string FileSource::place() const {
  const auto& files = demuxer_.sequence();
  const auto at = static_cast<std::size_t>(decoded_);
  return "'" + (at < files.size() ? files[at].path : demuxer_.path()) + "'";
}

FramePtr FileSource::decode_picture() {
  const std::string what = place();
  const PacketPtr packet = demuxer_.read();
  if (!packet) return nullptr;
  FramePtr picture = read_float_tiff(*packet, what.substr(1, what.size() - 2), limits_.pixels);
  ++decoded_;
  return picture;
}

FramePtr FileSource::decode() {
  if (demuxer_.float_tiff()) return decode_picture();
  for (FramePtr picture = make_frame();;) {
    const int code = avcodec_receive_frame(decoder_.get(), picture.get());
    if (code >= 0) {
      check_decoded(*picture);
      if (++decoded_ > limits_.frames && limits_.frames > 0)
        throw BadData("'" + demuxer_.path() + "' has more than " + std::to_string(limits_.frames) +
                      " frames; allow it with --max-frames");
      return picture;
    }
    if (code == AVERROR_EOF) return nullptr;
    if (code == AVERROR(EAGAIN)) {
      const PacketPtr packet = demuxer_.read();
      send(packet.get());  // null asks for the frames that are still inside
    } else {
      fail_decoding();
    }
  }
}

void FileSource::fail_change(const Timed& timed) const {
  const AVFrame& picture = *timed.picture;
  const auto& files = demuxer_.sequence();
  const auto shape = [](int width, int height, AVPixelFormat format) {
    return std::to_string(width) + "x" + std::to_string(height) + " " + name_of(format);
  };
  const std::string now =
      shape(picture.width, picture.height, static_cast<AVPixelFormat>(picture.format));
  const std::string first = shape(format().width, format().height, pixel_format_);
  if (!files.empty())
    throw BadData("'" + files[static_cast<std::size_t>(timed.number)].path + "' is " + now + " ('" +
                  files.front().path + "' is " + first +
                  ", and a sequence has one size and format); leave one of them out");
  throw BadData("'" + demuxer_.path() + "' changes to " + now + " on the way (from " + first +
                "); split it there");
}

void FileSource::send(const AVPacket* packet) {
  const int code = avcodec_send_packet(decoder_.get(), packet);
  // A broadcast that was recorded from its middle has no parameter sets at first.
  const bool warming_up =
      decoded_ == 0 && demuxer_.context().iformat->flags & AVFMT_TS_DISCONT && packet;
  if (code >= 0 || code == AVERROR_EOF || warming_up) return;
  if (code == AVERROR(ENOMEM)) throw std::bad_alloc();
  fail_decoding();
}

void FileSource::fail_decoding() const {
  if (!watch_.find("exceeds specified max pixel count").empty())
    throw BadData(place() + " has more than " + std::to_string(limits_.pixels) +
                  " pixels in a frame; allow it with --max-pixels");
  const bool one = !demuxer_.sequence().empty();
  throw BadData(with_log(
      place() + " is damaged or cut short" + (one ? "" : " near frame " + std::to_string(decoded_)),
      watch_));
}

void FileSource::check_decoded(const AVFrame& picture) {
  const bool damaged = picture.decode_error_flags != 0 || picture.flags & AV_FRAME_FLAG_CORRUPT;
  // The decoder of JPEG fills up with grey what a cut took away, that of FFV1 a slice whose
  // checksum is wrong with the last frame; both only mention it.
  const char* phrase = decoder_->codec_id == AV_CODEC_ID_MJPEG  ? "EOI missing"
                       : decoder_->codec_id == AV_CODEC_ID_FFV1 ? "CRC mismatch"
                                                                : nullptr;
  if (damaged || (phrase && !watch_.find(phrase).empty()))
    throw BadData(with_log(
        "frame " + std::to_string(decoded_) + " of " + place() + " is damaged or cut short",
        watch_));
}

FileSource::Timed FileSource::stamp(FramePtr picture) {
  const AVRational tick = demuxer_.video().time_base;
  Timed timed;
  timed.number = stamped_++;
  timed.duration = frame_duration(*picture);
  if (timed.duration <= 0 && info_.frame_rate.num > 0)
    timed.duration =
        std::max<std::int64_t>(av_rescale_q(1, av_inv_q(to_av(info_.frame_rate)), tick), 1);
  timed.pts = picture->best_effort_timestamp;
  if (timed.pts == AV_NOPTS_VALUE) timed.pts = next_pts_ == AV_NOPTS_VALUE ? 0 : next_pts_;
  next_pts_ = timed.pts + std::max<std::int64_t>(timed.duration, 1);
  timed.picture = std::move(picture);
  return timed;
}

std::unique_ptr<MediaSource> open_source(const std::string& path, const SourceOptions& options) {
  capture_ffmpeg_log();
  return std::make_unique<FileSource>(path, options);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return std::filesystem::equivalent(a, b, code) && !code;
}

}  // namespace lull::io
