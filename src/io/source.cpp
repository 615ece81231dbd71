#include "io/source.h"

#include <cmath>
#include <filesystem>

#include "io/exr_head.h"
#include "io/passenger.h"
#include "io/stack.h"

namespace lull::io {
namespace {

/// These state it for each frame; of other codecs the container knows.
bool states_interlacing(AVCodecID id) {
  return id == AV_CODEC_ID_H264 || id == AV_CODEC_ID_HEVC || id == AV_CODEC_ID_MPEG2VIDEO ||
         id == AV_CODEC_ID_MPEG4 || id == AV_CODEC_ID_VC1 || id == AV_CODEC_ID_PRORES;
}

bool says_interlaced(const AVFrame& first, const AVStream& stream) {
  if (is_interlaced(first)) return true;
  const AVFieldOrder order = stream.codecpar->field_order;
  return order != AV_FIELD_UNKNOWN && order != AV_FIELD_PROGRESSIVE &&
         !states_interlacing(stream.codecpar->codec_id);
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
    : options_(options), damage_(options.pass_damage), demuxer_(path, options, damage_) {
  if (options.gpu) from_gpu_ = first_from_gpu(*options.gpu);
  if (!from_gpu_) open_decoder(options.threads);
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
  pixel_format_ = format_of(*first);
  const std::optional<PixelTraits> traits =
      is_on_gpu(*first) ? traits_of(pixel_format_) : traits_of(*first);
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

void FileSource::fill_info(const Selection& selection) {
  AVFormatContext& context = demuxer_.context();
  AVStream& stream = demuxer_.video();
  info_.codec = avcodec_get_name(stream.codecpar->codec_id);
  info_.pixel_format = name_of(pixel_format_);
  info_.container = context.iformat->name;
  info_.time_base = to_rational(stream.time_base);
  info_.values.span = info_.values.full = format().full_scale();
  info_.interlaced = says_interlaced(first(), stream);
  if (info_.interlaced && options_.refuse_interlaced) refuse_interlaced();
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
    damage_.end(info_.frames_estimate - given_);
    check_all_decoded();
    return std::nullopt;
  }
  ++given_;
  check_unchanged(*taken);
  if (options_.refuse_interlaced && is_interlaced(*taken->picture)) refuse_interlaced();
  auto passenger = std::make_shared<Passenger>();
  passenger->properties = properties_of(*taken->picture);
  const auto& files = demuxer_.sequence();
  const auto at = static_cast<std::size_t>(taken->number);
  passenger->number = at < files.size() ? files[at].number : taken->number;
  if (at < files.size()) passenger->match = files[at].match;
  Frame frame;
  if (is_on_gpu(*taken->picture)) {
    frame.format = format();
    frame.on_device = gpu_->samples(std::move(taken->picture), format());
  } else {
    frame = pool_->acquire();
    if (alpha_pool_) passenger->alpha = alpha_pool_->acquire();
    unpack(*taken->picture, frame, alpha_pool_ ? &passenger->alpha : nullptr);
  }
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

void FileSource::check_unchanged(const Timed& timed) const {
  const AVFrame& picture = *timed.picture;
  if (format_of(picture) != pixel_format_ || picture.width != format().width ||
      picture.height != format().height)
    fail_change(timed);
  const std::string objection =
      is_on_gpu(picture) ? gpu_->objection(picture, pixel_format_) : std::string();
  if (!objection.empty())
    throw BadData("'" + demuxer_.path() + "' changes on the way (" + objection +
                  "); decode it on the CPU");
}

void FileSource::refuse_interlaced() const {
  throw InvalidArgument("'" + demuxer_.path() + "' is interlaced" +
                        (info_.interlaced ? "" : " after a while") +
                        " (two moments in one picture would be mixed); give --interlaced fields, "
                        "or --interlaced frames if its frames are whole after all");
}

void FileSource::fail_change(const Timed& timed) const {
  const AVFrame& picture = *timed.picture;
  const auto& files = demuxer_.sequence();
  const auto shape = [](int width, int height, AVPixelFormat format) {
    return std::to_string(width) + "x" + std::to_string(height) + " " + name_of(format);
  };
  const std::string now = shape(picture.width, picture.height, format_of(picture));
  const std::string first = shape(format().width, format().height, pixel_format_);
  if (!files.empty())
    throw BadData("'" + files[static_cast<std::size_t>(timed.number)].path + "' is " + now + " ('" +
                  files.front().path + "' is " + first +
                  ", and a sequence has one size and format); leave one of them out");
  throw BadData("'" + demuxer_.path() + "' changes to " + now + " on the way (from " + first +
                "); split it there");
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
  const StackKind stack = stack_kind(path, options);
  if (stack != StackKind::nifti && options.axis)
    throw InvalidArgument("an axis for '" + path +
                          "' (only NIfTI volumes have axes); leave --axis out");
  if (stack != StackKind::none && !options.selection.all())
    throw InvalidArgument("a part of '" + path +
                          "' (a stack of slices stays whole); leave --frames, --start and "
                          "--duration out");
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
