#pragma once
// Zarr stores with shards, which are written byte by byte and independently of io's code.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/support/zarr_stores.h"

namespace lull::io::test {

/// Appends the CRC-32C of the bytes.
inline Bytes with_checksum(Bytes bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0u);
  }
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(~crc >> (8 * i)));
  return bytes;
}

inline const char* const little_bytes = R"({"name":"bytes","configuration":{"endian":"little"}})";
inline const char* const big_bytes = R"({"name":"bytes","configuration":{"endian":"big"}})";
inline const char* const crc_codec = R"({"name":"crc32c"})";

/// A store of version 3 whose array has shards. The members of `inner` describe the array, and
/// `inner.chunk` is the size of the chunks in a shard.
struct ShardedStore {
  StoreSpec inner{.shape = {5, 9, 10}, .chunk = {1, 4, 3}, .version = 3};
  std::vector<int> shard = {2, 8, 6};  // size of a shard
  std::string type = "uint16";         // the type of `inner`, as version 3 names it
  std::string more_codecs;             // codecs after "bytes", with a comma before each
  std::string transpose;               // codec before "bytes", with a comma behind
  bool crc_inside = false, crc_outside = false;
  bool at_start = false, index_crc = true, index_big = false;
  std::string folder;

  StoreArray chunks() const { return {inner, folder + "/0"}; }
  /// The array whose chunks are the shards.
  StoreArray shards() const {
    StoreSpec spec = inner;
    spec.chunk = shard;
    return {spec, folder + "/0"};
  }
  std::vector<int> chunks_of_shard() const {
    std::vector<int> counts;
    for (std::size_t d = 0; d < shard.size(); ++d) counts.push_back(shard[d] / inner.chunk[d]);
    return counts;
  }
  std::size_t index_bytes() const {
    return 16 * static_cast<std::size_t>(StoreArray::count(chunks_of_shard())) +
           (index_crc ? 4 : 0);
  }
  /// Returns the number of chunk `i` of shard `n` in the array; no value if it lies outside.
  std::optional<int> chunk_in(int n, int i) const {
    const std::vector<int> grid = chunks().chunks(),
                           at = StoreArray::index_of(n, shards().chunks()),
                           inside = StoreArray::index_of(i, chunks_of_shard());
    int number = 0;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      const int index = at[d] * chunks_of_shard()[d] + inside[d];
      if (index >= grid[d]) return std::nullopt;
      number = number * grid[d] + index;
    }
    return number;
  }
  Bytes packed(int chunk) const {
    Bytes bytes = chunks().content_of(chunk);
    if (crc_inside) bytes = with_checksum(bytes);
    bytes = pack(bytes, inner.codec, bytes_of(inner.type));
    return crc_outside ? with_checksum(bytes) : bytes;
  }
  void put(Bytes& to, std::uint64_t number) const {
    for (int i = 0; i < 8; ++i)
      to.push_back(static_cast<std::uint8_t>(number >> (8 * (index_big ? 7 - i : i))));
  }
  std::uint64_t number_at(const Bytes& from, std::size_t at) const {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number = number << 8 | from[at + (index_big ? i : 7 - i)];
    return number;
  }

  std::string inner_codecs() const {
    return "[" + transpose + (inner.type[0] == '>' ? big_bytes : little_bytes) + more_codecs + "]";
  }
  std::string index_codecs() const {
    return std::string("[") + (index_big ? big_bytes : little_bytes) +
           (index_crc ? std::string(",") + crc_codec : "") + "]";
  }
  std::string sharding() const {
    return R"({"name":"sharding_indexed","configuration":{"chunk_shape":)" + list(inner.chunk) +
           ",\"codecs\":" + inner_codecs() + ",\"index_codecs\":" + index_codecs() +
           (at_start ? R"(,"index_location":"start"}})" : "}}");
  }
  void write_metadata(const std::string& codecs) const {
    write_text_file(folder + "/zarr.json",
                    R"({"zarr_format":3,"node_type":"group","attributes":{"ome":{)" +
                        multiscales_json(inner) + "}}}");
    shards().write_metadata_3(type, codecs);
  }
  /// Returns the bytes of a shard; no bytes if all of its chunks are missing.
  Bytes shard_bytes(int n) const {
    Bytes content, index;
    const std::size_t first = at_start ? index_bytes() : 0;
    for (int i = 0; i < StoreArray::count(chunks_of_shard()); ++i) {
      const std::optional<int> chunk = chunk_in(n, i);
      const bool exists = chunk && std::ranges::count(inner.missing, *chunk) == 0;
      const Bytes bytes = exists ? packed(*chunk) : Bytes();
      put(index, exists ? first + content.size() : UINT64_MAX);
      put(index, exists ? bytes.size() : UINT64_MAX);
      content.insert(content.end(), bytes.begin(), bytes.end());
    }
    if (content.empty()) return {};
    if (index_crc) index = with_checksum(index);
    content.insert(at_start ? content.begin() : content.end(), index.begin(), index.end());
    return content;
  }
  void write() const {
    write_metadata("[" + sharding() + "]");
    for (int n = 0; n < StoreArray::count(shards().chunks()); ++n)
      if (const Bytes bytes = shard_bytes(n); !bytes.empty()) {
        const std::string path = shards().path_of(n);
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        write_file(path, bytes);
      }
  }
  /// Returns the stored bytes of each chunk of a shard in `store`, read with its index; no value
  /// for missing chunks.
  std::vector<std::optional<Bytes>> read_shard(const std::string& store, int n) const {
    std::vector<std::optional<Bytes>> result(
        static_cast<std::size_t>(StoreArray::count(chunks_of_shard())));
    const StoreArray array{shards().spec, store + "/0"};
    if (!std::filesystem::exists(array.path_of(n))) return result;
    const Bytes file = read_file(array.path_of(n));
    const std::size_t start = at_start ? 0 : file.size() - index_bytes();
    const Bytes index(file.begin() + static_cast<std::ptrdiff_t>(start),
                      file.begin() + static_cast<std::ptrdiff_t>(start + 16 * result.size()));
    if (index_crc) {
      const Bytes checked = with_checksum(index);
      EXPECT_TRUE(std::equal(checked.begin(), checked.end(),
                             file.begin() + static_cast<std::ptrdiff_t>(start)));
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::uint64_t offset = number_at(index, 16 * i), size = number_at(index, 16 * i + 8);
      if (offset == UINT64_MAX && size == UINT64_MAX) continue;
      result[i] = Bytes(file.begin() + static_cast<std::ptrdiff_t>(offset),
                        file.begin() + static_cast<std::ptrdiff_t>(offset + size));
    }
    return result;
  }
};

}  // namespace lull::io::test
