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
/// Size in bytes of the trailer of a segment file: end_magic, number of frames, digest.
constexpr auto tail_bytes =
    static_cast<std::int64_t>(end_magic.size() + sizeof(std::int64_t)) + digest_bytes;

[[noreturn]] void fail(const std::string& path) {
  throw IoError("'" + path +
                "' is damaged (it was complete when the job wrote it); --resume makes " +
                "it again");
}

RegularFile open_or_fail(const std::string& path) {
  try {
    return RegularFile(path);
  } catch (const NoInput&) {
    fail(path);
  }
}

/// A segment file with a valid header and trailer. The digest in `record` is not yet verified.
struct UnverifiedSegment {
  RegularFile file;
  SegmentRecord record;
};

std::optional<UnverifiedSegment> open_unverified(const std::string& path, const std::string& job) {
  try {
    UnverifiedSegment segment{RegularFile(path), {}};
    segment.record.bytes = segment.file.size();
    if (segment.record.bytes < head_bytes + tail_bytes) return std::nullopt;
    std::array<char, head_bytes> head{};
    std::array<char, tail_bytes> tail{};
    if (segment.file.read(head.data(), head.size()) < head.size()) return std::nullopt;
    segment.file.seek(segment.record.bytes - tail_bytes);
    if (segment.file.read(tail.data(), tail.size()) < tail.size()) return std::nullopt;
    segment.file.seek(0);
    const std::string_view begin(head.data(), head.size()), end(tail.data(), tail.size());
    std::memcpy(&segment.record.frames, tail.data() + end_magic.size(), sizeof(std::int64_t));
    segment.record.sha256 = end.substr(tail_bytes - digest_bytes);
    const bool fits = begin.starts_with(magic) && end.starts_with(end_magic) &&
                      (job.empty() || begin.ends_with(job)) && segment.record.frames > 0;
    return fits ? std::optional(std::move(segment)) : std::nullopt;
  } catch (const NoInput&) {
    return std::nullopt;
  }
}

}  // namespace

SegmentWriter::SegmentWriter(const std::string& path, const std::string& job, const Access& access)
    : file_(path, {.overwrite = true, .access = access, .follow_links = false}) {
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
    : path_(path), record_(record), file_(open_or_fail(path)), left_(record.bytes - tail_bytes) {
  std::array<char, head_bytes> begin{};
  get(begin.data(), head_bytes);
  if (!std::string_view(begin.data(), begin.size()).starts_with(magic)) fail(path_);
}

void SegmentReader::get(void* data, std::int64_t bytes) {
  left_ -= bytes;
  if (left_ < 0 || bytes < 0) fail(path_);
  const auto wanted = static_cast<std::size_t>(bytes);
  if (file_.read(data, wanted) < wanted) fail(path_);
  digest_.add(data, wanted);
}

bool SegmentReader::is_at_end() {
  char more = 0;
  return file_.read(&more, 1) == 0;
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
                     digest == record_.sha256 && frames == record_.frames && is_at_end();
  if (!whole) fail(path_);
}

PacketPtr SegmentReader::next() {
  if (left_ == 0) {
    check_end();
    left_ = -1;
  }
  if (left_ < 0) return nullptr;
  PacketPtr packet =
      load_packet(left_, [this](void* data, std::int64_t bytes) { get(data, bytes); });
  if (!packet) fail(path_);
  return packet;
}

std::optional<SegmentRecord> read_unverified_record(const std::string& path,
                                                    const std::string& job) {
  std::optional<UnverifiedSegment> segment = open_unverified(path, job);
  return segment ? std::optional(segment->record) : std::nullopt;
}

std::optional<SegmentRecord> read_record(const std::string& path, const std::string& job) {
  std::optional<UnverifiedSegment> segment = open_unverified(path, job);
  if (!segment) return std::nullopt;
  Sha256 digest;
  std::vector<char> block(1 << 16);
  for (std::int64_t left = segment->record.bytes - digest_bytes; left > 0;) {
    const auto some = static_cast<std::size_t>(std::min<std::int64_t>(left, std::ssize(block)));
    if (segment->file.read(block.data(), some) < some) return std::nullopt;
    digest.add(block.data(), some);
    left -= static_cast<std::int64_t>(some);
  }
  return digest.take() == segment->record.sha256 ? std::optional(segment->record) : std::nullopt;
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
