#include "io/zarr/zarr_planes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/error.h"
#include "io/files/regular_file.h"
#include "io/zarr/zarr_codec.h"

namespace lull::io {
namespace {

constexpr auto time_axis = static_cast<std::size_t>(ZarrAxis::time),
               channel_axis = static_cast<std::size_t>(ZarrAxis::channel),
               z_axis = static_cast<std::size_t>(ZarrAxis::z),
               y_axis = static_cast<std::size_t>(ZarrAxis::y),
               x_axis = static_cast<std::size_t>(ZarrAxis::x);

/// Returns the stride of a chunk along each axis, in samples.
std::array<std::int64_t, zarr_axes> steps_in_chunk(const ZarrLevel& level) {
  const ZarrArray& array = level.array;
  std::vector<std::int64_t> steps(array.shape.size());
  std::int64_t step = 1;
  for (auto at = array.order.rbegin(); at != array.order.rend(); ++at) {
    steps[static_cast<std::size_t>(*at)] = step;
    step *= array.chunk[static_cast<std::size_t>(*at)];
  }
  std::array<std::int64_t, zarr_axes> result{};
  for (std::size_t axis = 0; axis < zarr_axes; ++axis)
    if (level.dimension[axis] >= 0)
      result[axis] = steps[static_cast<std::size_t>(level.dimension[axis])];
  return result;
}

std::string path_of(const ZarrLevel& level, const ZarrArray& array, const ChunkIndex& chunk) {
  std::vector<std::int64_t> index(array.shape.size());
  for (std::size_t axis = 0; axis < zarr_axes; ++axis)
    if (level.dimension[axis] >= 0)
      index[static_cast<std::size_t>(level.dimension[axis])] = chunk[axis];
  return array.chunk_path(index);
}

/// Copies `count` samples of `Bytes` bytes, with distances of `from_step` and `to_step` bytes. If
/// `swapped` is true, the bytes of each sample are reversed.
template <int Bytes>
void copy_samples(const std::byte* from, std::int64_t from_step, std::byte* to,
                  std::int64_t to_step, std::int64_t count, bool swapped) {
  if (!swapped && from_step == Bytes && to_step == Bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * Bytes);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, from += from_step, to += to_step) {
    if (swapped)
      std::reverse_copy(from, from + Bytes, to);
    else
      std::memcpy(to, from, Bytes);
  }
}

void copy_samples(int bytes, const std::byte* from, std::int64_t from_step, std::byte* to,
                  std::int64_t to_step, std::int64_t count, bool swapped) {
  switch (bytes) {
    case 1:
      return copy_samples<1>(from, from_step, to, to_step, count, swapped);
    case 2:
      return copy_samples<2>(from, from_step, to, to_step, count, swapped);
    case 4:
      return copy_samples<4>(from, from_step, to, to_step, count, swapped);
    default:
      return copy_samples<8>(from, from_step, to, to_step, count, swapped);
  }
}

/// Reads the file of a chunk; nullopt if it does not exist. A file of more than `max_bytes` bytes,
/// which no encoder writes, is rejected before it is read.
std::optional<std::vector<std::byte>> read_chunk_file(const std::string& path,
                                                      std::size_t max_bytes) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return std::nullopt;
  RegularFile file(path);
  const auto size = static_cast<std::size_t>(file.size());
  if (size > max_bytes)
    throw BadData("'" + path + "' is too large for a chunk (" + std::to_string(size) +
                  " bytes); copy the store again");
  std::vector<std::byte> bytes(size);
  bytes.resize(file.read(bytes.data(), bytes.size()));
  return bytes;
}

/// Returns an upper bound for the size of a compressed chunk.
std::size_t max_stored_bytes(std::size_t chunk_bytes) {
  return chunk_bytes + chunk_bytes / 8 + (std::size_t{1} << 16);
}

std::uint64_t bytes_of_planes(const ZarrLevel& level, std::int64_t planes) {
  return static_cast<std::uint64_t>(planes) * level.plane_bytes();
}

/// Size of a chunk in planes, along time, channel and z.
struct Block {
  std::int64_t times, channels, slices;
  std::int64_t planes() const { return times * channels * slices; }
  bool has_one_volume() const { return times == 1 && channels == 1; }
};

