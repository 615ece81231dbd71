#include "io/demux/packet_relay.h"

#include <algorithm>
#include <utility>

#include "io/ffmpeg/stored_packet.h"

namespace lull::io {
namespace {

/// Returns the number of bytes of a packet in memory, including its side data.
std::int64_t size_of(const AVPacket& packet) {
  constexpr std::int64_t own = 256;  // bytes for the packet's fields and FFmpeg's buffers
  std::int64_t bytes = own + packet.size;
  for (const AVPacketSideData& data : std::span(packet.side_data, packet.side_data_elems))
    bytes += own / 4 + static_cast<std::int64_t>(data.size);
  return bytes;
}

}  // namespace

void PacketRelay::attach() {
  const std::lock_guard lock(mutex_);
  attached_ = true;
}

void PacketRelay::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  streams_.clear();
  bytes_ = 0;
  overflow_.clear();
}

void PacketRelay::close_unless_attached() {
  {
    const std::lock_guard lock(mutex_);
    if (attached_) return;
  }
  close();
}

bool PacketRelay::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::int64_t PacketRelay::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void PacketRelay::keep_in_memory(PacketPtr packet) {
  bytes_ += size_of(*packet);
  streams_[packet->stream_index].push_back({next_number_++, std::move(packet)});
}

void PacketRelay::put(PacketPtr packet) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  const bool fits = bytes_ == 0 || bytes_ + size_of(*packet) <= max_bytes_;
  if (fits && overflow_.left() == 0) return keep_in_memory(std::move(packet));
  std::vector<std::byte> bytes;
  const auto put = [&](const void* data, std::size_t count) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + count);
  };
  const std::int32_t stream = packet->stream_index;
  put(&stream, sizeof stream);
  store_packet(*packet, put);
  overflow_.write(bytes.data(), bytes.size());
}

// Moves packets from the scratch file to memory until the packets in memory exceed half of the
// memory limit. A limit is necessary, because packets for which `due` returns false remain in
// memory after `take()`.
void PacketRelay::load() {
  while (overflow_.left() > 0 && bytes_ <= max_bytes_ / 2) {
    const auto get = [&](void* data, std::int64_t count) {
      overflow_.read(data, static_cast<std::size_t>(count));
    };
    std::int32_t stream = 0;
    get(&stream, sizeof stream);
    PacketPtr packet = load_packet(overflow_.left(), get);
    if (!packet) throw InternalError("a packet was lost on its way through a temporary file");
    packet->stream_index = stream;
    keep_in_memory(std::move(packet));
  }
}

void PacketRelay::drop_if(const std::function<bool(const AVPacket&)>& unwanted) {
  const std::lock_guard lock(mutex_);
  for (auto& [stream, packets] : streams_)
    std::erase_if(packets, [&](const NumberedPacket& kept) {
      const bool drop = unwanted(*kept.packet);
      if (drop) bytes_ -= size_of(*kept.packet);
      return drop;
    });
}

std::vector<PacketPtr> PacketRelay::take(const Due& due) {
  const std::lock_guard lock(mutex_);
  load();
  std::vector<NumberedPacket> taken;
  for (auto& [stream, packets] : streams_)
    for (; !packets.empty() && due(*packets.front().packet); packets.pop_front())
      taken.push_back(std::move(packets.front()));
  std::ranges::sort(taken, {}, &NumberedPacket::number);
  std::vector<PacketPtr> packets;
  for (NumberedPacket& kept : taken) {
    bytes_ -= size_of(*kept.packet);
    packets.push_back(std::move(kept.packet));
  }
  return packets;
}

std::vector<PacketPtr> PacketRelay::take() {
  return take([](const AVPacket&) { return true; });
}

}  // namespace lull::io
