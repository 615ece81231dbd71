#pragma once
// Decodes the pictures of a video in presentation order, on the CPU or on a GPU.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/frame.h"
#include "io/demux/damage.h"
#include "io/demux/demuxer.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/media.h"
#include "io/metadata/picture_metadata.h"
#include "io/read/decoder_watch.h"
#include "io/read/gpu_decoder.h"
#include "io/read/quantiser_trace.h"

namespace lull::io {

class TiffReader;

class PictureDecoder {
 public:
  /// Opens the decoder. If options.gpu has a value, the constructor first tries the GPU. `demuxer`
  /// and `damage` must outlive this object.
  /// @throws BadData
  PictureDecoder(Demuxer& demuxer, const SourceOptions& options, DamageCount& damage);
  ~PictureDecoder();

  /// Returns the next picture; null at the end of the video.
  /// @throws BadData  the input is damaged, and the options do not tolerate damage
  /// @throws DeviceFailure  the GPU has stopped working
  FramePtr next();
  /// Returns the metadata of the file that contained `picture`; null if the file has none. The
  /// decoder then no longer stores these metadata.
  std::shared_ptr<const PictureMetadata> take_metadata(const AVFrame& picture);
  /// Flushes the decoder after a seek. The caller must not call this function while a GPU decodes.
  void restart();

  const AVCodecContext& context() const { return *decoder_; }
  /// Returns the number of pictures that next() has returned.
  std::int64_t decoded() const { return decoded_; }
  /// Returns the reason why the CPU decodes although the caller requested a GPU; empty otherwise.
  const std::string& why_not_gpu() const { return why_not_gpu_; }
  /// Returns the pixel format of pictures in CPU memory, even if the GPU decodes.
  AVPixelFormat format_of(const AVFrame& picture) const;
  /// Returns the GPU decoder; null if the CPU decodes.
  const GpuDecoder* gpu() const { return gpu_ ? &*gpu_ : nullptr; }
  /// Returns FFmpeg's messages about the stream. Error texts quote these messages.
  const LogWatch& said() const { return watch_; }

 private:
  void open_on_cpu();
  FramePtr first_from_gpu(int device);
  void open_on_gpu(int device);
  void set_up(const AVCodec* codec);
  FramePtr decode();
  FramePtr decode_file();
  FramePtr decode_page();
  int receive(AVFrame& picture);
  PacketPtr next_packet();
  bool is_decodable(const AVPacket& packet);
  void keep_metadata(std::int64_t time, ByteView file);
  /// Counts a decoder error as damage. Returns false if the options do not tolerate damage, or if
  /// the error `code` does not mean damage.
  bool skip_damage(int code);
  bool exceeds_pixels() const;
  void count_decoded();
  void check_decoded(const AVFrame& picture);
  void check_time(const AVFrame& picture);
  [[noreturn]] void fail_decoding() const;
  std::string with_cause(const std::string& text) const;
  FramePtr copy_on_gpu(const AVFrame& picture);
  [[noreturn]] void fail_gpu(const std::string& why) const;
  std::string file_path() const;
  std::string file_name() const { return "'" + file_path() + "'"; }

  Demuxer& demuxer_;
  const SourceOptions options_;
  DamageCount& damage_;
  LogWatch watch_;
  std::optional<GpuDecoder> gpu_;
  DecoderWatch decoder_watch_;
  CodecPtr decoder_;
  std::optional<QuantiserTrace> quantiser_;  // null: a GPU decodes
  bool logs_damage_ = false;                 // errors in the decoder's log mean damage
  std::string logged_damage_;                // damage of the last picture; empty: none
  std::int64_t packets_ = 0;                 // number of packets
  bool is_in_video_ = false;                 // the next packets are the video of a motion photo
  std::int64_t last_time_ = AV_NOPTS_VALUE;  // time of the last picture
  /// Packets that the GPU decoder has received before its first picture. If the GPU decoder fails,
  /// the CPU decodes these packets.
  std::deque<PacketPtr> replay_;
  bool keep_packets_ = false;
  FramePtr from_gpu_;  // the first picture from the GPU, until next() returns it
  std::string why_not_gpu_;
  std::int64_t decoded_ = 0;
  std::int64_t file_ = 0;             // index in demuxer_.sequence() of the next picture's file
  std::unique_ptr<TiffReader> tiff_;  // the file whose pages are being read
  std::int64_t page_time_ = 0;        // time of the current page
  bool reads_metadata_ = false;       // each packet is the complete file of a picture
  /// Metadata that take_metadata() has not returned yet, by timestamp of the packet.
  std::map<std::int64_t, std::shared_ptr<const PictureMetadata>> metadata_;
};

}  // namespace lull::io
