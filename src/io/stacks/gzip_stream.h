#pragma once
// A file's bytes in order, unpacked or packed by gzip (RFC 1952) on the way.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "io/files/output_file.h"

struct gzFile_s;
struct z_stream_s;

namespace lull::io {

/// Reads a regular file; one that begins like gzip is unpacked, all its members.
class GzipReader {
 public:
  /// @throws NoInput  the file cannot be read or is no regular one
  explicit GzipReader(const std::string& path);

  /// Fills `to`, or as much of it as there is: fewer bytes only at the end of the file.
  /// @throws BadData  damaged or cut short (gzip has a checksum and a length); IoError
  std::size_t read_some(std::span<std::byte> to);
  /// @throws BadData  also where the file ends before
  void read(std::span<std::byte> to);
  void skip(std::uint64_t bytes);
  /// Back to the first byte.
  void rewind();

 private:
  struct Close {
    void operator()(gzFile_s* file) const noexcept;
  };
  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

/// Writes to an OutputFile, which stays the caller's to commit.
class GzipWriter {
 public:
  GzipWriter(OutputFile& file, bool is_gzip);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

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
