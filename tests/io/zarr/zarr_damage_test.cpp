// Tests that damaged stores and wrong outputs are refused, and what remains after a failure.

#include "io/support/zarr_folder.h"

namespace lull::io::test {
namespace {

using ZarrFailures = Zarr;

TEST_F(ZarrFailures, PyramidThatGrowsOrHasOtherChannelsIsRefused) {
  StoreSpec spec{.shape = {2, 5, 6}, .chunk = {1, 3, 4}, .has_pyramid = true};
  StoreArray small = write_store(in, spec)[1];
  small.spec.shape = {2, 5, 7};
  small.write_metadata();
  expect_refused("more samples along an axis");
}

TEST_F(ZarrFailures, DamagedChunksAreRefused) {
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

TEST_F(ZarrFailures, StoresThatCannotBeReadAreRefused) {
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

TEST_F(ZarrFailures, OutputsOfOtherKindsAreRefused) {
  write_store(in, {.type = "<i8"});
  const auto source = open_source(in);
  EXPECT_THROW((void)open_sink(folder / "x.tif", *source, {}), InvalidArgument);  // 64 bits
  EXPECT_THROW((void)open_sink(folder / "x.mkv", *source, {}), InvalidArgument);
  EXPECT_THROW((void)open_sink(folder / "x.nii", *source, {}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.datatype = DataType::float32}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.crf = 3}), InvalidArgument);
}

TEST_F(ZarrFailures, OutputIsNeverTheInputAndReplacesOnlyStores) {
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

TEST_F(ZarrFailures, UnfinishedOutputLeavesNothing) {
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

TEST_F(ZarrFailures, FilesAreNotReadableForUsersWhoCannotReadTheInput) {
  const StoreArray array = write_store(in, {}).front();
  std::filesystem::permissions(in + "/0/.zarray", std::filesystem::perms(0600));
  transcode(in, out);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out))
    if (entry.is_regular_file())
      EXPECT_EQ(static_cast<int>(entry.status().permissions()) & 077, 0) << entry.path();
}

}  // namespace
}  // namespace lull::io::test
