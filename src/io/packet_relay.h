#pragma once
// Packets that are copied, on their way from the demuxer's thread to the muxer's.

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "io/ffmpeg.h"

namespace lull::io {

/// Demuxing goes on as fast as frames are asked for, and the number of frames in flight is bounded
/// by the pipeline. So is, with a file whose streams are interleaved, what waits here.
/// Keeps packets from the start until the first read of a frame decides whether anyone wants them.
class PacketRelay {
 public:
  /// The consumer is there. Before the first frame is read.
  void attach();
  /// Nobody will take packets (any more): those here go, those to come are dropped.
  void close();
  /// First frame read: without a consumer, closes.
  void close_unless_attached();

  void put(PacketPtr packet);
  /// Drops those that nobody will want.
  void drop_if(const std::function<bool(const AVPacket&)>& unwanted);
  bool closed() const;
  /// All that came since, in order.
  std::deque<PacketPtr> take();

 private:
  mutable std::mutex mutex_;
  bool attached_ = false, closed_ = false;
  std::deque<PacketPtr> packets_;
};

}  // namespace lull::io
