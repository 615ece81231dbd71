#include "io/zarr/zarr_chunks.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/zarr/zarr_crc32c.h"

namespace lull::io {
namespace {

constexpr std::size_t number_bytes = 8;  // size of a number in the index of a shard

[[noreturn]] void fail_damaged(const std::string& path, const std::string& what) {
  throw BadData("'" + path + "' is damaged or truncated (" + what + "); copy the store again");
}

/// Returns the maximum size of a compressed chunk in bytes.
std::uint64_t max_stored_bytes(const ZarrArray& array) {
  return array.chunk_bytes() + array.chunk_bytes() / 8 + (std::size_t{1} << 16);
}

void check_size(std::uint64_t bytes, const ZarrArray& array, const std::string& path) {
  if (bytes > max_stored_bytes(array))
    throw BadData("'" + path + "' is too large for a chunk (" + std::to_string(bytes) +
                  " bytes); copy the store again");
}

bool exists(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path, code);
}

/// Returns the linear index of a chunk in its shard. The last dimension varies fastest.
std::size_t number_in_shard(const ZarrShards& shards, ArrayIndex chunk) {
  std::size_t number = 0;
  for (std::size_t d = 0; d < chunk.size(); ++d)
    number = number * static_cast<std::size_t>(shards.chunks[d]) +
             static_cast<std::size_t>(chunk[d] % shards.chunks[d]);
  return number;
}

/// Byte order of the chunk index.
std::uint64_t load_number(const std::byte* from, bool is_big) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < number_bytes; ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(from[is_big ? i : number_bytes - 1 - i]);
  return number;
}

void append_number(std::vector<std::byte>& to, std::uint64_t number, bool is_big) {
  for (std::size_t i = 0; i < number_bytes; ++i)
    to.push_back(static_cast<std::byte>(number >> (8 * (is_big ? number_bytes - 1 - i : i))));
}

}  // namespace

std::optional<std::vector<std::byte>> StoredChunks::read(ArrayIndex chunk) {
  if (!array_.shards) {
    const std::string path = array_.chunk_path(chunk);
    if (!exists(path)) return std::nullopt;
    RegularFile file(path);
    check_size(static_cast<std::uint64_t>(file.size()), array_, path);
    std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
    bytes.resize(file.read(bytes.data(), bytes.size()));
    return bytes;
  }
  if (!has(chunk)) return std::nullopt;
  Shard& shard = *shard_;
  const ShardEntry& entry = shard.entries[number_in_shard(*array_.shards, chunk)];
  const auto size = static_cast<std::uint64_t>(shard.file->size());
  if (entry.offset > size || entry.bytes > size - entry.offset)
    fail_damaged(shard.path, "a chunk lies behind the end of its shard");
  check_size(entry.bytes, array_, shard.path);
  std::vector<std::byte> bytes(static_cast<std::size_t>(entry.bytes));
  shard.file->seek(static_cast<std::int64_t>(entry.offset));
  bytes.resize(shard.file->read(bytes.data(), bytes.size()));
  return bytes;
}

bool StoredChunks::has(ArrayIndex chunk) {
  if (!array_.shards) return exists(array_.chunk_path(chunk));
  const Shard& shard = shard_of(chunk);
  return shard.file && !shard.entries[number_in_shard(*array_.shards, chunk)].is_missing();
}

StoredChunks::Shard& StoredChunks::shard_of(ArrayIndex chunk) {
  std::string path = array_.chunk_path(chunk);
  if (shard_ && shard_->path == path) return *shard_;
  shard_.reset();
  Shard shard{.path = std::move(path), .file = {}, .entries = {}};
  if (exists(shard.path)) {
    shard.file.emplace(shard.path);
    shard.entries = read_entries(*shard.file, shard.path);
  }
  return shard_.emplace(std::move(shard));
}

std::vector<ShardEntry> StoredChunks::read_entries(RegularFile& file,
                                                   const std::string& path) const {
  const ZarrShards& shards = *array_.shards;
  std::vector<std::byte> bytes;
  const auto size = static_cast<std::uint64_t>(file.size());
  if (size < shards.index_bytes()) fail_damaged(path, "the index of a shard is incomplete");
  bytes.resize(shards.index_bytes());
  file.seek(shards.index_at_start ? 0 : static_cast<std::int64_t>(size - bytes.size()));
  if (file.read(bytes.data(), bytes.size()) != bytes.size())
    fail_damaged(path, "the index of a shard is incomplete");
  if (shards.index_has_checksum && !remove_checksum(bytes))
    fail_damaged(path, "the index of a shard has a wrong checksum");
  std::vector<ShardEntry> entries(shards.count());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::byte* const at = &bytes[2 * number_bytes * i];
    entries[i] = {.offset = load_number(at, shards.index_is_big),
                  .bytes = load_number(at + number_bytes, shards.index_is_big)};
  }
  return entries;
}

void ChunkFiles::write(ArrayIndex chunk, std::span<const std::byte> bytes) {
  if (array_.shards) return add(chunk, bytes);
  output_.write(array_.chunk_path(chunk), bytes);
}

void ChunkFiles::omit(ArrayIndex chunk) {
  if (array_.shards) add(chunk, std::nullopt);
}

ChunkFiles::Shard ChunkFiles::new_shard(ArrayIndex chunk) const {
  const ZarrShards& shards = *array_.shards;
  Shard shard{.entries = std::vector<ShardEntry>(shards.count()), .end = 0, .left = 1};
  if (shards.index_at_start) shard.end = shards.index_bytes();
  // A shard at the end of an array also has index entries for chunks outside the array. `left` does
  // not count these chunks.
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    const std::int64_t all = (array_.shape[d] + array_.chunk[d] - 1) / array_.chunk[d],
                       first = chunk[d] / shards.chunks[d] * shards.chunks[d];
    shard.left *= std::min(shards.chunks[d], all - first);
  }
  return shard;
}

void ChunkFiles::add(ArrayIndex chunk, std::optional<std::span<const std::byte>> bytes) {
  const std::string path = array_.chunk_path(chunk);
  auto at = shards_.find(path);
  if (at == shards_.end()) at = shards_.emplace(path, new_shard(chunk)).first;
  Shard& shard = at->second;
  if (bytes) {
    output_.write_at(path, static_cast<std::int64_t>(shard.end), *bytes);
    shard.entries[number_in_shard(*array_.shards, chunk)] = {.offset = shard.end,
                                                             .bytes = bytes->size()};
    shard.end += bytes->size();
  }
  if (--shard.left > 0) return;
  write_entries(path, shard);
  shards_.erase(at);
}

void ChunkFiles::write_entries(const std::string& path, const Shard& shard) {
  if (std::ranges::all_of(shard.entries, &ShardEntry::is_missing)) return;
  const ZarrShards& shards = *array_.shards;
  std::vector<std::byte> bytes;
  bytes.reserve(shards.index_bytes());
  for (const ShardEntry& entry : shard.entries) {
    append_number(bytes, entry.offset, shards.index_is_big);
    append_number(bytes, entry.bytes, shards.index_is_big);
  }
  if (shards.index_has_checksum) append_checksum(bytes);
  output_.write_at(path, shards.index_at_start ? 0 : static_cast<std::int64_t>(shard.end), bytes);
}

void ChunkFiles::finish() const {
  if (!shards_.empty()) throw InternalError("a shard was finished before its last chunk");
}

}  // namespace lull::io
