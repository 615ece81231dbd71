// Checks the structure of MPEG transport streams (ISO/IEC 13818-1). FFmpeg drops payload units
// without a start code, and reports no damage.

#include <algorithm>
#include <array>
#include <map>

#include "io/containers/container_walk.h"

namespace lull::io {
namespace {

constexpr std::size_t packet_bytes = 188;
constexpr std::uint8_t sync = 0x47;

class TransportWalk final : public ContainerWalk {
 public:
  explicit TransportWalk(const std::string& path) : ContainerWalk(path) {}

 private:
  using Packet = std::array<std::uint8_t, packet_bytes>;

  struct Stream {
    bool has_units = false;   // whether the stream has units with start codes; tables have none
    bool is_missing = false;  // whether the last unit had no start code
  };

  void step() override;
  bool find_distance();
  void examine(const Packet& packet);

  std::uint64_t distance_ = 0;  // distance between packets; 0: unknown
  std::map<int, Stream> streams_;
};

/// Finds the packet stride in bytes: 188, plus timestamps (Blu-ray) or checksums (DVB). A
/// recording may begin in the middle of a packet.
bool TransportWalk::find_distance() {
  constexpr int in_a_row = 5;
  for (std::uint64_t start = at(); start < at() + 2 * 204; ++start)
    for (const std::uint64_t distance : {packet_bytes, packet_bytes + 4, packet_bytes + 16}) {
      std::uint8_t first = 0;
      int found = 0;
      while (found < in_a_row &&
             file().read(start + static_cast<std::uint64_t>(found) * distance, &first, 1) &&
             first == sync)
        ++found;
      if (found < in_a_row) continue;
      distance_ = distance;
      go_to(start);
      return true;
    }
  return false;
}

void TransportWalk::step() {
  if (distance_ == 0 && !find_distance()) return stop();
  Packet packet;
  if (!file().read(at(), packet.data(), packet.size())) return stop();
  if (packet[0] != sync) {  // the demuxer reports lost bytes itself
    distance_ = 0;
    if (!find_distance()) stop();
    return;
  }
  examine(packet);
  go_to(at() + distance_);
}

void TransportWalk::examine(const Packet& packet) {
  constexpr int begins_unit = 0x40, has_payload = 0x10, has_adaptation = 0x20;
  constexpr std::array<std::uint8_t, 3> start_code = {0, 0, 1};
  if (!(packet[1] & begins_unit) || !(packet[3] & has_payload)) return;
  const std::size_t payload = packet[3] & has_adaptation ? std::size_t{5} + packet[4] : 4;
  if (payload + start_code.size() > packet.size()) return;
  const bool has_code = std::equal(start_code.begin(), start_code.end(), &packet[payload]);
  Stream& stream = streams_[(packet[1] & 0x1f) << 8 | packet[2]];
  // A payload unit without a start code is a fault if earlier and later units of its stream have
  // start codes. Tables, such as the PMT, have no start codes.
  if (has_code && stream.is_missing) add_fault("a unit without a start code before");
  stream.is_missing = !has_code && stream.has_units;
  stream.has_units |= has_code;
}

}  // namespace

std::unique_ptr<ContainerWalk> open_transport_walk(const std::string& path) {
  return std::make_unique<TransportWalk>(path);
}

}  // namespace lull::io
