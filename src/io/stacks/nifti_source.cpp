#include "io/stacks/nifti_source.h"

#include <algorithm>
#include <filesystem>

#include "io/dicom/dicom.h"
#include "io/ffmpeg/side_data.h"

namespace lull::io {
namespace {

/// Maximum size in bytes of the header and its extensions. Typical extensions have a few kilobytes.
constexpr std::uint64_t max_head_bytes = std::uint64_t{1} << 28;
constexpr std::size_t piece_bytes = 1 << 20;  // a multiple of every sample size

/// Copies `count` samples of `bytes` bytes from `from` to contiguous memory at `to`. Two successive
/// samples at `from` are `step` samples apart.
void gather(const std::byte* from, std::int64_t step, int count, int bytes, std::byte* to) {
  if (step == 1) {
    std::copy_n(from, static_cast<std::size_t>(count) * bytes, to);
    return;
  }
  for (int i = 0; i < count; ++i, from += step * bytes, to += bytes) std::copy_n(from, bytes, to);
}

std::optional<ForeignVolume> read_foreign(const std::string& path, const SourceOptions& options) {
  if (is_dicom(path)) return read_dicom(path, options.series_uid);
  return read_foreign_volume(path);
}

std::unique_ptr<SampleBytes> open_samples(const std::string& path, const ForeignVolume* foreign) {
  if (!foreign) return std::make_unique<GzipReader>(path);
  if (foreign->open_samples) return foreign->open_samples();
  return std::make_unique<GzipReader>(foreign->data_path, foreign->start);
}

}  // namespace

SliceGrid::SliceGrid(const std::array<std::int64_t, 3>& size, Axis axis)
    : axis(axis),
      width(static_cast<int>(axis == Axis::x ? size[1] : size[0])),
      height(static_cast<int>(axis == Axis::z ? size[1] : size[2])),
      slices_of_volume(size[axis == Axis::x   ? 0
                            : axis == Axis::y ? 1
                                              : 2]) {
  const std::int64_t row = size[0], plane = size[0] * size[1];
  slices_of_block = axis == Axis::z ? 1 : slices_of_volume;
  step_x = axis == Axis::x ? row : 1;
  step_y = axis == Axis::z ? row : plane;
  step_slice = axis == Axis::x ? 1 : axis == Axis::y ? row : plane;
}

NiftiSource::NiftiSource(const std::string& path, const SourceOptions& options)
    : input_{.path = path, .foreign = read_foreign(path, options)},
      max_memory_(options.limits.memory),
      file_(open_samples(path, foreign())) {
  read_head();
  const Axis axis = options.axis.value_or(Axis::z);
  const auto& size = input_.header.size;
  const std::uint64_t slice = input_.header.volume_samples() / size[axis == Axis::x   ? 0
                                                                    : axis == Axis::y ? 1
                                                                                      : 2];
  if (const std::uint64_t most = max_samples(options.limits); slice > most)
    throw BadData("'" + path + "' has slices of " + std::to_string(slice) + " samples (more than " +
                  std::to_string(most) + "); allow it with --max-pixels");
  grid_.emplace(size, axis);
  slices_ = grid_->slices_of_volume * input_.header.volumes;
  check_slices(path, slices_, options.limits);
  check_memory(0);
  find_range();
  FrameFormat format;
  format.width = grid_->width;
  format.height = grid_->height;
  format.sample = SampleType::f32;
  format.bits = 32;
  pool_.emplace(format, options.memory);
  fill_info();
}

void NiftiSource::skip_head() {
  file_->skip(foreign() ? foreign()->skip : input_.header.data_offset);
}

std::vector<std::string> NiftiSource::files() const {
  if (foreign() && !foreign()->files.empty()) return foreign()->files;
  if (!foreign() || foreign()->data_path == path()) return {path()};
  return {path(), foreign()->data_path};
}

void NiftiSource::read_head() {
  if (input_.foreign) {
    input_.head = std::move(input_.foreign->head);
    input_.header = parse_nifti(input_.head, path());
    return skip_head();
  }
  input_.head.resize(nifti_head_bytes);
  input_.head.resize(file_->read_some(input_.head));
  if (input_.head.empty()) throw BadData("'" + path() + "' is empty");
  input_.header = parse_nifti(input_.head, path());
  if (input_.header.data_offset > max_head_bytes)
    throw BadData("'" + path() + "' states that its samples begin at byte " +
                  std::to_string(input_.header.data_offset) + " (at most " +
                  std::to_string(max_head_bytes) + " for header and extensions)");
  file_->rewind();
  // The function reads piece by piece, so that a wrong offset in the header cannot cause an
  // allocation larger than the file.
  input_.head.clear();
  while (input_.head.size() < input_.header.data_offset) {
    const std::size_t before = input_.head.size();
    input_.head.resize(std::min<std::uint64_t>(input_.header.data_offset, before + piece_bytes));
    file_->read(std::span(input_.head).subspan(before));
  }
}

// Throws an error if a block of slices exceeds the memory limit. The size in bytes cannot overflow,
// because parse_nifti() limits the number of samples.
void NiftiSource::check_memory(std::uint64_t additional_bytes) const {
  const std::uint64_t need =
      grid_->block_samples() * size_of(input_.header.samples.type) + additional_bytes;
  lull::io::check_memory(path(), static_cast<std::int64_t>(need), max_memory_,
                         grid_->slices_of_block > 1 ? "filter along z (--axis z), or " : "");
}

void NiftiSource::find_range() {
  const std::uint64_t samples = input_.header.total_samples();
  RangeFinder finder(input_.header.samples, samples);
  std::vector<std::byte> piece(piece_bytes);
  for (std::uint64_t left = samples * size_of(input_.header.samples.type); left > 0;) {
    const auto part = std::span(piece).first(std::min<std::uint64_t>(left, piece.size()));
    file_->read(part);
    finder.add(part);
    left -= part.size();
  }
  // The function reads the file to its end, because gzip's checksum follows the last sample.
  read_tail();
  while (file_->read_some(piece) > 0) continue;
  range_ = finder.range();
  minimum_ = finder.minimum();
  maximum_ = finder.maximum();
  file_->rewind();
  skip_head();
}

/// Reads the bytes after the samples of an MGH file: the scan parameters and the tags.
void NiftiSource::read_tail() {
  if (!foreign() || foreign()->format != "mgh") return;
  std::vector<std::byte>& tail = input_.tail;
  for (std::size_t got = piece_bytes; got == piece_bytes;) {
    const std::size_t before = tail.size();
    if (before > max_head_bytes)
      throw BadData("'" + path() + "' has more than " + std::to_string(max_head_bytes) +
                    " bytes after its samples; convert it first");
    tail.resize(before + piece_bytes);
    got = file_->read_some(std::span(tail).subspan(before));
    tail.resize(before + got);
  }
}

void NiftiSource::fill_info() {
  info_.codec = foreign() ? foreign()->format : "nifti" + std::to_string(input_.header.version);
  info_.container = !foreign()                           ? "nifti"
                    : foreign()->format == "nifti1 pair" ? "pair"
                    : foreign()->format == "analyze"     ? "pair"
                                                         : foreign()->format;
  info_.stack = true;
  info_.volume = true;
  info_.pixel_format = name_of(input_.header.samples.type);
  info_.frame_rate = {0, 1};
  info_.time_base = {1, 1};
  info_.frames_estimate = slices_;
  info_.slices = grid_->slices_of_volume;
  const auto& [x, y, z] = input_.header.spacing;
  info_.spacing = grid_->axis == Axis::x   ? std::array{y, z, x}
                  : grid_->axis == Axis::y ? std::array{x, z, y}
                                           : std::array{x, y, z};
  info_.values = {.low = range_.low,
                  .span = range_.span,
                  .full = white_of(input_.header.samples, range_),
                  .native = true};
}

void NiftiSource::read_block() {
  block_.resize(grid_->block_samples() * size_of(input_.header.samples.type));
  file_->read(block_);
}

std::optional<Frame> NiftiSource::read() {
  if (next_ == slices_) return std::nullopt;
  const std::int64_t in_block = next_ % grid_->slices_of_block;
  if (in_block == 0) read_block();
  const int bytes = size_of(input_.header.samples.type);
  auto side_data = std::make_shared<SideData>();
  side_data->stored.resize(static_cast<std::size_t>(grid_->width) * grid_->height * bytes);
  const std::size_t row_bytes = static_cast<std::size_t>(grid_->width) * bytes;
  Frame frame = pool_->acquire();
  const PlaneView<float> samples = frame.plane<float>(0);
  for (int y = 0; y < grid_->height; ++y) {
    const auto row = std::span(side_data->stored).subspan(y * row_bytes, row_bytes);
    gather(&block_[(in_block * grid_->step_slice + y * grid_->step_y) * bytes], grid_->step_x,
           grid_->width, bytes, row.data());
    load_stored(row, input_.header.samples, range_,
                {samples.row(y), static_cast<std::size_t>(samples.width)});
  }
  frame.side_data = std::move(side_data);
  frame.slice = static_cast<int>(next_ % grid_->slices_of_volume);
  frame.pts = next_++;
  frame.duration = 1;
  frame.time_base = info_.time_base;
  return frame;
}

void NiftiSource::values_of(const Frame& slice, std::vector<double>& values) const {
  load_values(slice.side_data->stored, input_.header.samples, values);
}

std::unique_ptr<MediaSource> open_nifti_source(const std::string& path,
                                               const SourceOptions& options) {
  return std::make_unique<NiftiSource>(path, options);
}

}  // namespace lull::io
