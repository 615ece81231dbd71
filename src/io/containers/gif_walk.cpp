// Checks the structure of GIF files (GIF89a). FFmpeg stops at a block of unknown kind and reports
// no damage.

#include <string_view>
#include <utility>

#include "io/containers/container_walk.h"

namespace lull::io {
namespace {

class GifWalk final : public ContainerWalk {
 public:
  explicit GifWalk(const std::string& path) : ContainerWalk(path) {}
  std::optional<std::int64_t> video_packets() const override { return pictures_; }

 private:
  static constexpr std::uint8_t picture = 0x2c, extension = 0x21, trailer = 0x3b, padding = 0;

  void step() override;
  void skip_head();
  void skip_picture();
  void skip_extension();
  void fail(const std::string& text);
  void skip_blocks(std::uint64_t at);
  static std::uint64_t table_bytes(std::uint8_t flags) {
    return flags & 0x80 ? std::uint64_t{3} << ((flags & 7) + 1) : 0;
  }

  std::int64_t pictures_ = 0;
  std::uint64_t last_picture_ = 0;  // position of the last picture; 0: none since the last fault
};

void GifWalk::skip_head() {
  constexpr std::uint64_t head_bytes = 13, flags_at = 10;
  std::uint8_t flags = 0;
  file().read(flags_at, &flags, 1);
  go_to(head_bytes + table_bytes(flags));
}

/// Skips sub-blocks up to the empty sub-block at the end.
void GifWalk::skip_blocks(std::uint64_t at) {
  for (std::uint8_t bytes = 1; bytes > 0; at += 1 + std::uint64_t{bytes})
    if (!file().read(at, &bytes, 1)) return stop();
  go_to(at);
}

void GifWalk::skip_picture() {
  constexpr std::uint64_t flags_at = 9, code_bytes = 1;
  std::uint8_t flags = 0;
  if (!file().read(at() + flags_at, &flags, 1)) return stop();
  ++pictures_;
  last_picture_ = at();
  skip_blocks(at() + flags_at + 1 + table_bytes(flags) + code_bytes);
}

void GifWalk::skip_extension() {
  constexpr std::uint8_t control = 0xf9, control_bytes = 4;
  std::uint8_t raw[8] = {};
  file().read(at(), raw, sizeof raw);
  // A control extension of a wrong size is a fault. The function does not skip the sub-blocks of
  // such an extension, because it could then also skip the next picture.
  if (raw[1] == control && (raw[2] != control_bytes || raw[3 + control_bytes] != 0))
    return fail("an extension of a wrong size");
  skip_blocks(at() + 2);
}

void GifWalk::step() {
  if (at() == 0) return skip_head();
  std::uint8_t kind = 0;
  if (!file().read(at(), &kind, 1) || kind == trailer) return stop();
  if (kind == picture) return skip_picture();
  if (kind == extension) return skip_extension();
  if (kind == padding) return go_to(at() + 1);
  fail("a block of unknown kind");
}

/// Counts a fault and continues at the next control extension. The search begins in the data of the
/// previous picture, because the sizes in these data may be wrong.
void GifWalk::fail(const std::string& text) {
  constexpr std::string_view control = "\x21\xf9\x04";
  add_fault(text);
  const std::uint64_t last = std::exchange(last_picture_, 0);
  std::uint64_t next = find(control, last > 0 ? last + 1 : at() + 1);
  if (next == at()) next = find(control, at() + 1);
  go_to(next);
}

}  // namespace

std::unique_ptr<ContainerWalk> open_gif_walk(const std::string& path) {
  return std::make_unique<GifWalk>(path);
}

}  // namespace lull::io
