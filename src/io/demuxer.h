#pragma once
// A media file taken apart into packets.

#include <memory>
#include <string>

#include "io/damage.h"
#include "io/ffmpeg.h"
#include "io/ffmpeg_log.h"
#include "io/packet_relay.h"

namespace lull::io {

/// Opens a file and finds its main video stream. @throws NoInput, BadData
class Demuxer {
 public:
  /// `damage` must outlive the demuxer.
  Demuxer(const std::string& path, DamageCount& damage);

  const std::string& path() const { return path_; }
  AVFormatContext& context() const { return *context_; }
  AVStream& video() const { return *context_->streams[video_]; }
  /// A file of one or several pictures, not a video.
  bool holds_pictures() const;
  PacketRelay& relay() const { return *relay_; }
  std::shared_ptr<PacketRelay> share_relay() const { return relay_; }

  /// The next packet of the video, null at the end; packets of other streams go to the relay.
  /// @throws BadData  damaged or cut short
  /// @throws IoError  the file could not be read
  PacketPtr read();

 private:
  struct CloseIo {
    void operator()(AVIOContext* io) const noexcept { avio_close(io); }
  };

  void open_container();
  void find_video();
  void check_io() const;
  std::string reading_failed(int code) const;
  void check_end();

  std::string path_;
  DamageCount& damage_;
  int failures_ = 0;  // of reading, in a row
  LogWatch watch_;    // since opening
  std::unique_ptr<AVIOContext, CloseIo> io_;
  std::unique_ptr<AVFormatContext, Releaser<avformat_close_input>> context_;
  int video_ = -1;
  std::int64_t last_end_ = -1;  // byte behind the last packet of the video, -1: unknown
  std::shared_ptr<PacketRelay> relay_ = std::make_shared<PacketRelay>();
};

}  // namespace lull::io
