// Tests stacks in TIFF files: samples and tags, and rejected files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "io/support/clip.h"
#include "io/support/tiff_pages.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TiffStack : public testing::Test {
 protected:
  void SetUp() override {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
  }
  TemporaryFolder folder;
  const std::string in = folder / "in.tif", out = folder / "out.tiff";

  void expect_refused(const std::string& part) {
    try {
      const auto source = open_source(in);
      while (source->read()) continue;
      ADD_FAILURE() << "not refused: " << part;
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), HasSubstr(part));
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
    }
  }
};

const std::vector<StackSpec> stack_kinds = {
    {.bits = 8},
    {.bits = 16},
    {.bits = 16, .form = SAMPLEFORMAT_INT},
    {.bits = 32, .form = SAMPLEFORMAT_UINT},
    {.bits = 32, .form = SAMPLEFORMAT_IEEEFP},
    {.pages = 1, .bits = 32, .form = SAMPLEFORMAT_IEEEFP},
    {.bits = 64, .form = SAMPLEFORMAT_IEEEFP},
    {.bits = 16, .codec = COMPRESSION_LZW, .predictor = PREDICTOR_HORIZONTAL},
    {.bits = 16, .codec = COMPRESSION_LZMA, .predictor = PREDICTOR_HORIZONTAL},
    {.bits = 32,
     .form = SAMPLEFORMAT_IEEEFP,
     .codec = COMPRESSION_ADOBE_DEFLATE,
     .predictor = PREDICTOR_FLOATINGPOINT},
    {.bits = 8, .codec = COMPRESSION_PACKBITS},
    {.bits = 16, .mode = "wb"},
    {.bits = 32, .form = SAMPLEFORMAT_IEEEFP, .mode = "wb", .tile = 16},
    {.bits = 16, .mode = "w8"},
    {.bits = 8, .codec = COMPRESSION_ADOBE_DEFLATE, .tile = 32},
    {.bits = 16, .rows_per_strip = 1000},
    {.bits = 16, .labels = true},
    {.bits = 16, .mode = "wb", .labels = true},
};

TEST_F(TiffStack, SamplesAndTagsAreKept) {
  for (const StackSpec& spec : stack_kinds) {
    SCOPED_TRACE(std::to_string(spec.bits) + " bits, form " + std::to_string(spec.form) +
                 ", codec " + std::to_string(spec.codec) + ", mode " + spec.mode);
    if (!TIFFIsCODECConfigured(static_cast<std::uint16_t>(spec.codec))) continue;
    make_stack(in, spec);
    ASSERT_EQ(transcode(in, out, {.overwrite = true}), spec.pages);
    const TiffPtr file(TIFFOpen(out.c_str(), "r"));
    ASSERT_TRUE(file);
    EXPECT_EQ(TIFFIsBigEndian(file.get()), spec.mode == "wb");
    EXPECT_EQ(TIFFIsBigTIFF(file.get()), spec.mode == "w8");
    ASSERT_EQ(TIFFNumberOfDirectories(file.get()), static_cast<unsigned>(spec.pages));
    for (int n = 0; n < spec.pages; ++n) {
      TIFF* page = file.get();
      ASSERT_TRUE(TIFFSetDirectory(page, n));
      EXPECT_TRUE(read_page(page) == page_bytes(spec, n)) << "page " << n;
      EXPECT_EQ(get<float>(page, TIFFTAG_XRESOLUTION), 3.5f + n);
      EXPECT_EQ(get<float>(page, TIFFTAG_YRESOLUTION), 7.25f);
      EXPECT_EQ(get<std::uint16_t>(page, TIFFTAG_RESOLUTIONUNIT), RESUNIT_CENTIMETER);
      EXPECT_EQ(get<std::uint16_t>(page, TIFFTAG_ORIENTATION), ORIENTATION_BOTRIGHT);
      EXPECT_EQ(get<std::uint16_t>(page, TIFFTAG_COMPRESSION), spec.codec);
      EXPECT_EQ(get<std::uint16_t>(page, TIFFTAG_SAMPLEFORMAT), spec.form);
      EXPECT_EQ(get<std::uint16_t>(page, TIFFTAG_PHOTOMETRIC),
                n == 1 ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK);
      if (spec.predictor != PREDICTOR_NONE) {
        EXPECT_EQ(get<std::uint16_t>(page, TIFFTAG_PREDICTOR), spec.predictor);
      }
      std::uint16_t number = 0, count = 0;
      EXPECT_TRUE(TIFFGetField(page, TIFFTAG_PAGENUMBER, &number, &count));
      EXPECT_EQ(number, n);
      EXPECT_EQ(count, spec.pages);
      EXPECT_STREQ(get<const char*>(page, TIFFTAG_SOFTWARE), "a microscope");
      EXPECT_THAT(get<const char*>(page, TIFFTAG_IMAGEDESCRIPTION),
                  HasSubstr(n == 0 ? "spacing=0.5" : "another page"));
      if (!spec.labels) continue;
      std::uint32_t values = 0;
      const void* data = nullptr;
      ASSERT_TRUE(TIFFGetField(page, imagej_counts, &values, &data));
      EXPECT_THAT(std::vector(static_cast<const std::uint32_t*>(data),
                              static_cast<const std::uint32_t*>(data) + values),
                  ElementsAre(12, 7, n));
      ASSERT_TRUE(TIFFGetField(page, imagej_data, &values, &data));
      EXPECT_EQ(std::string(static_cast<const char*>(data), values),
                std::string("IJIJ\0\1\2\3\377", 9));
      ASSERT_TRUE(TIFFGetField(page, private_tag, &values, &data));
      EXPECT_THAT(
          std::vector(static_cast<const float*>(data), static_cast<const float*>(data) + values),
          ElementsAre(0.5f, 2.25f));
    }
  }
}

