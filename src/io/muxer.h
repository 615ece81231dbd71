#pragma once
// Packets into a file: one encoded video stream and copies of the source's other streams.

#include <deque>
#include <string>
#include <vector>

#include "io/damage.h"
#include "io/encoder.h"
#include "io/ffmpeg_log.h"
#include "io/output_file.h"

namespace lull::io {

class Muxer {
 public:
  /// Writes the container's head. `options` are those that the encoder did not take.
  /// @throws InvalidArgument  a stream that the container cannot hold, an option nobody knows
  Muxer(Output& file, const Container& container, const FileSource& source, const Encoder& encoder,
        Dictionary& options);

  void write_video(PacketPtr packet);
  /// A packet as the source's demuxer gave it; consumed if its stream is copied.
  void write_copied(PacketPtr packet);
  /// No frame comes any more, and no packet: those that waited for a cut go or are dropped.
  void end_copies();
  void write_trailer();
  /// Packets of copied streams that were too damaged to be copied.
  const Damage& damage() const { return damage_.found(); }
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  struct Copy {
    AVStream* to = nullptr;
    AVRational time_base{};                  // of the packets that come in
    std::int64_t last_dts = AV_NOPTS_VALUE;  // of the packets that went out
    bool picture = false;                    // a cover: no part of the time line
    std::deque<PacketPtr> waiting;           // for the cut to reach them
  };
  struct Free {
    void operator()(AVFormatContext* context) const noexcept { avformat_free_context(context); }
  };

  void add_video(const FileSource& source, const Encoder& encoder);
  void add_copies(const FileSource& source, const Container& container);
  void add_copy(const AVStream& from, const Container& container);
  void attach_cover(const AVStream& from);
  void copy_global(const AVFormatContext& from);
  void copy_chapters(const AVFormatContext& from);
  void write_header(const Container& container, Dictionary& options);
  void write_y4m(const AVFrame& picture);
  void cut_and_write(Copy& copy);
  void write_copy(Copy& copy, PacketPtr packet);
  void keep_order(std::int64_t& last_dts, AVPacket& packet) const;
  int write(AVPacket* packet);
  void check_sent(int code, const LogWatch& watch) const;

  Output& file_;
  std::string extension_;
  bool pipe_;
  std::shared_ptr<const Cut> cut_;
  std::unique_ptr<AVFormatContext, Free> context_;
  AVRational encoder_time_base_{};
  std::int64_t last_video_dts_ = AV_NOPTS_VALUE;
  std::deque<Copy> copies_;  // by the source's stream number
  std::vector<std::string> left_out_;
  DamageCount damage_;
};

}  // namespace lull::io
