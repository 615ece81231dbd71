#include "io/segment_file.h"

#include <array>
#include <bit>
#include <limits>
#include <string_view>

namespace lull::io {
namespace {

constexpr std::string_view magic = "lullseg1";

static_assert(std::endian::native == std::endian::little, "heads are written as they are");

/// What stands before the side data and bytes of a packet.
struct PacketHead {
  std::int64_t pts, dts, duration;  // ticks of the encoder
  std::int32_t bytes, flags;
  std::int64_t side_data;  // pieces
};
static_assert(sizeof(PacketHead) == 40);  // without gaps

struct SideHead {
  std::int32_t type, bytes;
};

// FFmpeg reads beyond what a packet has.
constexpr std::int64_t most_bytes =
    std::numeric_limits<std::int32_t>::max() - AV_INPUT_BUFFER_PADDING_SIZE;

}  // namespace

SegmentWriter::SegmentWriter(const std::string& path) : file_(path, true) {
  put(magic.data(), magic.size());
}

void SegmentWriter::put(const void* data, std::size_t bytes) {
  avio_write(file_.io(), static_cast<const unsigned char*>(data), static_cast<int>(bytes));
  digest_.add(data, bytes);
  bytes_ += static_cast<std::int64_t>(bytes);
}

void SegmentWriter::write(const AVPacket& packet) {
  const PacketHead head{packet.pts,  packet.dts,   packet.duration,
                        packet.size, packet.flags, packet.side_data_elems};
  put(&head, sizeof head);
  for (const AVPacketSideData& data : std::span(packet.side_data, head.side_data)) {
    const SideHead side{data.type, static_cast<std::int32_t>(data.size)};
    put(&side, sizeof side);
    put(data.data, data.size);
  }
  put(packet.data, static_cast<std::size_t>(packet.size));
  file_.check_written();
}

SegmentRecord SegmentWriter::finish() {
  file_.commit();
  return {.bytes = bytes_, .sha256 = digest_.take()};
}

SegmentReader::SegmentReader(const std::string& path, const SegmentRecord& record)
    : path_(path), record_(record), file_(path, std::ios::binary), left_(record.bytes) {
  std::array<char, magic.size()> begin{};
  get(begin.data(), begin.size());
  if (std::string_view(begin.data(), begin.size()) != magic) fail();
}

void SegmentReader::fail() const {
  throw IoError("'" + path_ + "' is damaged (it was whole when the job wrote it); --resume makes " +
                "it again");
}

void SegmentReader::get(void* data, std::int64_t bytes) {
  left_ -= bytes;
  if (left_ < 0 || !file_.read(static_cast<char*>(data), bytes)) fail();
  digest_.add(data, static_cast<std::size_t>(bytes));
}

void SegmentReader::add_side_data(AVPacket& packet) {
  SideHead side{};
  get(&side, sizeof side);
  if (side.bytes < 0 || side.bytes > left_) fail();
  std::uint8_t* data = av_packet_new_side_data(
      &packet, static_cast<AVPacketSideDataType>(side.type), static_cast<std::size_t>(side.bytes));
  get(non_null(data), side.bytes);
}

PacketPtr SegmentReader::next() {
  if (left_ == 0) {
    if (digest_.take() != record_.sha256) fail();
    left_ = -1;
  }
  if (left_ < 0) return nullptr;
  PacketHead head{};
  get(&head, sizeof head);
  if (head.bytes < 0 || head.bytes > std::min(left_, most_bytes)) fail();
  PacketPtr packet = make_packet();
  if (av_new_packet(packet.get(), head.bytes) < 0) throw std::bad_alloc();
  for (std::int64_t i = 0; i < head.side_data; ++i) add_side_data(*packet);
  get(packet->data, head.bytes);
  packet->pts = head.pts;
  packet->dts = head.dts;
  packet->duration = head.duration;
  packet->flags = head.flags;
  return packet;
}

bool is_whole(const std::string& path, const SegmentRecord& record) {
  std::ifstream file(path, std::ios::binary);
  Sha256 digest;
  std::int64_t bytes = 0;
  std::vector<char> block(1 << 16);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    digest.add(block.data(), static_cast<std::size_t>(file.gcount()));
    bytes += file.gcount();
  }
  return bytes == record.bytes && digest.take() == record.sha256;
}

}  // namespace lull::io
