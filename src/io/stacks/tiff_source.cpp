#include "io/stacks/tiff_source.h"

#include "io/ffmpeg/side_data.h"

namespace lull::io {
namespace {

std::string describe(const TiffPage& page) {
  return std::to_string(page.width) + "x" + std::to_string(page.height) + " " +
         std::string(name_of(page.type));
}

}  // namespace

TiffSource::TiffSource(const std::string& path, const SourceOptions& options)
    : path_(path),
      max_samples_(lull::io::max_samples(options.limits)),
      file_(path, max_samples_),
      page_(file_.page()) {
  const std::uint64_t described = described_pictures(file_.handle());
  count_pages();
  check_slices(path, pages_, options.limits);
  if (pages_ == 1 && described > 1)
    throw BadData("'" + path + "' has one page that stands for " + std::to_string(described) +
                  " (ImageJ's form beyond 4 GiB); save it as BigTIFF with a directory for each");
  // Memory for a page as stored in the file and as decoded by libtiff.
  lull::io::check_memory(path, std::int64_t{2} * page_.width * page_.height * size_of(page_.type),
                         options.limits.memory);
  FrameFormat format;
  format.width = page_.width;
  format.height = page_.height;
  if (page_.type != StoredType::u8) {
    format.sample = SampleType::f32;
    format.bits = 32;
    find_range();
  }
  file_.rewind();
  pool_.emplace(format, options.memory);
  fill_info();
}

void TiffSource::count_pages() {
  pages_ = 1;
  for (; file_.next(); ++pages_) {
    const TiffPage page = file_.page();
    if (page != page_)
      throw BadData("'" + path_ + "' changes to " + describe(page) + " at page " +
                    std::to_string(pages_) + " (from " + describe(page_) + "); split it there");
  }
}

void TiffSource::find_range() {
  const std::uint64_t samples = static_cast<std::uint64_t>(page_.width) * page_.height * pages_;
  RangeFinder finder({.type = page_.type}, samples);
  file_.rewind();
  std::vector<std::byte> stored;
  do {
    file_.read(page_, stored);
    finder.add(stored);
  } while (file_.next());
  range_ = finder.range();
}

void TiffSource::fill_info() {
  info_.codec = info_.container = "tiff";
  info_.stack = true;
  info_.pixel_format = name_of(page_.type);
  info_.frame_rate = {0, 1};
  info_.time_base = {1, 1};
  info_.frames_estimate = info_.slices = pages_;
  info_.still = pages_ == 1;
  // Unsigned integers of 8 and 16 bits use the scale of other pictures: 255 stands for the maximum.
  switch (page_.type) {
    case StoredType::u8:
      break;
    case StoredType::u16:
      info_.values = {.low = range_.low, .span = range_.span, .full = 65535};
      break;
    default:
      info_.values = {.low = range_.low,
                      .span = range_.span,
                      .full = white_of({.type = page_.type}, range_),
                      .native = true};
  }
}

std::optional<Frame> TiffSource::read() {
  if (next_ == pages_) return std::nullopt;
  if (next_ > 0 && !file_.next()) file_.fail("has fewer pages than before");
  auto side_data = std::make_shared<SideData>();
  // find_range() has already checked the pages of all other types.
  file_.read(page_, side_data->stored, /*check=*/page_.type == StoredType::u8);
  Frame frame = pool_->acquire();
  const std::size_t row_bytes = static_cast<std::size_t>(page_.width) * size_of(page_.type);
  for (int y = 0; y < page_.height; ++y) {
    const auto row = std::span(side_data->stored).subspan(y * row_bytes, row_bytes);
    if (page_.type == StoredType::u8)
      std::copy(row.begin(), row.end(), frame.planes[0].row(y));
    else
      load_stored(row, {.type = page_.type}, range_,
                  {frame.plane<float>(0).row(y), static_cast<std::size_t>(page_.width)});
  }
  frame.side_data = std::move(side_data);
  frame.slice = static_cast<int>(next_);
  frame.pts = next_++;
  frame.duration = 1;
  frame.time_base = info_.time_base;
  return frame;
}

void TiffSource::values_of(const Frame& slice, std::vector<double>& values) const {
  load_values(slice.side_data->stored, {.type = page_.type}, values);
}

std::unique_ptr<MediaSource> open_tiff_source(const std::string& path,
                                              const SourceOptions& options) {
  return std::make_unique<TiffSource>(path, options);
}

}  // namespace lull::io
