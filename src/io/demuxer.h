#pragma once
// A media file taken apart into packets.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "io/byte_pipe.h"
#include "io/damage.h"
#include "io/ffmpeg.h"
#include "io/ffmpeg_log.h"
#include "io/media.h"
#include "io/packet_relay.h"
#include "io/sequence.h"

namespace lull::io {

/// Opens a file or a pipe and finds its main video stream. @throws NoInput, BadData,
/// InvalidArgument
class Demuxer {
 public:
  /// `damage` must outlive the demuxer, which makes it strict for a sequence.
  Demuxer(const std::string& path, const SourceOptions& options, DamageCount& damage);

  const std::string& path() const { return path_; }
  AVFormatContext& context() const { return *context_; }
  AVStream& video() const { return *context_->streams[video_]; }
  /// A file of one or several pictures, neither a video nor a sequence of files.
  bool holds_pictures() const;
  /// The files of a sequence, each of one picture; empty for anything else. The packet's time is
  /// the index.
  const std::vector<SequenceFile>& sequence() const { return sequence_; }
  /// Pictures for read_float_tiff() instead of a decoder.
  bool float_tiff() const { return float_tiff_; }
  PacketRelay& relay() const { return *relay_; }
  std::shared_ptr<PacketRelay> share_relay() const { return relay_; }

  /// The next packet of the video, null at the end; packets of other streams go to the relay.
  /// @throws BadData  damaged or cut short
  /// @throws IoError  the file could not be read
  PacketPtr read();
  /// Goes on for the other streams alone, until what they hold before `end` (in the video's time
  /// base) has come: for containers whose sound lags behind.
  void read_others_until(std::int64_t end);
  /// Ends a read() that waits. From any thread.
  void interrupt() noexcept;

 private:
  struct CloseIo {
    void operator()(AVIOContext* io) const noexcept { avio_close(io); }
  };

  AVIOContext& io() const { return pipe_ ? pipe_->io() : *io_; }
  void open_file();
  void open_address(const SourceOptions& options);
  std::string whitelist(const SourceOptions& options) const;
  void find_streams(const Limits& limits);
  [[noreturn]] void fail_streams(const Limits& limits) const;
  void check_sizes(const Limits& limits) const;
  static int is_interrupted(void* self);
  void open_container(const SourceOptions& options);
  void find_video();
  void select_files(const SourceOptions& options);
  void note_time(const AVPacket& packet);
  bool others_reached(std::int64_t end) const;
  void check_first(const SourceOptions& options);
  void check_picture(const AVPacket& packet, const std::string& path) const;
  PacketPtr read_picture();
  bool go_on_after(int code);
  void count_damage(const AVPacket& packet);
  void check_io() const;
  void check_end();

  std::string path_;
  DamageCount& damage_;
  int failures_ = 0;                          // of reading, in a row
  LogWatch watch_;                            // since opening
  std::unique_ptr<AVIOContext, CloseIo> io_;  // a file's
  std::unique_ptr<InputPipe> pipe_;           // instead of it
  std::unique_ptr<AVFormatContext, Releaser<avformat_close_input>> context_;
  std::vector<SequenceFile> sequence_;
  std::size_t next_file_ = 0;
  bool float_tiff_ = false;
  std::atomic<bool> interrupted_ = false;
  bool address_ = false;  // of a protocol, not a file
  int video_ = -1;
  std::vector<std::int64_t> reached_;  // by stream: the latest time that came, in its own base
  std::int64_t last_end_ = -1;         // byte behind the last packet of the video, -1: unknown
  std::shared_ptr<PacketRelay> relay_ = std::make_shared<PacketRelay>();
};

/// A file of one picture as a packet at time 0. @throws NoInput, BadData, IoError
PacketPtr read_whole_picture(const std::string& path);

}  // namespace lull::io
