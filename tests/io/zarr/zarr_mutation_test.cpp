// Tests that stores with hostile metadata or chunks are read, or refused with one line.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string_view>

#include "core/error.h"
#include "io/media.h"
#include "io/support/zarr_shards.h"
#include "io/support/zarr_stores.h"

namespace lull::io::test {
namespace {

class ZarrMutations : public testing::Test {
 protected:
  /// Reads a store completely and writes it. Errors must have one line.
  void read_and_write(const std::string& what) {
    try {
      const auto source =
          open_source(in, {.limits = {.pixels = 1 << 20, .frames = 100, .memory = 1 << 24}});
      ++accepted_;
      // Outputs take most of the time, so only some of the stores are written.
      if (++count_ % 6 > 1) return;
      const auto sink = open_sink(folder / (count_ % 6 ? "out.zarr" : "out.tif"), *source, {});
      while (auto frame = source->read()) sink->write(*std::move(frame));
    } catch (const InternalError& error) {
      ADD_FAILURE() << what << ": " << error.what();
    } catch (const Error& error) {
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << what;
      EXPECT_LT(std::strlen(error.what()), 500u) << what << ": " << error.what();
      ++refused_;
    }
  }
  /// Replaces each value and name of a JSON file by hostile texts.
  void change_values(const std::string& path) {
    const Bytes bytes = read_file(path);
    const std::string whole(bytes.begin(), bytes.end());
    constexpr std::string_view ends = ",:{}[]";
    const std::string hostile[] = {
        "",     "0",        "-1",           "2.5",
        "null", "[]",       "\"../..\"",    "9223372036854775807",
        "1",    "\"zstd\"", "{\"a\":[[]]}", "\"" + std::string(3000, 'x') + "\""};
    for (std::size_t at = whole.find_first_not_of(ends); at != whole.npos;) {
      const std::size_t end = std::min(whole.find_first_of(ends, at), whole.size());
      for (const std::string& value : hostile) {
        write_text_file(path, whole.substr(0, at) + value + whole.substr(end));
        read_and_write("'" + value.substr(0, 40) + "' at " + std::to_string(at) + " of " + path);
      }
      at = whole.find_first_not_of(ends, end);
    }
    for (std::size_t size = 0; size < whole.size(); size += 19) {
      write_text_file(path, whole.substr(0, size));
      read_and_write("truncated");
    }
    write_text_file(path, whole);
  }

  TemporaryFolder folder{/*in_memory=*/true};
  const std::string in = folder / "in.zarr";
  int accepted_ = 0, refused_ = 0, count_ = 0;
};

TEST_F(ZarrMutations, OfMetadataAreReadOrRefused) {
  write_store(in, {.shape = {2, 3, 4}, .chunk = {1, 3, 3}, .codec = "blosc", .has_pyramid = true});
  for (const char* name : {"/.zattrs", "/0/.zarray", "/1/.zarray"}) change_values(in + name);
  EXPECT_GT(accepted_, 50);
  EXPECT_GT(refused_, 100);
}

TEST_F(ZarrMutations, OfMetadataOfVersion3AreReadOrRefused) {
  const StoreArray array{{.shape = {2, 3, 4}, .chunk = {1, 3, 3}, .codec = "gzip", .version = 3},
                         in + "/0"};
  write_text_file(in + "/zarr.json",
                  R"({"zarr_format":3,"node_type":"group","attributes":{"ome":{)" +
                      multiscales_json(array.spec) + "}}}");
  array.write_metadata_3("uint16", R"([{"name":"transpose","configuration":{"order":[0,1,2]}},)"
                                   R"({"name":"bytes","configuration":{"endian":"little"}},)"
                                   R"({"name":"gzip","configuration":{"level":5}}])");
  array.write_chunks();
  for (const char* name : {"/zarr.json", "/0/zarr.json"}) change_values(in + name);
  EXPECT_GT(accepted_, 50);
  EXPECT_GT(refused_, 100);
}

TEST_F(ZarrMutations, OfMetadataOfShardsAreReadOrRefused) {
  ShardedStore store{.more_codecs = std::string(",") + crc_codec, .crc_inside = true, .folder = in};
  store.inner.shape = {2, 4, 4};
  store.write();
  change_values(in + "/0/zarr.json");
  EXPECT_GT(accepted_, 30);
  EXPECT_GT(refused_, 100);
}

TEST_F(ZarrMutations, OfChunksAreReadOrRefused) {
  std::mt19937 rng{5};
  for (const char* codec : {"blosc", "zstd", "gzip", "zlib"}) {
    const StoreArray array =
        write_store(in, {.shape = {1, 6, 8}, .chunk = {1, 6, 8}, .codec = codec}).front();
    const Bytes whole = read_file(array.path_of(0));
    for (int i = 0; i < 60; ++i) {
      Bytes changed = whole;
      for (int n = 0; n < 3; ++n)
        changed[rng() % changed.size()] = static_cast<std::uint8_t>(rng());
      write_file(array.path_of(0), changed);
      read_and_write(codec);
    }
  }
  EXPECT_GT(refused_, 20);
}

}  // namespace
}  // namespace lull::io::test
