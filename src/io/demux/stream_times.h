#pragma once
// StreamTimes records up to which time the packets of each stream of a file have been read.

#include <cstdint>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class StreamTimes {
 public:
  void note(const AVPacket& packet);
  /// Returns whether all packets of the other streams before `end` have been read; `end` is in the
  /// video's time base. The result for audio depends on the time stamps of audio. The result for
  /// subtitles and data, which may have no packets for a long time, depends on the time stamps of
  /// the video.
  bool others_reached(const AVFormatContext& context, int video, std::int64_t end) const;

 private:
  bool passed(const AVStream& stream, std::int64_t time, AVRational tick) const;

  // The latest time stamp that was read from each stream, in the stream's time base.
  std::vector<std::int64_t> reached_;
};

}  // namespace lull::io
