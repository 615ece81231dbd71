#pragma once
// How far the streams of a file have been read, each in its own time base.

#include <cstdint>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class StreamTimes {
 public:
  void note(const AVPacket& packet);
  /// Returns whether all packets before `end` (in the video's time base) of the other streams have
  /// been read. Audio has packets all the time. Other streams may have none for long, so the
  /// video's times decide for them.
  bool others_reached(const AVFormatContext& context, int video, std::int64_t end) const;

 private:
  bool passed(const AVStream& stream, std::int64_t time, AVRational tick) const;

  std::vector<std::int64_t> reached_;  // by stream: the latest time, in the stream's time base
};

}  // namespace lull::io
