#include "io/tiff/tiff_reader.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <vector>

#include "core/error.h"
#include "io/tiff/deflate_check.h"

namespace lull::io {

TiffReader::TiffReader(const std::string& path, std::uint64_t max_pixels)
    : path_(path), max_pixels_(max_pixels) {
  std::error_code code;
  file_bytes_ = std::filesystem::file_size(path, code);
  if (code) throw NoInput("cannot read '" + path + "' (" + code.message() + ")");
  tiff_ = open(message_);
  if (!tiff_) fail("is not a TIFF file");
  if (!message_.empty()) fail_damaged();
}

/// Opens the file. The mode "m" disables memory mapping, which would crash the process if the file
/// became shorter. libtiff may allocate at most 64 bytes per pixel of the largest allowed page,
/// twice the size of a pixel with 4 samples of 64 bits.
TiffPtr TiffReader::open(std::string& message) const {
  const auto max_bytes = static_cast<tmsize_t>(64 * max_pixels_);
  return TiffPtr(TIFFOpenExt(path_.c_str(), "rm", tiff_options(message, max_bytes).get()));
}

void TiffReader::fail(const std::string& what) const {
  throw BadData("'" + path_ + "' " + what + (message_.empty() ? "" : " (" + message_ + ")"));
}

void TiffReader::fail_damaged() const {
  fail("is damaged or cut short" + (page_ > 0 ? " at page " + std::to_string(page_) : ""));
}

void TiffReader::refuse(const std::string& what) const {
  throw BadData("'" + path_ + "' has " +
                (page_ > 0 ? "a page (number " + std::to_string(page_) + ") with " : "") + what +
                "; convert it first");
}

TiffLayout TiffReader::layout() const {
  const auto width = tiff_tag<std::uint32_t>(tiff_.get(), TIFFTAG_IMAGEWIDTH, 0);
  const auto height = tiff_tag<std::uint32_t>(tiff_.get(), TIFFTAG_IMAGELENGTH, 0);
  if (width == 0 || height == 0) refuse("no samples");
  if (width > 0x7fffffff || height > 0x7fffffff || std::uint64_t{width} * height > max_pixels_)
    throw BadData("'" + path_ + "' has a page of " + std::to_string(width) + "x" +
                  std::to_string(height) + " pixels (more than " + std::to_string(max_pixels_) +
                  "); allow it with --max-pixels");
  std::string refusal;
  const TiffLayout layout = layout_of(tiff_.get(), refusal);
  if (!refusal.empty()) refuse(refusal);
  // A wrong size in the header must not cause a large allocation. The function therefore checks
  // that the file is large enough for the samples of the page.
  message_ = find_excess(tiff_.get(), layout, file_bytes_);
  if (!message_.empty()) fail_damaged();
  return layout;
}

bool TiffReader::next() {
  if (TIFFLastDirectory(tiff_.get())) return false;
  ++page_;
  message_.clear();
  if (!TIFFReadDirectory(tiff_.get()) || !message_.empty()) fail_damaged();
  return true;
}

bool TiffReader::next_picture() {
  constexpr std::uint32_t secondary = FILETYPE_REDUCEDIMAGE | FILETYPE_MASK;
  while (next())
    if (!(tiff_tag<std::uint32_t>(tiff_.get(), TIFFTAG_SUBFILETYPE, 0) & secondary)) return true;
  return false;
}

void TiffReader::go_to(std::uint64_t directory, std::int64_t page) {
  page_ = page;
  message_.clear();
  if (!TIFFSetSubDirectory(tiff_.get(), directory)) fail_damaged();
}

void TiffReader::read(const TiffLayout& layout, const Use& use, bool check) {
  message_.clear();
  std::future<std::string> fault;
  const std::uint64_t directory = TIFFCurrentDirOffset(tiff_.get());
  if (check && is_deflate(tiff_tag<std::uint16_t>(tiff_.get(), TIFFTAG_COMPRESSION, 1)))
    fault = std::async(std::launch::async, [=, this] { return find_wrong_checksum(directory); });
  const auto report_fault = [&] {
    if (const std::string text = fault.valid() ? fault.get() : ""; !text.empty()) {
      message_ = text;
      fail_damaged();
    }
  };
  try {
    layout.is_converted ? read_converted(layout, use) : read_chunks(layout, use);
  } catch (const BadData&) {
    report_fault();  // more precise than libtiff's message
    throw;
  }
  report_fault();
}

std::string TiffReader::find_wrong_checksum(std::uint64_t directory) {
  checker_message_.clear();
  if (!checker_) checker_ = open(checker_message_);
  if (!checker_ || !TIFFSetSubDirectory(checker_.get(), directory)) return checker_message_;
  return find_deflate_fault(checker_.get(), checker_message_);
}

void TiffReader::read_chunks(const TiffLayout& layout, const Use& use) {
  TIFF* const t = tiff_.get();
  const bool is_tiled = TIFFIsTiled(t) != 0;
  const auto all = static_cast<std::uint32_t>(layout.height);
  const auto side = [&](std::uint32_t tag, std::uint32_t fallback) {
    return static_cast<int>(std::min<std::uint32_t>(tiff_tag(t, tag, fallback), 0x7fffffff));
  };
  const int width = is_tiled ? side(TIFFTAG_TILEWIDTH, 0) : layout.width;
  const int height = is_tiled ? side(TIFFTAG_TILELENGTH, 0)
                              : std::clamp(side(TIFFTAG_ROWSPERSTRIP, all), 1, layout.height);
  const std::uint64_t row_bytes = is_tiled ? TIFFTileRowSize64(t) : TIFFScanlineSize64(t);
  if (width < 1 || height < 1 || row_bytes != layout.row_bytes(width)) fail_damaged();
  std::vector<std::uint8_t> data(row_bytes * height);
  std::uint32_t number = 0;
  const int samples = layout.samples_of_chunk();
  for (int sample = 0; sample < layout.samples(); sample += samples)
    for (std::int64_t y = 0; y < layout.height; y += height)
      for (std::int64_t x = 0; x < layout.width; x += width, ++number) {
        const auto rows = static_cast<int>(std::min<std::int64_t>(height, layout.height - y));
        const auto columns = static_cast<int>(std::min<std::int64_t>(width, layout.width - x));
        const auto bytes = static_cast<tmsize_t>(row_bytes * (is_tiled ? height : rows));
        const tmsize_t got = is_tiled ? TIFFReadEncodedTile(t, number, data.data(), bytes)
                                      : TIFFReadEncodedStrip(t, number, data.data(), bytes);
        if (got != bytes || !message_.empty()) fail_damaged();
        use({data.data(), row_bytes, static_cast<int>(x), static_cast<int>(y), columns, rows,
             sample, samples});
      }
}

/// Reads the rows of a page whose samples libtiff converts to RGB.
void TiffReader::read_converted(const TiffLayout& layout, const Use& use) {
  struct EndImage {
    void operator()(TIFFRGBAImage* image) const noexcept { TIFFRGBAImageEnd(image); }
  };
  char text[1024] = "";
  TIFFRGBAImage image;
  if (!TIFFRGBAImageBegin(&image, tiff_.get(), /*stop=*/1, text)) {
    message_ = text;
    fail("has samples that libtiff does not convert");
  }
  const std::unique_ptr<TIFFRGBAImage, EndImage> owner(&image);
  image.req_orientation = image.orientation;  // rows and columns as stored
  constexpr int rows_at_once = 256;           // a multiple of all subsampling factors
  const int all = TIFFIsTiled(tiff_.get())
                      ? rows_at_once
                      : static_cast<int>(std::clamp<std::uint32_t>(
                            tiff_tag<std::uint32_t>(tiff_.get(), TIFFTAG_ROWSPERSTRIP, 1), 1,
                            static_cast<std::uint32_t>(layout.height)));
  std::vector<std::uint32_t> raster(static_cast<std::size_t>(layout.width) * all);
  std::vector<std::uint8_t> data(raster.size() * 3);
  for (int y = 0; y < layout.height; y += all) {
    const int rows = std::min(all, layout.height - y);
    image.row_offset = y;
    if (!TIFFRGBAImageGet(&image, raster.data(), static_cast<std::uint32_t>(layout.width),
                          static_cast<std::uint32_t>(rows)) ||
        !message_.empty())
      fail_damaged();
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows) * layout.width; ++i) {
      data[3 * i] = TIFFGetR(raster[i]);
      data[3 * i + 1] = TIFFGetG(raster[i]);
      data[3 * i + 2] = TIFFGetB(raster[i]);
    }
    use({data.data(), static_cast<std::size_t>(layout.width) * 3, 0, y, layout.width, rows, 0, 3});
  }
}

}  // namespace lull::io
