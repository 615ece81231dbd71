// Tests OME-Zarr stores as inputs and outputs. Stores are written chunk by chunk by the tests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "io/stacks/zarr_source.h"
#include "io/support/zarr_folder.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;

TEST_F(Zarr, StoresOfAllKindsAreUnchangedIfSamplesAre) {
  const StoreSpec kinds[] = {
      {.type = "|u1"},
      {.type = "|i1", .codec = "blosc"},
      {.type = "<u2", .order = "F", .codec = "zstd"},
      {.type = ">u2", .separator = ".", .codec = "gzip"},
      {.type = "<i2", .codec = "zlib"},
      {.type = ">i2", .codec = "blosc"},
      {.type = "<u4", .separator = "."},
      {.type = ">i4", .order = "F", .codec = "blosc"},
      {.type = "<f4", .codec = "blosc", .fill = "\"NaN\""},
      {.type = ">f4", .fill = "null"},
      {.type = "<f8", .separator = ".", .codec = "zstd", .fill = "-1.5"},
      {.type = ">f8", .order = "F", .codec = "gzip", .fill = "\"-Infinity\""},
      {.shape = {9, 10}, .chunk = {9, 10}, .axes = "yx"},
      {.shape = {10, 3, 9}, .chunk = {4, 2, 5}, .axes = "xzy"},
      {.shape = {2, 2, 2, 4, 5}, .chunk = {1, 1, 2, 3, 5}, .axes = "tczyx"},
      {.shape = {2, 3, 2, 4, 5}, .chunk = {2, 2, 2, 3, 5}, .axes = "tczyx", .order = "F"},
      {.shape = {3, 2, 9, 10}, .chunk = {5, 7, 20, 30}, .axes = "ctyx", .codec = "blosc"},
  };
  for (StoreSpec spec : kinds) {
    if (spec.axes == "zyx") spec.shape = {3, 5, 6}, spec.chunk = {2, 3, 6};
    SCOPED_TRACE(spec.type + " " + spec.codec + " " + spec.axes + " " + spec.order);
    std::filesystem::remove_all(in);
    const StoreArray array = write_store(in, spec).front();
    transcode(in, out, {.overwrite = true});
    const auto before = files_below(in), after = files_below(out);
    for (const auto& [name, content] : before) {
      ASSERT_TRUE(after.contains(name)) << name;
      if (name.find(".z") != name.npos) EXPECT_TRUE(after.at(name) == content) << name;
    }
    EXPECT_EQ(before.size(), after.size());
    const StoreArray copy{spec, out + "/0"};
    for (int n = 0; n < StoreArray::count(array.chunks()); ++n) {
      const Bytes chunk = copy.read_chunk(n);
      EXPECT_EQ(chunk.size(), array.chunk_bytes()) << n;
      // lull fills the samples outside the array with the fill value, and this test with 0.
      if (spec.fill == "0") {
        EXPECT_TRUE(chunk == array.read_chunk(n)) << n;
      }
    }
    // The samples are compared as a second reading of the output returns them.
    const auto first = open_source(in), second = open_source(out);
    while (auto frame = first->read()) {
      const auto other = second->read();
      std::vector<double> a, b;
      first->values_of(*frame, a);
      second->values_of(*other, b);
      EXPECT_TRUE(a == b);
    }
  }
}

TEST_F(Zarr, FramesHaveTheOrderOfChannelsTimesAndSlices) {
  write_store(in, {.shape = {2, 3, 2, 4, 5},
                   .chunk = {1, 2, 2, 3, 2},
                   .axes = "tczyx",
                   .type = ">i2",
                   .order = "F",
                   .codec = "blosc"});
  const auto source = open_source(in);
  EXPECT_EQ(source->info().channels, 3);
  EXPECT_EQ(source->info().slices, 2);
  EXPECT_THAT(source->info().axes, HasSubstr("3 channels, 2 slices, 2 time points"));
  for (int c = 0; c < 3; ++c)
    for (int t = 0; t < 2; ++t)
      for (int z = 0; z < 2; ++z) {
        const auto frame = source->read();
        std::vector<double> values;
        source->values_of(*frame, values);
        for (int y = 0; y < 4; ++y)
          for (int x = 0; x < 5; ++x)
            ASSERT_EQ(values[static_cast<std::size_t>(5 * y + x)], sample_at({t, c, z, y, x}));
      }
}