Block block_of(const ZarrLevel& level) {
  const auto extent = [&](std::size_t axis) {
    return std::min(level.chunk[axis], level.size[axis]);
  };
  return {.times = extent(time_axis), .channels = extent(channel_axis), .slices = extent(z_axis)};
}

/// Returns the number of chunks that are compressed at the same time.
std::size_t chunks_at_once(const ZarrLevel& level) {
  constexpr std::size_t max_chunks = 8, max_bytes = std::size_t{1} << 26;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(max_bytes / level.array.chunk_bytes(), 1,
                                 std::min(cores, max_chunks));
}

}  // namespace

std::uint64_t memory_to_read(const ZarrLevel& level) {
  return bytes_of_planes(level, block_of(level).slices) + 2 * level.array.chunk_bytes();
}

std::uint64_t memory_to_write(const ZarrLevel& level) {
  const Block block = block_of(level);
  std::uint64_t kept = bytes_of_planes(level, block.planes());
  if (!block.has_one_volume()) {  // the planes are on the disk, except the rows of some chunks
    const auto rows = static_cast<std::uint64_t>(std::min(level.chunk[y_axis], level.size[y_axis]));
    kept = kept / static_cast<std::uint64_t>(level.size[y_axis]) * rows;
  }
  return kept + 2 * chunks_at_once(level) * level.array.chunk_bytes();
}

ZarrPlaneReader::ZarrPlaneReader(const ZarrLevel& level)
    : level_(level), depth_(std::min(level.chunk_of(ZarrAxis::z), level.size_of(ZarrAxis::z))) {}

void ZarrPlaneReader::read(const PlaneIndex& plane, std::vector<std::byte>& samples) {
  const bool is_loaded = loaded_ && loaded_->time == plane.time &&
                         loaded_->channel == plane.channel && plane.z >= loaded_->z &&
                         plane.z < loaded_->z + depth_;
  if (!is_loaded) load(plane);
  const std::size_t bytes = level_.plane_bytes();
  const auto first = planes_.begin() + static_cast<std::ptrdiff_t>(
                                           static_cast<std::size_t>(plane.z - loaded_->z) * bytes);
  samples.assign(first, first + static_cast<std::ptrdiff_t>(bytes));
}

void ZarrPlaneReader::load(const PlaneIndex& plane) {
  loaded_.reset();  // if an error follows, no plane is in memory
  const std::int64_t first_z = plane.z / level_.chunk[z_axis] * level_.chunk[z_axis];
  const PlaneIndex first{.time = plane.time, .channel = plane.channel, .z = first_z};
  planes_.resize(bytes_of_planes(level_, depth_));
  ChunkIndex chunk{plane.time / level_.chunk[time_axis], plane.channel / level_.chunk[channel_axis],
                   first_z / level_.chunk[z_axis]};
  for (chunk[y_axis] = 0; chunk[y_axis] * level_.chunk[y_axis] < level_.size[y_axis];
       ++chunk[y_axis])
    for (chunk[x_axis] = 0; chunk[x_axis] * level_.chunk[x_axis] < level_.size[x_axis];
         ++chunk[x_axis])
      load_chunk(chunk, first);
  loaded_ = first;
}

void ZarrPlaneReader::load_chunk(const ChunkIndex& chunk, const PlaneIndex& plane) {
  const ZarrArray& array = level_.array;
  const std::string path = path_of(level_, array, chunk);
  std::vector<std::byte> content;
  if (auto stored = read_chunk_file(path, max_stored_bytes(array.chunk_bytes()))) {
    has_found_chunks_ = true;
    content = decode_chunk(array.codec, *std::move(stored), array.chunk_bytes(), path);
  }
  const int bytes = size_of(array.samples.type);
  const auto steps = steps_in_chunk(level_);
  const std::int64_t y0 = chunk[y_axis] * level_.chunk[y_axis],
                     x0 = chunk[x_axis] * level_.chunk[x_axis];
  const std::int64_t slices = std::min(depth_, level_.size[z_axis] - plane.z),
                     height = std::min(level_.chunk[y_axis], level_.size[y_axis] - y0),
                     width = std::min(level_.chunk[x_axis], level_.size[x_axis] - x0);
  const std::int64_t inside = plane.time % level_.chunk[time_axis] * steps[time_axis] +
                              plane.channel % level_.chunk[channel_axis] * steps[channel_axis];
  for (std::int64_t z = 0; z < slices; ++z)
    for (std::int64_t y = 0; y < height; ++y) {
      std::byte* to =
          &planes_[bytes_of_planes(level_, z) +
                   static_cast<std::size_t>((y0 + y) * level_.size[x_axis] + x0) * bytes];
      const std::byte* from =
          content.empty()
              ? array.fill.data()
              : &content[static_cast<std::size_t>(inside + z * steps[z_axis] + y * steps[y_axis]) *
                         bytes];
      const std::int64_t step = content.empty() ? 0 : steps[x_axis] * bytes;
      copy_samples(bytes, from, step, to, bytes, width, array.samples.swapped);
    }
}

