// Tests OME-Zarr stores as inputs and outputs. Stores are written chunk by chunk by the tests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "io/stacks/zarr_source.h"
#include "io/support/clip.h"
#include "io/support/zarr_stores.h"

namespace lull::io::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Zarr : public testing::Test {
 protected:
  TemporaryFolder folder{/*in_memory=*/true};
  const std::string in = folder / "in.zarr", out = folder / "out.zarr";

  template <class Exception = BadData>
  void expect_refused(const std::string& part, const SourceOptions& options = {}) {
    try {
      const auto source = open_source(in, options);
      const auto sink = open_sink(out, *source, {});
      while (auto frame = source->read()) sink->write(*std::move(frame));
      ADD_FAILURE() << "not refused: " << part;
    } catch (const Exception& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(part), Not(HasSubstr("\n"))));
    }
    EXPECT_THAT(folder.files(), Not(testing::Contains(HasSubstr("out"))));
  }

  /// Copies the store, and adds `change` to each value in the units of the file.
  void change_values(double change, const SinkOptions& options = {}) {
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, options);
    while (auto frame = source->read()) {
      const PlaneView<float> plane = frame->plane<float>(0);
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
          plane(x, y) += static_cast<float>(change / source->info().values.span);
      sink->write(*std::move(frame));
    }
    sink->finish();
  }
};

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
    for (int n = 0; n < StoreArray::count(array.chunks()); ++n)
      EXPECT_EQ(copy.read_chunk(n).size(), array.chunk_bytes()) << n;
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

TEST_F(Zarr, PyramidThatGrowsOrHasOtherChannelsIsRefused) {
  StoreSpec spec{.shape = {2, 5, 6}, .chunk = {1, 3, 4}, .has_pyramid = true};
  StoreArray small = write_store(in, spec)[1];
  small.spec.shape = {2, 5, 7};
  small.write_metadata();
  expect_refused("more samples along an axis");
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

TEST_F(Zarr, ShardsAreRefusedWithOneLine) {
  const StoreArray array{{.version = 3}, in + "/0"};
  write_text_file(in + "/zarr.json",
                  R"({"zarr_format":3,"node_type":"group","attributes":{"ome":{)" +
                      multiscales_json(array.spec) + "}}}");
  array.write_metadata_3("uint16", R"([{"name":"sharding_indexed","configuration":{}}])");
  expect_refused("has shards");
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

TEST_F(Zarr, OutputIsNeverTheInputAndReplacesOnlyStores) {
  write_store(in, {});
  const auto source = open_source(in);
  for (const std::string& path :
       {in, in + "/", in + "/0.zarr", folder.path().string() + "/./in.zarr"})
    EXPECT_THROW((void)open_sink(path, *source, {.overwrite = true}), InvalidArgument) << path;
  std::filesystem::create_directory(out);
  write_text_file(out + "/letter.txt", "dear reader");
  EXPECT_THROW((void)open_sink(out, *source, {.overwrite = true}), CannotCreate);
  std::filesystem::remove_all(out);
  write_store(out, {.shape = {2, 5, 6}});
  EXPECT_THROW((void)open_sink(out, *source, {}), CannotCreate);
  transcode(in, out, {.overwrite = true});
  EXPECT_TRUE(files_below(in) == files_below(out));
  EXPECT_THAT(folder.files().size(), 2u);
}

TEST_F(Zarr, UnfinishedOutputLeavesNothing) {
  write_store(in, {.shape = {4, 9, 10}, .chunk = {1, 4, 7}});
  {
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, {});
    sink->write(*source->read());
    EXPECT_FALSE(std::filesystem::exists(out));
    EXPECT_TRUE(std::filesystem::is_directory(sink->temporary()));
  }
  EXPECT_THAT(folder.files(), testing::ElementsAre("in.zarr"));
}

TEST_F(Zarr, FilesAreNotReadableForUsersWhoCannotReadTheInput) {
  const StoreArray array = write_store(in, {}).front();
  std::filesystem::permissions(in + "/0/.zarray", std::filesystem::perms(0600));
  transcode(in, out);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out))
    if (entry.is_regular_file())
      EXPECT_EQ(static_cast<int>(entry.status().permissions()) & 077, 0) << entry.path();
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

