// Checks the structure of NUT files (FFmpeg's specification of 2007). FFmpeg skips from an invalid
// header to the next synchronisation point, and reports no damage.

extern "C" {
#include <libavutil/crc.h>
}

#include <array>
#include <optional>
#include <vector>

#include "io/containers/container_walk.h"

namespace lull::io {
namespace {

constexpr std::uint64_t main_code = 0x4e4d7a561f5f04ad, stream_code = 0x4e5311405bf2f9db,
                        sync_code = 0x4e4be4adeeca4569, index_code = 0x4e58dd672f23e64e,
                        info_code = 0x4e49ab68b596ba78;
constexpr int startcode_bytes = 8;

/// Reads consecutive numbers. After a read beyond the end of the file, `has_failed()` returns true.
class NumberReader {
 public:
  NumberReader(FileBytes& file, std::uint64_t at) : file_(file), at_(at) {}
  std::uint64_t at() const { return at_; }
  bool has_failed() const { return failed_; }
  std::uint64_t fixed(int bytes) {
    std::uint8_t raw[8] = {};
    failed_ |= !file_.read(at_, raw, static_cast<std::size_t>(bytes));
    at_ += static_cast<std::uint64_t>(bytes);
    return failed_ ? 0 : big_endian(raw, bytes);
  }
  /// Reads a number of seven bits per byte, most significant bits first. Bit 7 is 1 if another byte
  /// follows.
  std::uint64_t number() {
    constexpr int max_bytes = 10;
    std::uint64_t value = 0;
    for (int i = 0; i < max_bytes && !failed_; ++i) {
      const std::uint64_t byte = fixed(1);
      value = value << 7 | (byte & 0x7f);
      if (!(byte & 0x80)) return value;
    }
    failed_ = true;
    return 0;
  }
  void skip(std::uint64_t bytes) { at_ += bytes; }

 private:
  FileBytes& file_;
  std::uint64_t at_;
  bool failed_ = false;
};

/// The properties of a frame, determined by the frame code in its first byte.
struct FrameCode {
  std::uint64_t flags = 0, stream = 0, size_factor = 1, size_rest = 0, reserved = 0, elided = 0;
};
enum Flag : std::uint64_t {
  has_pts = 1 << 3,
  has_stream = 1 << 4,
  has_size = 1 << 5,
  has_checksum = 1 << 6,
  has_reserved = 1 << 7,
  has_elided = 1 << 10,
  has_match_time = 1 << 11,
  has_flags = 1 << 12,
  is_invalid = 1 << 13
};

/// The fields of the main header that the check uses.
struct MainHead {
  std::uint64_t streams = 0, max_distance = 0;
  std::array<FrameCode, 256> codes;
  std::vector<std::uint64_t> elided{0};  // frame header bytes that the file omits
};

/// Consecutive entries in the table of frame codes.
struct CodeRun {
  FrameCode code;
  std::uint64_t count = 0;
};

CodeRun read_run(NumberReader& in, CodeRun run) {
  run.code.flags = in.number();
  const std::uint64_t fields = in.number();
  auto next = [&, i = std::uint64_t{0}](std::uint64_t value) mutable {
    return i++ < fields ? in.number() : value;
  };
  (void)next(0);  // pts_delta is not needed
  run.code.size_factor = next(run.code.size_factor);
  run.code.stream = next(run.code.stream);
  run.code.size_rest = next(0);
  run.code.reserved = next(0);
  run.count = next(run.code.size_factor - run.code.size_rest);
  (void)next(0);  // match_time_delta is not needed
  run.code.elided = next(run.code.elided);
  for (std::uint64_t i = 8; i < fields && !in.has_failed(); ++i) (void)in.number();
  return run;
}

std::optional<MainHead> read_main_head(NumberReader in, std::uint64_t end) {
  constexpr std::uint64_t version_with_minor = 4;
  MainHead head;
  if (in.number() >= version_with_minor) (void)in.number();
  head.streams = in.number();
  head.max_distance = in.number();
  const std::uint64_t time_bases = in.number();
  for (std::uint64_t i = 0; i < 2 * time_bases && !in.has_failed(); ++i) (void)in.number();
  CodeRun run;
  for (unsigned code = 0; code < 256 && !in.has_failed();) {
    run = read_run(in, run);
    for (std::uint64_t i = 0; i < run.count && code < 256; ++code) {
      head.codes[code] = run.code;
      head.codes[code].size_rest += i;
      if (code == 'N')
        head.codes[code].flags = is_invalid;  // reserved for start codes
      else
        ++i;
    }
  }
  const std::uint64_t elided = in.at() < end ? in.number() : 0;
  for (std::uint64_t i = 0; i < elided && i < 127 && !in.has_failed(); ++i) {
    head.elided.push_back(in.number());
    in.skip(head.elided.back());
  }
  if (in.has_failed()) return std::nullopt;
  return head;
}

class NutWalk final : public ContainerWalk {
 public:
  explicit NutWalk(const std::string& path) : ContainerWalk(path) {}

