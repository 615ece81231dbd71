#include "io/demux/stream_times.h"

#include <algorithm>

namespace lull::io {

void StreamTimes::note(const AVPacket& packet) {
  const std::int64_t time = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  const auto stream = static_cast<std::size_t>(packet.stream_index);
  if (reached_.size() <= stream) reached_.resize(stream + 1, INT64_MIN);
  if (time != AV_NOPTS_VALUE) reached_[stream] = std::max(reached_[stream], time);
}

bool StreamTimes::passed(const AVStream& stream, std::int64_t time, AVRational tick) const {
  const auto i = static_cast<std::size_t>(stream.index);
  return i < reached_.size() && reached_[i] != INT64_MIN &&
         av_compare_ts(reached_[i], stream.time_base, time, tick) >= 0;
}

bool StreamTimes::others_reached(const AVFormatContext& context, int video,
                                 std::int64_t end) const {
  constexpr std::int64_t patience_s = 10;  // audio without packets for this time has ended
  const AVRational tick = context.streams[video]->time_base;
  if (passed(*context.streams[video], end + av_rescale_q(patience_s, {1, 1}, tick), tick))
    return true;
  bool sound = false;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream& stream = *context.streams[i];
    if (stream.codecpar->codec_type != AVMEDIA_TYPE_AUDIO || stream.discard == AVDISCARD_ALL)
      continue;
    sound = true;
    if (!passed(stream, end, tick)) return false;
  }
  return sound || passed(*context.streams[video], end, tick);
}

}  // namespace lull::io