TEST_F(Zarr, DamagedChunksAreRefused) {
  for (const char* codec : {"none", "blosc", "zstd", "gzip", "zlib"}) {
    SCOPED_TRACE(codec);
    const StoreArray array = write_store(in, {.codec = codec}).front();
    const Bytes whole = read_file(array.path_of(3));
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 1 + whole.size() / 3) {
      write_file(array.path_of(3),
                 Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
      expect_refused("is damaged or truncated");
    }
    write_file(array.path_of(3), Bytes(1 << 20, 7));
    expect_refused("is too large for a chunk");
  }
}

TEST_F(Zarr, StoresThatCannotBeReadAreRefused) {
  const StoreArray array = write_store(in, {}).front();
  const auto with = [&](const std::string& metadata) {
    write_text_file(in + "/0/.zarray", metadata);
  };
  const std::string start = R"({"zarr_format":2,"order":"C","compressor":null,"fill_value":0,)";
  const std::string shape = R"("shape":[3,9,10],"chunks":[2,4,7],)";
  with("{");
  expect_refused("is not valid JSON");
  with("[]");
  expect_refused("contains no JSON object");
  with(start + shape + R"("dtype":"<u2","filters":[{"id":"delta"}]})");
  expect_refused("the filter delta");
  with(start + shape + R"("dtype":"|b1"})");
  expect_refused("the type '|b1'");
  with(start + R"("shape":[3,9,-1],"chunks":[2,4,7],"dtype":"<u2"})");
  expect_refused("no valid shape");
  with(start + R"("shape":[3,9,10],"chunks":[2,4],"dtype":"<u2"})");
  expect_refused("chunks of 2");
  with(start + R"("shape":[3,9,10],"chunks":[2,0,7],"dtype":"<u2"})");
  expect_refused("no valid chunks");
  with(start + R"("shape":[1000000000000,9,10],"chunks":[1,9,10],"dtype":"<u2"})");
  expect_refused("check the store");
  with(start + R"("shape":[3,9,10],"chunks":[1,1000000,1000000],"dtype":"<u2"})");
  expect_refused("more than 2 GiB");
  with(start + R"("shape":[3,900000,1000000],"chunks":[1,9,10],"dtype":"<u2"})");
  expect_refused("--max-pixels");
  with(start + R"("shape":[100000,9,10],"chunks":[100000,9,10],"dtype":"<u2"})");
  expect_refused<OutOfMemory>("--max-memory", {.limits = {.memory = 1 << 20}});
  with(R"({"zarr_format":2,"order":"C","compressor":{"id":"lzma"},"fill_value":0,)" + shape +
       R"("dtype":"<u2"})");
  expect_refused("the compressor 'lzma'");
  with(start + shape + R"("dtype":"<u2","dimension_separator":"-"})");
  expect_refused("separator");
  with(start + shape + R"("dtype":"<u2","dimension_separator":"."})");
  expect_refused("has no chunks");
  array.write_metadata();
  write_text_file(in + "/.zattrs", R"({"multiscales":[{"datasets":[{"path":"../0"}]}]})");
  expect_refused("must lie in the store");
  write_text_file(in + "/.zattrs", R"({"multiscales":[{"datasets":[{"path":"0"}]}]})");
  expect_refused("states 5 axes");
  write_text_file(in + "/.zattrs",
                  R"({"multiscales":[{"axes":["z","q","x"],"datasets":[{"path":"0"}]}]})");
  expect_refused("the axis 'q'");
}

TEST_F(Zarr, TiffStackBecomesAStoreAndBack) {
  write_store(
      in,
      {.shape = {2, 2, 3, 9, 10}, .chunk = {1, 1, 2, 4, 7}, .axes = "tczyx", .has_pyramid = true});
  const std::string tiff = folder / "a.ome.tif";
  {
    const auto source = open_source(in);
    const auto sink = open_sink(tiff, *source, {});
    EXPECT_THAT(sink->losses(),
                testing::ElementsAre(HasSubstr("the pyramid (2 levels)"), HasSubstr("omero")));
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

TEST_F(Zarr, OutputsOfOtherKindsAreRefused) {
  write_store(in, {.type = "<i8"});
  const auto source = open_source(in);
  EXPECT_THROW((void)open_sink(folder / "x.tif", *source, {}), InvalidArgument);  // 64 bits
  EXPECT_THROW((void)open_sink(folder / "x.mkv", *source, {}), InvalidArgument);
  EXPECT_THROW((void)open_sink(folder / "x.nii", *source, {}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.datatype = DataType::float32}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.crf = 3}), InvalidArgument);
}

}  // namespace
}  // namespace lull::io::test
