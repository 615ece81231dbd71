// Tests volumes with inconsistent headers, truncated files, and files that are not volumes.

#include "io/support/nifti_fixture.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;

TEST_F(Nifti, InconsistentHeadersAreRejected) {
  const std::vector<std::int16_t> samples(60);
  const auto with = [&](VolumeSpec spec, const std::function<void(File&)>& change = {}) {
    File file = volume(spec, samples);
    if (change) change(file);
    return file;
  };
  expect_refused({}, "empty");
  expect_refused(File(100), "is not a NIfTI file");
  expect_refused(File(1000), "is not a NIfTI file");
  expect_refused(with({.dim = {5, 0, 3}}), "0 samples along dimension 2");
  expect_refused(with({.dim = {5, 4, -3}}), "-3 samples along dimension 3");
  expect_refused(with({.dim = {32767, 32767, 32767}}), "samples");
  expect_refused(with({.dim = {32767, 32767, 32767, 32767, 32767}}), "64 bits");
  for (const bool big : {false, true}) {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    expect_refused(with({.version = 2, .big_endian = big, .dim = {huge, 2}}), "64 bits");
    expect_refused(with({.version = 2, .big_endian = big, .dim = {5, 4, huge / 640}}), "cut short");
    expect_refused(with({.version = 2, .big_endian = big, .dim = {5, 4, -huge}}), "dimension 3");
    expect_refused(with({.version = 2, .big_endian = big, .dim = {1 << 15, 1 << 15, 1}}),
                   "--max-pixels");
    expect_refused(with({.version = 2, .big_endian = big, .dim = {std::int64_t{1} << 33, 1, 1}}),
                   "--max-pixels");
  }
  for (const int count : {0, 8, -1, 300})
    expect_refused(with({}, [=](File& f) { put(f, 40, static_cast<std::int16_t>(count), false); }),
                   "dimensions");
  expect_refused(with({.datatype = 32}), "complex");
  expect_refused(with({.datatype = 1792}), "complex");
  expect_refused(with({.datatype = 128}), "RGB");
  expect_refused(with({.datatype = 2304}), "RGB");
  expect_refused(with({.datatype = 1}), "bits");
  expect_refused(with({.datatype = 1536}), "128-bit");
  for (const int code : {0, 3, 255, -4, 9999}) expect_refused(with({.datatype = code}), "unknown");
  for (const float offset : {0.0f, -1.0f, 100.0f, 352.5f, NAN, INFINITY, -INFINITY, 1e30f})
    expect_refused(with({}, [=](File& f) { put(f, 108, offset, false); }), "begin at byte");
  expect_refused(with({}, [](File& f) { put(f, 108, 1e9f, false); }), "extensions");
  expect_refused(with({}, [](File& f) { put(f, 108, 1e6f, false); }), "cut short");
  for (const std::int64_t offset :
       {std::int64_t{0}, std::int64_t{-5}, std::numeric_limits<std::int64_t>::max()})
    expect_refused(with({.version = 2}, [=](File& f) { put(f, 168, offset, false); }),
                   "begin at byte");
  expect_refused(with({.slope = 2, .inter = NAN}), "scl_inter");
  expect_refused(with({}, [](File& f) { f[344] = 'x'; }), "ANALYZE");
  expect_refused(with({}, [](File& f) { f[345] = 'x'; }), "no magic");
  expect_refused(with({}, [](File& f) { std::copy_n("ni1", 4, f.begin() + 344); }), "pair");
  expect_refused(with({.version = 2}, [](File& f) { std::copy_n("ni2", 4, f.begin() + 4); }),
                 "pair");
  expect_refused(with({.version = 2}, [](File& f) { f[8] = '\n'; }), "damaged");
}

