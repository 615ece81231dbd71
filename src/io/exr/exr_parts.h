#pragma once
// What of OpenEXR's library the files of this room share; OpenEXR's headers stay in this room.

#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfMultiPartInputFile.h>

#include <cstring>

#include "io/exr/exr_file.h"

namespace lull::io {

/// Bytes in memory as OpenEXR reads them.
class ExrBytes final : public Imf::IStream {
 public:
  explicit ExrBytes(std::span<const std::uint8_t> bytes) : Imf::IStream("memory"), bytes_(bytes) {}
  bool read(char to[], int count) override {
    if (count < 0 || static_cast<std::uint64_t>(count) > bytes_.size() - at_)
      throw std::runtime_error("it ends too early");
    std::memcpy(to, bytes_.data() + at_, static_cast<std::size_t>(count));
    at_ += static_cast<std::uint64_t>(count);
    return at_ < bytes_.size();
  }
  std::uint64_t tellg() override { return at_; }
  void seekg(std::uint64_t at) override {
    if (at > bytes_.size()) throw std::runtime_error("it ends too early");
    at_ = at;
  }
  void clear() override {}

 private:
  std::span<const std::uint8_t> bytes_;
  std::uint64_t at_ = 0;
};

struct ExrFile::Parts {
  Parts(std::span<const std::uint8_t> bytes, int threads);
  int threads;  // as OpenEXR counts them: 0 is none but the caller's
  ExrBytes stream;
  mutable Imf::MultiPartInputFile file;
};

/// See ExrFile::with_picture(). @throws std::exception of OpenEXR's
PacketPtr rewrite(const ExrFile::Parts& parts, int picture_part, const ExrWindow& window,
                  std::span<const std::string> channels,
                  std::span<const PlaneView<const float>> samples);

}  // namespace lull::io
