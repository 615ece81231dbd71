#pragma once
// The latest timestamp that the demuxer has read from each stream.

#include <cstdint>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class StreamTimes {
 public:
  void note(const AVPacket& packet);
  /// Returns whether the demuxer has read all audio streams up to the time `end`, in the time base
  /// of stream `video`. In an input without audio, the video must have reached `end`. The function
  /// ignores subtitles and data, because these streams may have no packets for a long time.
  bool others_reached(const AVFormatContext& context, int video, std::int64_t end) const;

 private:
  bool passed(const AVStream& stream, std::int64_t time, AVRational tick) const;

  // The latest timestamp of each stream, in the stream's time base.
  std::vector<std::int64_t> reached_;
};

}  // namespace lull::io
