#include "io/write/start_shift.h"

#include <algorithm>
#include <cmath>

#include "io/write/stream_handling.h"

namespace lull::io {
namespace {

// Audio encoders add some milliseconds before the beginning. MP4 hides them with an edit list; some
// containers do not distinguish them from audio that begins early.
constexpr double encoder_delay_s = 0.1;

double seconds(std::int64_t time, AVRational tick) {
  return static_cast<double>(time) * av_q2d(tick);
}

/// Returns the earliest start of the copied audio and video streams, in seconds; 0 if none begins
/// before 0.
double earliest_of_copies(const FileSource& source, const Container& container) {
  double earliest_s = 0;
  const AVFormatContext& input = source.demuxer().context();
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    const AVStream& stream = *input.streams[i];
    const AVMediaType type = stream.codecpar->codec_type;
    if (&stream == &source.demuxer().video() || stream.discard == AVDISCARD_ALL ||
        stream.start_time == AV_NOPTS_VALUE || stream.disposition & AV_DISPOSITION_ATTACHED_PIC ||
        (type != AVMEDIA_TYPE_AUDIO && type != AVMEDIA_TYPE_VIDEO) ||
        handling_of(stream, container) != StreamHandling::copied)
      continue;
    const double start_s = seconds(stream.start_time, stream.time_base);
    if (start_s < -encoder_delay_s) earliest_s = std::min(earliest_s, start_s);
  }
  return earliest_s;
}

}  // namespace

std::int64_t start_shift(const FileSource& source, const Container& container,
                         const AVCodecContext& encoder) {
  if (container.frames_only()) return 0;
  const AVRational tick = source.demuxer().video().time_base;
  double start_s = seconds(source.first_time(), tick);
  // If frames are selected, the other streams begin with the video.
  if (!source.selector()) start_s = std::min(start_s, earliest_of_copies(source, container));
  if (start_s >= 0) return 0;
  const std::int64_t of_video =
      -std::min<std::int64_t>(av_rescale_q(source.first_time(), tick, encoder.time_base), 0);
  const double ticks = -start_s / av_q2d(encoder.time_base);
  return std::max(of_video, static_cast<std::int64_t>(std::ceil(ticks - 1e-3)));
}

}  // namespace lull::io
