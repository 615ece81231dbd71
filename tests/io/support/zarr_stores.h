#pragma once
// Zarr stores that are written chunk by chunk, independently of io's code.

#include <blosc.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/support/clip.h"

namespace lull::io::test {

using Bytes = std::vector<std::uint8_t>;

struct StoreSpec {
  std::vector<int> shape = {3, 9, 10}, chunk = {2, 4, 7};
  std::string axes = "zyx";     // one letter for each dimension
  std::string type = "<u2";     // of version 2
  std::string order = "C";      // or F
  std::string separator = "/";  // or .
  std::string codec = "none";   // blosc, zstd, gzip, zlib
  std::string fill = "0";       // JSON
  int version = 2;
  std::vector<int> missing;  // numbers of chunks that have no file
  bool has_pyramid = false;  // a second level with half the rows and columns
  std::string more;          // further members of .zarray
};

inline int bytes_of(const std::string& type) { return type[2] - '0'; }

inline void write_text_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return "[" + text + "]";
}

inline Bytes pack(const Bytes& chunk, const std::string& codec, int sample_bytes) {
  if (codec == "none") return chunk;
  Bytes packed(2 * chunk.size() + 1000);
  std::size_t size = 0;
  if (codec == "blosc") {
    size = static_cast<std::size_t>(blosc_compress_ctx(
        5, 1, sample_bytes, chunk.size(), chunk.data(), packed.data(), packed.size(), "lz4", 0, 1));
  } else if (codec == "zstd") {
    size = ZSTD_compress(packed.data(), packed.size(), chunk.data(), chunk.size(), 3);
  } else {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, codec == "gzip" ? 31 : 15, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = const_cast<std::uint8_t*>(chunk.data());
    stream.avail_in = static_cast<uInt>(chunk.size());
    stream.next_out = packed.data();
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    size = stream.total_out;
    deflateEnd(&stream);
  }
  packed.resize(size);
  return packed;
}

/// @throws std::runtime_error  the chunk does not have `size` bytes, or is damaged
inline Bytes unpack(const Bytes& packed, const std::string& codec, std::size_t size) {
  if (codec == "none") return packed;
  Bytes chunk(size);
  std::size_t unpacked = 0;
  if (codec == "blosc") {
    const int result = blosc_decompress_ctx(packed.data(), chunk.data(), size, 1);
    unpacked = static_cast<std::size_t>(std::max(result, 0));
  } else if (codec == "zstd") {
    unpacked = ZSTD_decompress(chunk.data(), size, packed.data(), packed.size());
  } else {
    z_stream stream{};
    inflateInit2(&stream, 15 + 32);
    stream.next_in = const_cast<std::uint8_t*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = chunk.data();
    stream.avail_out = static_cast<uInt>(size);
    if (inflate(&stream, Z_FINISH) == Z_STREAM_END) unpacked = stream.total_out;
    inflateEnd(&stream);
  }
  if (unpacked != size) throw std::runtime_error("test store: a chunk is damaged");
  return chunk;
}

/// The sample at an index: a number that differs between neighbours and fits in 7 bits.
inline int sample_at(const std::vector<int>& index) {
  int value = 3;
  for (const int i : index) value = value * 5 + i;
  return value % 101 + 10;
}

