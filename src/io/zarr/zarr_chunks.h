#pragma once
// Files with the compressed chunks of an array: single chunks, or shards with several chunks and an
// index of their positions. Source: zarr-specs.readthedocs.io, "Sharding codec (version 1.0)".

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/files/output_folder.h"
#include "io/files/regular_file.h"
#include "io/zarr/zarr_array.h"

namespace lull::io {

/// Byte offset and size of a compressed chunk in its shard.
struct ShardEntry {
  /// Value of `offset` and `bytes` for a chunk that the shard does not contain.
  static constexpr std::uint64_t missing = UINT64_MAX;
  std::uint64_t offset = missing, bytes = missing;
  bool is_missing() const { return offset == missing && bytes == missing; }
};

/// Index of a chunk, with one number for each dimension.
using ArrayIndex = std::span<const std::int64_t>;

/// Reads compressed chunks. The index of the most recent shard remains in memory.
class StoredChunks {
 public:
  explicit StoredChunks(ZarrArray array) : array_(std::move(array)) {}

  /// Reads a compressed chunk; nullopt if the store does not contain the chunk.
  /// @throws BadData  the chunk exceeds the maximum size that encoders write, or the index of its
  ///     shard is damaged or truncated
  /// @throws NoInput, IoError
  [[nodiscard]] std::optional<std::vector<std::byte>> read(ArrayIndex chunk);
  /// Returns whether the store contains a chunk.
  /// @throws BadData, NoInput, IoError  like read()
  [[nodiscard]] bool has(ArrayIndex chunk);

 private:
  struct Shard {
    std::string path;
    std::optional<RegularFile> file;  // no file: the store does not contain the shard
    std::vector<ShardEntry> entries;
  };

  Shard& shard_of(ArrayIndex chunk);
  std::vector<ShardEntry> read_entries(RegularFile& file, const std::string& path) const;

  ZarrArray array_;
  std::optional<Shard> shard_;
};

/// Writes compressed chunks. The class writes the chunks of a shard in the order of the calls of
/// write(), and finally the index of the shard.
class ChunkFiles {
 public:
  ChunkFiles(OutputFolder& output, ZarrArray array) : output_(output), array_(std::move(array)) {}

  /// Writes a compressed chunk. The caller must call either write() or omit() once for each chunk.
  /// @throws IoError
  void write(ArrayIndex chunk, std::span<const std::byte> bytes);
  /// Marks a chunk as missing in the index of its shard. Does nothing if the array has no shards.
  /// @throws IoError
  void omit(ArrayIndex chunk);
  /// Throws an error if a shard is incomplete.
  void finish() const;

 private:
  struct Shard {
    std::vector<ShardEntry> entries;
    std::uint64_t end = 0;  // position of the next chunk in the file
    std::int64_t left = 0;  // number of chunks that are neither written nor omitted
  };

  Shard new_shard(ArrayIndex chunk) const;
  void add(ArrayIndex chunk, std::optional<std::span<const std::byte>> bytes);
  void write_entries(const std::string& path, const Shard& shard);

  OutputFolder& output_;
  ZarrArray array_;
  std::map<std::string, Shard> shards_;  // incomplete shards by their paths
};

}  // namespace lull::io
