// Tests stores with shards, and chunks with checksums.

#include <fcntl.h>
#include <unistd.h>

#include "io/support/zarr_folder.h"
#include "io/support/zarr_shards.h"
#include "io/zarr/zarr_crc32c.h"

namespace lull::io::test {
namespace {

std::uint32_t crc_of(const Bytes& bytes) { return crc32c(std::as_bytes(std::span(bytes))); }

TEST(Crc32c, HasTheValuesOfRfc3720) {
  Bytes rising(32), falling(32);
  for (std::uint8_t i = 0; i < 32; ++i)
    rising[i] = i, falling[i] = static_cast<std::uint8_t>(31 - i);
  EXPECT_EQ(crc_of(Bytes(32, 0)), 0x8a9136aau);
  EXPECT_EQ(crc_of(Bytes(32, 0xff)), 0x62a8ab43u);
  EXPECT_EQ(crc_of(rising), 0x46dd794eu);
  EXPECT_EQ(crc_of(falling), 0x113fdb5cu);
  Bytes read_command(48);  // an iSCSI command "read (10)"
  const std::map<int, int> set = {{0, 0x01},  {1, 0xc0},  {16, 0x14}, {22, 0x04},
                                  {27, 0x14}, {31, 0x18}, {32, 0x28}, {40, 0x02}};
  for (const auto& [at, value] : set)
    read_command[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(value);
  EXPECT_EQ(crc_of(read_command), 0xd9963a56u);
  const std::string digits = "123456789";
  EXPECT_EQ(crc_of(Bytes(digits.begin(), digits.end())), 0xe3069283u);
}

class ZarrShards : public Zarr {
 protected:
  /// Checks the frames of `in`. Samples of missing chunks must have the fill value.
  void expect_samples(const ShardedStore& store) const {
    const auto source = open_source(in);
    const StoreSpec& spec = store.inner;
    const std::vector<int> grid = store.chunks().chunks();
    std::vector<double> values;
    for (int plane = 0; plane < StoreArray::count(spec.shape); ++plane) {
      const std::vector<int> index = StoreArray::index_of(plane, spec.shape);
      const bool begins = index.back() == 0 && index[index.size() - 2] == 0;
      if (begins) {
        const auto frame = source->read();
        ASSERT_TRUE(frame);
        source->values_of(*frame, values);
      }
      int chunk = 0;
      for (std::size_t d = 0; d < index.size(); ++d)
        chunk = chunk * grid[d] + index[d] / spec.chunk[d];
      const bool is_missing = std::ranges::count(spec.missing, chunk) > 0;
      const int at = index[index.size() - 2] * spec.shape.back() + index.back();
      ASSERT_EQ(values[static_cast<std::size_t>(at)],
                is_missing ? std::stoi(spec.fill) : sample_at(index));
    }
  }
  /// Checks that the shards of `in` and `out` contain equal chunks.
  void expect_equal_chunks(const ShardedStore& store) const {
    for (int n = 0; n < StoreArray::count(store.shards().chunks()); ++n) {
      const auto before = store.read_shard(in, n), after = store.read_shard(out, n);
      for (std::size_t i = 0; i < before.size(); ++i) {
        ASSERT_EQ(before[i].has_value(), after[i].has_value()) << n << " " << i;
        // lull fills the samples outside the array with the fill value, and this test with 0.
        if (!before[i] || store.inner.codec != "none" || store.inner.fill != "0") continue;
        EXPECT_TRUE(*before[i] == *after[i]) << n << " " << i;
      }
    }
  }
};

const char* const zstd_codec = R"(,{"name":"zstd","configuration":{"level":3,"checksum":false}})";
const char* const gzip_codec = R"(,{"name":"gzip","configuration":{"level":6}})";
const char* const blosc_codec =
    R"(,{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":2,"blocksize":0}})";
const std::string crc = std::string(",") + crc_codec;