/// Writes a number as the type says, in the byte order of the type.
inline void put_sample(std::uint8_t* to, const std::string& type, double value) {
  const int bytes = bytes_of(type);
  std::uint64_t bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  if (type[1] == 'f' && bytes == 4) {
    const auto narrow = static_cast<float>(value);
    std::uint32_t word = 0;
    std::memcpy(&word, &narrow, 4);
    bits = word;
  } else if (type[1] == 'f') {
    std::memcpy(&bits, &value, 8);
  }
  for (int i = 0; i < bytes; ++i)
    to[type[0] == '>' ? bytes - 1 - i : i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

/// An array as the tests know it.
struct StoreArray {
  StoreSpec spec;
  std::string folder;

  std::vector<int> chunks() const {
    std::vector<int> counts;
    for (std::size_t i = 0; i < spec.shape.size(); ++i)
      counts.push_back((spec.shape[i] + spec.chunk[i] - 1) / spec.chunk[i]);
    return counts;
  }
  /// Returns the index of number `n` in a grid, last dimension fastest.
  static std::vector<int> index_of(int n, const std::vector<int>& sizes) {
    std::vector<int> index(sizes.size());
    for (std::size_t i = sizes.size(); i-- > 0; n /= sizes[i]) index[i] = n % sizes[i];
    return index;
  }
  static int count(const std::vector<int>& sizes) {
    int all = 1;
    for (const int size : sizes) all *= size;
    return all;
  }
  std::string path_of(int n) const {
    std::string name = spec.version == 3 ? "c" : "";
    for (const int i : index_of(n, chunks()))
      name += (name.empty() ? "" : spec.version == 3 ? "/" : spec.separator) + std::to_string(i);
    return folder + "/" + name;
  }
  /// Position of an element in its chunk, in samples.
  int position(const std::vector<int>& inside) const {
    int at = 0;
    if (spec.order == "F")
      for (std::size_t i = inside.size(); i-- > 0;) at = at * spec.chunk[i] + inside[i];
    else
      for (std::size_t i = 0; i < inside.size(); ++i) at = at * spec.chunk[i] + inside[i];
    return at;
  }
  std::size_t chunk_bytes() const {
    return static_cast<std::size_t>(count(spec.chunk)) * bytes_of(spec.type);
  }
  Bytes read_chunk(int n) const { return unpack(read_file(path_of(n)), spec.codec, chunk_bytes()); }

  void write_metadata() const {
    const std::string codec =
        spec.codec == "none" ? "null"
        : spec.codec == "blosc"
            ? R"({"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0})"
            : "{\"id\":\"" + spec.codec + "\",\"level\":1}";
    write_text_file(folder + "/.zarray", "{\"zarr_format\":2,\"shape\":" + list(spec.shape) +
                                             ",\"chunks\":" + list(spec.chunk) + ",\"dtype\":\"" +
                                             spec.type + "\",\"compressor\":" + codec +
                                             ",\"fill_value\":" + spec.fill + ",\"order\":\"" +
                                             spec.order +
                                             "\",\"filters\":null,\"dimension_separator\":\"" +
                                             spec.separator + "\"" + spec.more + "}");
  }
  void write_metadata_3(const std::string& type, const std::string& codecs) const {
    write_text_file(
        folder + "/zarr.json",
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":" + list(spec.shape) +
            ",\"data_type\":\"" + type +
            "\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":" +
            list(spec.chunk) + "}},\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":" +
            spec.fill + ",\"codecs\":" + codecs + ",\"attributes\":{}}");
  }
  /// Returns the samples of chunk `n`.
  Bytes content_of(int n) const {
    const std::vector<int> chunk = index_of(n, chunks());
    Bytes content(chunk_bytes());
    for (int i = 0; i < count(spec.chunk); ++i) {
      const std::vector<int> inside = index_of(i, spec.chunk);
      std::vector<int> index;
      bool exists = true;
      for (std::size_t d = 0; d < inside.size(); ++d) {
        index.push_back(chunk[d] * spec.chunk[d] + inside[d]);
        exists = exists && index.back() < spec.shape[d];
      }
      put_sample(&content[static_cast<std::size_t>(position(inside)) * bytes_of(spec.type)],
                 spec.type, exists ? sample_at(index) : 0);
    }
    return content;
  }
  void write_chunks() const {
    for (int n = 0; n < count(chunks()); ++n) {
      if (std::ranges::count(spec.missing, n) > 0) continue;
      std::filesystem::create_directories(std::filesystem::path(path_of(n)).parent_path());
      write_file(path_of(n), pack(content_of(n), spec.codec, bytes_of(spec.type)));
    }
  }
};

inline std::string axes_json(const std::string& axes) {
  std::string text;
  for (const char axis : axes) {
    const std::string type = axis == 't' ? "time" : axis == 'c' ? "channel" : "space";
    text += (text.empty() ? "" : ",") + std::string("{\"name\":\"") + axis + "\",\"type\":\"" +
            type + "\"" + (type == "space" ? ",\"unit\":\"micrometer\"}" : "}");
  }
  return "[" + text + "]";
}

inline std::string multiscales_json(const StoreSpec& spec) {
  std::vector<int> ones(spec.shape.size(), 1);
  const auto dataset = [&](const std::string& path, const std::vector<int>& scale) {
    return "{\"path\":\"" + path +
           "\",\"coordinateTransformations\":[{\"type\":\"scale\",\"scale\":" + list(scale) + "}]}";
  };
  std::vector<int> halves = ones;
  for (std::size_t i = 0; i < halves.size(); ++i)
    if (spec.axes[i] == 'y' || spec.axes[i] == 'x') halves[i] = 2;
  return "\"multiscales\":[{\"version\":\"0.4\",\"axes\":" + axes_json(spec.axes) +
         ",\"datasets\":[" + dataset("0", ones) +
         (spec.has_pyramid ? "," + dataset("1", halves) : "") + "]}]";
}

/// Writes an image with one or two levels, and returns the arrays of its levels.
inline std::vector<StoreArray> write_store(const std::string& folder, const StoreSpec& spec) {
  std::vector<StoreArray> arrays{{spec, folder + "/0"}};
  if (spec.has_pyramid) {
    StoreSpec small = spec;
    small.missing.clear();
    for (std::size_t i = 0; i < small.shape.size(); ++i)
      if (spec.axes[i] == 'y' || spec.axes[i] == 'x') small.shape[i] = (small.shape[i] + 1) / 2;
    arrays.push_back({small, folder + "/1"});
  }
  write_text_file(folder + "/.zgroup", "{\"zarr_format\":2}");
  write_text_file(folder + "/.zattrs",
                  "{" + multiscales_json(spec) + ",  \"omero\":{\"id\":7},\"mine\":[1, 2.50]}\n");
  for (const StoreArray& array : arrays) {
    array.write_metadata();
    array.write_chunks();
  }
  return arrays;
}

/// Returns the content of each file below a folder, by its path in the folder.
inline std::map<std::string, Bytes> files_below(const std::string& folder) {
  std::map<std::string, Bytes> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[std::filesystem::relative(entry.path(), folder).string()] =
          read_file(entry.path().string());
  return files;
}

}  // namespace lull::io::test
