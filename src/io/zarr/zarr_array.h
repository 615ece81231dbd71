#pragma once
// The metadata of a Zarr array: `.zarray` of version 2, or `zarr.json` of version 3. Sources:
// zarr-specs.readthedocs.io, "Zarr Storage Specification Version 2" and "Zarr core specification
// version 3".

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/stack_samples.h"

namespace lull::io {

/// The compression of an array's chunks.
struct ZarrCodec {
  enum class Kind { none, blosc, zstd, gzip, zlib };
  Kind kind = Kind::none;
  int level = 0;
  bool has_checksum = false;    // zstd only
  std::string blosc_name = {};  // compressor that Blosc uses: "lz4", "zstd" ...
  int blosc_shuffle = 0;        // 0: none, 1: bytes, 2: bits
  std::size_t blosc_block = 0;  // size of Blosc's blocks in bytes; 0: Blosc's choice
  // `has_crc_inside`: a CRC-32C follows the samples. `has_crc_outside`: a CRC-32C follows the
  // compressed bytes; always false without compression.
  bool has_crc_inside = false, has_crc_outside = false;
  bool operator==(const ZarrCodec&) const = default;
};

/// Layout of a shard (the codec `sharding_indexed`): a file with several chunks and their index.
struct ZarrShards {
  std::vector<std::int64_t> chunks;  // number of chunks in a shard along each dimension
  bool index_at_start = false;       // otherwise the index is at the end of the shard
  bool index_has_checksum = false, index_is_big = false;  // is_big: big-endian numbers

  /// Returns the number of chunks in a shard.
  std::size_t count() const;
  std::size_t index_bytes() const;
};

struct ZarrArray {
  std::string folder;  // folder that contains the metadata and the chunks
  int version = 2;
  std::vector<std::int64_t> shape, chunk;  // size of the array and of a chunk; at least 1
  std::optional<ZarrShards> shards;        // no value: each chunk has a file of its own
  StoredFormat samples;
  std::vector<std::byte> fill;  // value of the samples of missing chunks, as chunks store it
  /// Indices of the dimensions in the order in which chunks store samples, slowest dimension first.
  std::vector<int> order;
  ZarrCodec codec;
  std::string key_prefix, separator = ".";  // names of chunks: "c/0/1/2", "0.1.2"
  /// Names of the dimensions (`_ARRAY_DIMENSIONS` or `dimension_names`); empty if not stated.
  std::vector<std::string> names;

  int dimensions() const { return static_cast<int>(shape.size()); }
  /// Returns the size of a decompressed chunk in bytes, at most max_chunk_bytes.
  std::size_t chunk_bytes() const;
  /// Returns the path of the file that contains a chunk. `index` has one number for each dimension.
  std::string chunk_path(std::span<const std::int64_t> index) const;
};

/// Maximum size in bytes of a decompressed chunk. Most stores use Blosc, which limits chunks to 2
/// GiB.
inline constexpr std::uint64_t max_chunk_bytes = (std::uint64_t{1} << 31) - 17;

/// Returns whether a folder contains the metadata of an array.
[[nodiscard]] bool is_zarr_array(const std::string& folder);

/// Reads the metadata of an array.
/// @throws NoInput  the metadata do not exist
/// @throws BadData  the metadata are invalid, or lull cannot read the chunks
[[nodiscard]] ZarrArray read_zarr_array(const std::string& folder);

}  // namespace lull::io
