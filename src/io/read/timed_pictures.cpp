#include "io/read/timed_pictures.h"

#include <algorithm>
#include <cstring>

#include "io/metadata/orientation.h"

namespace lull::io {

TimedPictures::TimedPictures(Demuxer& demuxer, PictureDecoder& decoder, Rational frame_rate,
                             const SourceOptions& options)
    : demuxer_(demuxer),
      decoder_(decoder),
      frame_rate_(frame_rate),
      selection_(options.selection),
      margins_(options.margins && !options.selection.all()),
      index_(options.recorded_index, options.index, demuxer.path()) {
  // A picture sequence without options.margins needs no selector, because the demuxer lists only
  // the selected files.
  if (!options.selection.all() && (margins_ || demuxer.sequence().empty()))
    selector_ = std::make_shared<FrameSelector>(options.selection, demuxer.video().time_base);
}

FramePtr TimedPictures::decode() { return sought_ ? std::move(sought_) : decoder_.next(); }

std::optional<TimedPicture> TimedPictures::next() {
  if (finished_) return std::nullopt;
  while (FramePtr picture = decode()) {
    TimedPicture timed = stamp(std::move(picture));
    FrameMark mark{.pts = timed.pts, .duration = timed.duration};
    FrameSelector::Verdict verdict = FrameSelector::Verdict::keep;
    if (end_number_)
      verdict = FrameSelector::Verdict::end;
    else if (selector_)
      verdict = selector_->judge_frame(timed.number, timed.pts, timed.duration);
    const bool keep = verdict == FrameSelector::Verdict::keep;
    mark.kept = keep;
    index_.process(timed.number, mark, *timed.picture);
    // The function adds the display matrix after process() has computed the digest, because find()
    // also computes digests without this matrix.
    if (timed.metadata) state_orientation(timed.metadata->orientation, *timed.picture);
    if (keep) {
      ++kept_;
      return timed;
    }
    if (verdict == FrameSelector::Verdict::end && !end_number_) end_number_ = timed.number;
    if (end_number_ && (!margins_ || context_end_ >= *end_number_)) break;
    drop_packets();
    timed.context_only = true;
    if (margins_) return timed;
  }
  end();
  return std::nullopt;
}

// Seeks to the picture `number` of the index. The function tries these positions in turn, until
// decoding yields the picture:
// - the time of the picture
// - 16 frames earlier, because some demuxers (MPEG-TS) seek by decoding times
// - two earlier keyframes, because some decoders need packets of earlier GOPs
void TimedPictures::seek_to(std::int64_t number) {
  constexpr int attempts = 4, reordered = 16;  // ITU-T H.264 and H.265: max_num_reorder_frames
  const std::vector<FrameMark>& marks = index_.expected()->pictures;
  const FrameMark& mark = marks.at(static_cast<std::size_t>(number));
  auto from = static_cast<std::size_t>(number);
  for (int attempt = 0; attempt < attempts && !sought_; ++attempt) {
    // Some decoders need packets of earlier GOPs.
    while (attempt > 1 && from > 0 && !marks[--from].key) continue;
    // Some demuxers (MPEG-TS) seek by decoding times.
    const std::int64_t earlier =
        attempt > 0 ? reordered * std::max<std::int64_t>(mark.duration, 1) : 0;
    if (!demuxer_.seek(marks[from].pts - earlier)) continue;
    decoder_.restart();
    find(mark);
  }
  if (!sought_)
    throw IndexMismatch("seeking in '" + demuxer_.path() + "' does not lead to picture " +
                        std::to_string(number) + "; decode it from the start");
  index_.make_strict();
  examined_ = kept_ = 0;
  replay(number);
}

void TimedPictures::find(const FrameMark& mark) {
  while (FramePtr picture = decoder_.next()) {
    const std::int64_t pts = picture->best_effort_timestamp;
    if (pts == AV_NOPTS_VALUE || pts > mark.pts) return;
    if (pts < mark.pts) continue;
    if (digest_of(*picture) == mark.digest) sought_ = std::move(picture);
    return;
  }
}

void TimedPictures::replay(std::int64_t pictures) {
  if (selector_)
    selector_ = std::make_shared<FrameSelector>(selection_, demuxer_.video().time_base);
  for (; examined_ < pictures; ++examined_) {
    const FrameMark& mark = index_.expected()->pictures[static_cast<std::size_t>(examined_)];
    std::int64_t pts = mark.pts;
    if (selector_ && !end_number_ &&
        selector_->judge_frame(examined_, pts, mark.duration) == FrameSelector::Verdict::end)
      end_number_ = examined_;
    kept_ += mark.kept;
    next_pts_ = mark.pts + std::max<std::int64_t>(mark.duration, 1);
  }
}

void TimedPictures::replay_all() {
  examined_ = kept_ = 0;
  replay(static_cast<std::int64_t>(index_.expected()->pictures.size()));
  finished_ = true;
  if (selector_) selector_->finish();
}

/// Drops packets of copied streams that fall in skipped parts of the video. Otherwise, these
/// packets would remain in memory until the muxer receives a frame.
void TimedPictures::drop_packets() {
  demuxer_.relay().drop_if([&](const AVPacket& packet) {
    const AVStream& stream = *demuxer_.context().streams[packet.stream_index];
    const bool subtitle = stream.codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
    return !(stream.disposition & AV_DISPOSITION_ATTACHED_PIC) &&
           selector_->drops_packet(packet, stream.time_base, subtitle);
  });
}

void TimedPictures::end() {
  finished_ = true;
  if (!selector_) return;
  demuxer_.read_others_until(selector_->end());
  selector_->finish();
}

// Adds a display matrix for the orientation to the picture. FFmpeg adds a display matrix only for
// some formats.
void TimedPictures::state_orientation(int orientation, AVFrame& picture) {
  if (orientation == 1 || av_frame_get_side_data(&picture, AV_FRAME_DATA_DISPLAYMATRIX)) return;
  const DisplayMatrix matrix = display_matrix(orientation);
  AVFrameSideData* data =
      non_null(av_frame_new_side_data(&picture, AV_FRAME_DATA_DISPLAYMATRIX, sizeof matrix));
  std::memcpy(data->data, matrix.data(), sizeof matrix);
}

TimedPicture TimedPictures::stamp(FramePtr picture) {
  const AVRational tick = demuxer_.video().time_base;
  TimedPicture timed;
  timed.number = examined_++;
  timed.duration = frame_duration(*picture);
  if (timed.duration <= 0 && frame_rate_.num > 0)
    timed.duration = std::max<std::int64_t>(av_rescale_q(1, av_inv_q(to_av(frame_rate_)), tick), 1);
  timed.pts = picture->best_effort_timestamp;
  if (timed.pts == AV_NOPTS_VALUE) timed.pts = next_pts_ == AV_NOPTS_VALUE ? 0 : next_pts_;
  next_pts_ = timed.pts + std::max<std::int64_t>(timed.duration, 1);
  timed.metadata = decoder_.take_metadata(*picture);
  timed.picture = std::move(picture);
  return timed;
}

}  // namespace lull::io
