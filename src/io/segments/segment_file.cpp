#include "io/segments/segment_file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "io/ffmpeg/stored_packet.h"

namespace lull::io {
namespace {

constexpr std::string_view magic = "lullseg2", end_magic = "lullend2";
constexpr std::int64_t digest_bytes = 64;  // in hexadecimal
constexpr auto head_bytes = static_cast<std::int64_t>(magic.size()) + digest_bytes;
/// The number of frames between the two.
constexpr auto tail_bytes =
    static_cast<std::int64_t>(end_magic.size() + sizeof(std::int64_t)) + digest_bytes;

}  // namespace

SegmentWriter::SegmentWriter(const std::string& path, const std::string& job) : file_(path, true) {
  if (std::ssize(job) != digest_bytes) throw InternalError("a segment of a job without a digest");
  put(magic.data(), magic.size());
  put(job.data(), job.size());
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

SegmentRecord SegmentWriter::finish(std::int64_t frames) {
  put(end_magic.data(), end_magic.size());
  put(&frames, sizeof frames);
  const std::string digest = digest_.take();
  put(digest.data(), digest.size());
  file_.commit();
  return {.frames = frames, .bytes = bytes_, .sha256 = digest};
}

SegmentReader::SegmentReader(const std::string& path, const SegmentRecord& record)
    : path_(path),
      record_(record),
      file_(path, std::ios::binary),
      left_(record.bytes - tail_bytes) {
  std::array<char, head_bytes> begin{};
  get(begin.data(), head_bytes);
  if (!std::string_view(begin.data(), begin.size()).starts_with(magic)) fail();
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

void SegmentReader::check_end() {
  std::array<char, tail_bytes> tail{};
  left_ = tail_bytes;
  get(tail.data(), tail_bytes - digest_bytes);
  const std::string digest = digest_.take();
  get(tail.data() + tail_bytes - digest_bytes, digest_bytes);
  const std::string_view text(tail.data(), tail.size());
  std::int64_t frames = 0;
  std::memcpy(&frames, tail.data() + end_magic.size(), sizeof frames);
  const bool whole = text.starts_with(end_magic) && text.ends_with(digest) &&
                     digest == record_.sha256 && frames == record_.frames && file_.peek() < 0;
  if (!whole) fail();
}

PacketPtr SegmentReader::next() {
  if (left_ == 0) {
    check_end();
    left_ = -1;
  }
  if (left_ < 0) return nullptr;
  PacketPtr packet =
      load_packet(left_, [this](void* data, std::int64_t bytes) { get(data, bytes); });
  if (!packet) fail();
  return packet;
}

std::optional<SegmentRecord> read_record(const std::string& path, const std::string& job) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::int64_t bytes = file ? static_cast<std::int64_t>(file.tellg()) : 0;
  if (bytes < head_bytes + tail_bytes) return std::nullopt;
  file.seekg(0);
  Sha256 digest;
  std::string first, block(1 << 16, '\0');
  for (std::int64_t left = bytes - digest_bytes; left > 0;) {
    const std::int64_t some = std::min<std::int64_t>(left, std::ssize(block));
    if (!file.read(block.data(), some)) return std::nullopt;
    digest.add(block.data(), static_cast<std::size_t>(some));
    if (first.empty()) first = block.substr(0, head_bytes);
    left -= some;
  }
  SegmentRecord record{.bytes = bytes, .sha256 = digest.take()};
  std::array<char, tail_bytes> tail{};
  file.seekg(bytes - tail_bytes);
  if (!file.read(tail.data(), tail_bytes)) return std::nullopt;
  std::memcpy(&record.frames, tail.data() + end_magic.size(), sizeof record.frames);
  const std::string_view text(tail.data(), tail.size());
  const bool whole = first.starts_with(magic) && text.starts_with(end_magic) &&
                     text.ends_with(record.sha256) && (job.empty() || first.ends_with(job));
  return whole && record.frames > 0 ? std::optional(record) : std::nullopt;
}

bool is_whole(const std::string& path, const SegmentRecord& record) {
  return read_record(path) == record;
}

std::string segment_path(const std::string& folder, std::int64_t segment) {
  char name[32];
  std::snprintf(name, sizeof name, "/%06lld.lullseg", static_cast<long long>(segment));
  return folder + name;
}

bool is_segment_name(const std::string& name) { return name.ends_with(".lullseg"); }

}  // namespace lull::io
