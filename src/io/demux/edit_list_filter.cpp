#include "io/demux/edit_list_filter.h"

#include <algorithm>
#include <utility>

namespace lull::io {
namespace {

/// Returns whether a decoder needs a packet as preroll: whether the packet ends less than
/// `preroll_us` microseconds before `first`. `time`, `duration` and `first` are in units of `tick`.
bool is_preroll(std::int64_t time, std::int64_t duration, std::int64_t first, AVRational tick) {
  return av_compare_ts(first - time - std::max<std::int64_t>(duration, 0), tick, preroll_us,
                       {1, 1000000}) < 0;
}

/// Returns whether a decoder of the stream needs preroll. Codecs with independent packets need no
/// preroll.
bool needs_preroll(const AVStream& stream) {
  const AVCodecID id = stream.codecpar->codec_id;
  return stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO && av_get_bits_per_sample(id) == 0 &&
         id != AV_CODEC_ID_FLAC && id != AV_CODEC_ID_ALAC;
}

}  // namespace

void EditListFilter::filter(PacketPtr packet, const AVStream& stream,
                            const std::function<void(PacketPtr)>& output) {
  Stream& state = streams_[stream.index];
  if (packet->flags & AV_PKT_FLAG_DISCARD) {
    if (state.has_kept || !needs_preroll(stream)) return;
    while (!state.preroll.empty() &&
           !is_preroll(state.preroll.front()->pts, state.preroll.front()->duration, packet->pts,
                       stream.time_base))
      state.preroll.pop_front();
    state.preroll.push_back(std::move(packet));
    return;
  }
  state.has_kept = true;
  for (PacketPtr& preroll : std::exchange(state.preroll, {}))
    if (is_preroll(preroll->pts, preroll->duration, packet->pts, stream.time_base))
      output(std::move(preroll));
  output(std::move(packet));
}

}  // namespace lull::io
