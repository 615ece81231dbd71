#include "io/zarr/zarr_codec.h"

#include <blosc.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/error.h"
#include "io/zarr/zarr_crc32c.h"

namespace lull::io {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& path) {
  throw BadData("'" + path + "' states " + what + " (lull cannot read it); convert the store");
}

int level_in(const Json& settings, const char* key, int otherwise, int minimum, int maximum,
             const std::string& path) {
  return static_cast<int>(integer_member(settings, key, otherwise, minimum, maximum, path));
}

/// Reads all settings of Blosc except the shuffle filter, whose name differs between the versions
/// of Zarr.
ZarrCodec blosc_codec(const Json& settings, const std::string& path) {
  ZarrCodec codec{.kind = ZarrCodec::Kind::blosc};
  codec.level = level_in(settings, "clevel", 5, 0, 9, path);
  codec.blosc_name = text_member(settings, "cname", "lz4");
  codec.blosc_block =
      static_cast<std::size_t>(integer_member(settings, "blocksize", 0, 0, INT32_MAX, path));
  const bool is_known = std::ranges::all_of(
      codec.blosc_name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
  if (!is_known || blosc_compname_to_compcode(codec.blosc_name.c_str()) < 0)
    refuse("the compressor '" + codec.blosc_name.substr(0, 40) +
               "' of Blosc, which this build of Blosc has not",
           path);
  return codec;
}

/// Returns zlib's parameter windowBits: for gzip, the value is 16 more than for zlib.
int window_bits(ZarrCodec::Kind kind) { return kind == ZarrCodec::Kind::gzip ? 15 + 16 : 15; }

/// The following functions decompress a chunk. Each function returns whether the chunk is intact
/// and has exactly `size` bytes after decompression.
bool decode_blosc(std::span<const std::byte> stored, std::vector<std::byte>& chunk,
                  std::size_t size) {
  std::size_t stated = 0;
  if (stored.size() < BLOSC_MIN_HEADER_LENGTH ||
      blosc_cbuffer_validate(stored.data(), stored.size(), &stated) < 0 || stated != size)
    return false;
  chunk.resize(size);
  return blosc_decompress_ctx(stored.data(), chunk.data(), size, 1) == static_cast<int>(size);
}

bool decode_zstd(std::span<const std::byte> stored, std::vector<std::byte>& chunk,
                 std::size_t size) {
  const unsigned long long stated = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR) return false;
  if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != size) return false;
  // A zstd block has at least 3 bytes and decompresses to at most 128 KiB, so a chunk cannot
  // decompress to more than 128 KiB per stored byte.
  if (size / (std::size_t{1} << 17) > stored.size()) return false;
  chunk.resize(size);
  return ZSTD_decompress(chunk.data(), size, stored.data(), stored.size()) == size;
}

bool decode_zlib(std::span<const std::byte> stored, std::vector<std::byte>& chunk, std::size_t size,
                 int bits) {
  // Maximum compression ratio of Deflate. The chunk is damaged if the size in the metadata would
  // need a higher ratio.
  constexpr std::size_t max_ratio = 1032;
  if (size / max_ratio > stored.size()) return false;
  z_stream stream{};
  if (inflateInit2(&stream, bits) != Z_OK) throw OutOfMemory("zlib has too little memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  chunk.resize(size);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
  stream.avail_out = static_cast<uInt>(chunk.size());
  return inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
}

std::vector<std::byte> encode_blosc(const ZarrCodec& codec, std::span<const std::byte> chunk,
                                    int sample_bytes) {
  std::vector<std::byte> packed(chunk.size() + BLOSC_MAX_OVERHEAD);
  const int bytes = blosc_compress_ctx(
      codec.level, codec.blosc_shuffle, static_cast<std::size_t>(sample_bytes), chunk.size(),
      chunk.data(), packed.data(), packed.size(), codec.blosc_name.c_str(), codec.blosc_block, 1);
  if (bytes <= 0) throw OutOfMemory("Blosc cannot compress a chunk (too little memory)");
  packed.resize(static_cast<std::size_t>(bytes));
  return packed;
}

std::vector<std::byte> encode_zstd(const ZarrCodec& codec, std::span<const std::byte> chunk) {
  std::vector<std::byte> packed(ZSTD_compressBound(chunk.size()));
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  if (!context) throw OutOfMemory("zstd has too little memory");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, codec.level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, codec.has_checksum ? 1 : 0);
  const std::size_t bytes =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), chunk.data(), chunk.size());
  if (ZSTD_isError(bytes)) throw OutOfMemory("zstd cannot compress a chunk (too little memory)");
  packed.resize(bytes);
  return packed;
}

