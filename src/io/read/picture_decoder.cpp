#include "io/read/picture_decoder.h"

#include <algorithm>
#include <string_view>
#include <utility>

extern "C" {
#include <libavutil/file.h>
}

#include "io/exr/exr_picture.h"
#include "io/ffmpeg/float_map.h"
#include "io/pictures/picture_check.h"
#include "io/tiff/tiff_picture.h"

namespace lull::io {
namespace {

/// Returns whether the packets of the stream contain an alpha channel as side data, as in WebM.
bool has_side_alpha(const AVStream& stream) {
  const AVDictionaryEntry* alpha = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
  return alpha && std::string_view(alpha->value) == "1";
}

const AVCodec* find_decoder(const AVStream& stream) {
  if (has_side_alpha(stream)) {  // only libvpx decodes alpha in side data
    const AVCodecID id = stream.codecpar->codec_id;
    const char* name = id == AV_CODEC_ID_VP9 ? "libvpx-vp9" : id == AV_CODEC_ID_VP8 ? "libvpx" : "";
    if (const AVCodec* codec = avcodec_find_decoder_by_name(name)) return codec;
  }
  return avcodec_find_decoder(stream.codecpar->codec_id);
}

ByteView bytes_of(const AVPacket& packet) {
  return {packet.data, static_cast<std::size_t>(packet.size)};
}

/// Memory-maps a file. The operating system reads the bytes on first use.
class MappedFile {
 public:
  /// Maps the file. If the file is not readable, bytes() returns an empty span.
  explicit MappedFile(const std::string& path) {
    if (av_file_map(path.c_str(), &data_, &size_, 0, nullptr) < 0) data_ = nullptr;
  }
  ~MappedFile() {
    if (data_) av_file_unmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ByteView bytes() const { return data_ ? ByteView(data_, size_) : ByteView(); }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Returns whether FFmpeg may wrongly mark pictures of the codec as interlaced video, because the
/// codec has an interlaced storage order (PNG, GIF).
bool stores_rows_in_passes(AVCodecID codec) {
  return codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_APNG || codec == AV_CODEC_ID_GIF;
}

void mark_progressive(AVFrame& picture) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  picture.flags &= ~AV_FRAME_FLAG_INTERLACED;
#else
  picture.interlaced_frame = 0;
#endif
}

void mark_as_key(AVFrame& picture) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  picture.flags |= AV_FRAME_FLAG_KEY;
#else
  picture.key_frame = 1;
#endif
}

/// Returns whether the edit list of the file removes the frame. FFmpeg decodes removed frames,
/// because other frames may refer to them.
bool is_trimmed(const AVFrame& picture) { return picture.flags & AV_FRAME_FLAG_DISCARD; }

}  // namespace

PictureDecoder::PictureDecoder(Demuxer& demuxer, const SourceOptions& options, DamageCount& damage)
    : demuxer_(demuxer),
      options_(options),
      damage_(damage),
      watch_(demuxer.log()),
      decoder_watch_(demuxer.log()) {
  const LogTopic::Scope scope(demuxer_.log());
  reads_metadata_ = demuxer_.holds_pictures() || !demuxer_.sequence().empty();
  if (demuxer_.is_heif() && demuxer_.can_reopen())
    keep_metadata(AV_NOPTS_VALUE, bytes_of(*read_whole_picture(demuxer_.path())));
  if (options.gpu) from_gpu_ = first_from_gpu(*options.gpu);
  if (!from_gpu_) open_on_cpu();
}

PictureDecoder::~PictureDecoder() = default;

void PictureDecoder::open_on_cpu() {
  const AVStream& stream = demuxer_.video();
  const AVCodec* codec = find_decoder(stream);
  const std::string name = avcodec_get_name(stream.codecpar->codec_id);
  if (!codec)
    throw BadData("no decoder for " + name + " (in '" + demuxer_.path() + "'); convert it first");
  const AVCodecParameters& parameters = *stream.codecpar;
  if (const auto fault =
          find_fault(parameters.codec_id,
                     {parameters.extradata, static_cast<std::size_t>(parameters.extradata_size)}))
    throw BadData(file_name() + " is damaged or cut short (" + fault->text + ")");
  set_up(codec);
  quantiser_.emplace(stream);
  decoder_->thread_count = options_.threads;
  // With frame threads, FFmpeg 5.1 crashes on WebP files with damaged alpha.
  if (decoder_->codec_id == AV_CODEC_ID_WEBP) decoder_->thread_type = FF_THREAD_SLICE;
  decoder_watch_.attach_with_buffers(*decoder_);
  logs_damage_ = logs_damage(avcodec_descriptor_get(stream.codecpar->codec_id));
  // With AV_EF_EXPLODE, the decoder fails instead of returning an incomplete picture.
  if (logs_damage_) decoder_->err_recognition |= AV_EF_EXPLODE;
  if (avcodec_open2(decoder_.get(), codec, nullptr) < 0)
    throw BadData(with_log("cannot decode " + name + " of '" + demuxer_.path() + "'", watch_));
}

void PictureDecoder::set_up(const AVCodec* codec) {
  const AVStream& stream = demuxer_.video();
  decoder_.reset(non_null(avcodec_alloc_context3(codec)));
  check<BadData>(avcodec_parameters_to_context(decoder_.get(), stream.codecpar),
                 std::string("bad ") + avcodec_get_name(stream.codecpar->codec_id));
  decoder_->pkt_timebase = stream.time_base;
  decoder_watch_.attach(*decoder_);
  decoder_->max_pixels = options_.limits.pixels;
  decoder_->err_recognition = AV_EF_CRCCHECK;
  // Without AV_CODEC_FLAG_UNALIGNED, FFmpeg may crop too few columns at the left, to keep rows
  // aligned in memory.
  decoder_->flags |= AV_CODEC_FLAG_UNALIGNED;
  // AV_CODEC_EXPORT_DATA_FILM_GRAIN prevents the decoder from adding film grain (AV1, H.274), which
  // is noise.
  decoder_->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
}

/// Opens the decoder on a GPU.
/// @throws Error  the GPU cannot decode this stream
void PictureDecoder::open_on_gpu(int device) {
  const AVStream& stream = demuxer_.video();
  const AVCodecID id = stream.codecpar->codec_id;
  const AVCodec* codec = find_gpu_decoder(id);
  if (!codec)
    throw DeviceUnavailable(std::string("FFmpeg has no decoder of ") + avcodec_get_name(id) +
                            " for GPUs");
  if (logs_damage(avcodec_descriptor_get(id)))
    throw DeviceUnavailable(std::string("damage in ") + avcodec_get_name(id) +
                            " is only detected on the CPU");
  if (has_side_alpha(stream)) throw DeviceUnavailable("it has an alpha channel");
  gpu_.emplace(device);
  set_up(codec);
  gpu_->attach(*decoder_);
  check<BadData>(avcodec_open2(decoder_.get(), codec, nullptr), "cannot open the decoder");
}

/// Decodes the first picture on the GPU. On failure, returns null and sets why_not_gpu_.
FramePtr PictureDecoder::first_from_gpu(int device) {
  const LogWatch watch(demuxer_.log());
  try {
    open_on_gpu(device);
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
    return first;
  } catch (const DeviceUnavailable& error) {
    why_not_gpu_ = error.what();
  }
  decoder_.reset();
  gpu_.reset();
  is_in_video_ = false;
  watch_ = LogWatch(demuxer_.log());  // earlier messages concern only the GPU
  return nullptr;
}

FramePtr PictureDecoder::next() {
  const LogTopic::Scope scope(demuxer_.log());
  if (demuxer_.reads_whole_files()) return decode_file();
  FramePtr picture;
  do {
    picture = decode();
  } while (picture && is_trimmed(*picture));
  if (picture) {
    check_time(*picture);
    count_decoded();
  }
  return picture;
}

void PictureDecoder::restart() {
  const LogTopic::Scope scope(demuxer_.log());
  avcodec_flush_buffers(decoder_.get());
  replay_.clear();
  metadata_.clear();
  is_in_video_ = false;
  tiff_.reset();
  file_ = demuxer_.next_file();
  if (quantiser_) quantiser_->restart();
  last_time_ = AV_NOPTS_VALUE;
  watch_ = LogWatch(demuxer_.log());
}

FramePtr PictureDecoder::decode() {
  if (from_gpu_) return std::move(from_gpu_);
  FramePtr picture = make_frame();
  const int code = receive(*picture);
  if (code == AVERROR_EOF) return nullptr;
  if (code == AVERROR(ENOMEM) && !gpu_) throw std::bad_alloc();
  if (code < 0) fail_decoding();
  check_decoded(*picture);
  if (keeps_bottom_up_rows(*decoder_->codec)) flip_rows(*picture);
  if (stores_rows_in_passes(decoder_->codec_id)) mark_progressive(*picture);
  if (quantiser_) quantiser_->mark(*picture);
  return is_on_gpu(*picture) ? copy_on_gpu(*picture) : std::move(picture);
}

/// Copies a decoded picture to other GPU memory. An error means that the GPU has failed, because
/// the copy of the first picture has succeeded.
FramePtr PictureDecoder::copy_on_gpu(const AVFrame& picture) {
  try {
    return gpu_->copy(picture);
  } catch (const DeviceUnavailable& error) {
    fail_gpu(error.what());
  }
}

void PictureDecoder::fail_gpu(const std::string& why) const {
  throw DeviceFailure("cuda:" + std::to_string(gpu_->device()) + " failed while it decoded " +
                      file_name() + " (" + why + "); run the job again");
}

FramePtr PictureDecoder::decode_file() {
  FramePtr picture;
  if (demuxer_.reader() == PictureReader::tiff) {
    picture = decode_page();
  } else {
    const std::string path = file_path();
    if (const PacketPtr packet = demuxer_.read()) picture = read_exr(*packet, path, options_);
  }
  if (picture) {
    mark_as_key(*picture);
    count_decoded();
  }
  return picture;
}

/// Returns the next page of the TIFF file, or the first page of the next file. The timestamp of a
/// page is the timestamp of its file plus the index of the page.
FramePtr PictureDecoder::decode_page() {
  if (tiff_ && tiff_->next_picture()) {
    ++page_time_;
  } else {
    const std::string path = file_path();
    const PacketPtr packet = demuxer_.read();
    if (!packet) return nullptr;
    tiff_ = std::make_unique<TiffReader>(path, static_cast<std::uint64_t>(options_.limits.pixels));
    page_time_ = packet->pts;
    keep_metadata(page_time_, MappedFile(path).bytes());
  }
  FramePtr picture = read_tiff_picture(*tiff_);
  picture->pts = picture->best_effort_timestamp = page_time_;
  set_frame_duration(*picture, 1);
  return picture;
}

void PictureDecoder::count_decoded() {
  ++file_;
  const bool limited =
      // PictureFiles has already compared the number of files in a picture sequence with the limit.
      options_.limits.frames > 0 && demuxer_.sequence().empty();
  if (++decoded_ > options_.limits.frames && limited)
    throw BadData("'" + demuxer_.path() + "' has more than " +
                  std::to_string(options_.limits.frames) + " frames; allow it with --max-frames");
}

/// Receives the next frame from the decoder. Returns the decoder's error code, or AVERROR_EOF at
/// the end. Throws only the exceptions of the demuxer.
int PictureDecoder::receive(AVFrame& picture) {
  for (;;) {
    const int code = avcodec_receive_frame(decoder_.get(), &picture);
    if (code != AVERROR(EAGAIN)) {
      logged_damage_ = decoder_watch_.take_damage(*decoder_, code < 0 ? nullptr : &picture);
      if (skip_damage(code)) continue;
      return std::min(code, 0);
    }
    const PacketPtr packet = next_packet();
    if (packet && !is_decodable(*packet)) continue;
    if (packet && quantiser_) quantiser_->add(*packet);
    const int sent = avcodec_send_packet(decoder_.get(), packet.get());  // null: flush
    if (sent < 0) (void)decoder_watch_.take_damage(*decoder_, nullptr);
    // A recorded broadcast may begin in the middle of a GOP. lull therefore ignores the errors of
    // the decoder before the first picture.
    const bool warming_up =
        decoded_ == 0 && demuxer_.context().iformat->flags & AVFMT_TS_DISCONT && packet;
    if (sent < 0 && sent != AVERROR_EOF && !warming_up && !skip_damage(sent)) return sent;
  }
}

/// Checks the structure of a packet, and counts a damaged packet as damage of the input. Returns
/// false if the caller must not decode the packet.
bool PictureDecoder::is_decodable(const AVPacket& packet) {
  decoder_watch_.expect(packet);
  const ByteView bytes = bytes_of(packet);
  const AVCodecID codec = decoder_->codec_id;
  if (demuxer_.holds_pictures() && packets_++ > 0 && (is_in_video_ || is_junk(codec, bytes)))
    return false;
  is_in_video_ = demuxer_.holds_pictures() && codec == AV_CODEC_ID_MJPEG && is_motion_photo(bytes);
  const std::optional<PictureFault> fault = find_fault(codec, bytes);
  if (reads_metadata_ && (!fault || fault->is_decodable)) keep_metadata(packet.pts, bytes);
  if (!fault) return true;
  damage_.add_frame(file_name() + " is damaged or cut short (" + fault->text + ")", packet.pts);
  return fault->is_decodable;
}

void PictureDecoder::keep_metadata(std::int64_t time, ByteView file) {
  PictureMetadata metadata = read_metadata(file);
  if (!metadata.empty() || metadata.orientation != 1)
    metadata_[time] = std::make_shared<const PictureMetadata>(std::move(metadata));
}

std::shared_ptr<const PictureMetadata> PictureDecoder::take_metadata(const AVFrame& picture) {
  auto found = metadata_.find(picture.best_effort_timestamp);
  if (found == metadata_.end()) found = metadata_.find(AV_NOPTS_VALUE);  // the packet had no time
  if (found == metadata_.end()) return nullptr;
  std::shared_ptr<const PictureMetadata> metadata = std::move(found->second);
  metadata_.erase(metadata_.begin(), std::next(found));
  return metadata;
}

// Errors of a GPU decoder do not count as damage. After an error in the first frame, the CPU
// decodes the input instead. A later error ends the decoding.
bool PictureDecoder::skip_damage(int code) {
  const bool damaged = code < 0 && code != AVERROR_EOF && code != AVERROR(ENOMEM);
  if (!damaged || gpu_ || !damage_.tolerates() || exceeds_pixels()) return false;
  damage_.add_missing_frame(
      with_cause(file_name() + " is damaged or cut short near frame " + std::to_string(decoded_)));
  return true;
}

bool PictureDecoder::exceeds_pixels() const {
  return !watch_.find("exceeds specified max pixel count").empty();
}

PacketPtr PictureDecoder::next_packet() {
  if (!keep_packets_ && !replay_.empty()) {
    PacketPtr packet = std::move(replay_.front());
    replay_.pop_front();
    return packet;
  }
  PacketPtr packet = demuxer_.read();
  if (keep_packets_ && packet) replay_.emplace_back(non_null(av_packet_clone(packet.get())));
  return packet;
}

AVPixelFormat PictureDecoder::format_of(const AVFrame& picture) const {
  return is_on_gpu(picture) ? decoder_->sw_pix_fmt : static_cast<AVPixelFormat>(picture.format);
}

void PictureDecoder::check_decoded(const AVFrame& picture) {
  const bool is_marked = picture.decode_error_flags != 0 || picture.flags & AV_FRAME_FLAG_CORRUPT;
  const bool is_logged = logs_damage_ && !logged_damage_.empty();
  if (!is_marked && !is_logged) return;
  const std::string text =
      "frame " + std::to_string(decoded_) + " of " + file_name() + " is damaged or cut short";
  damage_.add_frame(is_logged ? text + " (" + logged_damage_ + ")" : with_log(text, watch_),
                    picture.best_effort_timestamp);
  watch_ = LogWatch(demuxer_.log());  // later frames have their own messages
}

/// Counts a picture as damaged if its timestamp is earlier than the timestamp of the previous
/// picture. Codecs that reorder frames have a tolerance of 16 frames: a decoder that does not yet
/// know the reordering depth may return the first pictures out of order.
void PictureDecoder::check_time(const AVFrame& picture) {
  constexpr int max_reordered = 16;  // ITU-T H.264 and H.265: max_num_reorder_frames
  const std::int64_t before = std::exchange(last_time_, picture.best_effort_timestamp);
  if (!demuxer_.has_rising_times() || before == AV_NOPTS_VALUE || last_time_ == AV_NOPTS_VALUE)
    return;
  const std::int64_t margin = logs_damage_ ? 0 : max_reordered * frame_duration(picture);
  if (last_time_ < before - margin)
    damage_.add_frame("frame " + std::to_string(decoded_) + " of " + file_name() +
                          " has a wrong timestamp (earlier than the previous frame)",
                      last_time_);
}

void PictureDecoder::fail_decoding() const {
  if (exceeds_pixels())
    throw BadData(file_name() + " has more than " + std::to_string(options_.limits.pixels) +
                  " pixels in a frame; allow it with --max-pixels");
  if (gpu_ && !gpu_->works()) fail_gpu("it cannot allocate memory");
  const bool one = !demuxer_.sequence().empty();
  throw BadData(with_cause(file_name() + " is damaged or cut short" +
                           (one ? "" : " near frame " + std::to_string(decoded_))) +
                (gpu_ ? "; try to decode it on the CPU" : ""));
}

/// Returns `text` with the reason of the failure in parentheses. If DecoderWatch has found a packet
/// that is too small for its picture, this packet is the reason, because such packets also cause
/// FFmpeg's later errors.
std::string PictureDecoder::with_cause(const std::string& text) const {
  const std::string reason = watch_.find("cannot hold a picture");
  return reason.empty() ? with_log(text, watch_) : text + " (" + reason + ")";
}

// Returns the path of the file that the decoder currently decodes.
std::string PictureDecoder::file_path() const {
  const auto& files = demuxer_.sequence();
  const auto at = static_cast<std::size_t>(file_);
  return at < files.size() ? files[at].path : demuxer_.path();
}

}  // namespace lull::io