TEST_F(TiffStack, LossyPagesAreWrittenLosslessly) {
  if (!TIFFIsCODECConfigured(COMPRESSION_JPEG)) GTEST_SKIP() << "this libtiff has no JPEG";
  make_stack(
      in, {.width = 64, .height = 64, .bits = 8, .codec = COMPRESSION_JPEG, .rows_per_strip = 16});
  const auto source = open_source(in);
  const auto sink = open_sink(out, *source, {});
  EXPECT_THAT(sink->losses(), testing::IsEmpty());
  EXPECT_THAT(sink->notes(), ElementsAre(HasSubstr("JPEG")));
  std::vector<std::vector<std::uint8_t>> pages;
  while (auto frame = source->read()) {
    std::vector<std::uint8_t> bytes;
    for (int y = 0; y < 64; ++y)
      bytes.insert(bytes.end(), frame->plane<std::uint8_t>(0).row(y),
                   frame->plane<std::uint8_t>(0).row(y) + 64);
    pages.push_back(bytes);
    sink->write(*std::move(frame));
  }
  sink->finish();
  const TiffPtr file(TIFFOpen(out.c_str(), "r"));
  for (const auto& page : pages) {
    EXPECT_TRUE(read_page(file.get()) == page);
    EXPECT_EQ(get<std::uint16_t>(file.get(), TIFFTAG_COMPRESSION), COMPRESSION_ADOBE_DEFLATE);
    TIFFReadDirectory(file.get());
  }
}

TEST_F(TiffStack, ValuesChangeByTheFilterInFileUnits) {
  for (const StackSpec& spec : stack_kinds) {
    if (spec.bits == 8 || spec.form != SAMPLEFORMAT_IEEEFP) continue;
    make_stack(in, spec);
    const auto source = open_source(in);
    const ValueScale scale = source->info().values;
    EXPECT_TRUE(scale.native);
    const auto sink = open_sink(out, *source, {.overwrite = true});
    while (auto frame = source->read()) {
      for (int y = 0; y < spec.height; ++y)
        for (int x = 0; x < spec.width; ++x)
          frame->plane<float>(0)(x, y) += static_cast<float>(10 / scale.span);
      sink->write(*std::move(frame));
    }
    sink->finish();
    const TiffPtr file(TIFFOpen(out.c_str(), "r"));
    const auto before = page_bytes(spec, 0), after = read_page(file.get());
    for (int i = 0; i < spec.width * spec.height; ++i) {
      const auto value = [&](const std::vector<std::uint8_t>& bytes) {
        float f;
        double d;
        std::memcpy(&f, &bytes[i * 4], 4);
        std::memcpy(&d, &bytes[i * (spec.bits / 8)], spec.bits / 8);
        return spec.bits == 32 ? static_cast<double>(f) : d;
      };
      ASSERT_NEAR(value(after), value(before) + 10, 1e-4);
    }
  }
}