std::vector<std::byte> encode_zlib(const ZarrCodec& codec, std::span<const std::byte> chunk) {
  z_stream stream{};
  constexpr int memory_level = 8;  // zlib's default
  if (deflateInit2(&stream, codec.level, Z_DEFLATED, window_bits(codec.kind), memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw OutOfMemory("zlib has too little memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, deflateEnd);
  std::vector<std::byte> packed(deflateBound(&stream, chunk.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(chunk.data()));
  stream.avail_in = static_cast<uInt>(chunk.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw InternalError("zlib did not finish");
  packed.resize(stream.total_out);
  return packed;
}

std::vector<std::byte> compress(const ZarrCodec& codec, std::vector<std::byte> chunk,
                                int sample_bytes) {
  ZarrCodec exact = codec;
  if (codec.blosc_shuffle < 0) exact.blosc_shuffle = sample_bytes == 1 ? 2 : 1;
  switch (codec.kind) {
    case ZarrCodec::Kind::none:
      break;
    case ZarrCodec::Kind::blosc:
      return encode_blosc(exact, chunk, sample_bytes);
    case ZarrCodec::Kind::zstd:
      return encode_zstd(codec, chunk);
    case ZarrCodec::Kind::gzip:
    case ZarrCodec::Kind::zlib:
      return encode_zlib(codec, chunk);
  }
  return chunk;
}

}  // namespace

ZarrCodec codec_of_version_2(const Json& compressor, const std::string& path) {
  using Kind = ZarrCodec::Kind;
  if (compressor.is_null()) return {};
  const std::string id = text_member(compressor, "id");
  if (id == "zstd")
    return {.kind = Kind::zstd, .level = level_in(compressor, "level", 1, -131072, 22, path)};
  if (id == "gzip" || id == "zlib")
    return {.kind = id == "gzip" ? Kind::gzip : Kind::zlib,
            .level = level_in(compressor, "level", 1, -1, 9, path)};
  if (id != "blosc") refuse("the compressor '" + id.substr(0, 40) + "'", path);
  ZarrCodec codec = blosc_codec(compressor, path);
  // The value -1 lets the encoder choose a shuffle filter for the sample size.
  codec.blosc_shuffle = level_in(compressor, "shuffle", 1, -1, 2, path);
  return codec;
}

ZarrCodec codec_of_version_3(const Json& codec, const std::string& path) {
  using Kind = ZarrCodec::Kind;
  const std::string name = text_member(codec, "name");
  const Json& settings = member(codec, "configuration");
  if (name == "zstd") {
    const Json& checksum = member(settings, "checksum");
    return {.kind = Kind::zstd,
            .level = level_in(settings, "level", 0, -131072, 22, path),
            .has_checksum = checksum.is_boolean() && checksum.get<bool>()};
  }
  if (name == "gzip")
    return {.kind = Kind::gzip, .level = level_in(settings, "level", 1, -1, 9, path)};
  if (name != "blosc") refuse("the codec '" + name.substr(0, 40) + "'", path);
  ZarrCodec result = blosc_codec(settings, path);
  const std::string shuffle = text_member(settings, "shuffle", "noshuffle");
  if (shuffle != "noshuffle" && shuffle != "shuffle" && shuffle != "bitshuffle")
    refuse("the shuffle '" + shuffle.substr(0, 40) + "'", path);
  result.blosc_shuffle = shuffle == "noshuffle" ? 0 : shuffle == "shuffle" ? 1 : 2;
  return result;
}

std::vector<std::byte> decode_chunk(const ZarrCodec& codec, std::vector<std::byte> stored,
                                    std::size_t chunk_size, const std::string& path) {
  const auto fail = [&](const std::string& what) {
    throw BadData("'" + path + "' is damaged or truncated (" + what + "); copy the store again");
  };
  if (codec.has_crc_outside && !remove_checksum(stored)) fail("a chunk has a wrong checksum");
  const std::size_t size = chunk_size + (codec.has_crc_inside ? checksum_bytes : 0);
  std::vector<std::byte> chunk;
  bool is_intact = false;
  switch (codec.kind) {
    case ZarrCodec::Kind::none:
      is_intact = stored.size() == size;
      chunk = std::move(stored);
      break;
    case ZarrCodec::Kind::blosc:
      is_intact = decode_blosc(stored, chunk, size);
      break;
    case ZarrCodec::Kind::zstd:
      is_intact = decode_zstd(stored, chunk, size);
      break;
    case ZarrCodec::Kind::gzip:
    case ZarrCodec::Kind::zlib:
      is_intact = decode_zlib(stored, chunk, size, window_bits(codec.kind));
      break;
  }
  if (!is_intact) fail("a chunk has " + std::to_string(size) + " bytes");
  if (codec.has_crc_inside && !remove_checksum(chunk)) fail("a chunk has a wrong checksum");
  return chunk;
}

std::vector<std::byte> encode_chunk(const ZarrCodec& codec, std::vector<std::byte> chunk,
                                    int sample_bytes) {
  if (codec.has_crc_inside) append_checksum(chunk);
  std::vector<std::byte> stored = compress(codec, std::move(chunk), sample_bytes);
  if (codec.has_crc_outside) append_checksum(stored);
  return stored;
}

}  // namespace lull::io
