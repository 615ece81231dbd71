#include "io/zarr/zarr_planes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <utility>

#include "core/error.h"
#include "io/zarr/zarr_codec.h"

namespace lull::io {
namespace {

constexpr auto time_axis = static_cast<std::size_t>(ZarrAxis::time),
               channel_axis = static_cast<std::size_t>(ZarrAxis::channel),
               z_axis = static_cast<std::size_t>(ZarrAxis::z),
               y_axis = static_cast<std::size_t>(ZarrAxis::y),
               x_axis = static_cast<std::size_t>(ZarrAxis::x);

/// Returns the stride of each axis in a chunk, in samples.
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

/// Converts a chunk index from the axes of an image to the dimensions of the array.
std::vector<std::int64_t> index_of(const ZarrLevel& level, const ChunkIndex& chunk) {
  std::vector<std::int64_t> index(level.array.shape.size());
  for (std::size_t axis = 0; axis < zarr_axes; ++axis)
    if (level.dimension[axis] >= 0)
      index[static_cast<std::size_t>(level.dimension[axis])] = chunk[axis];
  return index;
}

/// Copies `count` samples of `Bytes` bytes. The strides `from_step` and `to_step` are in bytes. If
/// `swapped` is true, the function swaps the byte order.
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

std::uint64_t bytes_of_planes(const ZarrLevel& level, std::int64_t planes) {
  return static_cast<std::uint64_t>(planes) * level.plane_bytes();
}

/// Number of planes of a chunk along time, channel and z.
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

/// Returns the number of chunks along an axis.
std::int64_t chunks_along(const ZarrLevel& level, std::size_t axis) {
  return (level.size[axis] + level.chunk[axis] - 1) / level.chunk[axis];
}

/// Returns the number of chunks in a shard along an axis; 1 if the array has no shards.
std::int64_t chunks_of_shard(const ZarrLevel& level, std::size_t axis) {
  const int dimension = level.dimension[axis];
  return level.array.shards && dimension >= 0
             ? level.array.shards->chunks[static_cast<std::size_t>(dimension)]
             : 1;
}

/// Returns the maximum total size in bytes of the indexes of incomplete shards.
std::uint64_t bytes_of_open_shards(const ZarrLevel& level) {
  if (!level.array.shards) return 0;
  const auto shards_along = [&](std::size_t axis) {
    const std::int64_t in_shard = chunks_of_shard(level, axis);
    return static_cast<std::uint64_t>((chunks_along(level, axis) + in_shard - 1) / in_shard);
  };
  std::uint64_t shards = shards_along(y_axis) * shards_along(x_axis);
  // The caller writes all slices of one volume before the next volume. If a shard contains several
  // channels or time points, it is complete only after several volumes, so all shards can be
  // incomplete at the same time.
  if (chunks_of_shard(level, channel_axis) > 1 || chunks_of_shard(level, time_axis) > 1)
    shards *= shards_along(time_axis) * shards_along(channel_axis) * shards_along(z_axis);
  return shards * level.array.shards->index_bytes();
}

/// Returns the number of chunks that threads compress at the same time.
std::size_t chunks_at_once(const ZarrLevel& level) {
  constexpr std::size_t max_chunks = 8, max_bytes = std::size_t{1} << 26;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(max_bytes / level.array.chunk_bytes(), 1,
                                 std::min(cores, max_chunks));
}

}  // namespace

std::uint64_t memory_to_read(const ZarrLevel& level) {
  const std::size_t index = level.array.shards ? level.array.shards->index_bytes() : 0;
  return bytes_of_planes(level, block_of(level).slices) + 2 * level.array.chunk_bytes() + 2 * index;
}

std::uint64_t memory_to_write(const ZarrLevel& level) {
  const Block block = block_of(level);
  std::uint64_t kept = bytes_of_planes(level, block.planes());
  if (!block.has_one_volume()) {  // the planes are on the disk, except the rows of some chunks
    const auto rows = static_cast<std::uint64_t>(std::min(level.chunk[y_axis], level.size[y_axis]));
    kept = kept / static_cast<std::uint64_t>(level.size[y_axis]) * rows;
  }
  return kept + 2 * chunks_at_once(level) * level.array.chunk_bytes() + bytes_of_open_shards(level);
}

ZarrPlaneReader::ZarrPlaneReader(const ZarrLevel& level)
    : level_(level),
      chunks_(level.array),
      depth_(std::min(level.chunk_of(ZarrAxis::z), level.size_of(ZarrAxis::z))) {}

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
  // The loops process a shard's chunks in sequence, so that the reader reads each shard index only
  // once.
  const std::int64_t rows = chunks_along(level_, y_axis), columns = chunks_along(level_, x_axis),
                     shard_rows = chunks_of_shard(level_, y_axis),
                     shard_columns = chunks_of_shard(level_, x_axis);
  for (std::int64_t y = 0; y < rows; y += shard_rows)
    for (std::int64_t x = 0; x < columns; x += shard_columns)
      for (chunk[y_axis] = y; chunk[y_axis] < std::min(rows, y + shard_rows); ++chunk[y_axis])
        for (chunk[x_axis] = x; chunk[x_axis] < std::min(columns, x + shard_columns);
             ++chunk[x_axis])
          load_chunk(chunk, first);
  loaded_ = first;
}

