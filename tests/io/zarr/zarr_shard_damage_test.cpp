// Tests that damaged shards and unknown layouts of shards are refused.

#include <random>

#include "io/support/zarr_folder.h"
#include "io/support/zarr_shards.h"

namespace lull::io::test {
namespace {

using ZarrShardFailures = Zarr;

TEST_F(ZarrShardFailures, TruncatedShardsAreRefused) {
  for (const bool at_start : {false, true}) {
    ShardedStore store{.at_start = at_start, .folder = in};
    store.write();
    const std::string path = store.shards().path_of(1);
    const Bytes whole = read_file(path);
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 1 + whole.size() / 5) {
      write_file(path, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
      expect_refused("is damaged or truncated");
    }
    std::filesystem::remove_all(in);
  }
}

TEST_F(ZarrShardFailures, WrongChecksumsAreRefused) {
  ShardedStore store{.more_codecs = std::string(",") + crc_codec, .crc_inside = true, .folder = in};
  store.write();
  const std::string path = store.shards().path_of(2);
  const Bytes whole = read_file(path);
  const auto expect_refused_at = [&](std::size_t at, const std::string& text) {
    Bytes changed = whole;
    changed[at] ^= 16;
    write_file(path, changed);
    expect_refused(text);
  };
  expect_refused_at(3, "a chunk has a wrong checksum");
  expect_refused_at(whole.size() - 1, "the index of a shard has a wrong checksum");
  expect_refused_at(whole.size() - 30, "the index of a shard has a wrong checksum");
}

TEST_F(ZarrShardFailures, PlacesOutsideTheShardAreRefused) {
  ShardedStore store{.at_start = true, .index_crc = false, .folder = in};
  store.write();
  const std::string path = store.shards().path_of(0);
  const Bytes whole = read_file(path);
  const auto expect_refused_entry = [&](std::uint64_t offset, std::uint64_t bytes,
                                        const std::string& text) {
    Bytes entry;
    store.put(entry, offset);
    store.put(entry, bytes);
    Bytes changed = whole;
    std::ranges::copy(entry, changed.begin());
    write_file(path, changed);
    expect_refused(text);
  };
  expect_refused_entry(0, whole.size() + 1, "a chunk lies behind the end");
  expect_refused_entry(whole.size() + 1, 0, "a chunk lies behind the end");
  expect_refused_entry(UINT64_MAX, 24, "a chunk lies behind the end");
  expect_refused_entry(24, UINT64_MAX, "a chunk lies behind the end");
  expect_refused_entry(0, 23, "is damaged or truncated");
}

TEST_F(ZarrShardFailures, UnknownLayoutsAreRefused) {
  const ShardedStore store{.folder = in};
  store.write();
  const auto expect_refused_codecs = [&](const std::string& codecs, const std::string& text) {
    store.write_metadata("[" + codecs + "]");
    expect_refused(text);
  };
  const std::string whole = store.sharding(), inner = store.inner_codecs(),
                    index = store.index_codecs();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    return text.replace(text.find(from), from.size(), to);
  };
  expect_refused_codecs(whole + "," + crc_codec, "a codec after the shards");
  expect_refused_codecs(R"({"name":"transpose","configuration":{"order":[2,1,0]}},)" + whole,
                        "a codec before the shards");
  expect_refused_codecs(with(inner, "[" + whole + "]"), "shards in shards");
  expect_refused_codecs(with(list(store.inner.chunk), "[1,4,4]"), "must divide");
  expect_refused_codecs(with(list(store.inner.chunk), "[1,4]"), "must divide");
  expect_refused_codecs(with(list(store.inner.chunk), "[0,4,3]"), "chunk_shape");
  expect_refused_codecs(with(index, "[]"), "no valid index_codecs");
  expect_refused_codecs(with(index, R"([{"name":"bytes"},{"name":"gzip"}])"),
                        "index_codecs other than bytes and crc32c");
  expect_refused_codecs(with("\"index_codecs\"", R"("index_location":"middle","index_codecs")"),
                        "index_location");
  const std::string crc = std::string(",") + crc_codec;
  expect_refused_codecs(with(inner, std::string("[") + little_bytes + crc + crc + "]"),
                        "crc32c twice");
  expect_refused_codecs(with(inner, std::string("[") + crc_codec + "," + little_bytes + "]"),
                        "several codecs or an unknown codec");
  expect_refused_codecs(R"({"name":"sharding_indexed"})", "chunk_shape");
  ShardedStore large = store;
  large.inner.chunk = {1, 1, 1};
  large.shard = {300, 300, 300};
  large.write_metadata("[" + large.sharding() + "]");
  expect_refused("shards of more than 4194304 chunks");
}

TEST_F(ZarrShardFailures, ChangedShardsAreReadOrRefused) {
  std::mt19937 rng{7};
  for (const bool has_crc : {false, true}) {
    ShardedStore store{.index_crc = has_crc, .folder = in};
    store.inner.shape = {2, 4, 6};
    store.write();
    const std::string path = store.shards().path_of(0);
    const Bytes whole = read_file(path);
    int refused = 0;
    for (int i = 0; i < 200; ++i) {
      Bytes changed = whole;
      changed[rng() % changed.size()] = static_cast<std::uint8_t>(rng());
      write_file(path, changed);
      try {
        transcode(in, out, {.overwrite = true});
      } catch (const BadData& error) {
        EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
        ++refused;
      }
    }
    EXPECT_GT(refused, 20);
  }
}

}  // namespace
}  // namespace lull::io::test