TEST_F(TiffStack, SigmaScaleDependsOnTheSampleType) {
  make_stack(in, {.bits = 8});
  EXPECT_EQ(open_source(in)->format().sample, SampleType::u8);
  EXPECT_EQ(open_source(in)->info().values.span, 255);
  EXPECT_FALSE(open_source(in)->info().values.native);
  make_stack(in, {.bits = 16});
  const auto source = open_source(in);
  EXPECT_EQ(source->format().sample, SampleType::f32);
  EXPECT_EQ(source->info().values.full, 65535);
  EXPECT_FALSE(source->info().values.native);
}

TEST_F(TiffStack, SinglePageOfIntegersIsAPicture) {
  make_stack(in, {.pages = 1, .bits = 8});
  // The description tag of a single page does not make it a stack.
  EXPECT_TRUE(open_source(in)->info().still);
  EXPECT_EQ(open_source(in)->info().container, "tiff_pipe");
}

// Elevations have overviews, and microscopes write thumbnails.
TEST_F(TiffStack, ReducedCopiesAndMasksAreOmitted) {
  for (const int pages : {1, 3}) {
    {
      const TiffPtr file(TIFFOpen(in.c_str(), "w"));
      for (int n = 0; n < pages; ++n) {
        StackSpec spec{.width = 8, .height = 1, .pages = pages, .bits = 32};
        spec.form = SAMPLEFORMAT_IEEEFP;
        describe_page(file.get(), spec, n);
        TIFFSetField(file.get(), TIFFTAG_IMAGEDESCRIPTION, "no description of ImageJ");
        std::vector<std::uint8_t> row = page_bytes(spec, n);
        TIFFWriteScanline(file.get(), row.data(), 0, 0);
        TIFFWriteDirectory(file.get());
        for (const int kind : {FILETYPE_REDUCEDIMAGE, FILETYPE_MASK}) {
          describe_page(file.get(), {.width = 4, .height = 1, .bits = 8}, n);
          TIFFSetField(file.get(), TIFFTAG_SUBFILETYPE, kind);
          TIFFWriteScanline(file.get(), row.data(), 0, 0);
          TIFFWriteDirectory(file.get());
        }
      }
    }
    ASSERT_EQ(transcode(in, out, {.overwrite = true, .strict_metadata = true}), pages);
    const TiffPtr a(TIFFOpen(in.c_str(), "r")), b(TIFFOpen(out.c_str(), "r"));
    ASSERT_EQ(TIFFNumberOfDirectories(b.get()), static_cast<unsigned>(pages));
    for (int n = 0; n < pages; ++n) {
      TIFFSetDirectory(a.get(), 3 * n);
      TIFFSetDirectory(b.get(), n);
      EXPECT_EQ(get<float>(b.get(), TIFFTAG_XRESOLUTION), 3.5f + n);
      EXPECT_TRUE(read_page(a.get()) == read_page(b.get()));
    }
  }
}

void make_colour_page(TIFF* file) {
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
}

