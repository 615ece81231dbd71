#include "io/digest.h"

#include <fstream>
#include <vector>

#include "io/files/sha256.h"

extern "C" {
#include <libavutil/base64.h>
}

namespace lull::io {

std::string sha256_of(std::string_view text) {
  Sha256 digest;
  digest.add(text.data(), text.size());
  return digest.take();
}

std::string base64(std::string_view bytes) {
  constexpr std::size_t max_bytes = std::size_t{1} << 28;
  if (bytes.size() > max_bytes)
    throw InternalError("base64 of " + std::to_string(bytes.size()) + " bytes");
  std::string text(AV_BASE64_SIZE(bytes.size()), '\0');
  av_base64_encode(text.data(), static_cast<int>(text.size()),
                   reinterpret_cast<const std::uint8_t*>(bytes.data()),
                   static_cast<int>(bytes.size()));
  text.pop_back();  // removes the terminating zero byte
  return text;
}

std::string sha256_of_file(const std::string& path, const std::stop_token& stop) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NoInput("cannot open '" + path + "'");
  Sha256 digest;
  std::vector<char> block(1 << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    if (stop.stop_requested()) return {};
    digest.add(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw NoInput("cannot read '" + path + "' to its end");
  return digest.take();
}

std::string library_versions() {
  const auto text = [](unsigned v) {
    return std::to_string(v >> 16) + "." + std::to_string(v >> 8 & 255) + "." +
           std::to_string(v & 255);
  };
  return "libavcodec " + text(avcodec_version()) + ", libavformat " + text(avformat_version()) +
         ", libswscale " + text(swscale_version());
}

}  // namespace lull::io
