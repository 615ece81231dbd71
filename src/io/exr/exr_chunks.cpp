#include "io/exr/exr_chunks.h"

#include <OpenEXR/ImfCompression.h>
#include <OpenEXR/openexr.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "io/files/inflated_size.h"

namespace lull::io {
namespace {

using ByteSpan = std::span<const std::uint8_t>;

std::int64_t read_bytes(exr_const_context_t, void* self, void* to, std::uint64_t count,
                        std::uint64_t at, exr_stream_error_func_ptr_t) {
  const ByteSpan& bytes = *static_cast<const ByteSpan*>(self);
  if (at > bytes.size()) return -1;
  const std::size_t given = std::min<std::uint64_t>(count, bytes.size() - at);
  if (given > 0) std::memcpy(to, bytes.data() + at, given);
  return static_cast<std::int64_t>(given);
}

std::int64_t count_bytes(exr_const_context_t, void* self) {
  return static_cast<std::int64_t>(static_cast<const ByteSpan*>(self)->size());
}

void ignore_error(exr_const_context_t, exr_result_t, const char*) {}

/// A file that OpenEXR's C library has opened. `get()` returns null if the headers are damaged.
class Context {
 public:
  explicit Context(const ByteSpan& bytes) {
    exr_context_initializer_t options = EXR_DEFAULT_CONTEXT_INITIALIZER;
    options.error_handler_fn = ignore_error;
    options.user_data = const_cast<ByteSpan*>(&bytes);
    options.read_fn = read_bytes;
    options.size_fn = count_bytes;
    if (exr_start_read(&context_, "memory", &options) != EXR_ERR_SUCCESS) context_ = nullptr;
  }
  ~Context() {
    if (context_) exr_finish(&context_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  exr_const_context_t get() const { return context_; }

 private:
  exr_context_t context_ = nullptr;
};

struct Chunk {
  int part;
  exr_chunk_info_t info;
};

/// The chunks of a file. `fault` describes the first chunk with an invalid position.
struct ChunkList {
  std::vector<Chunk> chunks;
  std::string fault;

  void add(int part, exr_result_t code, const exr_chunk_info_t& info) {
    if (code == EXR_ERR_SUCCESS)
      chunks.push_back({part, info});
    else if (fault.empty())
      fault = "a chunk of part " + std::to_string(part) + ": " + exr_get_error_code_as_string(code);
  }
};

bool has_subsampling(exr_const_context_t file, int part) {
  const exr_attr_chlist_t* channels = nullptr;
  if (exr_get_channels(file, part, &channels) != EXR_ERR_SUCCESS) return true;
  return std::any_of(channels->entries, channels->entries + channels->num_channels,
                     [](const auto& c) { return c.x_sampling != 1 || c.y_sampling != 1; });
}

void list_scanlines(exr_const_context_t file, int part, ChunkList& list) {
  exr_attr_box2i_t data{};
  std::int32_t rows = 0;
  if (exr_get_data_window(file, part, &data) != EXR_ERR_SUCCESS ||
      exr_get_scanlines_per_chunk(file, part, &rows) != EXR_ERR_SUCCESS || rows < 1)
    return;
  for (std::int64_t y = data.min.y; y <= data.max.y && list.fault.empty(); y += rows) {
    exr_chunk_info_t info{};
    const auto code = exr_read_scanline_chunk_info(file, part, static_cast<int>(y), &info);
    list.add(part, code, info);
  }
}

/// Lists the tiles of a part. Returns whether the list is complete. For a ripmap, the function
/// lists only the full-resolution level, because OpenEXR 3.1 looks for the chunks of the other
/// levels in wrong places.
bool list_tiles(exr_const_context_t file, int part, ChunkList& list) {
  std::uint32_t width = 0, height = 0;
  exr_tile_level_mode_t mode{};
  exr_tile_round_mode_t rounding{};
  std::int32_t levels_x = 0, levels_y = 0;
  if (exr_get_tile_descriptor(file, part, &width, &height, &mode, &rounding) != EXR_ERR_SUCCESS ||
      exr_get_tile_levels(file, part, &levels_x, &levels_y) != EXR_ERR_SUCCESS || width == 0 ||
      height == 0)
    return true;
  if (mode == EXR_TILE_RIPMAP_LEVELS) levels_x = levels_y = 1;
  const auto tiles = [](std::int32_t samples, std::uint32_t side) {
    return static_cast<int>((static_cast<std::int64_t>(samples) + side - 1) / side);
  };
  for (int ly = 0; ly < levels_y; ++ly)
    for (int lx = 0; lx < levels_x; ++lx) {
      std::int32_t columns = 0, rows = 0;
      if (lx != ly) continue;
      if (exr_get_level_sizes(file, part, lx, ly, &columns, &rows) != EXR_ERR_SUCCESS) continue;
      for (int y = 0; y < tiles(rows, height); ++y)
        for (int x = 0; x < tiles(columns, width) && list.fault.empty(); ++x) {
          exr_chunk_info_t info{};
          const auto code = exr_read_tile_chunk_info(file, part, x, y, lx, ly, &info);
          list.add(part, code, info);
        }
    }
  return mode != EXR_TILE_RIPMAP_LEVELS;
}

/// Returns the size of run-length coded data after decompression. The data consist of counts and
/// bytes. A negative count -n precedes n literal bytes. Any other count n precedes one byte, which
/// occurs n + 1 times in the decompressed data.
std::uint64_t run_length_size(ByteSpan stored) {
  std::uint64_t bytes = 0;
  while (stored.size() > 1) {
    const int count = static_cast<std::int8_t>(stored[0]);
    bytes += static_cast<std::uint64_t>(count < 0 ? -count : count + 1);
    const std::size_t used = count < 0 ? 1 + static_cast<std::size_t>(-count) : 2;
    stored = stored.subspan(std::min(used, stored.size()));
  }
  return bytes;
}

std::string name_of(const Chunk& chunk) {
  return "chunk " + std::to_string(chunk.info.idx) + " of part " + std::to_string(chunk.part);
}

/// Finds a wrong chunk size. Returns a description of the first gap or overlap between chunks;
/// empty if there is none. `head` contains the size of the chunk headers of each part, in bytes.
std::string find_wrong_size(std::vector<Chunk> chunks, const std::vector<std::uint64_t>& head) {
  std::ranges::sort(chunks, {}, [](const Chunk& chunk) { return chunk.info.data_offset; });
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) {
    const std::uint64_t end = chunks[i].info.data_offset + chunks[i].info.packed_size;
    const std::uint64_t next =
        chunks[i + 1].info.data_offset - head[static_cast<std::size_t>(chunks[i + 1].part)];
    if (end != next)
      return name_of(chunks[i]) + ": it has " + std::to_string(chunks[i].info.packed_size) +
             " bytes, but the next chunk is " + std::to_string(next - chunks[i].info.data_offset) +
             " bytes later";
  }
  return {};
}

/// Decompresses a chunk with OpenEXR's C library, which finds more damage in PIZ data than the C++
/// library. Returns an error message; empty if there is no error.
std::string decompression_error(exr_const_context_t context, const Chunk& chunk) {
  exr_decode_pipeline_t pipeline = EXR_DECODE_PIPELINE_INITIALIZER;
  exr_result_t code = exr_decoding_initialize(context, chunk.part, &chunk.info, &pipeline);
  if (code == EXR_ERR_SUCCESS)
    code = exr_decoding_choose_default_routines(context, chunk.part, &pipeline);
  pipeline.unpack_and_convert_fn = nullptr;
  if (code == EXR_ERR_SUCCESS) code = exr_decoding_run(context, chunk.part, &pipeline);
  (void)exr_decoding_destroy(context, &pipeline);
  if (code == EXR_ERR_SUCCESS) return {};
  return std::string("it cannot be decompressed (") + exr_get_error_code_as_string(code) + ")";
}

std::string find_fault(exr_const_context_t context, ByteSpan file, const Chunk& listed) {
  const exr_chunk_info_t& chunk = listed.info;
  if (chunk.data_offset > file.size() || chunk.packed_size > file.size() - chunk.data_offset)
    return "it lies beyond the end of the file";
  const ByteSpan stored = file.subspan(chunk.data_offset, chunk.packed_size);
  if (chunk.packed_size >= chunk.unpacked_size) return {};  // not compressed
  if (chunk.compression == EXR_COMPRESSION_PIZ) return decompression_error(context, listed);
  std::uint64_t bytes = chunk.unpacked_size;
  if (chunk.compression == EXR_COMPRESSION_RLE) {
    bytes = run_length_size(stored);
  } else if (chunk.compression == EXR_COMPRESSION_ZIP ||
             chunk.compression == EXR_COMPRESSION_ZIPS ||
             chunk.compression == EXR_COMPRESSION_PXR24) {
    const InflatedSize size = inflated_size(stored, chunk.unpacked_size);
    if (!size.is_complete) return size.error.empty() ? "it inflates to too many bytes" : size.error;
    // For PXR24, the decompressed size may be less than `unpacked_size`, because PXR24 stores
    // floats with 24 bits. OpenEXR itself checks this size.
    if (chunk.compression != EXR_COMPRESSION_PXR24) bytes = size.bytes;
  }
  if (bytes >= chunk.unpacked_size) return {};
  return "it has " + std::to_string(bytes) + " bytes of samples instead of " +
         std::to_string(chunk.unpacked_size);
}

}  // namespace

std::string find_damaged_chunk(std::span<const std::uint8_t> file, int threads) {
  const Context context(file);
  int parts = 0;
  if (!context.get() || exr_get_count(context.get(), &parts) != EXR_ERR_SUCCESS) return {};
  ChunkList list;
  // Size of a chunk header in bytes, for each part.
  std::vector<std::uint64_t> heads;
  bool lists_all = true;
  for (int part = 0; part < parts; ++part) {
    exr_storage_t storage{};
    const bool known = exr_get_storage(context.get(), part, &storage) == EXR_ERR_SUCCESS;
    const bool is_tiled = storage == EXR_STORAGE_TILED;
    // A chunk header has fields of 4 bytes: the part index (in multi-part files), the row or the
    // four tile coordinates, and the data size.
    heads.push_back((parts > 1 ? 4U : 0U) + (is_tiled ? 16U : 4U) + 4U);
    if (!known || has_subsampling(context.get(), part) ||
        (!is_tiled && storage != EXR_STORAGE_SCANLINE))
      lists_all = false;
    else if (is_tiled)
      lists_all &= list_tiles(context.get(), part, list);
    else
      list_scanlines(context.get(), part, list);
  }
  if (!list.fault.empty()) return list.fault;
  if (lists_all)
    if (std::string fault = find_wrong_size(list.chunks, heads); !fault.empty()) return fault;
  // Several threads may find damaged chunks. The function reports the damaged chunk with the
  // smallest index, so that the result does not depend on the threads.
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t first = list.chunks.size();
  std::string text;
  const auto work = [&] {
    for (std::size_t i = next++; i < list.chunks.size(); i = next++) {
      const std::string fault = find_fault(context.get(), file, list.chunks[i]);
      if (fault.empty()) continue;
      const std::lock_guard lock(mutex);
      if (i >= first) continue;
      first = i;
      text = name_of(list.chunks[i]) + ": " + fault;
    }
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  return text;
}

double max_exr_compression(int compression) {
  switch (compression) {
    case Imf::NO_COMPRESSION:
      return 1;
    case Imf::RLE_COMPRESSION:
      return 64;  // 128 bytes become 2
    case Imf::ZIPS_COMPRESSION:
    case Imf::ZIP_COMPRESSION:
      return 1032;  // according to zlib's manual
    case Imf::PIZ_COMPRESSION:
      return 512;  // Huffman codes of at least 9 bits for runs of 255 16-bit numbers
    case Imf::PXR24_COMPRESSION:
      return 1032 * 4 / 3.0;
    case Imf::B44_COMPRESSION:
    case Imf::B44A_COMPRESSION:
      return 32 / 3.0;  // 16 samples of 16 bits become 3 bytes
    default:
      return 1 << 15;
  }
}

}  // namespace lull::io
