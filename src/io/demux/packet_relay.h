#pragma once
// Passes packets of copied streams from the demuxer thread to the muxer thread.

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

/// A packet queue between demuxer and muxer. An input may store hours of audio between two frames,
/// so packets beyond the memory limit go to a scratch file. If no muxer has called `attach()`, the
/// queue drops all packets.
class PacketRelay {
 public:
  /// Returns the maximum number of bytes of queued packets in memory. `memory` is the memory limit
  /// of the input in bytes; 0: no limit.
  static std::int64_t memory_limit(std::int64_t memory) {
    constexpr std::int64_t enough = std::int64_t{1} << 26;
    return memory > 0 ? std::min(memory / 8, enough) : enough;
  }

  /// @param max_bytes  maximum number of bytes of packets in memory
  /// @param folder     folder of the scratch file for packets beyond `max_bytes`
  PacketRelay(std::int64_t max_bytes, const std::string& folder)
      : max_bytes_(max_bytes), overflow_(folder) {}

  /// Registers the muxer, which must call this function before the first read of a frame.
  void attach();
  /// Drops all stored and future packets.
  void close();
  /// Closes the relay if no muxer has called `attach()`. The source calls this function before it
  /// reads the first frame.
  void close_unless_attached();
  bool closed() const;

  /// Adds a packet of a copied stream.
  /// @throws IoError  the disk is full
  void put(PacketPtr packet);
  /// Drops the packets in memory for which `unwanted` returns true. Packets in the scratch file
  /// remain.
  void drop_if(const std::function<bool(const AVPacket&)>& unwanted);

  using Due = std::function<bool(const AVPacket&)>;
  /// Returns the packets for which `due` returns true, in order of arrival. Packets of a stream
  /// remain in order: if `due` returns false for a packet, all later packets of its stream wait.
  /// While the scratch file contains packets, another call may return more packets.
  /// @throws IoError
  std::vector<PacketPtr> take(const Due& due);
  /// Returns all packets, or the first packets if not all fit in memory. The result is empty only
  /// if the relay is empty.
  std::vector<PacketPtr> take();

  /// Returns the total size of the packets in memory in bytes.
  std::int64_t bytes() const;

 private:
  struct NumberedPacket {
    std::int64_t number;  // position in the order of arrival
    PacketPtr packet;
  };
  void keep_in_memory(PacketPtr packet);
  void load();

  const std::int64_t max_bytes_;
  mutable std::mutex mutex_;
  bool attached_ = false, closed_ = false;
  std::map<int, std::deque<NumberedPacket>> streams_;  // packets in memory, by stream index
  std::int64_t next_number_ = 0, bytes_ = 0;           // bytes_: size of the packets in memory
  ScratchFile overflow_;                               // packets that arrived after those in memory
};

}  // namespace lull::io
