#pragma once
// Compresses and decompresses the chunks of Zarr arrays, with c-blosc, zstd and zlib.

#include <cstddef>
#include <string>
#include <vector>

#include "io/zarr/zarr_array.h"
#include "io/zarr/zarr_json.h"

namespace lull::io {

/// Returns the codec of the member `compressor` of `.zarray`.
/// @throws BadData  lull does not support the codec; `path` is the name of the file in the message
[[nodiscard]] ZarrCodec codec_of_version_2(const Json& compressor, const std::string& path);
/// Returns the codec of an entry of `codecs` in `zarr.json`.
/// @throws BadData  lull does not support the codec; `path` is the name of the file in the message
[[nodiscard]] ZarrCodec codec_of_version_3(const Json& codec, const std::string& path);

/// Decompresses a chunk.
/// @param chunk_size  exact size of the decompressed chunk in bytes
/// @param path  name of the chunk's file in error messages
/// @throws BadData  the chunk is damaged, or its decompressed size or its checksum is wrong
[[nodiscard]] std::vector<std::byte> decode_chunk(const ZarrCodec& codec,
                                                  std::vector<std::byte> stored,
                                                  std::size_t chunk_size, const std::string& path);
/// Compresses a chunk. Equal chunks give bit-identical results.
/// @throws OutOfMemory
[[nodiscard]] std::vector<std::byte> encode_chunk(const ZarrCodec& codec,
                                                  std::vector<std::byte> chunk, int sample_bytes);

}  // namespace lull::io
