#include "io/zarr/zarr_array.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/zarr/zarr_codec.h"
#include "io/zarr/zarr_crc32c.h"
#include "io/zarr/zarr_json.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

constexpr bool is_native_big = std::endian::native == std::endian::big;

/// Maximum number of chunks in a shard. The index of the largest shard has 64 MiB.
constexpr int max_chunks_of_shard = 1 << 22;

bool is_float(StoredType type) { return type == StoredType::f32 || type == StoredType::f64; }

/// Reads the metadata of one array.
class ArrayReader {
 public:
  explicit ArrayReader(const std::string& folder) { array_.folder = folder; }

  ZarrArray read() {
    const std::string old = array_.folder + "/.zarray";
    std::error_code code;
    if (fs::exists(old, code)) {
      path_ = old;
      read_version_2(read_json(old));
    } else {
      path_ = array_.folder + "/zarr.json";
      read_version_3(read_json(path_));
    }
    check_sizes();
    return std::move(array_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw BadData("'" + path_ + "' states " + what + " (lull cannot read it); convert the store");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw BadData("'" + path_ + "' states no valid " + what + "; check the store");
  }

  void read_version_2(const Json& json) {
    array_.version = 2;
    if (member(json, "zarr_format") != 2) fail("zarr_format");
    array_.shape = sizes_in(member(json, "shape"), "shape", path_);
    array_.chunk = sizes_in(member(json, "chunks"), "chunks", path_);
    read_type_2(text_member(json, "dtype"));
    const Json& filters = member(json, "filters");
    if (!filters.is_null() && !filters.empty())
      refuse("the filter " + text_member(filters.front(), "id", "of an unknown name"));
    const std::string order = text_member(json, "order", "C");
    if (order != "C" && order != "F") fail("order");
    set_c_order();
    if (order == "F") std::ranges::reverse(array_.order);
    array_.separator = text_member(json, "dimension_separator", ".");
    check_separator();
    read_fill(member(json, "fill_value"));
    array_.codec = codec_of_version_2(member(json, "compressor"), path_);
    const Json attributes = read_json_if_exists(array_.folder + "/.zattrs");
    read_names(member(attributes, "_ARRAY_DIMENSIONS"));
  }

  void read_version_3(const Json& json) {
    array_.version = 3;
    if (member(json, "zarr_format") != 3) fail("zarr_format");
    if (member(json, "node_type") != "array") fail("array (it describes a group)");
    array_.shape = sizes_in(member(json, "shape"), "shape", path_);
    const Json& grid = member(json, "chunk_grid");
    if (text_member(grid, "name") != "regular") refuse("a chunk_grid that is not regular");
    array_.chunk =
        sizes_in(member(member(grid, "configuration"), "chunk_shape"), "chunk_shape", path_);
    read_type_3(text_member(json, "data_type"));
    const Json& keys = member(json, "chunk_key_encoding");
    const std::string encoding = text_member(keys, "name");
    if (encoding != "default" && encoding != "v2") refuse("an unknown chunk_key_encoding");
    array_.separator =
        text_member(member(keys, "configuration"), "separator", encoding == "v2" ? "." : "/");
    check_separator();
    if (encoding == "default") array_.key_prefix = "c" + array_.separator;
    const Json& transformers = member(json, "storage_transformers");
    if (!transformers.is_null() && !transformers.empty()) refuse("storage_transformers");
    read_shards_or_codecs(member(json, "codecs"));
    read_fill(member(json, "fill_value"));
    read_names(member(json, "dimension_names"));
  }

  void read_type_2(const std::string& name) {
    struct Name {
      std::string_view text;
      StoredType type;
    };
    static constexpr Name names[] = {{"u1", StoredType::u8},  {"i1", StoredType::i8},
                                     {"u2", StoredType::u16}, {"i2", StoredType::i16},
                                     {"u4", StoredType::u32}, {"i4", StoredType::i32},
                                     {"u8", StoredType::u64}, {"i8", StoredType::i64},
                                     {"f4", StoredType::f32}, {"f8", StoredType::f64}};
    for (const auto& [text, type] : names)
      if (name.size() == 3 && name.substr(1) == text) {
        array_.samples.type = type;
        const bool has_order = name[0] == '<' || name[0] == '>';
        if (!has_order && !(name[0] == '|' && size_of(type) == 1)) break;
        array_.samples.swapped = size_of(type) > 1 && (name[0] == '>') != is_native_big;
        return;
      }
    refuse("the type '" + name.substr(0, 40) + "'");
  }

  void read_type_3(const std::string& name) {
    for (int i = 0; i <= static_cast<int>(StoredType::f64); ++i)
      if (const auto type = static_cast<StoredType>(i); name == name_of(type)) {
        array_.samples.type = type;
        return;
      }
    refuse("the type '" + name.substr(0, 40) + "'");
  }

  void set_c_order() {
    array_.order.resize(array_.shape.size());
    std::iota(array_.order.begin(), array_.order.end(), 0);
  }

  void read_shards_or_codecs(const Json& codecs) {
    const bool has_shards = codecs.is_array() && !codecs.empty() &&
                            text_member(codecs.front(), "name") == "sharding_indexed";
    if (!has_shards) return read_codecs(codecs);
    if (codecs.size() > 1) refuse("a codec after the shards");
    const Json& configuration = member(codecs.front(), "configuration");
    const std::vector<std::int64_t> shard = std::exchange(
        array_.chunk, sizes_in(member(configuration, "chunk_shape"), "chunk_shape", path_));
    array_.shards.emplace();
    bool is_valid = array_.chunk.size() == shard.size();
    for (std::size_t d = 0; is_valid && d < shard.size(); ++d) {
      is_valid = shard[d] % array_.chunk[d] == 0;
      array_.shards->chunks.push_back(shard[d] / array_.chunk[d]);
    }
    if (!is_valid) fail("chunk_shape of its shards (it must divide the size of a shard)");
    const std::string location = text_member(configuration, "index_location", "end");
    if (location != "start" && location != "end") fail("index_location");
    array_.shards->index_at_start = location == "start";
    read_index_codecs(member(configuration, "index_codecs"));
    read_codecs(member(configuration, "codecs"));
  }

  void read_index_codecs(const Json& codecs) {
    if (!codecs.is_array() || codecs.empty()) fail("index_codecs");
    const std::string last = text_member(codecs.back(), "name");
    array_.shards->index_has_checksum = codecs.size() == 2 && last == "crc32c";
    if (text_member(codecs.front(), "name") != "bytes" ||
        codecs.size() != (array_.shards->index_has_checksum ? 2u : 1u))
      refuse("index_codecs other than bytes and crc32c");
    const std::string endian =
        text_member(member(codecs.front(), "configuration"), "endian", "little");
    if (endian != "little" && endian != "big") fail("endian");
    array_.shards->index_is_big = endian == "big";
  }

  void read_codecs(const Json& codecs) {
    set_c_order();
    if (!codecs.is_array()) fail("codecs");
    bool has_bytes = false;
    for (const Json& codec : codecs) {
      const std::string name = text_member(codec, "name");
      const Json& configuration = member(codec, "configuration");
      if (name == "sharding_indexed") refuse("shards in shards, or a codec before the shards");
      if (name == "transpose" && !has_bytes) {
        read_transpose(member(configuration, "order"));
      } else if (name == "bytes" && !has_bytes) {
        has_bytes = true;
        const std::string endian = text_member(configuration, "endian", "little");
        if (endian != "little" && endian != "big") fail("endian");
        array_.samples.swapped =
            size_of(array_.samples.type) > 1 && (endian == "big") != is_native_big;
      } else if (name == "crc32c" && has_bytes) {
        const bool is_compressed = array_.codec.kind != ZarrCodec::Kind::none;
        bool& has_crc = is_compressed ? array_.codec.has_crc_outside : array_.codec.has_crc_inside;
        if (std::exchange(has_crc, true)) refuse("the codec crc32c twice in succession");
      } else {
        if (!has_bytes || array_.codec.kind != ZarrCodec::Kind::none)
          refuse("several codecs or an unknown codec");
        const bool has_crc_inside = array_.codec.has_crc_inside;
        array_.codec = codec_of_version_3(codec, path_);
        array_.codec.has_crc_inside = has_crc_inside;
      }
    }
    if (!has_bytes) fail("codecs");
  }

  void read_transpose(const Json& order) {
    if (order == "C") return;
    std::vector<int> chosen;
    if (order == "F") {
      chosen = array_.order;
      std::ranges::reverse(chosen);
    } else if (order.is_array() && order.size() == array_.order.size()) {
      for (const Json& one : order)
        chosen.push_back(one.is_number_unsigned() && one < order.size() ? one.get<int>() : -1);
    }
    std::vector<int> sorted = chosen;
    std::ranges::sort(sorted);
    if (sorted != array_.order) fail("order of dimensions");
    // Each transpose codec permutes the dimensions in the result of the previous transpose codec.
    std::vector<int> before = array_.order;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      array_.order[i] = before[static_cast<std::size_t>(chosen[i])];
  }

  void check_separator() const {
    if (array_.separator != "." && array_.separator != "/") fail("separator of dimensions");
  }

  void read_names(const Json& names) {
    if (!names.is_array() || names.size() != array_.shape.size()) return;
    for (const Json& name : names) {
      if (!name.is_string()) return array_.names.clear();
      array_.names.push_back(name.get<std::string>());
    }
  }

  /// Returns the bits of the fill value; nullopt if the value is invalid.
  std::optional<std::uint64_t> fill_bits(const Json& value) const {
    const StoredType type = array_.samples.type;
    if (value.is_null()) return 0;
    if (!is_float(type)) return integer_bits(value);
    double number = 0;
    if (value.is_number()) {
      number = value.get<double>();
    } else if (value == "NaN") {
      number = std::numeric_limits<double>::quiet_NaN();
    } else if (value == "Infinity" || value == "-Infinity") {
      number = std::numeric_limits<double>::infinity() * (value == "Infinity" ? 1 : -1);
    } else {
      return hexadecimal_bits(value);
    }
    if (type == StoredType::f64) return std::bit_cast<std::uint64_t>(number);
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  }

  std::optional<std::uint64_t> integer_bits(const Json& value) const {
    if (value.is_number_float() && std::abs(value.get<double>()) < 9e15 &&
        std::trunc(value.get<double>()) == value.get<double>())
      return integer_bits(Json(static_cast<std::int64_t>(value.get<double>())));
    if (!value.is_number_integer()) return std::nullopt;
    const int bits = 8 * size_of(array_.samples.type);
    const bool is_signed = name_of(array_.samples.type).front() == 'i';
    const std::uint64_t maximum =
        std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed ? 1 : 0));
    if (value.is_number_unsigned()) {
      if (value.get<std::uint64_t>() > maximum) return std::nullopt;
      return value.get<std::uint64_t>();
    }
    const auto number = value.get<std::int64_t>();
    const bool fits = number >= 0
                          ? static_cast<std::uint64_t>(number) <= maximum
                          : is_signed && -(number + 1) <= static_cast<std::int64_t>(maximum);
    return fits ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt;
  }

  /// Returns the bits in a string such as "0x7fc00000". Zarr version 3 uses this form for NaN with
  /// a payload.
  std::optional<std::uint64_t> hexadecimal_bits(const Json& value) const {
    const std::string text = value.is_string() ? value.get<std::string>() : std::string();
    const std::size_t digits = 2 * static_cast<std::size_t>(size_of(array_.samples.type));
    if (!text.starts_with("0x") || text.size() != digits + 2) return std::nullopt;
    std::uint64_t bits = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 2, end, bits, 16);
    return error == std::errc() && stop == end ? std::optional(bits) : std::nullopt;
  }

  void read_fill(const Json& value) {
    const std::optional<std::uint64_t> bits = fill_bits(value);
    if (!bits) fail("fill_value");
    const int bytes = size_of(array_.samples.type);
    for (int i = 0; i < bytes; ++i) array_.fill.push_back(static_cast<std::byte>(*bits >> (8 * i)));
    const bool is_big = array_.samples.swapped != is_native_big;
    if (is_big) std::ranges::reverse(array_.fill);
  }

  void check_sizes() const {
    if (array_.chunk.size() != array_.shape.size())
      throw BadData("'" + path_ + "' states " + std::to_string(array_.shape.size()) +
                    " dimensions, but chunks of " + std::to_string(array_.chunk.size()) +
                    "; check the store");
    double samples = 1, chunk = size_of(array_.samples.type), chunks = 1;
    for (const std::int64_t size : array_.shape) samples *= static_cast<double>(size);
    for (const std::int64_t size : array_.chunk) chunk *= static_cast<double>(size);
    if (array_.shards)
      for (const std::int64_t count : array_.shards->chunks) chunks *= static_cast<double>(count);
    if (chunks > max_chunks_of_shard)
      throw BadData("'" + path_ + "' states shards of more than " +
                    std::to_string(max_chunks_of_shard) +
                    " chunks; write the store again with larger chunks");
    const std::size_t checksum = array_.codec.has_crc_inside ? checksum_bytes : 0;
    if (chunk > static_cast<double>(max_chunk_bytes - checksum))
      throw BadData("'" + path_ +
                    "' states chunks of more than 2 GiB; write the store again with "
                    "smaller chunks");
    if (samples > 1e15)
      throw BadData("'" + path_ + "' states more than 10^15 samples; check the store");
  }

  std::string path_;
  ZarrArray array_;
};

}  // namespace