 private:
  void step() override;
  void step_packet();
  void step_frame();
  bool has_valid_checksum(std::uint64_t begin, std::uint64_t end);
  void fail(const std::string& text);

  std::optional<MainHead> head_;
};

void NutWalk::step() {
  constexpr std::uint64_t signature_bytes = 25;
  if (at() == 0) return go_to(signature_bytes);
  std::uint8_t first = 0;
  if (!file().read(at(), &first, 1)) return stop();
  if (first == 'N') return step_packet();
  if (head_) return step_frame();
  stop();  // frames cannot be read without a main header
}

/// Returns whether the checksum of a packet is correct. The CRC over a packet and its correct
/// checksum is 0.
bool NutWalk::has_valid_checksum(std::uint64_t begin, std::uint64_t end) {
  if (end > file().size() || end - begin < 4) return false;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(end - begin));
  if (!file().read(begin, bytes.data(), bytes.size())) return false;
  return av_crc(av_crc_get_table(AV_CRC_32_IEEE), 0, bytes.data(), bytes.size()) == 0;
}

void NutWalk::step_packet() {
  // Packets of more than 4096 bytes have a second checksum for their header.
  constexpr std::uint64_t with_checksum = 4096;
  constexpr std::uint64_t max_packet_bytes = std::uint64_t{1} << 28;
  NumberReader in(file(), at());
  const std::uint64_t code = in.fixed(startcode_bytes);
  const std::uint64_t length = in.number();
  if (in.has_failed() || length > max_packet_bytes) return fail("an invalid packet");
  if (length > with_checksum) (void)in.fixed(4);
  const bool known = code == main_code || code == stream_code || code == sync_code ||
                     code == index_code || code == info_code;
  if (!known) return fail("a packet of unknown kind");
  if (!has_valid_checksum(in.at(), in.at() + length)) return fail("a packet with a wrong checksum");
  if (code == main_code) head_ = read_main_head(in, in.at() + length - 4);
  go_to(in.at() + length);
}

void NutWalk::step_frame() {
  constexpr std::uint64_t max_size_with_elided = 4096;
  NumberReader in(file(), at());
  FrameCode frame = head_->codes[in.fixed(1)];
  if (frame.flags & is_invalid) return fail("an invalid frame");
  if (frame.flags & has_flags) frame.flags ^= in.number();
  if (frame.flags & has_stream) frame.stream = in.number();
  if (frame.flags & has_pts) (void)in.number();
  std::uint64_t size = frame.size_rest;
  if (frame.flags & has_size) size += frame.size_factor * in.number();
  if (frame.flags & has_match_time) (void)in.number();
  if (frame.flags & has_elided) frame.elided = in.number();
  if (frame.flags & has_reserved) frame.reserved = in.number();
  for (std::uint64_t i = 0; i < frame.reserved && !in.has_failed(); ++i) (void)in.number();
  if (frame.flags & has_checksum) (void)in.fixed(4);
  if (size > max_size_with_elided) frame.elided = 0;
  const bool known = frame.elided < head_->elided.size() && frame.stream < head_->streams;
  if (in.has_failed() || !known || size < head_->elided[frame.elided])
    return fail("an invalid frame");
  size -= head_->elided[frame.elided];
  if (!(frame.flags & has_checksum) && size > 2 * head_->max_distance)
    return fail("a frame of a size that needs a checksum");
  if (in.at() + size > file().size()) return fail("a frame that ends behind the file");
  go_to(in.at() + size);
}

void NutWalk::fail(const std::string& text) {
  add_fault(text);
  go_to(find("NK\xe4\xad\xee\xca\x45\x69", at() + 1));
}

}  // namespace

std::unique_ptr<ContainerWalk> open_nut_walk(const std::string& path) {
  return std::make_unique<NutWalk>(path);
}

}  // namespace lull::io
