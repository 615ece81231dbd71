#include "io/segments/segment_mux.h"

#include <optional>
#include <utility>

#include "io/demux/damage.h"
#include "io/demux/demuxer.h"
#include "io/demux/packet_times.h"

namespace lull::io {
namespace {

/// Reads the packets of all segments in sequence.
class VideoPackets {
 public:
  explicit VideoPackets(const DoneSegments& job) : job_(job) { advance(); }

  /// Returns the next packet; null after the last packet.
  const AVPacket* front() const { return front_.get(); }
  PacketPtr take() {
    PacketPtr packet = std::move(front_);
    advance();
    return packet;
  }

 private:
  void advance() {
    while (!(front_ = reader_ ? reader_->next() : nullptr) && next_ < job_.count)
      reader_.emplace(job_.read(next_++));
  }

  const DoneSegments& job_;
  std::int64_t next_ = 0;
  std::optional<SegmentReader> reader_;
  PacketPtr front_;
};

/// Returns the output timestamp of an input video packet; nullopt if the packet is not selected or
/// has no timestamp.
std::optional<std::int64_t> output_time_of(const AVPacket& packet, AVRational tick,
                                           const FrameSelector* selector) {
  const std::int64_t time = time_of(packet);
  if (time == AV_NOPTS_VALUE) return std::nullopt;
  if (!selector) return time;
  const PacketPtr probe = make_packet();
  probe->dts = time;
  if (selector->judge_packet(*probe, tick, false) != FrameSelector::PacketVerdict::keep)
    return std::nullopt;
  return probe->dts;
}

class Interleaving {
 public:
  Interleaving(const DoneSegments& job, const FileSource& source, AVRational tick, Muxer& muxer)
      : video_(job),
        source_(source),
        tick_(tick),
        muxer_(muxer),
        damage_(source.tolerates_damage()),
        demuxer_(source.demuxer().path(), source.options(), damage_) {}

  /// Writes the packets of all streams, interleaved in the order of the input.
  void operator()() {
    const std::shared_ptr<const FrameSelector> selector = source_.selector();
    const AVRational input_tick = demuxer_.video().time_base;
    while (const PacketPtr packet = demuxer_.read()) {
      write_copies();
      if (const auto time = output_time_of(*packet, input_tick, selector.get()))
        write_until(*time, input_tick);
      if (selector && is_beyond(*packet, *selector)) {
        demuxer_.read_others_until(selector->end());
        break;
      }
    }
    write_copies();
  }

  void write_rest() {
    while (video_.front()) muxer_.write_video(video_.take());
  }

 private:
  void write_copies() {
    PacketRelay& relay = demuxer_.relay();
    for (auto some = relay.take(); !some.empty(); some = relay.take())
      for (PacketPtr& packet : some) muxer_.write_copied(std::move(packet));
  }

  // Writes the video packets up to the input time `time`. To convert `time` to an output time, the
  // function adds `offset_`, the difference between the first output time and the first input time.
  void write_until(std::int64_t time, AVRational tick) {
    if (!video_.front()) return;
    if (!offset_) offset_ = av_rescale_q(time_of(*video_.front()), tick_, tick) - time;
    while (video_.front() &&
           av_compare_ts(time_of(*video_.front()), tick_, time + *offset_, tick) <= 0)
      muxer_.write_video(video_.take());
  }

  // Returns whether no selected video packet follows. Packets are out of time order by less than
  // `slack_s` seconds. No selected packet therefore follows a packet that is at least `slack_s`
  // seconds after the last selected picture.
  bool is_beyond(const AVPacket& packet, const FrameSelector& selector) const {
    constexpr std::int64_t slack_s = 1;
    const AVRational tick = demuxer_.video().time_base;
    const std::int64_t time = time_of(packet);
    return time != AV_NOPTS_VALUE && time >= selector.end() + av_rescale_q(slack_s, {1, 1}, tick);
  }

  VideoPackets video_;
  const FileSource& source_;
  AVRational tick_;
  Muxer& muxer_;
  DamageCount damage_;  // unused: damage was already counted when the input was decoded
  Demuxer demuxer_;
  std::optional<std::int64_t> offset_;
};

}  // namespace

void mux_segments(const DoneSegments& job, const FileSource& source, AVRational tick,
                  Muxer& muxer) {
  if (!source.demuxer().sequence().empty() || source.demuxer().context().nb_streams < 2) {
    VideoPackets video(job);
    while (video.front()) muxer.write_video(video.take());
  } else {
    Interleaving interleaving(job, source, tick, muxer);
    interleaving();
    interleaving.write_rest();
  }
  muxer.flush_copies();
  muxer.write_trailer();
}

}  // namespace lull::io
