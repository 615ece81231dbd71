#pragma once
// Packets into a file: one encoded video stream and copies of the source's other streams.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "io/demux/damage.h"
#include "io/encode/encoder.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/files/output_file.h"
#include "io/write/subtitle_converter.h"

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
  void flush_copies();
  void write_trailer();
  /// Packets of copied streams that were too damaged to be copied.
  const Damage& damage() const { return damage_.found(); }
  const std::vector<std::string>& losses() const { return losses_; }
  /// What was dropped as it was asked for, and what was converted; one text each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Copy {
    AVStream* to = nullptr;
    AVRational time_base{};                  // of the packets that come in
    std::int64_t last_dts = AV_NOPTS_VALUE;  // of the packets that went out
    bool picture = false;                    // a cover: no part of the time line
    bool fills_gaps = false;                 // packets without text stand for these
    std::unique_ptr<SubtitleConverter> converter;
    PacketPtr preroll;              // marked to be discarded, before the first that stays
    std::deque<PacketPtr> waiting;  // for the cut to reach them
  };
  struct Free {
    void operator()(AVFormatContext* context) const noexcept { avformat_free_context(context); }
  };

  void add_video(const FileSource& source, const Encoder& encoder);
  void add_copies(const FileSource& source, const Container& container);
  void add_copy(const AVStream& from, const Container& container);
  AVStream& new_stream(const AVStream& from);
  void convert(const AVStream& from);
  void attach_file(const AVStream& from);
  void attach_cover(const AVStream& from);
  void note_dropped(const FileSource& source);
  void copy_global(const AVFormatContext& from);
  void copy_chapters(const AVFormatContext& from);
  void write_header(const Container& container, Dictionary& options);
  void write_y4m(const AVFrame& picture);
  void shift_times(AVPacket& packet, AVRational tick) const;
  void select_and_write(Copy& copy, PacketPtr packet);
  void select_and_write(Copy& copy);
  void write_copy(Copy& copy, PacketPtr packet);
  PacketPtr converted(Copy& copy, const AVPacket& packet);
  void make_dts_increase(std::int64_t& last_dts, AVPacket& packet) const;
  int write(AVPacket* packet);
  void check_write(int code, const LogWatch& watch) const;

  Output& file_;
  std::string extension_;
  const ContainerTraits& traits_;
  Drops drops_;
  bool pipe_;
  std::shared_ptr<const FrameSelector> selector_;
  std::unique_ptr<AVFormatContext, Free> context_;
  AVRational encoder_time_base_{};
  std::int64_t shift_ = 0;  // of all times, in ticks of the encoder
  std::int64_t last_video_dts_ = AV_NOPTS_VALUE;
  std::deque<Copy> copies_;  // by the source's stream number
  std::vector<std::string> losses_, notes_;
  DamageCount damage_;
};

}  // namespace lull::io
