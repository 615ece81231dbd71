#include "io/pictures/exr_head.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "io/files/file_bytes.h"

namespace lull::io {
namespace {

/// Reads little-endian numbers and zero-terminated names of an OpenEXR file.
class Reader {
 public:
  explicit Reader(FileBytes& file) : file_(file) {}

  std::optional<std::uint32_t> number() {
    std::array<std::uint8_t, 4> raw;
    if (!file_.read(at_, raw.data(), raw.size())) return std::nullopt;
    at_ += raw.size();
    return raw[0] | raw[1] << 8 | raw[2] << 16 | std::uint32_t{raw[3]} << 24;
  }
  std::optional<std::string> name() {
    constexpr std::size_t longest = 255;
    std::string text;
    for (char c = 1; text.size() <= longest; text += c) {
      if (!file_.read(at_++, &c, 1)) return std::nullopt;
      if (c == 0) return text;
    }
    return std::nullopt;
  }
  void skip(std::uint64_t bytes) { at_ += bytes; }

 private:
  FileBytes& file_;
  std::uint64_t at_ = 0;
};

void read_channels(Reader& reader, ExrHead& head) {
  constexpr std::uint32_t half_type = 1;
  head.half = true;
  for (auto name = reader.name(); name && !name->empty(); name = reader.name()) {
    const auto type = reader.number();
    if (!type) return;
    head.half &= *type == half_type;
    reader.skip(12);  // pLinear, reserved bytes, sampling in x and y
    constexpr std::array<std::string_view, 5> known = {"R", "G", "B", "A", "Y"};
    bool is_known = false;
    for (const std::string_view k : known) is_known |= *name == k;
    if (!is_known) head.other.push_back(*name);
  }
}

}  // namespace

ExrHead read_exr_head(const std::string& path) {
  constexpr std::uint32_t magic = 0x01312f76, multipart = 0x1000;
  ExrHead head;
  std::error_code code;
  FileBytes file(path, std::filesystem::file_size(path, code));
  if (code) return head;
  Reader reader(file);
  if (reader.number() != magic) return head;
  const auto version = reader.number();
  head.parts = version && *version & multipart;
  for (auto name = reader.name(); name && !name->empty(); name = reader.name()) {
    const auto type = reader.name();
    const auto bytes = reader.number();
    if (!type || !bytes) return head;
    if (*name == "channels") {
      read_channels(reader, head);
      return head;
    }
    reader.skip(*bytes);
  }
  return head;
}

}  // namespace lull::io