ZarrPlaneWriter::ZarrPlaneWriter(OutputFolder& output, ZarrLevel level, const ZarrArray* input,
                                 const std::string& scratch)
    : output_(output), level_(std::move(level)) {
  if (input) input_ = *input;
  if (!block_of(level_).has_one_volume()) scratch_.emplace(scratch);
}

void ZarrPlaneWriter::write(std::span<const std::byte> plane) {
  if (plane.size() != level_.plane_bytes()) throw InternalError("a plane has a wrong size");
  const std::int64_t z = written_++ % level_.size[z_axis];
  if (scratch_) return scratch_->write(plane.data(), plane.size());
  planes_.insert(planes_.end(), plane.begin(), plane.end());
  if ((z + 1) % level_.chunk[z_axis] == 0 || z + 1 == level_.size[z_axis]) write_slab();
}

/// Writes the chunks of the planes in memory: the most recent planes from write().
void ZarrPlaneWriter::write_slab() {
  const std::int64_t last = written_ - 1, volume = last / level_.size[z_axis];
  ChunkIndex chunk{};
  chunk[z_axis] = last % level_.size[z_axis] / level_.chunk[z_axis];
  // Along time and channel, the chunk or the array has only one plane.
  chunk[time_axis] = volume % level_.size[time_axis] / level_.chunk[time_axis];
  chunk[channel_axis] = volume / level_.size[time_axis] / level_.chunk[channel_axis];
  const std::size_t row = level_.plane_bytes() / static_cast<std::size_t>(level_.size[y_axis]);
  for (std::int64_t y = 0; y < level_.size[y_axis]; y += level_.chunk[y_axis], ++chunk[y_axis])
    write_row_of_chunks(chunk, std::span(planes_).subspan(static_cast<std::size_t>(y) * row),
                        level_.plane_bytes());
  planes_.clear();
}

void ZarrPlaneWriter::finish() {
  const std::int64_t all = level_.size[time_axis] * level_.size[channel_axis] * level_.size[z_axis];
  if (written_ != all) throw InternalError("the image was finished before its last plane");
  if (scratch_) write_blocks();
  write_pending(0);
}

/// Writes all chunks from the planes in the scratch file; chunks of the same rows are written
/// together.
void ZarrPlaneWriter::write_blocks() {
  const auto chunks_along = [&](std::size_t axis) {
    return (level_.size[axis] + level_.chunk[axis] - 1) / level_.chunk[axis];
  };
  const Block block = block_of(level_);
  const std::size_t row = level_.plane_bytes() / static_cast<std::size_t>(level_.size[y_axis]);
  ChunkIndex chunk{};
  for (chunk[time_axis] = 0; chunk[time_axis] < chunks_along(time_axis); ++chunk[time_axis])
    for (chunk[channel_axis] = 0; chunk[channel_axis] < chunks_along(channel_axis);
         ++chunk[channel_axis])
      for (chunk[z_axis] = 0; chunk[z_axis] < chunks_along(z_axis); ++chunk[z_axis])
        for (chunk[y_axis] = 0; chunk[y_axis] < chunks_along(y_axis); ++chunk[y_axis]) {
          const std::int64_t y = chunk[y_axis] * level_.chunk[y_axis];
          const std::size_t bytes = row * static_cast<std::size_t>(std::min(
                                              level_.chunk[y_axis], level_.size[y_axis] - y));
          planes_.resize(bytes * static_cast<std::size_t>(block.planes()));
          for (std::int64_t i = 0; i < block.planes(); ++i) {
            const std::int64_t time = chunk[time_axis] * level_.chunk[time_axis] +
                                      i / (block.channels * block.slices),
                               channel = chunk[channel_axis] * level_.chunk[channel_axis] +
                                         i / block.slices % block.channels,
                               z = chunk[z_axis] * level_.chunk[z_axis] + i % block.slices;
            if (time >= level_.size[time_axis] || channel >= level_.size[channel_axis] ||
                z >= level_.size[z_axis])
              continue;
            const std::int64_t plane =
                (channel * level_.size[time_axis] + time) * level_.size[z_axis] + z;
            scratch_->read_from(plane * static_cast<std::int64_t>(level_.plane_bytes()) +
                                    y * static_cast<std::int64_t>(row),
                                &planes_[static_cast<std::size_t>(i) * bytes], bytes);
          }
          write_row_of_chunks(chunk, planes_, bytes);
        }
}

