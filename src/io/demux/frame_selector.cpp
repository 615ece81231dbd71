#include "io/demux/frame_selector.h"

#include <algorithm>

namespace lull::io {

FrameSelector::Verdict FrameSelector::verdict_for(std::int64_t number, std::int64_t since_start) {
  constexpr AVRational microseconds{1, 1000000};
  if (selection_.start_us > 0 &&
      av_compare_ts(since_start, tick_, selection_.start_us, microseconds) < 0)
    return Verdict::drop;
  if (selection_.duration_us &&
      av_compare_ts(since_start, tick_, selection_.start_us + *selection_.duration_us,
                    microseconds) >= 0)
    return Verdict::end;
  if (selection_.ranges.empty()) return Verdict::keep;
  while (range_ < selection_.ranges.size() && number > selection_.ranges[range_].last) ++range_;
  if (range_ == selection_.ranges.size()) return Verdict::end;
  return number >= selection_.ranges[range_].first ? Verdict::keep : Verdict::drop;
}

FrameSelector::Verdict FrameSelector::judge_frame(std::int64_t number, std::int64_t& pts,
                                                  std::int64_t duration) {
  const std::lock_guard lock(mutex_);
  if (number == 0) first_ = pts;
  const Verdict verdict = verdict_for(number, pts - first_);
  if (verdict == Verdict::keep) {
    const std::int64_t input = pts;
    if (!open_) {
      const std::int64_t begin = parts_.empty() ? first_ : parts_.back().to + parts_.back().shift;
      parts_.push_back({input, input, begin - input, number == 0});
    }
    Part& part = parts_.back();
    // The selected part ends at the latest end time of its frames so far. A frame of unknown
    // duration lasts one tick. If the next frame is not selected and begins earlier, the part ends
    // where that frame begins.
    part.to = std::max(input + std::max<std::int64_t>(duration, 1), part.to);
    pts = input + part.shift;
    decided_ = part.to;
  } else if (verdict == Verdict::drop) {
    if (open_) parts_.back().to = std::min(parts_.back().to, pts);
    decided_ = std::max(decided_, pts + std::max<std::int64_t>(duration, 1));
  } else {
    if (open_) parts_.back().to = std::min(parts_.back().to, pts);
    finished_ = true;
  }
  open_ = verdict == Verdict::keep;
  return verdict;
}

void FrameSelector::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  if (open_) parts_.back().to_end = true;
}

std::int64_t FrameSelector::end() const {
  const std::lock_guard lock(mutex_);
  return parts_.empty() ? INT64_MIN : parts_.back().to;
}

std::int64_t FrameSelector::input_time(std::int64_t pts) const {
  const std::lock_guard lock(mutex_);
  std::int64_t shift = 0;
  for (const Part& part : parts_)
    if (pts >= part.from + part.shift) shift = part.shift;
  return pts - shift;
}

FrameSelector::PacketChange FrameSelector::change_of(const AVPacket& packet, AVRational tick,
                                                     bool subtitle) const {
  const std::lock_guard lock(mutex_);
  const std::int64_t time = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (time == AV_NOPTS_VALUE) return {PacketVerdict::keep, 0, packet.duration};
  std::int64_t length = std::max<std::int64_t>(packet.duration, 0);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const std::int64_t from = av_rescale_q(part.from, tick_, tick);
    const std::int64_t to = av_rescale_q(part.to, tick_, tick);
    std::int64_t begin = time;
    if (subtitle && begin < from && begin + length > from) {
      length -= from - begin;
      begin = from;
    }
    if ((begin < from && !part.from_start) || (begin >= to && !part.to_end)) continue;
    // A subtitle that ends after the last selected part must wait, because the next frame may
    // extend this part.
    const bool may_grow = i + 1 == parts_.size() && !finished_;
    if (subtitle && begin + length > to && !part.to_end) {
      if (may_grow) return {PacketVerdict::wait};
      length = to - begin;
    }
    return {PacketVerdict::keep, av_rescale_q(part.shift, tick_, tick) + begin - time,
            subtitle ? length : packet.duration};
  }
  const bool decided =
      finished_ || (decided_ != INT64_MIN &&
                    av_compare_ts(time + (subtitle ? length : 0), tick, decided_, tick_) < 0);
  return {decided ? PacketVerdict::drop : PacketVerdict::wait};
}

FrameSelector::PacketVerdict FrameSelector::judge_packet(AVPacket& packet, AVRational tick,
                                                         bool subtitle) const {
  const PacketChange change = change_of(packet, tick, subtitle);
  if (change.verdict != PacketVerdict::keep) return change.verdict;
  if (packet.pts != AV_NOPTS_VALUE) packet.pts += change.shift;
  if (packet.dts != AV_NOPTS_VALUE) packet.dts += change.shift;
  packet.duration = change.duration;
  return PacketVerdict::keep;
}

}  // namespace lull::io
