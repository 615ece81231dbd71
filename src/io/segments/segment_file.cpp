#include "io/segments/segment_file.h"

#include <array>
#include <string_view>

#include "io/ffmpeg/stored_packet.h"

namespace lull::io {
namespace {

constexpr std::string_view magic = "lullseg1";

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
  store_packet(packet, [this](const void* data, std::size_t bytes) { put(data, bytes); });
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

PacketPtr SegmentReader::next() {
  if (left_ == 0) {
    if (digest_.take() != record_.sha256) fail();
    left_ = -1;
  }
  if (left_ < 0) return nullptr;
  PacketPtr packet =
      load_packet(left_, [this](void* data, std::int64_t bytes) { get(data, bytes); });
  if (!packet) fail();
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