void ZarrPlaneReader::load_chunk(const ChunkIndex& chunk, const PlaneIndex& plane) {
  const ZarrArray& array = level_.array;
  const std::vector<std::int64_t> index = index_of(level_, chunk);
  std::vector<std::byte> content;
  if (auto stored = chunks_.read(index)) {
    has_found_chunks_ = true;
    content =
        decode_chunk(array.codec, *std::move(stored), array.chunk_bytes(), array.chunk_path(index));
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
    : level_(std::move(level)), files_(output, level_.array) {
  if (input) input_.emplace(*input);
  if (!block_of(level_).has_one_volume()) scratch_.emplace(scratch);
}

void ZarrPlaneWriter::write(std::span<const std::byte> plane) {
  if (plane.size() != level_.plane_bytes()) throw InternalError("a plane has a wrong size");
  const std::int64_t z = written_++ % level_.size[z_axis];
  if (scratch_) return scratch_->write(plane.data(), plane.size());
  planes_.insert(planes_.end(), plane.begin(), plane.end());
  if ((z + 1) % level_.chunk[z_axis] == 0 || z + 1 == level_.size[z_axis]) write_slab();
}

/// Writes the chunks that consist of the buffered planes.
void ZarrPlaneWriter::write_slab() {
  const std::int64_t last = written_ - 1, volume = last / level_.size[z_axis];
  ChunkIndex chunk{};
  chunk[z_axis] = last % level_.size[z_axis] / level_.chunk[z_axis];
  // Without a scratch file, each chunk contains only one time point and one channel. All buffered
  // planes therefore have the time point and the channel of the plane `last`.
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
  files_.finish();
}

/// Writes all chunks from the planes in the scratch file, one row of chunks at a time.
void ZarrPlaneWriter::write_blocks() {
  const auto count = [&](std::size_t axis) { return chunks_along(level_, axis); };
  const Block block = block_of(level_);
  const std::size_t row = level_.plane_bytes() / static_cast<std::size_t>(level_.size[y_axis]);
  ChunkIndex chunk{};
  for (chunk[time_axis] = 0; chunk[time_axis] < count(time_axis); ++chunk[time_axis])
    for (chunk[channel_axis] = 0; chunk[channel_axis] < count(channel_axis); ++chunk[channel_axis])
      for (chunk[z_axis] = 0; chunk[z_axis] < count(z_axis); ++chunk[z_axis])
        for (chunk[y_axis] = 0; chunk[y_axis] < count(y_axis); ++chunk[y_axis]) {
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

/// Writes the row of chunks that begins with the chunk `first`. `rows` contains the samples of this
/// row of chunks in the order time, channel, z (z fastest). Planes in `rows` begin `plane_step`
/// bytes apart.
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
  std::vector<std::int64_t> index = index_of(level_, chunk);
  if (input_ && content == empty && !input_->has(index)) return files_.omit(index);
  // Another thread compresses a chunk of at least `min_bytes` bytes. write_pending() compresses
  // smaller chunks in the calling thread.
  constexpr std::size_t min_bytes = 1 << 16;
  const auto policy = content.size() < min_bytes ? std::launch::deferred : std::launch::async;
  pending_.push_back(
      {std::move(index),
       std::async(policy, [codec = array.codec, bytes, content = std::move(content)]() mutable {
         return encode_chunk(codec, std::move(content), bytes);
       })});
  write_pending(chunks_at_once(level_) - 1);
}

/// Writes chunks to the store until at most `most` chunks are pending.
void ZarrPlaneWriter::write_pending(std::size_t most) {
  for (; pending_.size() > most; pending_.pop_front())
    files_.write(pending_.front().index, pending_.front().content.get());
}

}  // namespace lull::io