TEST_F(TiffStack, FilesThatAreNotStacksAreRejected) {
  StackSpec spec{.pages = 2};
  make_stack(in, spec);
  spec.width = 40;
  spec.mode = "a";
  make_stack(in, spec);
  expect_refused("changes to 40x29 uint16 at page 2");
  {
    const TiffPtr file(TIFFOpen(in.c_str(), "w"));
    for (int n = 0; n < 2; ++n) {
      describe_page(file.get(), {.width = 8, .height = 1, .bits = 8}, n);
      if (n > 0) make_colour_page(file.get());
      std::uint8_t row[24] = {};
      TIFFWriteScanline(file.get(), row, 0, 0);
      TIFFWriteDirectory(file.get());
    }
  }
  expect_refused("colours");
  {
    const TiffPtr file(TIFFOpen(in.c_str(), "w"));
    describe_page(file.get(), {.width = 8, .height = 1, .pages = 3, .bits = 8}, 0);
    make_colour_page(file.get());
    std::uint8_t row[24] = {};
    TIFFWriteScanline(file.get(), row, 0, 0);
  }
  expect_refused("colours");
  {
    // ImageJ stores more than 4 GiB as one directory, followed by all samples.
    const TiffPtr file(TIFFOpen(in.c_str(), "w"));
    describe_page(file.get(), {.width = 8, .height = 1, .pages = 3, .bits = 8}, 0);
    std::uint8_t row[8] = {};
    TIFFWriteScanline(file.get(), row, 0, 0);
  }
  expect_refused("ImageJ");
}

TEST_F(TiffStack, OtherOutputFormatsAreRejected) {
  make_stack(in, {});
  const auto source = open_source(in);
  for (const char* name : {"out.mkv", "out.png", "out.nii", "out"})
    EXPECT_THROW((void)open_sink(folder / name, *source, {}), InvalidArgument) << name;
  EXPECT_THROW((void)open_sink(in, *source, {.overwrite = true}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.vcodec = "tiff"}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.datatype = DataType::int16}), InvalidArgument);
  EXPECT_THROW((void)open_source(in, {.axis = Axis::z}), InvalidArgument);
  EXPECT_THAT(folder.files(), ElementsAre("in.tif"));
}

TEST_F(TiffStack, TruncationIsDetected) {
  for (const StackSpec& spec : {stack_kinds[0], stack_kinds[1], stack_kinds[7]}) {
    make_stack(in, spec);
    const auto whole = read_file(in);
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97) {
      write_file(in, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
      EXPECT_THROW(count_frames(in), BadData) << bytes;
    }
  }
}

TEST_F(TiffStack, DamageNeverCrashes) {
  make_stack(in, stack_kinds[7]);
  const auto whole = read_file(in);
  std::mt19937 rng{5};
  for (int n = 0; n < 300; ++n) {
    auto broken = whole;
    for (int i = 0; i < 3; ++i) broken[rng() % broken.size()] = static_cast<std::uint8_t>(rng());
    write_file(in, broken);
    try {
      transcode(in, out, {.overwrite = true});
    } catch (const Error&) {
    }
  }
  for (const std::string& name : folder.files()) EXPECT_THAT(name, testing::Not(HasSubstr(".tmp")));
}

TEST_F(TiffStack, LimitsAndSelectionApply) {
  make_stack(in, {});  // four pages of 37x29
  const auto refusal = [&](const SourceOptions& options) -> std::string {
    try {
      (void)open_source(in, options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal({.limits = {.pixels = 37 * 29, .frames = 4}}), "");
  EXPECT_THAT(refusal({.limits = {.pixels = 37 * 29 - 1}}), HasSubstr("--max-pixels"));
  EXPECT_THAT(refusal({.limits = {.frames = 3}}), HasSubstr("--max-frames"));
  EXPECT_THAT(refusal({.selection = {.duration_us = 1}}), HasSubstr("cannot be divided"));
}

TEST_F(TiffStack, OutputMustBeASingleFile) {
  make_stack(in, {});
  for (const char* name : {"out.%04d.tif", "out.##.tif", "out*.tif", "out.exr", "-"})
    EXPECT_THROW(transcode(in, name == std::string("-") ? name : folder / name), InvalidArgument)
        << name;
  EXPECT_THROW(transcode(in, out, {.format = "y4m"}), InvalidArgument);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"in.tif"});
  EXPECT_EQ(transcode(in, "null"), 4);
}

}  // namespace
}  // namespace lull::io::test