TEST_F(Nifti, InvalidScaleIsIgnored) {
  for (const double slope : {0.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    const VolumeSpec spec{.dim = {3, 1, 1}, .slope = slope, .inter = 50};
    write_file(in, volume<std::int16_t>(spec, {1, 2, 5}));
    const ValueScale scale = open_source(in)->info().values;
    EXPECT_EQ(scale.low, 1);
    EXPECT_EQ(scale.span, 4);
  }
}

TEST_F(Nifti, EveryTruncationIsDetected) {
  const File file = volume({.dim = {5, 4, 3}}, hostile_samples<std::int16_t>(60));
  const File packed = zipped(file);
  expect_refused(File(file.begin(), file.begin() + 200), "is cut short");
  expect_refused(File(file.begin(), file.begin() + 347), "is cut short");
  for (const File* whole : {&file, &packed})
    for (std::size_t bytes = 0; bytes < whole->size(); ++bytes) {
      write_file(in, File(whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(bytes)));
      EXPECT_THROW((void)open_source(in), BadData) << bytes;
    }
}

TEST_F(Nifti, DamagedCompressionIsDetected) {
  const File packed = zipped(volume({.dim = {5, 4, 3}}, hostile_samples<std::int16_t>(60)));
  for (std::size_t at = 10; at < packed.size(); ++at) {
    if (at == packed.size() - 9) continue;  // padding bits of the last byte of data
    File broken = packed;
    broken[at] ^= 0x10;
    write_file(in, broken);
    EXPECT_THROW((void)open_source(in), BadData) << at;
  }
}

TEST_F(Nifti, OtherOutputFormatsAreRejected) {
  write_file(in, volume({}, hostile_samples<std::int16_t>(60)));
  const auto source = open_source(in);
  for (const char* name : {"out.mkv", "out.png", "out.tif", "out.nii.bz2", "out"})
    EXPECT_THROW((void)open_sink(folder / name, *source, {}), InvalidArgument) << name;
  EXPECT_THROW((void)open_sink(in, *source, {.overwrite = true}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.vcodec = "ffv1"}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.crf = 18}), InvalidArgument);
  make_clip(folder / "clip.mkv", {.frames = 2});
  EXPECT_THROW((void)open_source(folder / "clip.mkv", {.axis = Axis::x}), InvalidArgument);
  const auto clip = open_source(folder / "clip.mkv");
  EXPECT_THROW((void)open_sink(out, *clip, {}), InvalidArgument);
  EXPECT_THROW((void)open_sink(folder / "out.mkv", *clip, {.datatype = DataType::int16}),
               InvalidArgument);
  EXPECT_THAT(folder.files(), ElementsAre("clip.mkv", "in.nii"));
}

TEST_F(Nifti, OutputAppearsComplete) {
  write_file(in, volume({}, hostile_samples<std::int16_t>(60)));
  {
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, {});
    sink->write(*source->read());
    EXPECT_EQ(folder.files().size(), 2u);
  }
  EXPECT_THAT(folder.files(), ElementsAre("in.nii"));
  EXPECT_THROW((void)open_source(folder / "none.nii"), NoInput);
  std::filesystem::create_directory(folder / "folder.nii");
  EXPECT_THROW((void)open_source(folder / "folder.nii"), NoInput);
}

TEST_F(Nifti, LimitsAreCheckedBeforeSamplesAreRead) {
  // the samples are missing, which is detected later
  File head = volume_head({.dim = {500, 400, 3}});
  write_file(in, head);
  const auto refusal = [&](const SourceOptions& options) -> std::string {
    try {
      (void)open_source(in, options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal({.limits = {.pixels = 199'999}}), HasSubstr("--max-pixels"));
  EXPECT_THAT(refusal({.limits = {.pixels = 200'000}}), HasSubstr("cut short"));
  EXPECT_THAT(refusal({.limits = {.frames = 2}}), HasSubstr("--max-frames"));
  EXPECT_THAT(refusal({.limits = {.frames = 3}}), HasSubstr("cut short"));
  EXPECT_THAT(refusal({.limits = {.pixels = 1'200}, .axis = Axis::x}), HasSubstr("cut short"));
  EXPECT_THAT(refusal({.limits = {.frames = 499}, .axis = Axis::x}), HasSubstr("--max-frames"));
  EXPECT_THAT(refusal({.selection = {.ranges = {{0, 1}}}}), HasSubstr("cannot be divided"));
  EXPECT_THAT(refusal({.selection = {.start_us = 1}}), HasSubstr("cannot be divided"));
}

}  // namespace
}  // namespace lull::io::test
