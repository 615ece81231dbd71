#include "io/read/source.h"

#include "io/exr/exr_file.h"
#include "io/ffmpeg/side_data.h"
#include "io/pictures/exr_head.h"
#include "io/pictures/float_white.h"
#include "io/read/video_info.h"
#include "io/tiff/tiff_picture.h"

namespace lull::io {
namespace {

FramePtr properties_of(const AVFrame& picture) {
  FramePtr properties = make_frame();
  check<InternalError>(av_frame_copy_props(properties.get(), &picture), "cannot copy side data");
  properties->pict_type = AV_PICTURE_TYPE_NONE;  // the encoder chooses the picture type
  properties->crop_right = properties->crop_bottom = 0;
  av_frame_remove_side_data(properties.get(), AV_FRAME_DATA_FILM_GRAIN_PARAMS);
  return properties;
}

}  // namespace

FileSource::FileSource(const std::string& path, const SourceOptions& options)
    : path_(path),
      options_(options),
      damage_(options.tolerate_damage),
      demuxer_(path, options, damage_),
      decoder_(demuxer_, options, damage_),
      pictures_(demuxer_, decoder_,
                to_rational(av_guess_frame_rate(&demuxer_.context(), &demuxer_.video(), nullptr)),
                options) {
  TimedPicture first = first_picture();
  open_pools(*first.picture);
  decoded_ahead_.push_back(std::move(first));
  fill_info();
}

TimedPicture FileSource::first_picture() {
  std::optional<TimedPicture> first = pictures_.next();
  if (first) {
    demuxer_.note_size(first->picture->width, first->picture->height);
    return *std::move(first);
  }
  if (pictures_.examined() > 0) fail_selection();
  const std::string text = "'" + demuxer_.path() + "' has no picture in its video stream";
  const std::string cause = decoder_.said().first_error();
  if (cause.empty() && damage_.found().frames > 0) throw BadData(damage_.found().first);
  throw BadData(text + (cause.empty() ? "" : " (" + cause + ")"));
}

void FileSource::fail_selection() const {
  // If the source stopped after the selected period, it does not know the total number of frames.
  if (pictures_.is_past_selection())
    throw BadData("no frame is selected (no frame of '" + demuxer_.path() +
                  "' begins in this period); give other frames or times");
  throw BadData("no frame is selected ('" + demuxer_.path() + "' has " +
                std::to_string(pictures_.examined()) + "); give other frames or times");
}

void FileSource::open_pools(const AVFrame& first) {
  pixel_format_ = decoder_.format_of(first);
  const std::optional<PixelTraits> traits =
      is_on_gpu(first) ? traits_of(pixel_format_) : traits_of(first);
  if (!traits && av_pix_fmt_desc_get(pixel_format_)->flags & AV_PIX_FMT_FLAG_BAYER)
    throw BadData("'" + demuxer_.path() + "' is raw data of a camera sensor (" +
                  name_of(pixel_format_) +
                  ", one colour a pixel); develop it first, to TIFF of 16 bits");
  if (!traits)
    throw BadData(
        "'" + demuxer_.path() + "' has the pixel format " + name_of(pixel_format_) +
        " (must be grey, YCbCr or RGB of 8 to 16 bits, or planar floats); convert it first");
  traits_ = *traits;
  FrameFormat format = traits_.format;
  format.width = first.width;
  format.height = first.height;
  choose_white_of(first, format);
  pool_.emplace(format, options_.memory);
  if (!traits_.alpha) return;
  FrameFormat alpha;
  alpha.width = format.width;
  alpha.height = format.height;
  alpha.sample = format.sample;
  alpha.bits = format.bits;
  alpha_pool_.emplace(alpha);
}

void FileSource::fill_info() {
  VideoInfo info = describe_input(demuxer_, first(), pixel_format_);
  info.notes.insert(info.notes.begin(), info_.notes.begin(), info_.notes.end());
  info_ = std::move(info);
  info_.values.span = format().full_scale();
  info_.values.full = format().sample == SampleType::f32 ? 1 : format().full_scale();
  if (info_.interlaced && options_.refuse_interlaced) refuse_interlaced();
  note_conversion();
  const bool is_picture = demuxer_.holds_pictures() || demuxer_.is_heif();
  info_.still = is_picture && !decode_second();
  if (demuxer_.video().codecpar->codec_id == AV_CODEC_ID_EXR) read_exr_info();
  if (is_tiff()) std::ranges::copy(notes_of_tiff(demuxer_.path()), std::back_inserter(info_.notes));
  estimate_length(demuxer_, options_.selection, info_);
}

/// Adds notes for conversions: of a palette to RGB samples, of 1-bit samples to 8-bit samples, and
/// of CMYK samples in a JPEG file. FFmpeg decodes CMYK samples to pictures with an opaque alpha
/// channel, so a JPEG file with alpha has CMYK samples.
void FileSource::note_conversion() {
  if (!demuxer_.holds_pictures() && demuxer_.sequence().empty()) return;
  if (pixel_format_ == AV_PIX_FMT_PAL8)
    info_.notes.push_back("'" + demuxer_.path() + "' has a palette; the result has RGB samples");
  if (pixel_format_ == AV_PIX_FMT_MONOBLACK || pixel_format_ == AV_PIX_FMT_MONOWHITE)
    info_.notes.push_back("'" + demuxer_.path() + "' has 1 bit per sample; the result has 8 bits");
  if (demuxer_.video().codecpar->codec_id == AV_CODEC_ID_MJPEG && traits().alpha)
    info_.notes.push_back("'" + demuxer_.path() +
                          "' has CMYK samples; they are converted without their colour profile");
}

void FileSource::choose_white_of(const AVFrame& first, FrameFormat& format) {
  const double requested = options_.white;
  if (format.sample == SampleType::f32) {
    const White white = choose_white(first, format.planes(), requested);
    format.white = white.value;
    if (!white.note.empty()) info_.notes.push_back(white.note);
  } else if (requested != 0 && requested != 1) {
    throw InvalidArgument("a white for '" + demuxer_.path() +
                          "' (only pictures of floats have a choice); leave --white out");
  }
}

void FileSource::read_exr_info() {
  const ExrHead head = read_exr_head(demuxer_.path());
  half_floats_ = head.half;
  if (const AVBufferRef* bytes = first().opaque_ref) {  // the file that contains the layers
    const ExrFile file({bytes->data, bytes->size}, demuxer_.path(), options_.threads,
                       options_.layer);
    half_floats_ = file.has_half_picture();
    layers_.assign(file.layers().begin(), file.layers().end());
    return;
  }
  std::string names;
  for (const std::string& name : head.other) names += (names.empty() ? "" : ", ") + name;
  if (head.parts)
    info_.notes.push_back("'" + demuxer_.path() +
                          "' has several parts; only the first one is read");
  if (!names.empty())
    info_.notes.push_back("'" + demuxer_.path() + "' has channels that are not read: " + names);
}

std::vector<std::string> FileSource::clock_jumps() const {
  std::vector<std::string> lines;
  for (const ClockJump& jump : demuxer_.clock_jumps())
    lines.push_back(describe(jump, demuxer_.path()));
  return lines;
}

std::vector<int> FileSource::videos() const {
  if (demuxer_.holds_pictures() || !demuxer_.sequence().empty()) return {};
  return video_streams(demuxer_.context());
}

bool FileSource::decode_second() {
  if (decoded_ahead_.size() < 2)
    if (std::optional<TimedPicture> second = pictures_.next())
      decoded_ahead_.push_back(*std::move(second));
  return decoded_ahead_.size() >= 2;
}

bool FileSource::has_second_frame() {
  const bool margins = options_.margins && !options_.selection.all();
  return margins ? info_.frames_estimate >= 2 : decode_second();
}

std::optional<TimedPicture> FileSource::next_picture() {
  if (decoded_ahead_.empty()) return pictures_.next();
  TimedPicture taken = std::move(decoded_ahead_.front());
  decoded_ahead_.pop_front();
  return taken;
}

/// Seeks to the picture options_.start_picture, and then resets the damage count, because the seek
/// itself can cause errors in the decoder. After the seek, any damage is an error, because it
/// contradicts the plan of the job.
void FileSource::seek_to_start() {
  decoded_ahead_.clear();
  pictures_.seek_to(options_.start_picture);
  damage_ = DamageCount(options_.tolerate_damage);
  has_seeked_ = true;
}

std::optional<Frame> FileSource::read() {
  demuxer_.relay().close_unless_attached();
  if (options_.start_picture > 0 && !has_seeked_) seek_to_start();
  std::optional<TimedPicture> taken = next_picture();
  // The video may change its format after the last selected frame. The source then ends at this
  // change.
  if (taken && taken->context_only && pictures_.is_past_selection() && changes_format(*taken))
    taken.reset();
  if (has_seeked_ && damage_.found().frames > 0)
    throw IndexMismatch(damage_.found().first + " after a seek");
  if (!taken) {
    if (pictures_.kept() == 0) fail_selection();
    damage_.finish(info_.frames_estimate - selected_read_);
    check_all_decoded();
    return std::nullopt;
  }
  selected_read_ += taken->context_only ? 0 : 1;
  check(*taken);
  return frame_of(*std::move(taken));
}

Frame FileSource::frame_of(TimedPicture taken) {
  auto side_data = std::make_shared<SideData>();
  side_data->properties = properties_of(*taken.picture);
  side_data->metadata = std::move(taken.metadata);
  const auto& files = demuxer_.sequence();
  const auto at = static_cast<std::size_t>(taken.number);
  side_data->number = at < files.size() ? files[at].number : taken.number;
  if (at < files.size()) side_data->match = files[at].match;
  if (is_tiff()) {
    side_data->tiff = at < files.size() ? files[at].path : demuxer_.path();
    side_data->tiff_page = files.empty() ? taken.number : 0;
  }
  Frame frame;
  if (is_on_gpu(*taken.picture)) {
    frame.format = format();
    frame.on_device = decoder_.gpu()->samples(std::move(taken.picture), format());
  } else {
    frame = pool_->acquire();
    if (alpha_pool_) side_data->alpha = alpha_pool_->acquire();
    unpack(*taken.picture, frame, alpha_pool_ ? &side_data->alpha : nullptr);
  }
  frame.side_data = std::move(side_data);
  frame.time_base = to_rational(demuxer_.video().time_base);
  frame.pts = taken.pts;
  frame.duration = taken.duration;
  frame.context_only = taken.context_only;
  frame.slice = static_cast<int>(taken.number);
  if (options_.index && at < options_.index->repeat_state.size())
    frame.repeat_state = options_.index->repeat_state[at];
  return frame;
}

// Throws an error if a file of a picture sequence has yielded no picture, because later pictures
// would have wrong numbers.
void FileSource::check_all_decoded() const {
  const auto files = static_cast<std::int64_t>(demuxer_.sequence().size());
  if (files > 0 && decoder_.decoded() != files && !pictures_.selector() && !has_seeked_)
    throw BadData("a sequence of " + std::to_string(files) + " files has " +
                  std::to_string(decoder_.decoded()) +
                  " pictures (one file gave none); check them");
}

bool FileSource::changes_format(const TimedPicture& timed) const {
  const AVFrame& picture = *timed.picture;
  return decoder_.format_of(picture) != pixel_format_ || picture.width != format().width ||
         picture.height != format().height;
}

void FileSource::check(const TimedPicture& timed) const {
  const AVFrame& picture = *timed.picture;
  if (changes_format(timed)) fail_format_change(timed);
  if (options_.refuse_interlaced && is_interlaced(picture) && !timed.context_only)
    refuse_interlaced();
  const std::string objection =
      is_on_gpu(picture) ? decoder_.gpu()->objection(picture, pixel_format_) : std::string();
  if (!objection.empty())
    throw BadData("'" + demuxer_.path() + "' changes in the middle (" + objection +
                  "); decode it on the CPU");
}

void FileSource::refuse_interlaced() const {
  // If the input is damaged, the function reports the damage, because damage can cause a decoder to
  // mark frames as interlaced.
  if (damage_.found().frames > 0) throw BadData(damage_.found().first);
  throw InvalidArgument("'" + demuxer_.path() + "' is interlaced" +
                        (info_.interlaced ? "" : " after a while") +
                        " (its two fields show different moments); give --interlaced fields, "
                        "or --interlaced frames if its frames are progressive after all");
}

void FileSource::fail_format_change(const TimedPicture& timed) const {
  const AVFrame& picture = *timed.picture;
  const auto& files = demuxer_.sequence();
  const auto shape = [](int width, int height, AVPixelFormat format) {
    return std::to_string(width) + "x" + std::to_string(height) + " " + name_of(format);
  };
  const std::string now = shape(picture.width, picture.height, decoder_.format_of(picture));
  const std::string first = shape(format().width, format().height, pixel_format_);
  if (!files.empty())
    throw BadData("'" + files[static_cast<std::size_t>(timed.number)].path + "' is " + now + " ('" +
                  files.front().path + "' is " + first +
                  ", and a sequence has one size and format); leave one of them out");
  throw BadData("'" + demuxer_.path() + "' changes to " + now + " in the middle (from " + first +
                "); split it there");
}

}  // namespace lull::io
