#pragma once
// Writes packets to a file with one encoded video stream and copies of the source's other streams.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "io/demux/damage.h"
#include "io/encode/encoder.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/files/output_file.h"
#include "io/packets/packet_converter.h"
#include "io/write/start_shift.h"

namespace lull::io {

class Muxer {
 public:
  /// Writes the header of the container. `options` are the options that the encoder did not use.
  /// @throws InvalidArgument  the container cannot store a stream, or an option is unknown
  Muxer(Output& file, const Container& container, const FileSource& source, const Encoder& encoder,
        Dictionary& options);

  void write_video(PacketPtr packet);
  /// Writes a packet from the demuxer. Ignores packets of streams that the muxer does not copy.
  void write_copied(PacketPtr packet);
  /// Writes or drops all waiting packets. The caller must call this function after the last frame
  /// and the last packet.
  void flush_copies();
  void write_trailer();
  /// Returns the number of packets missing from the copied streams because of damage.
  const Damage& damage() const { return damage_.found(); }
  const std::vector<std::string>& losses() const { return losses_; }
  /// Returns notes for the user: about converted content, and about content that the user excluded.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Copy {
    AVStream* to = nullptr;
    AVRational time_base{};                  // time base of the input's packets
    std::int64_t last_dts = AV_NOPTS_VALUE;  // decoding time of the last packet that was written
    bool picture = false;                    // the stream is a cover picture, which has no time
    bool fills_gaps = false;                 // empty packets fill the gaps between subtitles
    std::unique_ptr<PacketConverter> converter;
    PacketPtr preroll;              // last packet of preroll before the first kept packet
    std::deque<PacketPtr> waiting;  // packets that wait for the selection of frames
  };
  struct Free {
    void operator()(AVFormatContext* context) const noexcept { avformat_free_context(context); }
  };

  void add_video(const FileSource& source, const Encoder& encoder);
  void set_shift(const FileSource& source, const Container& container);
  void add_copies(const FileSource& source, const Container& container, const Encoder& encoder);
  void add_copy(const AVStream& from, const Container& container);
  AVStream& new_stream(const AVStream& from);
  void convert(const AVStream& from, const Container& container);
  void attach_file(const AVStream& from);
  void attach_cover(const AVStream& from);
  void note_dropped(const FileSource& source);
  void copy_global(const AVFormatContext& from);
  void write_header(const FileSource& source, const Container& container, Dictionary& options);
  void write_y4m(const AVFrame& picture);
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
  AVStream* video_ = nullptr;  // the denoised stream
  std::shared_ptr<const FrameSelector> selector_;
  std::unique_ptr<AVFormatContext, Free> context_;
  AVRational encoder_time_base_{};
  StartShift shift_;              // added to all times
  std::int64_t video_shift_ = 0;  // the shift of the video, in ticks of the encoder
  std::int64_t last_video_dts_ = AV_NOPTS_VALUE;
  std::int64_t last_video_duration_ = 0;  // in the time base of the output stream
  std::deque<Copy> copies_;               // index: stream number in the source
  std::vector<std::string> losses_, notes_;
  DamageCount damage_;
};

}  // namespace lull::io