TEST_F(ZarrShards, AreReadAndWritten) {
  const StoreSpec plain = ShardedStore().inner;
  StoreSpec packed = plain, turned = plain, sparse = plain;
  packed.codec = "zstd";
  turned.order = "F";
  turned.type = ">u2";
  sparse.missing = {0, 3, 6, 8, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59};
  sparse.fill = "77";
  StoreSpec zipped = sparse, blosc = sparse;
  zipped.codec = "gzip";
  blosc.codec = "blosc";
  const ShardedStore stores[] = {
      {},
      {.at_start = true},
      {.index_crc = false, .index_big = true},
      {.inner = packed, .more_codecs = zstd_codec},
      {.inner = packed, .more_codecs = zstd_codec + crc, .crc_outside = true, .at_start = true},
      {.inner = zipped, .more_codecs = crc + gzip_codec, .crc_inside = true},
      {.inner = blosc,
       .more_codecs = crc + blosc_codec + crc,
       .crc_inside = true,
       .crc_outside = true},
      {.inner = turned, .transpose = R"({"name":"transpose","configuration":{"order":[2,1,0]}},)"},
      {.inner = sparse, .more_codecs = crc, .crc_inside = true, .at_start = true},
      {.inner = {.shape = {2, 3, 4, 5},
                 .chunk = {1, 1, 2, 3},
                 .axes = "czyx",
                 .type = "|u1",
                 .version = 3},
       .shard = {2, 2, 4, 6},
       .type = "uint8"},
      {.inner = {.shape = {2, 3, 3, 4, 5},
                 .chunk = {1, 2, 2, 2, 3},
                 .axes = "ctzyx",
                 .version = 3,
                 .missing = {2}},
       .shard = {2, 4, 2, 4, 3}},
  };
  for (ShardedStore store : stores) {
    SCOPED_TRACE(store.sharding());
    std::filesystem::remove_all(in);
    store.folder = in;
    store.write();
    expect_samples(store);
    transcode(in, out, {.overwrite = true});
    expect_equal_chunks(store);
    const auto before = files_below(in), after = files_below(out);
    ASSERT_EQ(before.size(), after.size());
    for (const auto& [name, bytes] : before)
      if (name.ends_with(".json") && after.at(name) != bytes) ADD_FAILURE() << name;
    std::filesystem::remove_all(in);
    std::filesystem::rename(out, in);
    expect_samples(store);
  }
}

TEST_F(ZarrShards, GetTheFilteredSamples) {
  ShardedStore store{.folder = in};
  store.inner.fill = "40";
  for (int i = 0; i < 40; ++i) store.inner.missing.push_back(i);
  store.write();
  change_values(3);
  const auto shard = store.read_shard(out, 0);
  ASSERT_TRUE(shard[0]);  // the filter changed the fill value of this chunk
  EXPECT_EQ((*shard[0])[0], 43);
}

TEST_F(ZarrShards, ArePartsOfPyramids) {
  ShardedStore store{.folder = in};
  store.inner.has_pyramid = true;
  store.write();
  ShardedStore small = store;
  small.inner.shape = {5, 5, 5};
  small.folder = folder / "small";
  small.write();
  std::filesystem::rename(small.folder + "/0", in + "/1");
  change_values(4);
  const auto source = open_source(out + "/1");
  std::vector<double> values;
  source->values_of(*source->read(), values);
  double mean = 4;
  for (const int y : {0, 1})
    for (const int x : {2, 3}) mean += sample_at({0, y, x}) / 4.0;
  EXPECT_NEAR(values[1], mean, 0.51);
  EXPECT_EQ(files_below(in).size(), files_below(out).size());
}

// lull reads chunks by their byte ranges, so that a shard may be larger than the memory.
TEST_F(ZarrShards, MayBeLargerThanTheMemory) {
  ShardedStore store{.folder = in};
  store.inner.shape = {2, 4, 3};
  store.shard = {64, 256, 240};
  store.write_metadata("[" + store.sharding() + "]");
  const std::string path = store.shards().path_of(0);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  Bytes index;
  constexpr std::int64_t place = std::int64_t{3} << 30;
  for (int i = 0; i < StoreArray::count(store.chunks_of_shard()); ++i) {
    const bool exists = i == 0 || i == 64 * 80;
    store.put(index, exists ? static_cast<std::uint64_t>(i == 0 ? 0 : place) : UINT64_MAX);
    store.put(index, exists ? store.packed(0).size() : UINT64_MAX);
  }
  index = with_checksum(index);
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(file, 0);
  const auto put = [&](const Bytes& bytes, std::int64_t at) {
    EXPECT_EQ(::pwrite(file, bytes.data(), bytes.size(), at), static_cast<ssize_t>(bytes.size()));
  };
  put(store.packed(0), 0);
  put(store.packed(1), place);
  put(index, place + 4096);
  ::close(file);
  const SourceOptions options{.limits = {.memory = std::int64_t{24} << 20}};
  const auto source = open_source(in, options);
  std::vector<double> values;
  for (int z = 0; z < 2; ++z) {
    source->values_of(*source->read(), values);
    EXPECT_EQ(values[5], sample_at({z, 1, 2}));
  }
}

TEST_F(ZarrShards, ChecksumsOfPlainChunksAreReadAndWritten) {
  const StoreArray array{{.version = 3}, in + "/0"};
  write_text_file(in + "/zarr.json",
                  R"({"zarr_format":3,"node_type":"group","attributes":{"ome":{)" +
                      multiscales_json(array.spec) + "}}}");
  array.write_metadata_3("uint16", std::string("[") + little_bytes + crc + "]");
  array.write_chunks();
  for (int n = 0; n < StoreArray::count(array.chunks()); ++n)
    write_file(array.path_of(n), with_checksum(array.read_chunk(n)));
  EXPECT_EQ(transcode(in, out), 3);
  EXPECT_TRUE(files_below(in) == files_below(out));
  std::filesystem::remove_all(out);
  Bytes chunk = read_file(array.path_of(1));
  chunk[5] ^= 1;
  write_file(array.path_of(1), chunk);
  expect_refused("wrong checksum");
}

}  // namespace
}  // namespace lull::io::test
