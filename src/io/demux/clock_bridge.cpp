#include "io/demux/clock_bridge.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "io/demux/packet_times.h"

namespace lull::io {
namespace {

// Maximum increase between consecutive decoding times of a stream, in seconds, as in the ffmpeg
// command. A larger increase is a forward jump.
constexpr double max_gap_s = 10;
// Maximum decrease between consecutive decoding times of a stream, in seconds. A larger decrease is
// a backward jump.
constexpr double max_back_s = 0.1;
// Maximum waiting time, in seconds of video. If the timestamps of another stream jump first, the
// packets of that stream wait until the timestamps of the video jump, too.
constexpr double max_wait_s = 5;
constexpr std::size_t max_held = 10000;    // maximum number of waiting packets per stream
constexpr std::size_t max_reordered = 16;  // ITU-T H.264 and H.265: max_num_reorder_frames

/// Returns whether a stream has packets without long gaps: true for audio and video.
bool is_dense(const AVStream& stream) {
  const AVMediaType type = stream.codecpar->codec_type;
  return (type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_VIDEO) &&
         !(stream.disposition & AV_DISPOSITION_ATTACHED_PIC);
}

/// Returns the number of overflows of the timestamp counter before `time`.
std::int64_t overflows(std::int64_t time, const AVStream& stream) {
  const int bits = stream.pts_wrap_bits;
  return bits > 0 && bits < 63 ? time >> bits : 0;
}

}  // namespace

ClockBridge::ClockBridge(const AVFormatContext& context, int video, bool keeps_gaps)
    : context_(context),
      video_(video),
      keeps_gaps_(keeps_gaps),
      can_jump_((context.iformat->flags & AVFMT_TS_DISCONT) != 0) {}

ClockBridge::Stream& ClockBridge::state(int stream) {
  const auto i = static_cast<std::size_t>(stream);
  if (streams_.size() <= i) streams_.resize(context_.nb_streams);
  return streams_[i];
}

const AVStream& ClockBridge::stream_of(const AVPacket& packet) const {
  return *context_.streams[packet.stream_index];
}

std::int64_t ClockBridge::ticks(double seconds, int stream) const {
  return std::llround(seconds / av_q2d(tick(stream)));
}

std::int64_t ClockBridge::offset(std::size_t clock, int stream) const {
  return av_rescale_q(offsets_[clock], video_tick(), tick(stream));
}

std::int64_t ClockBridge::mapped(const AVPacket& packet, std::size_t clock) const {
  return time_of(packet) + offset(clock, packet.stream_index);
}

/// Returns the distance between the time of the most recent video packet and the time of `packet`,
/// shifted by the offset of section `clock`. The distance is in the time base of `packet`.
std::int64_t ClockBridge::distance_to_video(const AVPacket& packet, std::size_t clock) const {
  const std::int64_t video = streams_[static_cast<std::size_t>(video_)].last;
  return std::abs(mapped(packet, clock) -
                  av_rescale_q(video, video_tick(), tick(packet.stream_index)));
}

/// Returns whether the demuxer mistook a backward jump before `packet` for an overflow of the time
/// stamp counter, and therefore increased the timestamp of `packet`.
bool ClockBridge::is_earlier_clock(const AVPacket& packet) const {
  const auto& s = streams_[static_cast<std::size_t>(packet.stream_index)];
  const AVStream& stream = stream_of(packet);
  const std::int64_t before = s.last - offset(s.clock, packet.stream_index);
  return overflows(time_of(packet), stream) != overflows(before, stream);
}

/// Returns whether the timestamp of the packet, shifted by the current offset of its stream,
/// continues the previous packet without a jump.
bool ClockBridge::is_continuous(const AVPacket& packet) const {
  const auto& s = streams_[static_cast<std::size_t>(packet.stream_index)];
  const std::int64_t time = mapped(packet, s.clock);
  if (time < s.last - ticks(max_back_s, packet.stream_index)) return false;
  return time <= s.next + ticks(max_gap_s, packet.stream_index) ||
         (keeps_gaps_ && !is_earlier_clock(packet));
}

/// Returns whether the time of a video packet, shifted by the current offset, is close to the time
/// of the most recent audio packet. If so, the timestamps of the video have not jumped. The video
/// has only paused, as in a slide show.
bool ClockBridge::agrees_with_audio(const AVPacket& packet) const {
  constexpr double max_distance_s = 3;
  const std::size_t clock = streams_[static_cast<std::size_t>(video_)].clock;
  const std::int64_t time = mapped(packet, clock);
  for (unsigned i = 0; i < streams_.size(); ++i) {
    const AVStream& other = *context_.streams[i];
    if (other.codecpar->codec_type != AVMEDIA_TYPE_AUDIO || !streams_[i].started ||
        streams_[i].clock != clock)
      continue;
    const std::int64_t reached = av_rescale_q(streams_[i].last, other.time_base, video_tick());
    if (std::abs(reached - time) <= ticks(max_distance_s, video_)) return true;
  }
  return false;
}

bool ClockBridge::follows(const AVPacket& before, const AVPacket& packet) const {
  const std::int64_t step = time_of(packet) - time_of(before);
  return step >= -ticks(max_back_s, packet.stream_index) &&
         step <= ticks(max_gap_s, packet.stream_index);
}

void ClockBridge::push(PacketPtr packet) {
  if (!can_jump_) return ready_.push_back(std::move(packet));
  (void)state(std::max(packet->stream_index, video_));
  if (packet->stream_index == video_)
    push_video(std::move(packet));
  else
    push_other(std::move(packet));
}

void ClockBridge::push_video(PacketPtr packet) {
  const Stream& video = state(video_);
  if (!suspects_.empty()) {
    suspects_.push_back(std::move(packet));
    return examine_suspects(false);
  }
  const bool is_late = has_time(*packet) && video.started && !is_continuous(*packet);
  if (is_late && !(mapped(*packet, video.clock) > video.next && agrees_with_audio(*packet))) {
    suspects_.push_back(std::move(packet));
    return;
  }
  emit(std::move(packet));
  for (unsigned i = 0; i < streams_.size(); ++i)
    if (!streams_[i].held.empty() &&
        state(video_).last - streams_[i].held_since > ticks(max_wait_s, video_))
      end_waiting(static_cast<int>(i));
}

/// Decides whether the timestamps of the video jump at the first packet in `suspects_`. The time
/// stamps jump if the second packet continues the timestamps of the first packet. Otherwise, only
/// the timestamp of the first packet is wrong.
void ClockBridge::examine_suspects(bool at_end) {
  while (!suspects_.empty()) {
    const auto second = std::find_if(suspects_.begin() + 1, suspects_.end(),
                                     [](const PacketPtr& packet) { return has_time(*packet); });
    if (second == suspects_.end() && !at_end) return;
    if (second == suspects_.end() || follows(*suspects_.front(), **second)) {
      std::int64_t first_pts = INT64_MAX;
      for (const PacketPtr& packet : suspects_)
        if (has_time(*packet)) first_pts = std::min(first_pts, presentation_of(*packet));
      if (is_settled(first_pts, at_end)) open_clock();
      return;
    }
    retime(std::move(suspects_.front()));
    suspects_.pop_front();
    while (!suspects_.empty() &&
           (!has_time(*suspects_.front()) || is_continuous(*suspects_.front()))) {
      emit(std::move(suspects_.front()));
      suspects_.pop_front();
    }
  }
  release_held();
}

/// Returns whether the demuxer has read all video packets with a PTS before `first_pts`.
bool ClockBridge::is_settled(std::int64_t first_pts, bool at_end) const {
  const AVPacket& last = *suspects_.back();
  return at_end || suspects_.size() > max_reordered ||
         (has_time(last) && time_of(last) >= first_pts);
}

/// Begins a new section of continuous timestamps after a jump of the video's timestamps. The new
/// offset moves the first frame after the jump to the end of the last frame before the jump.
void ClockBridge::open_clock() {
  Stream& video = state(video_);
  std::int64_t first = INT64_MAX;
  for (const PacketPtr& packet : suspects_)
    if (has_time(*packet)) first = std::min(first, presentation_of(*packet));
  // If the timestamps of another stream have already jumped, the offset for that jump may also fit
  // the video. The function therefore tests the existing offsets before it adds a new offset.
  std::size_t clock = video.clock + 1;
  const auto suits = [&](std::int64_t offset) {
    const std::int64_t gap = first + offset - video.end;
    return gap >= 0 && gap <= ticks(max_gap_s, video_);
  };
  while (clock < offsets_.size() && !suits(offsets_[clock])) ++clock;
  jumps_.push_back({.time_s = since_start(video.end),
                    .from_s = clock_seconds(video.end - offsets_[video.clock], video_),
                    .to_s = clock_seconds(first, video_)});
  if (clock == offsets_.size()) offsets_.push_back(video.end - first);
  change_clock(video, clock);
  while (!suspects_.empty()) {
    emit(std::move(suspects_.front()));
    suspects_.pop_front();
  }
  release_held();
}

/// Returns the index in `offsets_` of the offset for an audio, subtitle or data packet; nullopt if
/// no offset fits.
std::optional<std::size_t> ClockBridge::clock_for(const AVPacket& packet) const {
  const auto& s = streams_[static_cast<std::size_t>(packet.stream_index)];
  const auto& video = streams_[static_cast<std::size_t>(video_)];
  if (!video.started) return s.clock;
  const bool has_expected = s.started && is_dense(stream_of(packet));
  const auto error = [&](std::size_t clock) {
    return has_expected ? std::abs(mapped(packet, clock) - s.next)
                        : distance_to_video(packet, clock);
  };
  const std::int64_t max_gap = ticks(max_gap_s, packet.stream_index);
  std::size_t best = s.clock;
  if (!has_expected || error(best) > ticks(max_back_s, packet.stream_index))
    for (std::size_t clock = s.clock + 1; clock < offsets_.size(); ++clock)
      if (error(clock) < error(best)) best = clock;
  if (best != s.clock || !has_expected)
    return error(best) <= max_gap || keeps_gaps_ ? std::optional(best) : std::nullopt;
  // A stream can pause for a long time without a jump. Its timestamps after the pause are then
  // close to the timestamps of the video.
  const bool agrees = mapped(packet, best) >= s.last && distance_to_video(packet, best) <= max_gap;
  return is_continuous(packet) || agrees ? std::optional(best) : std::nullopt;
}

void ClockBridge::push_other(PacketPtr packet) {
  Stream& s = state(packet->stream_index);
  const bool dense = is_dense(stream_of(*packet));
  if (!s.held.empty()) {
    // If only one packet waits, it is the first packet after a jump, or its timestamp is wrong.
    // The timestamp is wrong if the new packet does not follow the waiting packet in time, but
    // fits an existing offset.
    AVPacket& before = *s.held.back();
    const bool is_wrong = dense && s.held.size() == 1 && has_time(*packet) && has_time(before) &&
                          !follows(before, *packet) && clock_for(*packet);
    if (!is_wrong) return hold(std::move(packet));
    retime(std::move(s.held.front()));
    s.held.clear();
  }
  if (!has_time(*packet)) return emit(std::move(packet));
  const std::optional<std::size_t> clock = clock_for(*packet);
  const bool is_undecided = !dense && !suspects_.empty();
  if (!clock || is_undecided) return hold(std::move(packet));
  if (*clock != s.clock && s.started && dense) s.skip_until = s.next - s.duration / 2;
  change_clock(s, *clock);
  emit(std::move(packet));
}

void ClockBridge::hold(PacketPtr packet) {
  const int stream = packet->stream_index;
  Stream& s = state(stream);
  if (s.held.empty()) s.held_since = state(video_).last;
  s.held.push_back(std::move(packet));
  const AVPacket &first = *s.held.front(), &last = *s.held.back();
  const bool long_wait = has_time(first) && has_time(last) &&
                         time_of(last) - time_of(first) > ticks(max_gap_s, stream);
  if (long_wait || s.held.size() > max_held) end_waiting(stream);
}

/// Passes the waiting packets to `push_other()` again, because their timestamps may fit the offset
/// of a new section.
void ClockBridge::release_held() {
  for (std::size_t i = 0; i < streams_.size(); ++i)
    for (PacketPtr& packet : std::exchange(streams_[i].held, {})) push_other(std::move(packet));
}

/// Delivers packets of a stream that have waited in vain for a jump of the video. If no known
/// offset fits the timestamp of an audio or video packet, there are two cases:
/// - The packet is the last, or the next packet continues its timestamp. The packet then begins a
///   new section of continuous timestamps.
/// - Otherwise, retime() corrects the timestamp.
void ClockBridge::end_waiting(int stream) {
  std::deque<PacketPtr> held = std::exchange(state(stream).held, {});
  for (std::size_t i = 0; i < held.size(); ++i) {
    PacketPtr& packet = held[i];
    const std::optional<std::size_t> clock =
        has_time(*packet) ? clock_for(*packet) : state(stream).clock;
    const bool is_last = i + 1 == held.size() || !has_time(*held[i + 1]);
    if (clock) {
      change_clock(state(stream), *clock);
      emit(std::move(packet));
    } else if (!is_dense(*context_.streams[stream])) {
      state(stream).clock = state(video_).clock;
      emit(std::move(packet));
    } else if (is_last || follows(*packet, *held[i + 1])) {
      give_own_clock(std::move(packet));
    } else {
      retime(std::move(packet));
    }
  }
}

/// Begins a new section of continuous timestamps for the packet's stream, directly after the
/// previous packet of the stream.
void ClockBridge::give_own_clock(PacketPtr packet) {
  const int stream = packet->stream_index;
  Stream& s = state(stream);
  const std::int64_t next =
      s.started ? s.next : av_rescale_q(state(video_).last, video_tick(), tick(stream));
  const std::int64_t time = av_rescale_q(next, tick(stream), video_tick());
  if (s.started)
    jumps_.push_back({.time_s = since_start(time),
                      .from_s = clock_seconds(next - offset(s.clock, stream), stream),
                      .to_s = clock_seconds(time_of(*packet), stream),
                      .stream = stream});
  offsets_.push_back(time - av_rescale_q(time_of(*packet), tick(stream), video_tick()));
  change_clock(s, offsets_.size() - 1);
  emit(std::move(packet));
}

/// Sets the timestamp of the packet to the end of the previous packet of the stream.
void ClockBridge::retime(PacketPtr packet) {
  const Stream& s = state(packet->stream_index);
  shift_times(*packet, s.next - mapped(*packet, s.clock));
  emit(std::move(packet));
}

void ClockBridge::emit(PacketPtr packet) {
  Stream& s = state(packet->stream_index);
  if (!has_time(*packet)) return deliver(s, std::move(packet));
  const bool leads = packet->stream_index == video_;
  if (leads) note_wrap(*packet);
  shift_times(*packet, offset(s.clock, packet->stream_index));
  const std::int64_t time = time_of(*packet);
  const bool is_audio = stream_of(*packet).codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  if (is_audio && time < s.skip_until) return;
  s.skip_until = INT64_MIN;
  const bool is_gap = s.started && time > s.next + ticks(max_gap_s, packet->stream_index);
  if (keeps_gaps_ && is_gap) remove_marks(s);
  if (packet->duration > 0)
    s.duration = packet->duration;
  else if (s.started && time > s.last)
    s.duration = std::min(time - s.last, ticks(1, packet->stream_index));
  const std::int64_t end = presentation_of(*packet) + s.duration;
  s.end = s.started ? std::max(s.end, end) : end;
  if (leads && !s.started) first_ = presentation_of(*packet);
  s.last = time;
  s.next = time + s.duration;
  s.started = true;
  deliver(s, std::move(packet));
}

void ClockBridge::change_clock(Stream& stream, std::size_t clock) {
  if (clock == stream.clock) return;
  stream.clock = clock;
  remove_marks(stream);
}

/// Clears the damage flag of the stream's waiting packets and delivers the packets.
void ClockBridge::remove_marks(Stream& stream) {
  for (const PacketPtr& packet : stream.doubtful) packet->flags &= ~AV_PKT_FLAG_CORRUPT;
  deliver_doubtful(stream);
}

/// Delivers a packet to `pop()`. A packet with the damage flag waits for the next three packets,
/// because FFmpeg's demuxer also sets this flag before a jump, and FFmpeg's parsers may move the
/// flag to an earlier packet.
void ClockBridge::deliver(Stream& stream, PacketPtr packet) {
  constexpr std::size_t max_doubtful = 3;
  const bool is_doubtful =
      (packet->flags & AV_PKT_FLAG_CORRUPT) != 0 && is_dense(stream_of(*packet));
  if (stream.doubtful.empty() && !is_doubtful) return ready_.push_back(std::move(packet));
  stream.doubtful.push_back(std::move(packet));
  if (stream.doubtful.size() > max_doubtful) deliver_doubtful(stream);
}

void ClockBridge::deliver_doubtful(Stream& stream) {
  for (PacketPtr& packet : std::exchange(stream.doubtful, {})) ready_.push_back(std::move(packet));
}

/// Reports an overflow of the timestamp counter, which the demuxer itself has corrected.
void ClockBridge::note_wrap(const AVPacket& packet) {
  const Stream& video = state(video_);
  if (!video.started) return;
  const AVStream& stream = stream_of(packet);
  const std::int64_t before = video.last - offsets_[video.clock];
  if (overflows(time_of(packet), stream) <= overflows(before, stream)) return;
  if (time_of(packet) - before > ticks(max_gap_s, video_)) return;
  jumps_.push_back({.time_s = since_start(video.next),
                    .from_s = clock_seconds(before, video_),
                    .to_s = clock_seconds(time_of(packet), video_),
                    .wraps = true});
}

double ClockBridge::since_start(std::int64_t video_time) const {
  return static_cast<double>(video_time - first_) * av_q2d(video_tick());
}

/// Converts a timestamp of the input to seconds, without the multiples of 2^pts_wrap_bits that the
/// demuxer added after overflows.
double ClockBridge::clock_seconds(std::int64_t time, int stream) const {
  const AVStream& of = *context_.streams[stream];
  const std::int64_t counted =
      time - (overflows(time, of) << (overflows(time, of) ? of.pts_wrap_bits : 0));
  return static_cast<double>(counted) * av_q2d(of.time_base);
}

void ClockBridge::finish() {
  if (!can_jump_) return;
  examine_suspects(true);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    end_waiting(static_cast<int>(i));
    deliver_doubtful(streams_[i]);
  }
}

PacketPtr ClockBridge::pop() {
  if (ready_.empty()) return nullptr;
  PacketPtr packet = std::move(ready_.front());
  ready_.pop_front();
  return packet;
}

void ClockBridge::restart() {
  offsets_ = {0};
  streams_.clear();
  suspects_.clear();
  ready_.clear();
}

}  // namespace lull::io
