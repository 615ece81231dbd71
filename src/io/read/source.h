#pragma once
// Decodes the main video stream of a file.

#include <deque>

#include "core/frame_pool.h"
#include "io/demux/demuxer.h"
#include "io/ffmpeg/pixel_formats.h"
#include "io/media.h"
#include "io/read/picture_decoder.h"
#include "io/read/timed_pictures.h"

namespace lull::io {

/// The MediaSource for all inputs that FFmpeg reads. The class also has functions that sinks call.
class FileSource final : public MediaSource {
 public:
  FileSource(const std::string& path, const SourceOptions& options);

  const FrameFormat& format() const noexcept override { return pool_->format(); }
  const VideoInfo& info() const noexcept override { return info_; }
  const std::string& why_not_gpu() const noexcept override { return decoder_.why_not_gpu(); }
  /// Returns the path passed to the constructor.
  const std::string& path() const { return path_; }
  /// Returns the options passed to the constructor.
  const SourceOptions& options() const { return options_; }
  bool tolerates_damage() const { return damage_.tolerates(); }
  Damage damage() const override { return damage_.found(); }
  std::optional<Frame> read() override;
  void interrupt() noexcept override { demuxer_.interrupt(); }
  void end_context_at(std::int64_t number) noexcept override { pictures_.end_context_at(number); }
  std::int64_t context_end() const noexcept { return pictures_.context_end(); }
  std::vector<std::string> clock_jumps() const override;
  std::int64_t decoded() const override { return decoder_.decoded(); }
  /// Passes the entries of all pictures in options().index to the selector of frames. The function
  /// decodes no pictures.
  void replay_all() { pictures_.replay_all(); }

  const Demuxer& demuxer() const { return demuxer_; }
  const AVCodecContext& decoder() const { return decoder_.context(); }
  /// Returns the first frame from the decoder, with colour, aspect ratio and side data. The samples
  /// may be on a GPU. The reference is valid until the first read.
  const AVFrame& first() const { return *decoded_ahead_.front().picture; }
  /// Returns the metadata from the file of the first frame; null if the file has none. The pointer
  /// is valid until the first read.
  const PictureMetadata* first_metadata() const { return decoded_ahead_.front().metadata.get(); }
  /// Returns the timestamp of the first frame from read(). The caller must call this function
  /// before the first read.
  std::int64_t first_time() const { return decoded_ahead_.front().pts; }
  /// Returns the selector of frames; null if all frames are selected.
  std::shared_ptr<FrameSelector> selector() const { return pictures_.selector(); }
  AVPixelFormat pixel_format() const { return pixel_format_; }
  const PixelTraits& traits() const { return traits_; }
  /// Returns whether the input consists of TIFF files.
  bool is_tiff() const { return demuxer_.reader() == PictureReader::tiff; }
  /// Returns whether the input is an OpenEXR file with samples of 16 bits.
  bool half_floats() const { return half_floats_; }
  std::vector<int> videos() const override;
  const std::vector<LayerInfo>& layers() const noexcept override { return layers_; }
  /// Returns whether the source has a second frame. With SourceOptions::margins, the function uses
  /// the estimated number of frames; otherwise, it decodes the second frame. The caller must call
  /// this function before the first read.
  bool has_second_frame();

 private:
  TimedPicture first_picture();
  void open_pools(const AVFrame& first);
  void fill_info();
  void note_conversion();
  void read_exr_info();
  void choose_white_of(const AVFrame& first, FrameFormat& format);
  bool decode_second();
  std::optional<TimedPicture> next_picture();
  void seek_to_start();
  Frame frame_of(TimedPicture taken);
  bool changes_format(const TimedPicture& timed) const;
  void check(const TimedPicture& timed) const;
  [[noreturn]] void refuse_interlaced() const;
  [[noreturn]] void fail_format_change(const TimedPicture& timed) const;
  [[noreturn]] void fail_selection() const;
  void check_all_decoded() const;

  std::string path_;
  SourceOptions options_;
  DamageCount damage_;
  Demuxer demuxer_;
  PictureDecoder decoder_;
  TimedPictures pictures_;
  VideoInfo info_;
  AVPixelFormat pixel_format_ = AV_PIX_FMT_NONE;
  PixelTraits traits_;
  std::optional<FramePool> pool_, alpha_pool_;
  std::deque<TimedPicture> decoded_ahead_;  // frames that are decoded, but not read yet
  bool half_floats_ = false;
  std::vector<LayerInfo> layers_;
  bool has_seeked_ = false;
  std::int64_t selected_read_ = 0;  // number of selected frames that read() returned
};

}  // namespace lull::io
