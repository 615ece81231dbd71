#include "io/read/timed_pictures.h"

#include <algorithm>

namespace lull::io {

TimedPictures::TimedPictures(Demuxer& demuxer, PictureDecoder& decoder, Rational frame_rate,
                             const SourceOptions& options)
    : demuxer_(demuxer),
      decoder_(decoder),
      frame_rate_(frame_rate),
      margins_(options.margins && !options.selection.all()) {
  // Without margins, the files of a sequence are those that were selected.
  if (!options.selection.all() && (margins_ || demuxer.sequence().empty()))
    cut_ = std::make_shared<Cut>(options.selection, demuxer.video().time_base);
}

std::optional<TimedPicture> TimedPictures::next() {
  if (over_) return std::nullopt;
  while (FramePtr picture = decoder_.next()) {
    TimedPicture timed = stamp(std::move(picture));
    Cut::Verdict verdict = Cut::Verdict::keep;
    if (ended_)
      verdict = Cut::Verdict::end;
    else if (cut_)
      verdict = cut_->judge(timed.number, timed.pts, timed.duration);
    if (verdict == Cut::Verdict::keep) {
      ++kept_;
      return timed;
    }
    if (verdict == Cut::Verdict::end && !ended_) ended_ = timed.number;
    if (ended_ && (!margins_ || enough_ >= *ended_)) break;
    drop_packets();
    timed.outside = true;
    if (margins_) return timed;
  }
  end();
  return std::nullopt;
}

/// Of other streams, what goes with pictures that do not stay: nobody takes it away meanwhile.
void TimedPictures::drop_packets() {
  demuxer_.relay().drop_if([&](const AVPacket& packet) {
    const AVStream& stream = *demuxer_.context().streams[packet.stream_index];
    const bool subtitle = stream.codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
    return !(stream.disposition & AV_DISPOSITION_ATTACHED_PIC) &&
           cut_->drops(packet, stream.time_base, subtitle);
  });
}

void TimedPictures::end() {
  over_ = true;
  if (!cut_) return;
  demuxer_.read_others_until(cut_->end());
  cut_->finish();
}

TimedPicture TimedPictures::stamp(FramePtr picture) {
  const AVRational tick = demuxer_.video().time_base;
  TimedPicture timed;
  timed.number = seen_++;
  timed.duration = frame_duration(*picture);
  if (timed.duration <= 0 && frame_rate_.num > 0)
    timed.duration = std::max<std::int64_t>(av_rescale_q(1, av_inv_q(to_av(frame_rate_)), tick), 1);
  timed.pts = picture->best_effort_timestamp;
  if (timed.pts == AV_NOPTS_VALUE) timed.pts = next_pts_ == AV_NOPTS_VALUE ? 0 : next_pts_;
  next_pts_ = timed.pts + std::max<std::int64_t>(timed.duration, 1);
  timed.picture = std::move(picture);
  return timed;
}

}  // namespace lull::io
