#pragma once
// Reads and writes the chunks of an image plane by plane.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/files/output_folder.h"
#include "io/files/scratch_file.h"
#include "io/zarr/zarr_chunks.h"
#include "io/zarr/zarr_image.h"

namespace lull::io {

/// Position of a plane in an image.
struct PlaneIndex {
  std::int64_t time = 0, channel = 0, z = 0;
};

/// Index of a chunk along each axis of ZarrAxis.
using ChunkIndex = std::array<std::int64_t, zarr_axes>;

/// Maximum memory of a ZarrPlaneReader or a ZarrPlaneWriter, in bytes.
[[nodiscard]] std::uint64_t memory_to_read(const ZarrLevel& level);
[[nodiscard]] std::uint64_t memory_to_write(const ZarrLevel& level);

/// Reads planes, and caches the planes of the most recent chunks of one channel and time point.
/// Sequential reads decompress each chunk only once for each channel and time point.
class ZarrPlaneReader {
 public:
  explicit ZarrPlaneReader(const ZarrLevel& level);

  /// Reads a plane. `samples` receives rows without padding, in native byte order.
  /// @throws BadData  a chunk is damaged or truncated
  /// @throws NoInput, IoError
  void read(const PlaneIndex& plane, std::vector<std::byte>& samples);
  /// Returns whether the reader has found at least one chunk in the store.
  bool has_found_chunks() const { return has_found_chunks_; }

 private:
  void load(const PlaneIndex& plane);
  void load_chunk(const ChunkIndex& chunk, const PlaneIndex& plane);

  ZarrLevel level_;
  StoredChunks chunks_;
  std::int64_t depth_;  // number of planes in `planes_`
  std::vector<std::byte> planes_;
  std::optional<PlaneIndex> loaded_;  // position of the first plane in `planes_`
  bool has_found_chunks_ = false;
};

/// Writes the chunks of an array. The caller must write the metadata of the array.
class ZarrPlaneWriter {
 public:
  /// @param level  the array, whose folder is in `output`
  /// @param input  the input's array, with equal shape and chunks; may be null. The writer omits a
  ///     chunk if `input` lacks the chunk and all samples of the chunk have the fill value.
  /// @param scratch  folder for a temporary file, used only if chunks contain several channels or
  ///     time points
  ZarrPlaneWriter(OutputFolder& output, ZarrLevel level, const ZarrArray* input,
                  const std::string& scratch);

  /// Writes the next plane, in native byte order. The caller must write the planes in the order
  /// channel, time, z (z fastest).
  /// @throws IoError
  void write(std::span<const std::byte> plane);
  /// Writes all remaining chunks. The caller must have written all planes.
  void finish();

 private:
  void write_slab();
  void write_blocks();
  void write_row_of_chunks(const ChunkIndex& first, std::span<const std::byte> rows,
                           std::size_t plane_step);
  void write_chunk(const ChunkIndex& chunk, std::span<const std::byte> rows,
                   std::size_t plane_step);

  void write_pending(std::size_t most);

  /// A chunk that another thread compresses.
  struct PendingChunk {
    std::vector<std::int64_t> index;  // one number for each dimension
    std::future<std::vector<std::byte>> content;
  };

  ZarrLevel level_;
  ChunkFiles files_;
  std::optional<StoredChunks> input_;
  std::deque<PendingChunk> pending_;  // in the order in which the chunks are written
  std::int64_t written_ = 0;          // number of planes
  std::vector<std::byte> planes_;     // planes of chunks that are not written yet
  /// Buffer of all planes, for chunks with several channels or time points.
  std::optional<ScratchFile> scratch_;
};

}  // namespace lull::io
