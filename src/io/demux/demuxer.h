#pragma once
// Reads the packets of a media file. `read()` returns the packets of the main video, and passes the
// packets of other streams to the muxer through a PacketRelay.

#include <memory>
#include <string>
#include <vector>

#include "io/containers/container_walk.h"
#include "io/demux/clock_bridge.h"
#include "io/demux/damage.h"
#include "io/demux/edit_list_filter.h"
#include "io/demux/input_bytes.h"
#include "io/demux/input_container.h"
#include "io/demux/packet_relay.h"
#include "io/demux/picture_files.h"
#include "io/demux/stream_times.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/media.h"

namespace lull::io {

class Demuxer {
 public:
  /// Opens a file, a pipe or a picture sequence, and finds its main video stream. `damage` must
  /// outlive the demuxer. In a picture sequence, the demuxer never tolerates damage.
  /// @throws NoInput, BadData, InvalidArgument
  Demuxer(const std::string& path, const SourceOptions& options, DamageCount& damage);

  /// Returns the name of the input; for a picture sequence, the name of the first file.
  const std::string& path() const { return bytes_.name(); }
  AVFormatContext& context() const { return container_.context(); }
  AVStream& video() const { return container_.video(); }
  /// Returns whether the input is a single file in a still picture format; false for GIF.
  bool holds_pictures() const;
  /// Returns the files of a picture sequence; empty for other inputs.
  const std::vector<SequenceFile>& sequence() const { return files_.list(); }
  /// Returns the index in sequence() of the file that read() returns next; 0 for other inputs.
  std::int64_t next_file() const { return files_.next(); }
  /// Returns whether the container stores a timestamp for each frame, and these timestamps have
  /// no discontinuities.
  bool has_rising_times() const;
  /// Returns the library that decodes the pictures. For OpenEXR, each packet is a complete file.
  /// For libtiff, packets have no data, because libtiff reads the files itself.
  PictureReader reader() const { return container_.reader(); }
  bool reads_whole_files() const { return reader() != PictureReader::ffmpeg; }
  /// Returns FFmpeg's messages about this input.
  const LogTopic& log() const { return log_; }
  PacketRelay& relay() const { return *relay_; }
  std::shared_ptr<PacketRelay> share_relay() const { return relay_; }

  /// Returns the next packet of the video; null at the end. Packets of other streams go to
  /// `relay()`.
  /// @throws BadData  the input is damaged or truncated
  /// @throws IoError  lull could not read the file
  PacketPtr read();
  /// Returns whether the input is a HEIF still picture (HEIC, AVIF), whose packets contain no
  /// metadata.
  bool is_heif() const;
  /// Returns whether lull can open the input a second time; false for pipes and network addresses.
  bool can_reopen() const { return !bytes_.pipe() && !is_address(path()); }
  /// Reads packets until all audio packets before `end` have arrived, because audio packets may
  /// come after the video packets of the same time. `end` is in the video's time base.
  void read_others_until(std::int64_t end);
  /// Sets the size of the video's pictures if the container does not state the size.
  void note_size(int width, int height);
  /// Seeks to a position before `time`, in the video's time base. Returns false if the input cannot
  /// seek.
  bool seek(std::int64_t time);
  /// Returns the discontinuities of timestamps that ClockBridge has removed so far.
  const std::vector<ClockJump>& clock_jumps() const { return clock_.jumps(); }
  /// Ends a `read()` that is waiting for data. Any thread may call this function.
  void interrupt() noexcept { bytes_.interrupt(); }

 private:
  void init_sequence(const SourceOptions& options);
  void skip_to(std::int64_t time_us);
  PacketPtr read_next();
  void read_from_container();
  void forward(PacketPtr packet);
  bool can_continue_after(int code);
  void count_damage(const AVPacket& packet);
  void check_structure(const AVPacket& packet);
  std::int64_t frames_between(std::int64_t from, std::int64_t to) const;
  void note_faults(std::int64_t missing);
  void check_end();

  LogTopic log_;
  DamageCount& damage_;
  PictureFiles files_;
  InputBytes bytes_;
  InputContainer container_;
  std::unique_ptr<ContainerWalk> walk_;  // null if the structure of the container is not checked
  /// State of the structure check, with times in the time base of the video:
  /// - `faults_`: number of faults
  /// - `lost_`: number of frames that are missing at the faults, at least one for each fault
  /// - `packets_`: number of video packets so far
  /// - `duration_`: duration of the latest video packet
  /// - `first_time_`, `last_time_`: first and latest timestamp
  std::int64_t faults_ = 0, lost_ = 0, packets_ = 0, duration_ = 0;
  std::int64_t first_time_ = AV_NOPTS_VALUE, last_time_ = AV_NOPTS_VALUE;
  ClockBridge clock_;
  StreamTimes times_;
  EditListFilter edit_list_filter_;
  std::shared_ptr<PacketRelay> relay_;
  int failures_ = 0;                     // number of consecutive read errors
  bool ended_ = false, is_cut_ = false;  // is_cut_: an error ended the input
  bool file_read_ = false;               // for reads_whole_files(): the only packet was returned
  std::int64_t last_end_ = -1;           // position after the last packet of the video; -1: unknown
};

}  // namespace lull::io
