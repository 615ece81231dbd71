#pragma once
// Incremental SHA-256.

extern "C" {
#include <libavutil/hash.h>
}

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class Sha256 {
 public:
  Sha256() {
    AVHashContext* context = nullptr;
    check<InternalError>(av_hash_alloc(&context, "SHA256"), "no SHA-256");
    context_.reset(context);
    av_hash_init(context);
  }
  void add(const void* data, std::size_t bytes) {
    av_hash_update(context_.get(), static_cast<const std::uint8_t*>(data), bytes);
  }
  /// Returns the digest of all added bytes in hexadecimal, and resets the object.
  std::string take() {
    std::uint8_t text[2 * AV_HASH_MAX_SIZE + 1];
    av_hash_final_hex(context_.get(), text, sizeof text);
    av_hash_init(context_.get());
    return reinterpret_cast<const char*>(text);
  }

 private:
  std::unique_ptr<AVHashContext, Releaser<av_hash_freep>> context_;
};

}  // namespace lull::io