std::size_t ZarrShards::count() const {
  std::size_t count = 1;
  for (const std::int64_t along : chunks) count *= static_cast<std::size_t>(along);
  return count;
}

std::size_t ZarrShards::index_bytes() const {
  constexpr std::size_t entry_bytes = 16;  // the offset and the size of a chunk
  return entry_bytes * count() + (index_has_checksum ? checksum_bytes : 0);
}

std::size_t ZarrArray::chunk_bytes() const {
  auto bytes = static_cast<std::size_t>(size_of(samples.type));
  for (const std::int64_t size : chunk) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

std::string ZarrArray::chunk_path(std::span<const std::int64_t> index) const {
  std::string name = folder + "/" + key_prefix;
  for (std::size_t i = 0; i < index.size(); ++i)
    name += (i == 0 ? "" : separator) +
            std::to_string(shards ? index[i] / shards->chunks[i] : index[i]);
  return name;
}

bool is_zarr_array(const std::string& folder) {
  std::error_code code;
  if (fs::exists(folder + "/.zarray", code)) return true;
  if (!fs::exists(folder + "/zarr.json", code)) return false;
  return member(read_json(folder + "/zarr.json"), "node_type") == "array";
}

ZarrArray read_zarr_array(const std::string& folder) { return ArrayReader(folder).read(); }

}  // namespace lull::io