/// Writes the chunks of one row. `rows` contains the rows of these chunks for each plane, in the
/// order time, channel, z (z fastest). The first rows of consecutive planes are `plane_step` bytes
/// apart.
void ZarrPlaneWriter::write_row_of_chunks(const ChunkIndex& first, std::span<const std::byte> rows,
                                          std::size_t plane_step) {
  const auto bytes = static_cast<std::size_t>(size_of(level_.array.samples.type));
  ChunkIndex chunk = first;
  for (std::int64_t x = 0; x < level_.size[x_axis]; x += level_.chunk[x_axis], ++chunk[x_axis])
    write_chunk(chunk, rows.subspan(static_cast<std::size_t>(x) * bytes), plane_step);
}

void ZarrPlaneWriter::write_chunk(const ChunkIndex& chunk, std::span<const std::byte> rows,
                                  std::size_t plane_step) {
  const ZarrArray& array = level_.array;
  const int bytes = size_of(array.samples.type);
  std::vector<std::byte> content(array.chunk_bytes());
  copy_samples(bytes, array.fill.data(), 0, content.data(), bytes,
               static_cast<std::int64_t>(content.size()) / bytes, false);
  const std::vector<std::byte> empty = input_ ? content : std::vector<std::byte>();
  const auto steps = steps_in_chunk(level_);
  const auto extent = [&](std::size_t axis) {
    return std::min(level_.chunk[axis], level_.size[axis] - chunk[axis] * level_.chunk[axis]);
  };
  const Block block = block_of(level_);
  for (std::int64_t t = 0; t < extent(time_axis); ++t)
    for (std::int64_t c = 0; c < extent(channel_axis); ++c)
      for (std::int64_t z = 0; z < extent(z_axis); ++z)
        for (std::int64_t y = 0; y < extent(y_axis); ++y) {
          const std::int64_t plane = (t * block.channels + c) * block.slices + z;
          const std::int64_t at = t * steps[time_axis] + c * steps[channel_axis] +
                                  z * steps[z_axis] + y * steps[y_axis];
          const std::byte* from = &rows[static_cast<std::size_t>(plane) * plane_step +
                                        static_cast<std::size_t>(y * level_.size[x_axis]) * bytes];
          copy_samples(bytes, from, bytes, &content[static_cast<std::size_t>(at) * bytes],
                       steps[x_axis] * bytes, extent(x_axis), array.samples.swapped);
        }
  std::error_code code;
  if (input_ && content == empty && !std::filesystem::exists(path_of(level_, *input_, chunk), code))
    return;
  // Small chunks are compressed in this thread when they are written.
  constexpr std::size_t min_bytes = 1 << 16;
  const auto policy = content.size() < min_bytes ? std::launch::deferred : std::launch::async;
  pending_.push_back({path_of(level_, array, chunk),
                      std::async(policy, [codec = array.codec, content = std::move(content),
                                          bytes] { return encode_chunk(codec, content, bytes); })});
  write_pending(chunks_at_once(level_) - 1);
}

/// Writes chunks until at most `most` are pending.
void ZarrPlaneWriter::write_pending(std::size_t most) {
  for (; pending_.size() > most; pending_.pop_front())
    output_.write(pending_.front().path, pending_.front().content.get());
}

}  // namespace lull::io
