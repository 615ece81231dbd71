#pragma once
// The decoded main video stream of a file.

#include <deque>

#include "core/frame_pool.h"
#include "io/cut.h"
#include "io/demuxer.h"
#include "io/gpu_decoder.h"
#include "io/media.h"
#include "io/pixel_formats.h"

namespace lull::io {

/// The MediaSource of all that FFmpeg reads; the sink looks behind the interface.
class FileSource final : public MediaSource {
 public:
  FileSource(const std::string& path, const SourceOptions& options);

  const FrameFormat& format() const noexcept override { return pool_->format(); }
  const VideoInfo& info() const noexcept override { return info_; }
  const std::string& why_not_gpu() const noexcept override { return why_not_gpu_; }
  /// What it was opened with.
  const SourceOptions& options() const { return options_; }
  bool passes_damage() const { return damage_.passes(); }
  Damage damage() const override { return damage_.found(); }
  std::optional<Frame> read() override;
  void interrupt() noexcept override { demuxer_.interrupt(); }

  const Demuxer& demuxer() const { return demuxer_; }
  const AVCodecContext& decoder() const { return *decoder_; }
  /// The first frame as decoded: colour, aspect ratio, side data; its samples may be on a GPU.
  /// Valid until the first read.
  const AVFrame& first() const { return *ahead_.front().picture; }
  /// What is left out of the video; null: nothing.
  std::shared_ptr<Cut> cut() const { return cut_; }
  AVPixelFormat pixel_format() const { return pixel_format_; }
  const PixelTraits& traits() const { return traits_; }
  /// An OpenEXR file whose samples have 16 bits.
  bool half_floats() const { return half_floats_; }
  /// Whether there is a second frame; decodes up to it. Before the first read.
  bool has_second_frame();

 private:
  // In source_decoder.cpp:
  void open_decoder(int threads);
  FramePtr first_from_gpu(int device);
  void open_gpu_decoder(int device);
  void set_up_decoder(const AVCodec* codec);
  FramePtr decode();
  FramePtr decode_picture();
  int receive(AVFrame& picture);
  PacketPtr next_packet();
  /// Whether there is damage to pass over after the decoder failed with `code`.
  bool pass(int code);
  bool exceeds_pixels() const;
  void count_decoded();
  void check_decoded(const AVFrame& picture);
  [[noreturn]] void fail_decoding() const;
  FramePtr copy_on_gpu(const AVFrame& picture);
  [[noreturn]] void fail_gpu(const std::string& why) const;
  std::string place() const;
  /// The pixel format that the picture has, or would have on the CPU.
  AVPixelFormat format_of(const AVFrame& picture) const;

  void fill_info(const Selection& selection);
  void estimate_cut(const Selection& selection);
  void look_into_exr();
  /// A picture that stays, with its place in time.
  struct Timed {
    FramePtr picture;
    std::int64_t pts = 0, duration = 0;
    std::int64_t number = 0;  // among all that were decoded
  };
  std::optional<Timed> next();
  void end_cut();
  Timed stamp(FramePtr picture);
  void check_unchanged(const Timed& timed) const;
  [[noreturn]] void refuse_interlaced() const;
  [[noreturn]] void fail_change(const Timed& timed) const;
  void check_all_decoded() const;

  SourceOptions options_;
  DamageCount damage_;
  Demuxer demuxer_;
  LogWatch watch_;
  std::optional<GpuDecoder> gpu_;
  CodecPtr decoder_;
  /// Packets that were read before the GPU gave its first frame, in case the CPU has to.
  std::deque<PacketPtr> replay_;
  bool keep_packets_ = false;
  FramePtr from_gpu_;  // its first frame, until decode() gives it
  std::string why_not_gpu_;
  VideoInfo info_;
  AVPixelFormat pixel_format_ = AV_PIX_FMT_NONE;
  PixelTraits traits_;
  std::optional<FramePool> pool_, alpha_pool_;
  std::deque<Timed> ahead_;  // decoded, not read yet
  bool half_floats_ = false;
  std::int64_t decoded_ = 0;  // frames
  std::int64_t stamped_ = 0;  // of these, with a time
  std::int64_t given_ = 0;    // of these, by read()
  std::shared_ptr<Cut> cut_;
  bool cut_ended_ = false;
  std::int64_t next_pts_ = AV_NOPTS_VALUE;
};

}  // namespace lull::io