TEST_F(Zarr, ChunksGetTheFilteredSamples) {
  // Chunks with two channels are written after all channels are filtered.
  for (const int channels_of_chunk : {1, 2}) {
    std::filesystem::remove_all(in);
    const StoreSpec spec{.shape = {2, 3, 9, 10},
                         .chunk = {channels_of_chunk, 2, 4, 7},
                         .axes = "czyx",
                         .type = ">i2",
                         .order = channels_of_chunk == 1 ? "C" : "F"};
    write_store(in, spec);
    const auto source = open_source(in);
    {
      const auto sink = open_sink(out, *source, {.overwrite = true});
      const double span = source->info().channel_values.front().span;
      while (auto frame = source->read()) {
        frame->plane<float>(0)(3, 8) += static_cast<float>(7 / span);
        sink->write(*std::move(frame));
      }
      sink->finish();
    }
    const StoreArray result{spec, out + "/0"};
    for (int n = 0; n < StoreArray::count(result.chunks()); ++n) {
      const Bytes chunk = result.read_chunk(n);
      const std::vector<int> place = StoreArray::index_of(n, result.chunks());
      for (int i = 0; i < StoreArray::count(spec.chunk); ++i) {
        const std::vector<int> inside = StoreArray::index_of(i, spec.chunk);
        std::vector<int> index;
        bool exists = true;
        for (std::size_t d = 0; d < 4; ++d) {
          index.push_back(place[d] * spec.chunk[d] + inside[d]);
          exists = exists && index[d] < spec.shape[d];
        }
        const int at = 2 * result.position(inside);
        const int value =
            chunk[static_cast<std::size_t>(at)] * 256 + chunk[static_cast<std::size_t>(at) + 1];
        const int change = index[2] == 8 && index[3] == 3 ? 7 : 0;
        ASSERT_NEAR(value, exists ? sample_at(index) + change : 0, change > 0 ? 1 : 0)
            << n << " " << i;
      }
    }
  }
}

TEST_F(Zarr, MissingChunksAreTheFillValueAndStayMissing) {
  const StoreSpec spec{.shape = {3, 9, 10}, .chunk = {1, 4, 7}, .fill = "77", .missing = {0, 5}};
  const StoreArray array = write_store(in, spec).front();
  const auto source = open_source(in);
  std::vector<double> values;
  source->values_of(*source->read(), values);
  EXPECT_EQ(values[0], 77);
  EXPECT_EQ(values[7], sample_at({0, 0, 7}));
  transcode(in, out);
  const StoreArray copy{spec, out + "/0"};
  EXPECT_FALSE(std::filesystem::exists(copy.path_of(0)));
  EXPECT_FALSE(std::filesystem::exists(copy.path_of(5)));
  EXPECT_TRUE(std::filesystem::exists(copy.path_of(1)));
  std::filesystem::remove_all(out);
  change_values(3);
  EXPECT_TRUE(std::filesystem::exists(copy.path_of(0)));
  EXPECT_EQ(copy.read_chunk(0)[0], 80);
}

TEST_F(Zarr, PyramidIsMadeAgainFromMeansOfTheResult) {
  const StoreSpec spec{.shape = {2, 5, 6}, .chunk = {1, 3, 4}, .type = "<f4", .has_pyramid = true};
  write_store(in, spec);
  write_text_file(in + "/labels/.zattrs", "{\"labels\": [\"cells\"]}");
  write_text_file(in + "/labels/cells/0/0.0", "not even a chunk");
  write_text_file(in + "/OME/METADATA.ome.xml", "<OME/>");
  change_values(4);
  const auto before = files_below(in), after = files_below(out);
  EXPECT_EQ(before.size(), after.size());
  for (const auto& [name, content] : before)
    if (name.find("/0/") == name.npos && name.find("1/") != 0 && name.find("0/") != 0)
      EXPECT_TRUE(after.at(name) == content) << name;
  EXPECT_TRUE(after.at("labels/cells/0/0.0") == before.at("labels/cells/0/0.0"));
  // The last of the three rows of the smaller level is the mean of one row.
  StoreSpec small = spec;
  small.shape = {2, 3, 3};
  const StoreArray level{small, out + "/1"};
  const Bytes chunk = level.read_chunk(0);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x) {
      double mean = 0;
      const int rows = y == 2 ? 1 : 2;
      for (int j = 0; j < rows; ++j)
        for (int i = 0; i < 2; ++i) mean += sample_at({0, 2 * y + j, 2 * x + i}) + 4;
      float value = 0;
      std::memcpy(&value, &chunk[static_cast<std::size_t>(4 * (4 * y + x))], 4);
      EXPECT_NEAR(value, mean / (2 * rows), 1e-3) << x << " " << y;
    }
}

