#include "io/stacks/plane_source.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "core/error.h"
#include "io/ffmpeg/side_data.h"
#include "io/zarr/zarr_name.h"

namespace lull::io {

void PlaneSource::set_planes(StackAxes axes, const PlaneFormat& format,
                             const SourceOptions& options, const std::string& container) {
  axes_ = std::move(axes);
  plane_format_ = format;
  check_slices(path_, pages(), options.limits);
  FrameFormat frames;
  frames.width = format.width;
  frames.height = format.height;
  if (format.type != StoredType::u8 || format.bits != 8) {
    frames.sample = SampleType::f32;
    frames.bits = 32;
    find_ranges();
  }
  pool_.emplace(frames, options.memory);
  fill_info(container);
}

void PlaneSource::find_ranges() {
  const std::int64_t planes = axes_.frames_of_channel();
  const std::uint64_t samples = static_cast<std::uint64_t>(plane_format_.width) *
                                static_cast<std::uint64_t>(plane_format_.height) *
                                static_cast<std::uint64_t>(planes);
  std::vector<std::byte> stored;
  for (std::int64_t channel = 0; channel < axes_.channels; ++channel) {
    RangeFinder finder({.type = plane_format_.type}, samples);
    for (std::int64_t i = 0; i < planes; ++i) {
      read_plane(channel * planes + i, stored, /*check=*/true);
      finder.add(stored);
    }
    ranges_.push_back(finder.range());
  }
}

void PlaneSource::fill_info(const std::string& container) {
  info_.codec = info_.container = container;
  info_.stack = true;
  info_.pixel_format = name_of(plane_format_.type);
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
  // For unsigned integers of up to 16 bits, the noise level 255 corresponds to the maximum of the
  // type.
  const StoredType type = plane_format_.type;
  const bool has_maximum = type == StoredType::u8 || type == StoredType::u16;
  info_.values = {
      .low = range.low,
      .span = range.span,
      .full = has_maximum ? (1 << plane_format_.bits) - 1 : white_of({.type = type}, range),
      .native = !has_maximum};
}

std::optional<Frame> PlaneSource::read() {
  if (next_ == pages()) return std::nullopt;
  auto side_data = std::make_shared<SideData>();
  // The function verifies checksums only for 8-bit samples. For other samples, find_ranges() has
  // already verified the checksums of all planes.
  const bool is_byte = format().sample == SampleType::u8;
  read_plane(next_, side_data->stored, /*check=*/is_byte);
  Frame frame = pool_->acquire();
  const std::size_t row_bytes = plane_format_.row_bytes();
  for (int y = 0; y < plane_format_.height; ++y) {
    const auto row = std::span(side_data->stored).subspan(y * row_bytes, row_bytes);
    if (is_byte)
      std::copy(row.begin(), row.end(), frame.planes[0].row(y));
    else
      load_stored(row, {.type = plane_format_.type},
                  ranges_[static_cast<std::size_t>(channel_of_frame(next_))],
                  {frame.plane<float>(0).row(y), static_cast<std::size_t>(plane_format_.width)});
  }
  frame.side_data = std::move(side_data);
  frame.slice = static_cast<int>(next_ % info_.slices);
  frame.pts = next_++;
  frame.duration = 1;
  frame.time_base = info_.time_base;
  return frame;
}

void PlaneSource::values_of(const Frame& slice, std::vector<double>& values) const {
  load_values(slice.side_data->stored, {.type = plane_format_.type}, values);
}

std::vector<std::string> losses_of_planes(const std::string& path, const MediaSource& source) {
  const auto* planes = dynamic_cast<const PlaneSource*>(&source);
  const bool becomes_zarr = is_zarr_name(path);
  if (!planes || becomes_zarr == (source.info().container == "zarr")) return {};
  const StoredType type = planes->plane_format().type;
  if (!becomes_zarr && (type == StoredType::u64 || type == StoredType::i64))
    throw InvalidArgument("'" + path + "' cannot hold samples of " + std::string(name_of(type)) +
                          " (TIFF readers do not know them); name it .zarr");
  std::vector<std::string> losses = planes->other_contents();
  if (!becomes_zarr)
    std::ranges::copy(losses_in_ome_xml(planes->facts()), std::back_inserter(losses));
  for (std::string& loss : losses)
    loss += becomes_zarr ? " (OME-Zarr has no field for it)" : " (TIFF has no field for it)";
  if (const std::string loss = planes->pyramid().loss; !becomes_zarr && !loss.empty())
    losses.push_back(loss);
  return losses;
}

PlaneResult::PlaneResult(const PlaneSource& source)
    : format_(source.plane_format()),
      frame_format_(source.format()),
      ranges_(source.ranges()),
      frames_of_channel_(source.axes().frames_of_channel()),
      pages_(source.pages()) {}

std::vector<std::byte>& PlaneResult::convert(const Frame& frame) {
  if (frame.format != frame_format_ || !frame.side_data || next_ == pages_)
    throw InternalError("the sink got a frame that is not a plane of the stack");
  const std::vector<std::byte>& stored = frame.side_data->stored;
  const auto channel = static_cast<std::size_t>(next_++ / frames_of_channel_);
  const StoredFormat format{.type = format_.type};
  const auto width = static_cast<std::size_t>(format_.width);
  const std::size_t row_bytes = format_.row_bytes();
  result_.resize(stored.size());
  for (int y = 0; y < format_.height; ++y) {
    const auto row = std::span(result_).subspan(y * row_bytes, row_bytes);
    if (frame_format_.sample == SampleType::u8)
      std::copy_n(frame.planes[0].row(y), row_bytes, row.begin());
    else
      store_filtered({frame.plane<float>(0).row(y), width},
                     std::span(stored).subspan(y * row_bytes, row_bytes), format, ranges_[channel],
                     format, row);
    zero_outside(frame, y, format, row);
  }
  return result_;
}

void PlaneResult::check_complete() const {
  if (next_ != pages_) throw InternalError("the stack was finished before its last plane");
}

}  // namespace lull::io
