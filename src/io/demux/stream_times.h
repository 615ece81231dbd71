#pragma once
// How far a file's streams have been read, each in its own time.

#include <cstdint>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class StreamTimes {
 public:
  void note(const AVPacket& packet);
  /// Whether all that the streams beside the video hold before `end` (in the video's time base)
  /// has come. Sound comes all the time; other streams need not come at all, so the video's times
  /// stand for them.
  bool others_reached(const AVFormatContext& context, int video, std::int64_t end) const;

 private:
  bool passed(const AVStream& stream, std::int64_t time, AVRational tick) const;

  std::vector<std::int64_t> reached_;  // by stream: the latest time that came, in its own base
};

}  // namespace lull::io
