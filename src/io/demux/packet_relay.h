#pragma once
// Packets that are copied, on their way from the demuxer's thread to the muxer's.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/scratch_file.h"

namespace lull::io {

/// Demuxing goes on as fast as frames are asked for, and the number of frames in flight is bounded
/// by the pipeline. The packets between two frames are not: hours of sound may lie there, or behind
/// the last one. What is more than may be in memory waits in a file.
///
/// Keeps packets from the start until the first read of a frame decides whether anyone wants them.
class PacketRelay {
 public:
  /// What shall be in memory of an input with these limits.
  static std::int64_t memory_limit(std::int64_t memory) {
    constexpr std::int64_t enough = std::int64_t{1} << 26;
    return memory > 0 ? std::min(memory / 8, enough) : enough;
  }

  /// `max_bytes` of packets are in memory; the file for more of them is made in `folder`
  /// (ScratchFile).
  PacketRelay(std::int64_t max_bytes, const std::string& folder)
      : max_bytes_(max_bytes), overflow_(folder) {}

  /// The consumer is there. Before the first frame is read.
  void attach();
  /// Nobody will take packets (any more): those here go, those to come are dropped.
  void close();
  /// First frame read: without a consumer, closes.
  void close_unless_attached();
  bool closed() const;

  /// @throws IoError  no room on the disk
  void put(PacketPtr packet);
  /// Drops those in memory that nobody will want.
  void drop_if(const std::function<bool(const AVPacket&)>& unwanted);

  using Due = std::function<bool(const AVPacket&)>;
  /// What is due by now, in the order in which it came; one that is not due keeps the later ones of
  /// its stream.
  /// Where packets wait in the file, some calls more may give some more. @throws IoError
  std::vector<PacketPtr> take(const Due& due);
  /// All, or a part that fits in memory: empty once all is taken.
  std::vector<PacketPtr> take();

  /// Of packets in memory.
  std::int64_t bytes() const;

 private:
  struct NumberedPacket {
    std::int64_t number;  // of all that came into memory
    PacketPtr packet;
  };
  void keep_in_memory(PacketPtr packet);
  void load();

  const std::int64_t max_bytes_;
  mutable std::mutex mutex_;
  bool attached_ = false, closed_ = false;
  std::map<int, std::deque<NumberedPacket>> streams_;  // in memory, by number
  std::int64_t next_number_ = 0, bytes_ = 0;        // that ever were there; that are
  ScratchFile overflow_;                       // what came after them
};

}  // namespace lull::io
