#include "io/files/inflated_size.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

namespace lull::io {
namespace {

struct CloseInflate {
  void operator()(z_stream* stream) const noexcept { inflateEnd(stream); }
};

}  // namespace

InflatedSize inflated_size(std::span<const std::uint8_t> stored, std::uint64_t max_bytes) {
  constexpr std::size_t max_block = 1 << 30;  // zlib counts in 32 bits
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, CloseInflate> owner(&stream);
  std::vector<std::uint8_t> data(1 << 16);
  InflatedSize size;
  int code = Z_OK;
  while (code == Z_OK && size.bytes <= max_bytes) {
    if (stream.avail_in == 0 && !stored.empty()) {
      stream.next_in = const_cast<Bytef*>(stored.data());
      stream.avail_in = static_cast<uInt>(std::min(stored.size(), max_block));
      stored = stored.subspan(stream.avail_in);
    }
    stream.next_out = data.data();
    stream.avail_out = static_cast<uInt>(data.size());
    code = inflate(&stream, Z_NO_FLUSH);
    size.bytes += data.size() - stream.avail_out;
  }
  size.is_complete = code == Z_STREAM_END;
  if (code != Z_OK && code != Z_STREAM_END)
    size.error = stream.msg ? stream.msg : "the data end too early";
  return size;
}

}  // namespace lull::io
