#pragma once
// Declarations that need OpenEXR's headers. Only the files of this module include this header.

#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfMultiPartInputFile.h>

#include <cstring>

#include "io/exr/exr_file.h"

namespace lull::io {

/// An OpenEXR input stream over bytes in memory.
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
  int threads;  // OpenEXR's count: 0 means only the caller's thread
  ExrBytes stream;
  mutable Imf::MultiPartInputFile file;
};

/// Returns all layers of a file.
std::vector<ExrLayer> list_layers(const Imf::MultiPartInputFile& file);

/// Implements ExrFile::with_samples().
/// @throws std::exception  any exception from OpenEXR
PacketPtr rewrite(const ExrFile::Parts& parts, const std::vector<ExrFile::NewSamples>& samples);

}  // namespace lull::io
