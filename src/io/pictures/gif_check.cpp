// Checks that the LZW codes of each picture of a GIF file (GIF89a) yield all pixels. FFmpeg's
// decoder fills missing pixels from the previous picture without a report.

#include <algorithm>
#include <array>
#include <string_view>

#include "io/pictures/picture_check.h"

namespace lull::io {
namespace {

/// Reads consecutive bytes. After the last byte, byte() returns 0 and is_over() returns true.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool is_over() const { return is_over_; }
  bool is_at_end() const { return at_ >= bytes_.size(); }
  int byte() {
    is_over_ |= is_at_end();
    return is_over_ ? 0 : bytes_[at_++];
  }
  int word() {
    const int low = byte();
    return low | byte() << 8;
  }
  void skip(std::size_t count) {
    is_over_ |= count > bytes_.size() - at_;
    if (!is_over_) at_ += count;
  }
  /// Skips sub-blocks (GIF89a) up to the empty sub-block at the end.
  void skip_blocks() {
    for (int size = byte(); size > 0; size = byte()) skip(static_cast<std::size_t>(size));
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool is_over_ = false;
};

/// Reads LZW codes from the sub-blocks of a GIF file, least significant bits first.
class CodeReader {
 public:
  explicit CodeReader(ByteReader& bytes) : bytes_(bytes) {}
  /// Returns the next code of `bits` bits; -1 at the end of the sub-blocks.
  int code(int bits) {
    while (count_ < bits) {
      if (left_ == 0 && !next_block()) return -1;
      buffer_ |= static_cast<unsigned>(bytes_.byte()) << count_;
      count_ += 8;
      --left_;
    }
    const int value = static_cast<int>(buffer_ & ((1U << bits) - 1));
    buffer_ >>= bits;
    count_ -= bits;
    return value;
  }
  /// Skips the remaining sub-blocks. Returns the number of bytes after the last code.
  std::int64_t finish() {
    std::int64_t rest = left_;
    bytes_.skip(static_cast<std::size_t>(left_));
    while (next_block()) {
      rest += left_;
      bytes_.skip(static_cast<std::size_t>(left_));
    }
    return rest;
  }

 private:
  /// Begins the next sub-block. Returns false at the last, empty sub-block.
  bool next_block() {
    left_ = has_ended_ ? 0 : bytes_.byte();
    has_ended_ |= left_ == 0;
    return !has_ended_;
  }

  ByteReader& bytes_;
  unsigned buffer_ = 0;
  int count_ = 0, left_ = 0;  // bits in the buffer; remaining bytes of the sub-block
  bool has_ended_ = false;
};

/// Counts the pixels that LZW codes yield (GIF89a, appendix F), without decoding their values.
class PixelCounter {
 public:
  explicit PixelCounter(int root_bits)
      : clear_(1 << root_bits), root_bits_(root_bits), next_(clear_ + 2), bits_(root_bits + 1) {}

  /// Reads codes until they yield `expected` pixels. Returns why pixels are missing; empty if no
  /// pixels are missing.
  std::string count(CodeReader& codes, std::int64_t expected) {
    for (std::int64_t pixels = 0; pixels < expected;) {
      const int code = codes.code(bits_);
      if (code < 0 || code == clear_ + 1)
        return "it has " + std::to_string(pixels) + " of " + std::to_string(expected) + " pixels";
      if (code == clear_) {
        reset();
        continue;
      }
      if (code > next_ || (code == next_ && last_ < 0) || (code > clear_ && last_ < 0))
        return "a code is not defined";
      const int length = code < clear_ ? 1 : code == next_ ? length_of(last_) + 1 : length_of(code);
      if (last_ >= 0) add(length_of(last_) + 1);
      last_ = code;
      pixels += length;
    }
    return {};
  }
  /// Returns whether the next code is the end code. One clear code may precede the end code.
  bool has_end(CodeReader& codes) const {
    const int code = codes.code(bits_);
    return code == clear_ ? codes.code(root_bits_ + 1) == clear_ + 1 : code == clear_ + 1;
  }

 private:
  static constexpr int max_codes = 1 << 12;

  int length_of(int code) const {
    return code < clear_ ? 1 : lengths_[static_cast<unsigned>(code)];
  }
  void reset() {
    next_ = clear_ + 2;
    bits_ = root_bits_ + 1;
    last_ = -1;
  }
  void add(int length) {
    if (next_ == max_codes) return;
    lengths_[static_cast<unsigned>(next_++)] = length;
    if (next_ == 1 << bits_ && bits_ < 12) ++bits_;
  }

  int clear_, root_bits_, next_, bits_, last_ = -1;
  std::array<int, max_codes> lengths_{};
};

std::size_t table_bytes(int flags) {
  return flags & 0x80 ? std::size_t{3} << ((flags & 7) + 1) : 0;
}

/// Checks the picture after an image separator: position, size, optional colour table and codes.
/// Returns the fault; empty if the picture is valid.
std::string find_picture_fault(ByteReader& bytes) {
  bytes.skip(4);
  const int width = bytes.word(), height = bytes.word();
  bytes.skip(table_bytes(bytes.byte()));
  const int root_bits = bytes.byte();
  if (bytes.is_over()) return "it ends too early";
  if (root_bits < 1 || root_bits > 11) return "codes of " + std::to_string(root_bits) + " bits";
  constexpr std::int64_t max_padding = 4;
  CodeReader codes(bytes);
  PixelCounter counter(root_bits);
  const std::string fault = counter.count(codes, std::int64_t{width} * height);
  if (!fault.empty()) return fault;
  const bool has_end = counter.has_end(codes);
  if (codes.finish() > max_padding && has_end) return "data follow its end code";
  return bytes.is_over() ? "it ends too early" : "";
}

}  // namespace

std::optional<PictureFault> find_gif_fault(std::span<const std::uint8_t> packet) {
  constexpr int picture = 0x2c, extension = 0x21;
  ByteReader bytes(packet);
  const std::string_view head(reinterpret_cast<const char*>(packet.data()),
                              std::min<std::size_t>(packet.size(), 6));
  if (head == "GIF87a" || head == "GIF89a") {
    bytes.skip(10);
    const int flags = bytes.byte();
    bytes.skip(2 + table_bytes(flags));
  }
  while (!bytes.is_at_end() && !bytes.is_over()) {
    const int block = bytes.byte();
    if (block == picture) {
      const std::string fault = find_picture_fault(bytes);
      if (!fault.empty()) return PictureFault{fault};
    } else if (block == extension) {
      bytes.skip(1);
      bytes.skip_blocks();
    } else {
      break;  // the trailer, or data that the decoder must check
    }
  }
  return std::nullopt;
}

}  // namespace lull::io