TEST_F(Zarr, Version3IsReadAndWritten) {
  struct Kind {
    std::string type_2, type_3, codec, codecs, order = "C";
  };
  const Kind kinds[] = {
      {"<u2", "uint16", "none", R"([{"name":"bytes","configuration":{"endian":"little"}}])"},
      {">f4", "float32", "zstd",
       R"([{"name":"bytes","configuration":{"endian":"big"}},{"name":"zstd","configuration":{"level":1,"checksum":false}}])"},
      {"|u1", "uint8", "gzip", R"([{"name":"bytes"},{"name":"gzip","configuration":{"level":5}}])"},
      {"<i2", "int16", "blosc",
       R"([{"name":"transpose","configuration":{"order":[2,1,0]}},{"name":"bytes","configuration":{"endian":"little"}},
           {"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":2,"blocksize":0}}])",
       "F"},
  };
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.type_3 + " " + kind.codec);
    std::filesystem::remove_all(in);
    StoreSpec spec{.type = kind.type_2, .order = kind.order, .codec = kind.codec, .version = 3};
    const StoreArray array{spec, in + "/0"};
    write_text_file(
        in + "/zarr.json",
        R"({"zarr_format":3,"node_type":"group","attributes":{"ome":{"version":"0.5",)" +
            multiscales_json(spec) + "}}}");
    array.write_metadata_3(kind.type_3, kind.codecs);
    array.write_chunks();
    EXPECT_EQ(transcode(in, out, {.overwrite = true}), 3);
    const StoreArray copy{spec, out + "/0"};
    EXPECT_TRUE(read_file(in + "/zarr.json") == read_file(out + "/zarr.json"));
    EXPECT_TRUE(read_file(in + "/0/zarr.json") == read_file(out + "/0/zarr.json"));
    for (int n = 0; n < StoreArray::count(array.chunks()); ++n)
      EXPECT_TRUE(copy.read_chunk(n) == array.read_chunk(n)) << n;
    const auto source = open_source(in);
    std::vector<double> values;
    source->values_of(*source->read(), values);
    EXPECT_EQ(values[13], sample_at({0, 1, 3}));
  }
}

TEST_F(Zarr, ArraysWithNamedDimensionsAreReadWithoutMultiscales) {
  const StoreArray array{{.shape = {2, 3, 9, 10}, .chunk = {1, 2, 4, 7}}, in};
  array.write_metadata();
  array.write_chunks();
  expect_refused("4 dimensions without names");
  write_text_file(in + "/.zattrs", R"({"_ARRAY_DIMENSIONS":["channel","z","y","x"]})");
  EXPECT_EQ(open_source(in)->info().channels, 2);
  transcode(in, out);
  EXPECT_TRUE(files_below(in) == files_below(out));
}

TEST_F(Zarr, StoresOfBioformats2rawAreReadIfTheyHaveOneImage) {
  write_store(in + "/0", {});
  write_text_file(in + "/.zattrs", R"({"bioformats2raw.layout":3})");
  EXPECT_EQ(transcode(in, out), 3);
  EXPECT_TRUE(files_below(in) == files_below(out));
  std::filesystem::remove_all(out);
  write_store(in + "/1", {});
  expect_refused("contains several images");
  write_text_file(in + "/.zattrs", R"({"plate":{}})");
  expect_refused("is a plate");
}

TEST_F(Zarr, AttributesMayContainTheNumbersThatPythonWrites) {
  write_store(in, {});
  const std::string attributes =
      "{" + multiscales_json({}) + R"(,"a":[NaN, -Infinity,Infinity],"b":"\\\"NaN","c":{"d":NaN}})";
  write_text_file(in + "/.zattrs", attributes);
  transcode(in, out);
  EXPECT_TRUE(files_below(in) == files_below(out));
  write_text_file(in + "/.zattrs", attributes + "NaN");
  EXPECT_THROW((void)open_source(in), BadData);
}

TEST_F(Zarr, TiffStackBecomesAStoreAndBack) {
  write_store(
      in,
      {.shape = {2, 2, 3, 9, 10}, .chunk = {1, 1, 2, 4, 7}, .axes = "tczyx", .has_pyramid = true});
  const std::string tiff = folder / "a.ome.tif";
  {
    const auto source = open_source(in);
    const auto sink = open_sink(tiff, *source, {});
    EXPECT_THAT(sink->losses(), testing::ElementsAre(HasSubstr("omero")));
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
  }
  const auto source = open_source(tiff);
  EXPECT_THAT(source->info().axes, HasSubstr("2 channels, 3 slices, 2 time points"));
  transcode(tiff, out);
  const auto first = open_source(in), second = open_source(out);
  EXPECT_EQ(first->info().axes, second->info().axes);
  while (auto frame = first->read()) {
    std::vector<double> a, b;
    first->values_of(*frame, a);
    second->values_of(*second->read(), b);
    EXPECT_TRUE(a == b);
  }
  const ImageFacts facts = dynamic_cast<const ZarrSource&>(*second).facts();
  EXPECT_EQ(facts.x.step, 1);
  EXPECT_EQ(facts.x.unit, "micrometer");
}

TEST_F(Zarr, NewStoresHavePyramidsWhoseLevelsHaveHalfTheSize) {
  write_store(in, {.shape = {2, 6, 1100}, .chunk = {1, 6, 600}, .type = "<u2"});
  const std::string tiff = folder / "a.tif";
  transcode(in, tiff);
  transcode(tiff, out);
  const ZarrImage image = read_zarr_image(out);
  ASSERT_EQ(image.levels.size(), 3u);
  EXPECT_EQ(image.levels[0].array.shape, (std::vector<std::int64_t>{2, 6, 1100}));
  EXPECT_EQ(image.levels[1].array.shape, (std::vector<std::int64_t>{2, 3, 550}));
  EXPECT_EQ(image.levels[2].array.shape, (std::vector<std::int64_t>{2, 2, 275}));
  const std::string other = folder / "b.zarr";
  transcode(tiff, other);
  EXPECT_TRUE(files_below(out) == files_below(other));
}

}  // namespace
}  // namespace lull::io::test
