#include "io/stacks/tiff_file.h"

#include <tiffio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "io/pictures/tiff_memory.h"
#include "io/pictures/tiff_strips.h"
#include "io/stacks/stack.h"

namespace lull::io {
namespace {

template <class T>
T tag(TIFF* file, std::uint32_t name, T fallback) {
  T value = fallback;
  TIFFGetFieldDefaulted(file, name, &value);
  return value;
}

}  // namespace

std::uint64_t described_pictures(TIFF* page) {
  const char* text = nullptr;
  if (!TIFFGetField(page, TIFFTAG_IMAGEDESCRIPTION, &text) || !text) return 1;
  const std::string_view description = text;
  const std::size_t at = description.find("\nimages=");
  if (!description.starts_with("ImageJ=") || at == description.npos) return 1;
  std::uint64_t count = 1;
  const std::string_view number = description.substr(at + 8);
  std::from_chars(number.data(), number.data() + number.size(), count);
  return count;
}

bool is_tiff_stack(const std::string& path) {
  try {
    TiffReader file(path, max_samples(Limits{}));
    const auto bits = tag<std::uint16_t>(file.handle(), TIFFTAG_BITSPERSAMPLE, 1);
    const auto samples = tag<std::uint16_t>(file.handle(), TIFFTAG_SAMPLESPERPIXEL, 1);
    const auto form = tag<std::uint16_t>(file.handle(), TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    // A single page of half floats is treated as a picture of floats.
    const bool single = samples == 1 && (bits > 16 || (form == SAMPLEFORMAT_INT && bits >= 8) ||
                                         (form == SAMPLEFORMAT_IEEEFP && bits != 16));
    return single || !TIFFLastDirectory(file.handle()) || described_pictures(file.handle()) > 1;
  } catch (const Error&) {
    return false;
  }
}

void TiffReader::Close::operator()(TIFF* file) const noexcept { TIFFClose(file); }

TiffReader::TiffReader(const std::string& path, std::uint64_t max_samples)
    : path_(path), max_samples_(max_samples) {
  std::error_code code;
  file_bytes_ = std::filesystem::file_size(path, code);
  if (code) throw NoInput("cannot read '" + path + "' (" + code.message() + ")");
  // The mode "m" disables memory mapping: if a mapped file shrinks, the process would crash. The
  // limit is a strip or tile of the largest page.
  const auto max_bytes = static_cast<tmsize_t>(8 * max_samples);
  tiff_.reset(TIFFOpenExt(path.c_str(), "rm", tiff_options(message_, max_bytes).get()));
  if (!tiff_) fail("is not a TIFF file");
}

TiffReader::~TiffReader() = default;

bool TiffReader::big_endian() const { return TIFFIsBigEndian(tiff_.get()) != 0; }
bool TiffReader::big_tiff() const { return TIFFIsBigTIFF(tiff_.get()) != 0; }

void TiffReader::fail(const std::string& what) const {
  throw BadData("'" + path_ + "' " + what + (message_.empty() ? "" : " (" + message_ + ")"));
}

TiffPage TiffReader::page() const {
  const std::string here = "has a page (number " + std::to_string(page_) + ") ";
  const auto refuse = [&](const std::string& why) {
    throw BadData("'" + path_ + "' " + here + why + "; convert it first");
  };
  TIFF* file = tiff_.get();
  const auto width = tag<std::uint32_t>(file, TIFFTAG_IMAGEWIDTH, 0);
  const auto height = tag<std::uint32_t>(file, TIFFTAG_IMAGELENGTH, 0);
  const auto bits = tag<std::uint16_t>(file, TIFFTAG_BITSPERSAMPLE, 1);
  const auto samples = tag<std::uint16_t>(file, TIFFTAG_SAMPLESPERPIXEL, 1);
  const auto form = tag<std::uint16_t>(file, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const auto colour = tag<std::uint16_t>(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (samples != 1 || (colour != PHOTOMETRIC_MINISBLACK && colour != PHOTOMETRIC_MINISWHITE))
    refuse("of colours (a stack must be grey)");
  if (width == 0 || height == 0) refuse("without samples");
  const std::uint64_t count = std::uint64_t{width} * height;
  if (width > 0x7fffffff || height > 0x7fffffff || count > max_samples_)
    throw BadData("'" + path_ + "' " + here + "of " + std::to_string(width) + "x" +
                  std::to_string(height) + " samples (more than " + std::to_string(max_samples_) +
                  "); allow it with --max-pixels");
  TiffPage page{static_cast<int>(width), static_cast<int>(height)};
  const bool is_float = form == SAMPLEFORMAT_IEEEFP, negative = form == SAMPLEFORMAT_INT;
  if (is_float && bits == 32)
    page.type = StoredType::f32;
  else if (is_float && bits == 64)
    page.type = StoredType::f64;
  else if (!is_float && bits == 8)
    page.type = negative ? StoredType::i8 : StoredType::u8;
  else if (!is_float && bits == 16)
    page.type = negative ? StoredType::i16 : StoredType::u16;
  else if (!is_float && bits == 32)
    page.type = negative ? StoredType::i32 : StoredType::u32;
  else
    refuse("of " + std::to_string(bits) + " bits (must be 8, 16, 32, or float of 32 or 64)");
  if (form != SAMPLEFORMAT_UINT && form != SAMPLEFORMAT_VOID && !is_float && !negative)
    refuse("of complex numbers");
  // A wrong size in the header must not allocate memory.
  const auto codec = tag<std::uint16_t>(file, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (count * size_of(page.type) / max_compression(codec) > file_bytes_)
    throw BadData("'" + path_ + "' is cut short (page " + std::to_string(page_) +
                  " has more samples than the file)");
  return page;
}

bool TiffReader::next() {
  if (TIFFLastDirectory(tiff_.get())) return false;
  ++page_;
  message_.clear();
  if (!TIFFReadDirectory(tiff_.get()))
    fail("is damaged or cut short at page " + std::to_string(page_));
  return true;
}

void TiffReader::rewind() {
  page_ = 0;
  message_.clear();
  if (!TIFFSetDirectory(tiff_.get(), 0)) fail("is damaged");
}

void TiffReader::read(const TiffPage& page, std::vector<std::byte>& samples, bool check) {
  const std::string damaged = "is damaged or cut short at page " + std::to_string(page_);
  if (check)
    if (const auto fault = find_damaged_strip(tiff_.get(), message_)) {
      message_ = fault->text;
      fail(damaged);
    }
  message_.clear();
  samples.resize(static_cast<std::size_t>(page.width) * page.height * size_of(page.type));
  if (TIFFIsTiled(tiff_.get()))
    read_tiles(page, samples);
  else
    read_strips(page, samples);
  if (!message_.empty()) fail(damaged);
}

void TiffReader::read_strips(const TiffPage& page, std::vector<std::byte>& samples) {
  const auto rows = std::min<std::uint32_t>(
      tag<std::uint32_t>(tiff_.get(), TIFFTAG_ROWSPERSTRIP, page.height), page.height);
  const std::size_t strip_bytes =
      static_cast<std::size_t>(page.width) * size_of(page.type) * std::max<std::uint32_t>(rows, 1);
  std::uint32_t strip = 0;
  for (std::size_t at = 0; at < samples.size(); at += strip_bytes, ++strip) {
    const auto bytes = static_cast<tmsize_t>(std::min(strip_bytes, samples.size() - at));
    if (TIFFReadEncodedStrip(tiff_.get(), strip, &samples[at], bytes) != bytes)
      fail("is damaged or cut short at page " + std::to_string(page_));
  }
}

void TiffReader::read_tiles(const TiffPage& page, std::vector<std::byte>& samples) {
  const auto width = tag<std::uint32_t>(tiff_.get(), TIFFTAG_TILEWIDTH, 0);
  const auto height = tag<std::uint32_t>(tiff_.get(), TIFFTAG_TILELENGTH, 0);
  const std::uint64_t bytes = TIFFTileSize64(tiff_.get());
  const std::size_t sample = size_of(page.type), row = page.width * sample;
  if (width == 0 || height == 0 || bytes != std::uint64_t{width} * height * sample ||
      bytes > samples.size() * 64 + (1 << 22))
    fail("has a page of tiles of " + std::to_string(width) + "x" + std::to_string(height));
  std::vector<std::byte> tile(bytes);
  for (std::uint64_t y = 0; y < static_cast<std::uint64_t>(page.height); y += height)
    for (std::uint64_t x = 0; x < static_cast<std::uint64_t>(page.width); x += width) {
      const std::uint32_t number = TIFFComputeTile(tiff_.get(), static_cast<std::uint32_t>(x),
                                                   static_cast<std::uint32_t>(y), 0, 0);
      const auto whole = static_cast<tmsize_t>(bytes);
      if (TIFFReadEncodedTile(tiff_.get(), number, tile.data(), whole) != whole)
        fail("is damaged or cut short at page " + std::to_string(page_));
      const std::size_t part = std::min<std::size_t>(width, page.width - x) * sample;
      for (std::uint64_t v = 0; v < height && y + v < static_cast<std::uint64_t>(page.height); ++v)
        std::copy_n(&tile[v * width * sample], part, &samples[(y + v) * row + x * sample]);
    }
}

/// libtiff's position in the output. libtiff's own functions for descriptors do not keep the reason
/// of a failure.
struct TiffWriter::OutputPosition {
  int descriptor;
  std::int64_t at = 0;
  int error = 0;

  static OutputPosition& of(thandle_t self) { return *static_cast<OutputPosition*>(self); }

  static tmsize_t read(thandle_t self, void* to, tmsize_t count) {
    const ssize_t got = ::pread(of(self).descriptor, to, count, of(self).at);
    if (got > 0) of(self).at += got;
    return got;
  }
  static tmsize_t write(thandle_t self, void* from, tmsize_t count) {
    tmsize_t done = 0;
    while (done < count) {
      const ssize_t written = ::pwrite(of(self).descriptor, static_cast<char*>(from) + done,
                                       count - done, of(self).at + done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        if (!of(self).error) of(self).error = written < 0 ? errno : EIO;
        break;
      }
      done += written;
    }
    of(self).at += done;
    return done;
  }
  static toff_t seek(thandle_t self, toff_t offset, int whence) {
    const auto by = static_cast<std::int64_t>(offset);
    of(self).at = whence == SEEK_SET   ? by
                  : whence == SEEK_CUR ? of(self).at + by
                                       : static_cast<std::int64_t>(size(self)) + by;
    return of(self).at;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t self) {
    const off_t end = ::lseek(of(self).descriptor, 0, SEEK_END);
    return end < 0 ? 0 : end;
  }
};

void TiffWriter::Close::operator()(TIFF* file) const noexcept { TIFFClose(file); }

TiffWriter::TiffWriter(OutputFile& file, bool big_endian, bool big_tiff)
    : name_(file.temporary()), position_(new OutputPosition{file.descriptor()}) {
  const std::string mode = std::string("w") + (big_endian ? "b" : "l") + (big_tiff ? "8" : "4");
  tiff_.reset(TIFFClientOpenExt(name_.c_str(), mode.c_str(), position_.get(), OutputPosition::read,
                                OutputPosition::write, OutputPosition::seek, OutputPosition::close,
                                OutputPosition::size, nullptr, nullptr,
                                tiff_options(message_, 0).get()));
  if (!tiff_) fail();
}

TiffWriter::~TiffWriter() = default;

void TiffWriter::fail() const {
  throw IoError("cannot write '" + name_ + "' (" +
                (position_->error ? std::strerror(position_->error) : message_) + ")");
}

void TiffWriter::write(const TiffPage& page, std::vector<std::byte>& samples) {
  if (TIFFIsTiled(tiff_.get()))
    write_tiles(page, samples);
  else
    write_strips(page, samples);
  if (!TIFFWriteDirectory(tiff_.get()) || position_->error) fail();
}

void TiffWriter::write_strips(const TiffPage& page, std::vector<std::byte>& samples) {
  const auto rows = tag<std::uint32_t>(tiff_.get(), TIFFTAG_ROWSPERSTRIP, page.height);
  const std::size_t strip_bytes = static_cast<std::size_t>(page.width) * size_of(page.type) * rows;
  std::uint32_t strip = 0;
  for (std::size_t at = 0; at < samples.size(); at += strip_bytes, ++strip) {
    const auto bytes = static_cast<tmsize_t>(std::min(strip_bytes, samples.size() - at));
    if (TIFFWriteEncodedStrip(tiff_.get(), strip, &samples[at], bytes) != bytes) fail();
  }
}

void TiffWriter::write_tiles(const TiffPage& page, const std::vector<std::byte>& samples) {
  const auto width = tag<std::uint32_t>(tiff_.get(), TIFFTAG_TILEWIDTH, 0);
  const auto height = tag<std::uint32_t>(tiff_.get(), TIFFTAG_TILELENGTH, 0);
  const std::size_t sample = size_of(page.type), row = page.width * sample;
  std::vector<std::byte> tile;
  std::uint32_t number = 0;
  for (std::uint64_t y = 0; y < static_cast<std::uint64_t>(page.height); y += height)
    for (std::uint64_t x = 0; x < static_cast<std::uint64_t>(page.width); x += width, ++number) {
      tile.assign(std::size_t{width} * height * sample, std::byte{0});
      const std::size_t part = std::min<std::size_t>(width, page.width - x) * sample;
      for (std::uint64_t v = 0; v < height && y + v < static_cast<std::uint64_t>(page.height); ++v)
        std::copy_n(&samples[(y + v) * row + x * sample], part, &tile[v * width * sample]);
      const auto whole = static_cast<tmsize_t>(tile.size());
      if (TIFFWriteEncodedTile(tiff_.get(), number, tile.data(), whole) != whole) fail();
    }
}

void TiffWriter::close() {
  if (!TIFFFlush(tiff_.get())) fail();
  tiff_.reset();
  if (position_->error || !message_.empty()) fail();
}

}  // namespace lull::io
