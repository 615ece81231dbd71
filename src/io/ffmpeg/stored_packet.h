#pragma once
// Serialises packets: content, side data, and all fields except the stream index. Only the same
// versions of lull and FFmpeg can read the bytes.

#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

static_assert(std::endian::native == std::endian::little, "heads are written as they are");

/// The header of a stored packet, before the side data and the content.
struct PacketHead {
  std::int64_t pts, dts, duration;  // times in ticks of the packet's stream
  std::int32_t bytes, flags;
  std::int64_t side_data;  // number of pieces of side data
};
static_assert(sizeof(PacketHead) == 40);  // no padding

struct SideHead {
  std::int32_t type, bytes;
};

/// Writes a packet in pieces, with one call of `put(data, bytes)` for each piece.
template <class Put>
void store_packet(const AVPacket& packet, Put&& put) {
  const PacketHead head{packet.pts,  packet.dts,   packet.duration,
                        packet.size, packet.flags, packet.side_data_elems};
  put(&head, sizeof head);
  for (const AVPacketSideData& data : std::span(packet.side_data, head.side_data)) {
    const SideHead side{data.type, static_cast<std::int32_t>(data.size)};
    put(&side, sizeof side);
    put(data.data, data.size);
  }
  put(packet.data, static_cast<std::size_t>(packet.size));
}

/// Reads a packet that `store_packet()` wrote in several pieces. The function calls `get(data,
/// bytes)` for each piece. `get` must throw at the end of the data. If a piece is invalid or larger
/// than `max_bytes` bytes, the function returns null.
template <class Get>
PacketPtr load_packet(std::int64_t max_bytes, Get&& get) {
  // FFmpeg may read beyond the end of a packet, so the buffer has padding.
  constexpr std::int64_t longest =
      std::numeric_limits<std::int32_t>::max() - AV_INPUT_BUFFER_PADDING_SIZE;
  PacketHead head{};
  get(&head, sizeof head);
  if (head.bytes < 0 || head.bytes > std::min(max_bytes, longest)) return nullptr;
  PacketPtr packet = make_packet();
  if (av_new_packet(packet.get(), head.bytes) < 0) throw std::bad_alloc();
  for (std::int64_t i = 0; i < head.side_data; ++i) {
    SideHead side{};
    get(&side, sizeof side);
    if (side.bytes < 0 || side.bytes > max_bytes) return nullptr;
    if (side.type < 0 || side.type >= AV_PKT_DATA_NB) return nullptr;
    std::uint8_t* data =
        av_packet_new_side_data(packet.get(), static_cast<AVPacketSideDataType>(side.type),
                                static_cast<std::size_t>(side.bytes));
    get(non_null(data), side.bytes);
  }
  get(packet->data, head.bytes);
  packet->pts = head.pts;
  packet->dts = head.dts;
  packet->duration = head.duration;
  packet->flags = head.flags;
  return packet;
}

}  // namespace lull::io
