#include "io/demux/edit_list_filter.h"

#include <algorithm>
#include <utility>

namespace lull::io {
namespace {

/// Whether a packet at `time` is near enough to one at `first` that stays.
bool is_preroll(std::int64_t time, std::int64_t duration, std::int64_t first, AVRational tick) {
  return av_compare_ts(first - time - std::max<std::int64_t>(duration, 0), tick, preroll_us,
                       {1, 1000000}) < 0;
}

/// Sound of which every packet stands alone needs nothing before it.
bool needs_preroll(const AVStream& stream) {
  const AVCodecID id = stream.codecpar->codec_id;
  return stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO && av_get_bits_per_sample(id) == 0 &&
         id != AV_CODEC_ID_FLAC && id != AV_CODEC_ID_ALAC;
}

}  // namespace

void Trims::pass(PacketPtr packet, const AVStream& stream,
                 const std::function<void(PacketPtr)>& on) {
  Stream& of = streams_[stream.index];
  if (packet->flags & AV_PKT_FLAG_DISCARD) {
    if (of.begun || !needs_preroll(stream)) return;
    while (!of.ready.empty() && !is_preroll(of.ready.front()->pts, of.ready.front()->duration,
                                            packet->pts, stream.time_base))
      of.ready.pop_front();
    of.ready.push_back(std::move(packet));
    return;
  }
  of.begun = true;
  for (PacketPtr& ready : std::exchange(of.ready, {}))
    if (is_preroll(ready->pts, ready->duration, packet->pts, stream.time_base))
      on(std::move(ready));
  on(std::move(packet));
}

}  // namespace lull::io
