#include "io/tiff/tiff_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace lull::io {

/// The output file for libtiff's callbacks. The struct stores the error of the first failed write,
/// because libtiff itself discards this error.
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

TiffWriter::TiffWriter(int descriptor, const std::string& name, bool big_endian, bool big_tiff)
    : name_(name), format_{big_endian, big_tiff}, position_(new OutputPosition{descriptor}) {
  const std::string mode = std::string("w") + (big_endian ? "b" : "l") + (big_tiff ? "8" : "4");
  tiff_.reset(TIFFClientOpenExt(name_.c_str(), mode.c_str(), position_.get(), OutputPosition::read,
                                OutputPosition::write, OutputPosition::seek, OutputPosition::close,
                                OutputPosition::size, nullptr, nullptr,
                                tiff_options(message_, 0).get()));
  if (!tiff_) fail();
}

TiffWriter::~TiffWriter() = default;

int TiffWriter::descriptor() const { return position_->descriptor; }

void TiffWriter::fail() const {
  throw IoError("cannot write '" + name_ + "' (" +
                (position_->error ? std::strerror(position_->error) : message_) + ")");
}

void TiffWriter::write(const TiffLayout& layout,
                       const std::function<void(const TiffChunk<std::uint8_t>&)>& fill) {
  TIFF* const t = tiff_.get();
  const bool is_tiled = TIFFIsTiled(t) != 0;
  const auto side = [&](std::uint32_t tag) {
    return static_cast<int>(tiff_tag<std::uint32_t>(t, tag, 1));
  };
  const int width = is_tiled ? side(TIFFTAG_TILEWIDTH) : layout.width;
  const int height = is_tiled ? side(TIFFTAG_TILELENGTH) : side(TIFFTAG_ROWSPERSTRIP);
  const std::size_t row_bytes = layout.row_bytes(width);
  const int samples = layout.samples_of_chunk();
  std::vector<std::uint8_t> data;
  std::uint32_t number = 0;
  for (int sample = 0; sample < layout.samples(); sample += samples)
    for (int y = 0; y < layout.height; y += height)
      for (int x = 0; x < layout.width; x += width, ++number) {
        const int rows = std::min(height, layout.height - y);
        data.assign(row_bytes * (is_tiled ? height : rows), 0);
        fill({data.data(), row_bytes, x, y, std::min(width, layout.width - x), rows, sample,
              samples});
        const auto bytes = static_cast<tmsize_t>(data.size());
        const tmsize_t written = is_tiled ? TIFFWriteEncodedTile(t, number, data.data(), bytes)
                                          : TIFFWriteEncodedStrip(t, number, data.data(), bytes);
        if (written != bytes) fail();
      }
  if (!TIFFWriteDirectory(t) || position_->error) fail();
}

void TiffWriter::close() {
  if (!TIFFFlush(tiff_.get())) fail();
  tiff_.reset();
  if (position_->error || !message_.empty()) fail();
  const auto has_texts = [](const auto& texts) { return !texts.empty(); };
  if (std::ranges::any_of(repeated_texts_, has_texts))
    append_texts(position_->descriptor, format_, repeated_texts_);
}

// Files in the original TIFF format have at most 4 GiB. The limit `max_bytes` is lower, because the
// file also contains tags, and because codecs can enlarge incompressible data.
bool needs_big_tiff(const TiffLayout& layout, std::int64_t pages) {
  constexpr double max_bytes = 3.5e9;
  const double planes = layout.is_separate ? layout.samples() : 1;
  return static_cast<double>(layout.row_bytes(layout.width)) * planes * layout.height *
             static_cast<double>(pages) >
         max_bytes;
}

}  // namespace lull::io
