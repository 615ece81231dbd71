#include "io/stacks/tiff_source.h"

#include <algorithm>
#include <limits>

#include "io/ffmpeg/side_data.h"
#include "io/tiff/tiff_file.h"

namespace lull::io {

TiffSource::TiffSource(const std::string& path, const SourceOptions& options)
    : path_(path),
      max_samples_(lull::io::max_samples(options.limits)),
      file_(path, max_samples_),
      is_imagej_(described_pictures(file_.handle()) > 0),
      layout_(slice_layout(file_, is_imagej_)) {
  const std::uint64_t described = described_pictures(file_.handle());
  const std::string description =
      tiff_tag<const char*>(file_.handle(), TIFFTAG_IMAGEDESCRIPTION, "");
  find_pages();
  if (pages() == 1 && described > 1) {
    constexpr std::uint64_t maximum = std::numeric_limits<std::int32_t>::max();
    pages_ = static_cast<std::int64_t>(std::min(described, maximum));
    imagej_pages_.emplace(file_, layout_, pages_);
  }
  check_slices(path, pages(), options.limits);
  axes_ = read_axes({.path = path,
                     .description = description,
                     .pages = pages(),
                     .width = layout_.width,
                     .height = layout_.height});
  // Memory in bytes for a page as stored in the file and as decoded by libtiff.
  lull::io::check_memory(
      path, std::int64_t{2} * layout_.width * layout_.height * size_of(type_of(layout_)),
      options.limits.memory);
  FrameFormat format;
  format.width = layout_.width;
  format.height = layout_.height;
  if (type_of(layout_) != StoredType::u8 || layout_.bits != 8) {
    format.sample = SampleType::f32;
    format.bits = 32;
    find_ranges();
  }
  pool_.emplace(format, options.memory);
  fill_info();
}

void TiffSource::find_pages() {
  do {
    const TiffLayout layout = slice_layout(file_, is_imagej_);
    if (!is_same_kind(layout, layout_))
      throw BadData("'" + path_ + "' changes to " + describe_slice(layout) + " at page " +
                    std::to_string(directories_.size()) + " (from " + describe_slice(layout_) +
                    "); split it there");
    directories_.push_back(TIFFCurrentDirOffset(file_.handle()));
  } while (file_.next());
  pages_ = static_cast<std::int64_t>(directories_.size());
}

void TiffSource::read_frame(std::int64_t number, std::vector<std::byte>& stored, bool check) {
  const std::int64_t page = axes_.page_at(number);
  if (imagej_pages_) return imagej_pages_->read(page, stored);
  file_.go_to(directories_[static_cast<std::size_t>(page)], page);
  read_slice(file_, layout_, stored, check);
}

void TiffSource::find_ranges() {
  const std::int64_t pages_of_channel = axes_.frames_of_channel();
  const std::uint64_t samples =
      static_cast<std::uint64_t>(layout_.width) * layout_.height * pages_of_channel;
  std::vector<std::byte> stored;
  for (std::int64_t channel = 0; channel < axes_.channels; ++channel) {
    RangeFinder finder({.type = type_of(layout_)}, samples);
    for (std::int64_t i = 0; i < pages_of_channel; ++i) {
      read_frame(channel * pages_of_channel + i, stored, /*check=*/true);
      finder.add(stored);
    }
    ranges_.push_back(finder.range());
  }
}

void TiffSource::fill_info() {
  info_.codec = info_.container = "tiff";
  info_.stack = true;
  info_.pixel_format = name_of(type_of(layout_));
  info_.frame_rate = {0, 1};
  info_.time_base = {1, 1};
  info_.frames_estimate = pages();
  info_.over_time = axes_.is_over_time();
  info_.slices = info_.over_time ? axes_.times : axes_.slices;
  info_.channels = axes_.channels;
  if (axes_.is_described) info_.axes = describe(axes_);
  if (!axes_.warning.empty()) info_.notes.push_back(axes_.warning);
  info_.still = pages() == 1;
  if (format().sample != SampleType::f32) return;
  const ValueRange& range = ranges_.front();
  if (axes_.channels > 1) {
    for (const ValueRange& of_channel : ranges_)
      info_.channel_values.push_back(
          {.low = of_channel.low, .span = of_channel.span, .full = of_channel.span});
    info_.values = info_.channel_values.front();
    info_.axes += "; 255 on the scale of --sigma is the range of each channel";
    return;
  }
  // For unsigned integers of up to 16 bits, 255 on the scale of sigma stands for the maximum of the
  // integer type.
  const bool has_maximum = layout_.form == SAMPLEFORMAT_UINT && layout_.bits <= 16;
  const StoredFormat stored{.type = type_of(layout_)};
  info_.values = {.low = range.low,
                  .span = range.span,
                  .full = has_maximum ? (1 << layout_.bits) - 1 : white_of(stored, range),
                  .native = !has_maximum};
}

std::optional<Frame> TiffSource::read() {
  if (next_ == pages()) return std::nullopt;
  auto side_data = std::make_shared<SideData>();
  // find_ranges() has already checked the pages of sample types other than 8-bit integers.
  const bool is_byte = format().sample == SampleType::u8;
  read_frame(next_, side_data->stored, /*check=*/is_byte);
  Frame frame = pool_->acquire();
  const std::size_t row_bytes = static_cast<std::size_t>(layout_.width) * size_of(type_of(layout_));
  for (int y = 0; y < layout_.height; ++y) {
    const auto row = std::span(side_data->stored).subspan(y * row_bytes, row_bytes);
    if (is_byte)
      std::copy(row.begin(), row.end(), frame.planes[0].row(y));
    else
      load_stored(row, {.type = type_of(layout_)}, ranges_[channel_of_frame(next_)],
                  {frame.plane<float>(0).row(y), static_cast<std::size_t>(layout_.width)});
  }
  frame.side_data = std::move(side_data);
  frame.slice = static_cast<int>(next_ % info_.slices);
  frame.pts = next_++;
  frame.duration = 1;
  frame.time_base = info_.time_base;
  return frame;
}

void TiffSource::values_of(const Frame& slice, std::vector<double>& values) const {
  load_values(slice.side_data->stored, {.type = type_of(layout_)}, values);
}

std::unique_ptr<MediaSource> open_tiff_source(const std::string& path,
                                              const SourceOptions& options) {
  return std::make_unique<TiffSource>(path, options);
}

}  // namespace lull::io
