#pragma once
// Sequential file input and output, with gzip compression (RFC 1952) if needed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/files/output_file.h"

struct gzFile_s;
struct z_stream_s;

namespace lull::io {

/// Sequential reader for the samples of a volume.
class SampleBytes {
 public:
  SampleBytes() = default;
  virtual ~SampleBytes() = default;
  SampleBytes(const SampleBytes&) = delete;
  SampleBytes& operator=(const SampleBytes&) = delete;

  /// Fills `to` with the next bytes, and returns their number. The number is less than the size of
  /// `to` only at the end of the data.
  /// @throws BadData  a file is damaged or truncated
  /// @throws IoError
  virtual std::size_t read_some(std::span<std::byte> to) = 0;
  /// Seeks to the first byte.
  virtual void rewind() = 0;
  /// Fills `to` completely with the next bytes.
  /// @throws BadData  a file is damaged or ends too early
  void read(std::span<std::byte> to);
  void skip(std::uint64_t bytes);

 private:
  /// Returns the name of the file for messages.
  virtual const std::string& name() const = 0;
};

/// Reads a regular file. If the data begin with gzip's signature, the class decompresses them,
/// including any further gzip members.
class GzipReader final : public SampleBytes {
 public:
  /// @param start  byte offset of the data in the file
  /// @throws NoInput  lull cannot read the file, or the file is not a regular file
  explicit GzipReader(const std::string& path, std::uint64_t start = 0);

  /// Reads the next bytes after decompression. gzip's checksum and length reveal damage and
  /// truncation.
  std::size_t read_some(std::span<std::byte> to) override;
  void rewind() override;

 private:
  const std::string& name() const override { return path_; }
  struct Close {
    void operator()(gzFile_s* file) const noexcept;
  };
  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

/// Returns the first bytes of a file after decompression: `most` bytes, or all bytes of a shorter
/// file.
/// @throws any exception of GzipReader
[[nodiscard]] std::vector<std::byte> first_bytes(const std::string& path, std::size_t most);

/// Writes to an OutputFile, with gzip compression if requested. The caller must call
/// OutputFile::commit().
class GzipWriter {
 public:
  GzipWriter(OutputFile& file, bool is_gzip);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  /// Appends bytes to the file.
  /// @throws IoError
  void write(std::span<const std::byte> bytes);
  void finish();

 private:
  void deflate_all(int flush);
  void put(const std::byte* bytes, std::size_t count);

  OutputFile& file_;
  std::unique_ptr<z_stream_s> gzip_;
  std::unique_ptr<std::byte[]> packed_;
};

}  // namespace lull::io
