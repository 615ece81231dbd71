#include "io/volumes/gzip_stream.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace lull::io {
namespace {
constexpr std::size_t buffer_bytes = 1 << 18;
}

void GzipReader::Close::operator()(gzFile_s* file) const noexcept { gzclose_r(file); }

GzipReader::GzipReader(const std::string& path, std::uint64_t start) : path_(path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found)
    throw NoInput("cannot read '" + path + "' (no such file)");
  if (code || !std::filesystem::is_regular_file(status))
    throw NoInput("cannot read '" + path + "' (" +
                  (code ? code.message() : "it is not a regular file") + ")");
  errno = 0;
  if (start == 0) {
    file_.reset(gzopen(path.c_str(), "rbe"));
  } else if (const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC); file >= 0) {
    // zlib treats the current position of the descriptor as the beginning of the file.
    if (::lseek(file, static_cast<off_t>(start), SEEK_SET) >= 0) file_.reset(gzdopen(file, "rb"));
    if (!file_) ::close(file);
  }
  if (!file_)
    throw NoInput("cannot read '" + path + "' (" + std::strerror(errno ? errno : ENOMEM) + ")");
  gzbuffer(file_.get(), buffer_bytes);
}

std::size_t GzipReader::read_some(std::span<std::byte> to) {
  constexpr std::size_t max_block = 1 << 30;  // gzread counts bytes in an int
  for (std::size_t done = 0;;) {
    const std::size_t wanted = std::min(to.size() - done, max_block);
    if (wanted == 0) return done;
    const int got = gzread(file_.get(), to.data() + done, static_cast<unsigned>(wanted));
    int error = Z_OK;
    const std::string message = gzerror(file_.get(), &error);
    if (error == Z_ERRNO) throw IoError("cannot read '" + path_ + "' (" + message + ")");
    if (error == Z_MEM_ERROR) throw std::bad_alloc();
    if (error == Z_BUF_ERROR) throw BadData("'" + path_ + "' is cut short (gzip has no end)");
    if (error < 0 || got < 0)
      throw BadData("'" + path_ + "' is damaged (gzip: " +
                    message.substr(std::min(message.size(), message.rfind(": ") + 2)) + ")");
    done += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < wanted) return done;
  }
}

void SampleBytes::read(std::span<std::byte> to) {
  if (read_some(to) < to.size())
    throw BadData("'" + name() + "' is cut short (it ends before its last sample)");
}

void SampleBytes::skip(std::uint64_t bytes) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(bytes, buffer_bytes));
  while (bytes > 0) {
    const auto part = std::span(buffer).first(std::min<std::uint64_t>(bytes, buffer.size()));
    read(part);
    bytes -= part.size();
  }
}

void GzipReader::rewind() {
  if (gzrewind(file_.get()) != 0) throw IoError("cannot read '" + path_ + "' again from its start");
}

std::vector<std::byte> first_bytes(const std::string& path, std::size_t most) {
  // The buffer grows in pieces, so that a small file needs little memory.
  constexpr std::size_t piece = 1 << 16;
  GzipReader reader(path);
  std::vector<std::byte> bytes;
  while (bytes.size() < most) {
    const std::size_t before = bytes.size(), wanted = std::min(piece, most - before);
    bytes.resize(before + wanted);
    const std::size_t got = reader.read_some(std::span(bytes).subspan(before));
    bytes.resize(before + got);
    if (got < wanted) break;
  }
  return bytes;
}

GzipWriter::GzipWriter(OutputFile& file, bool is_gzip) : file_(file) {
  if (!is_gzip) return;
  gzip_ = std::make_unique<z_stream_s>();
  packed_ = std::make_unique<std::byte[]>(buffer_bytes);
  // Adding 16 to the window bits makes zlib write gzip's header and checksum. The time in the
  // header is 0, so equal volumes become bit-identical files.
  constexpr int window_bits = 15 + 16, memory_level = 8;
  if (deflateInit2(gzip_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

GzipWriter::~GzipWriter() {
  if (gzip_) deflateEnd(gzip_.get());
}

void GzipWriter::put(const std::byte* bytes, std::size_t count) {
  constexpr std::size_t max_block = 1 << 30;  // avio_write counts bytes in an int
  while (count > 0) {
    const std::size_t part = std::min(count, max_block);
    avio_write(file_.io(), reinterpret_cast<const unsigned char*>(bytes), static_cast<int>(part));
    file_.check_written();
    bytes += part;
    count -= part;
  }
}

void GzipWriter::deflate_all(int flush) {
  int code = Z_OK;
  do {
    gzip_->next_out = reinterpret_cast<Bytef*>(packed_.get());
    gzip_->avail_out = buffer_bytes;
    code = deflate(gzip_.get(), flush);
    put(packed_.get(), buffer_bytes - gzip_->avail_out);
  } while (gzip_->avail_out == 0 || (flush == Z_FINISH && code == Z_OK));
}

void GzipWriter::write(std::span<const std::byte> bytes) {
  if (!gzip_) return put(bytes.data(), bytes.size());
  constexpr std::size_t max_block = 1 << 30;  // avail_in has fewer bits than size_t
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), max_block));
    gzip_->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));
    gzip_->avail_in = static_cast<uInt>(part.size());
    deflate_all(Z_NO_FLUSH);
    bytes = bytes.subspan(part.size());
  }
}

void GzipWriter::finish() {
  if (!gzip_) return;
  gzip_->next_in = nullptr;
  gzip_->avail_in = 0;
  deflate_all(Z_FINISH);
}

}  // namespace lull::io
