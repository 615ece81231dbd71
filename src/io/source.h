#pragma once
// The decoded main video stream of a file.

#include <deque>

#include "core/frame_pool.h"
#include "io/demuxer.h"
#include "io/gpu_decoder.h"
#include "io/media.h"
#include "io/pixel_formats.h"

namespace lull::io {

/// The one MediaSource there is; the sink looks behind the interface.
class FileSource final : public MediaSource {
 public:
  FileSource(const std::string& path, const SourceOptions& options);

  const FrameFormat& format() const noexcept override { return pool_->format(); }
  const VideoInfo& info() const noexcept override { return info_; }
  const std::string& why_not_gpu() const noexcept override { return why_not_gpu_; }
  bool passes_damage() const { return damage_.passes(); }
  Damage damage() const override { return damage_.found(); }
  std::optional<Frame> read() override;

  const Demuxer& demuxer() const { return demuxer_; }
  const AVCodecContext& decoder() const { return *decoder_; }
  /// The first frame as decoded: colour, aspect ratio, side data; its samples may be on a GPU.
  /// Valid until the first read.
  const AVFrame& first() const { return *ahead_.front(); }
  AVPixelFormat pixel_format() const { return pixel_format_; }
  const PixelTraits& traits() const { return traits_; }
  /// Whether there is a second frame; decodes up to it. Before the first read.
  bool has_second_frame();

 private:
  void open_decoder(int threads);
  FramePtr first_from_gpu(int device);
  void open_gpu_decoder(int device);
  void set_up_decoder(const AVCodec* codec);
  void fill_info();
  FramePtr decode();
  int receive(AVFrame& picture);
  PacketPtr next_packet();
  /// Whether there is damage to pass over after the decoder failed with `code`.
  bool pass(int code);
  void check_decoded(const AVFrame& picture);
  /// The pixel format that the picture has, or would have on the CPU.
  AVPixelFormat format_of(const AVFrame& picture) const;
  void check_unchanged(const AVFrame& picture) const;
  void stamp(Frame& frame, const AVFrame& picture);

  DamageCount damage_;
  Demuxer demuxer_;
  LogWatch watch_;
  std::optional<GpuDecoder> gpu_;
  CodecPtr decoder_;
  /// Packets that were read before the GPU gave its first frame, in case the CPU has to.
  std::deque<PacketPtr> replay_;
  bool keep_packets_ = false;
  std::string why_not_gpu_;
  VideoInfo info_;
  AVPixelFormat pixel_format_ = AV_PIX_FMT_NONE;
  PixelTraits traits_;
  std::optional<FramePool> pool_, alpha_pool_;
  std::deque<FramePtr> ahead_;  // decoded, not read yet
  std::int64_t decoded_ = 0;    // frames
  std::int64_t next_pts_ = AV_NOPTS_VALUE;
};

}  // namespace lull::io
