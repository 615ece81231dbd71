// Reads and writes DNG files. LibRaw reads them independently of lull's writer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "core/error.h"
#include "io/media.h"
#include "io/metadata/byte_order.h"
#include "io/metadata/exif.h"
#include "io/metadata/formats.h"
#include "io/raw/dng_tags.h"
#include "io/raw/raw_stream.h"
#include "support/dng_files.h"
#include "support/raw_scenes.h"

namespace lull::io {
namespace {

using namespace lull::test_support;
using ::testing::HasSubstr;

class Dng : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const DngFixture& fixture, const std::string& name = "in.dng") const {
    write_file(file(name), make_dng_file(sensor_, mosaic_, fixture));
    return file(name);
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("lull_dng_" + std::to_string(::getpid()) + "_" +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const raw::Sensor sensor_ = test_sensor({1, 0, 2, 1});
  const Frame mosaic_ = make_scene_mosaic(sensor_, {0.003, 1e-5}, 64, 48);
};

constexpr std::int64_t max_pixels = 1 << 28;

TEST_F(Dng, FactsAndSamplesAreThoseOfTheFile) {
  for (const MosaicPlace place : {MosaicPlace::first, MosaicPlace::below})
    for (const bool is_big_endian : {false, true}) {
      const RawPicture picture = read_raw(
          write({.place = place, .is_big_endian = is_big_endian, .noise_profile = {2e-3, 3e-6}}),
          max_pixels);
      const RawFacts& facts = *picture.facts;
      EXPECT_EQ(facts.colours, sensor_.pattern.colours);
      EXPECT_EQ(facts.black, sensor_.black);
      EXPECT_EQ(facts.white, sensor_.white);
      EXPECT_NEAR(facts.balance[0], 2, 1e-3);
      EXPECT_NEAR(facts.balance[2], 1.6, 1e-3);
      EXPECT_EQ(facts.noise_profile, (std::vector<double>{2e-3, 3e-6}));
      EXPECT_EQ(facts.make, "Lull");
      ASSERT_EQ(picture.mosaic.format, mosaic_.format);
      for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 64; ++x)
          ASSERT_EQ(picture.mosaic.plane<std::uint16_t>(0)(x, y),
                    mosaic_.plane<std::uint16_t>(0)(x, y));
    }
}

TEST_F(Dng, ActiveAreaIsRead) {
  const RawPicture picture =
      read_raw(write({.change =
                          [](TiffTree& tree, TiffDirectory& raw) {
                            raw.set(tree.longs(50829, {4, 6, 44, 62}));  // top, left, bottom, right
                          }}),
               max_pixels);
  EXPECT_EQ(picture.facts->width, 56);
  EXPECT_EQ(picture.facts->height, 40);
  EXPECT_EQ(picture.mosaic.plane<std::uint16_t>(0)(0, 0), mosaic_.plane<std::uint16_t>(0)(6, 4));
}

TEST_F(Dng, ActiveAreaMayBeginAtAnOddSite) {
  raw::Sensor sensor = sensor_;
  sensor.black = {500, 520, 540, 480};
  for (const std::uint32_t top : {4, 5})
    for (const std::uint32_t left : {6, 7}) {
      const auto change = [&](TiffTree& tree, TiffDirectory& raw) {
        raw.set(tree.longs(50829, {top, left, 44, 62}));
      };
      write_file(file("in.dng"), make_dng_file(sensor, mosaic_, {.change = change}));
      const RawPicture picture = read_raw(file("in.dng"), max_pixels);
      EXPECT_EQ(picture.facts->height, static_cast<int>(44 - top));
      EXPECT_EQ(picture.facts->width, static_cast<int>(62 - left));
      // The pattern and the black levels begin at the corner of the active area.
      EXPECT_EQ(picture.facts->colours, sensor.pattern.colours);
      EXPECT_EQ(picture.facts->black, sensor.black);
      EXPECT_EQ(picture.mosaic.plane<std::uint16_t>(0)(0, 0),
                mosaic_.plane<std::uint16_t>(0)(static_cast<int>(left), static_cast<int>(top)));
    }
}

TEST_F(Dng, BlackLevelsAreThoseOfTheTagsAlsoWithMaskedPixels) {
  const auto black_of = [&](const std::vector<double>& levels) {
    const auto change = [&](TiffTree& tree, TiffDirectory& raw) {
      raw.set(tree.shorts(50713, {1, static_cast<std::uint16_t>(levels.size())}));
      raw.set(tree.rationals(50714, levels));
      raw.set(tree.longs(50829, {0, 16, 48, 64}));
      raw.set(tree.longs(50830, {0, 0, 48, 16}));  // brighter than black
    };
    return read_raw(write({.change = change}), max_pixels).facts->black;
  };
  EXPECT_EQ(black_of({600}), (std::array<float, 4>{600, 600, 600, 600}));
  EXPECT_EQ(black_of({500, 520.25}), (std::array<float, 4>{500, 520.25f, 500, 520.25f}));
}

TEST_F(Dng, OtherMosaicsAreRefusedInOneLine) {
  const auto message_of = [&](const auto& change) {
    try {
      (void)read_raw(write({.change = change}), max_pixels);
    } catch (const BadData& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::vector<std::uint8_t> quad = {0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2};
  EXPECT_THAT(message_of([&](TiffTree& tree, TiffDirectory& raw) {
                raw.set(tree.shorts(33421, {4, 4}));
                raw.set(tree.bytes(33422, quad));
              }),
              HasSubstr("quad Bayer"));
  std::vector<std::uint8_t> xtrans;
  for (const char c : std::string("GBGGRGRGRBGBGBGGRGGRGGBGBGBRGRGRGGBG"))
    xtrans.push_back(c == 'R' ? 0 : c == 'G' ? 1 : 2);
  EXPECT_THAT(message_of([&](TiffTree& tree, TiffDirectory& raw) {
                raw.set(tree.shorts(33421, {6, 6}));
                raw.set(tree.bytes(33422, xtrans));
              }),
              ::testing::AnyOf(HasSubstr("X-Trans"), HasSubstr("6x6")));
  EXPECT_THAT(message_of([](TiffTree& tree, TiffDirectory& raw) {
                raw.set(tree.shorts(259, {52546}));  // JPEG XL
              }),
              HasSubstr("cannot read it"));
  EXPECT_THAT(message_of([](TiffTree& tree, TiffDirectory& raw) {
                raw.set(tree.shorts(262, {34892}));
                raw.remove(33421);
                raw.remove(33422);
              }),
              HasSubstr("no mosaic"));
}

TEST_F(Dng, OutputKeepsAllTagsThatAreStillTrue) {
  const std::vector<std::uint8_t> opcodes = {0, 0, 0, 0};
  for (const MosaicPlace place : {MosaicPlace::first, MosaicPlace::below})
    for (const bool is_big_endian : {false, true})
      for (const bool is_mosaic : {false, true}) {
        const RawPicture input = read_raw(write({.place = place,
                                                 .is_big_endian = is_big_endian,
                                                 .noise_profile = {2e-3, 3e-6},
                                                 .change =
                                                     [&](TiffTree& tree, TiffDirectory& raw) {
                                                       raw.set({51009, 7, 4, opcodes, {}});
                                                       raw.set({51022, 7, 4, opcodes, {}});
                                                       raw.set(tree.rationals(50719, {2, 2}));
                                                       raw.set(tree.rationals(50720, {60, 44}));
                                                     }}),
                                          max_pixels);
        FramePool pool({.width = 64,
                        .height = 48,
                        .layout = is_mosaic ? Layout::gray : Layout::rgb,
                        .sample = SampleType::u16,
                        .bits = 16});
        const Frame result = pool.acquire();
        for (int c = 0; c < result.format.planes(); ++c)
          for (int y = 0; y < 48; ++y)
            for (int x = 0; x < 64; ++x)
              result.plane<std::uint16_t>(c)(x, y) = static_cast<std::uint16_t>(3000 + 100 * c + x);
        const DngLevels levels{.black = std::vector<double>(is_mosaic ? 4 : 3, 2048),
                               .white = 65532};
        const std::vector<double> profile{1e-5, 1e-8, 1e-5, 1e-8, 1e-5, 1e-8};
        const auto losses = write_raw_result(
            file("out.dng"), {input.facts, result, levels, profile}, {.overwrite = true});
        EXPECT_EQ(losses.size(), is_mosaic ? 0u : 1u);

        const auto bytes = read_file(file("out.dng"));
        const TiffTree tree = read_tiff_tree(bytes);
        for (const std::uint16_t tag : {271, 272, 274, 50706, 50708, 50721, 50728, 50778, 65000}) {
          const TiffEntry *from = input.facts->tags.first.find(tag), *to = tree.first.find(tag);
          ASSERT_TRUE(from && to) << tag;
          EXPECT_EQ(from->bytes, to->bytes) << tag;
        }
        for (const std::uint16_t tag : {34665, 34853}) {
          const TiffEntry *from = input.facts->tags.first.find(tag), *to = tree.first.find(tag);
          ASSERT_TRUE(from && to) << tag;
          ASSERT_EQ(from->directories[0].entries.size(), to->directories[0].entries.size());
          for (std::size_t i = 0; i < from->directories[0].entries.size(); ++i)
            EXPECT_EQ(from->directories[0].entries[i].bytes, to->directories[0].entries[i].bytes);
        }
        const TiffDirectory* raw = raw_picture_directory(tree);
        ASSERT_TRUE(raw);
        EXPECT_NE(raw, &tree.first);
        EXPECT_EQ(tree.numbers(*raw->find(50719)), (std::vector<double>{2, 2}));
        EXPECT_TRUE(raw->find(51022));
        EXPECT_EQ(raw->find(51009) != nullptr, is_mosaic);
        EXPECT_EQ(noise_profile_of(tree), profile);
        // The preview is new, and has the size of the picture.
        EXPECT_EQ(tree.numbers(*tree.first.find(256)), std::vector<double>{32});

        if (!is_mosaic) continue;
        const RawPicture output = read_raw(file("out.dng"), max_pixels);
        EXPECT_EQ(output.facts->black, (std::array<float, 4>{2048, 2048, 2048, 2048}));
        EXPECT_EQ(output.facts->white, 65532);
        EXPECT_EQ(output.facts->colours, sensor_.pattern.colours);
        EXPECT_EQ(output.mosaic.plane<std::uint16_t>(0)(5, 7), 3005);
      }
}

TEST_F(Dng, DevelopedPicturesHaveTheColoursOfTheScene) {
  // Grey light of a fifth of white, as a linear picture.
  const RawPicture input = read_raw(write({}), max_pixels);
  FramePool pool(
      {.width = 64, .height = 48, .layout = Layout::rgb, .sample = SampleType::u16, .bits = 16});
  const Frame result = pool.acquire();
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 64; ++x)
        result.plane<std::uint16_t>(c)(x, y) =
            static_cast<std::uint16_t>(0.2 / static_cast<double>(sensor_.balance[c]) * 65535);
  const RawResult raw_result{input.facts, result, {.black = {0, 0, 0}, .white = 65535}, {}};
  DngSamples samples;
  const auto dng = bytes_of_file(
      write_tiff_tree(make_dng(*input.facts, result, raw_result.levels, {}, samples)));
  const Frame linear = develop(dng, Curve::linear), srgb = develop(dng, Curve::srgb);
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(linear.plane<std::uint16_t>(c)(30, 20), 0.2 * 65535, 400) << c;
    EXPECT_NEAR(srgb.plane<std::uint16_t>(c)(30, 20), 0.4845 * 65535, 500) << c;
  }
  for (const char* name : {"out.tif", "out.png", "out.exr"}) {
    (void)write_raw_result(file(name), raw_result, {});
    EXPECT_THROW((void)write_raw_result(file(name), raw_result, {}), CannotCreate);
    const auto picture = open_source(file(name))->read();
    ASSERT_TRUE(picture) << name;
    ASSERT_EQ(picture->format.planes(), 3) << name;
    const bool is_linear = picture->format.sample == SampleType::f32;
    EXPECT_EQ(is_linear, std::string(name) == "out.exr");
    for (int c = 0; c < 3; ++c) {
      if (is_linear)
        EXPECT_NEAR(picture->plane<float>(c)(30, 20), 0.2, 0.007) << c;
      else
        EXPECT_NEAR(picture->plane<std::uint16_t>(c)(30, 20), 0.4845 * 65535, 500) << name << c;
    }
  }
  EXPECT_THROW((void)write_raw_result(file("out.jpg"), raw_result, {}), InvalidArgument);
}

TEST_F(Dng, MetadataOfDevelopedPicturesDescribeThePicture) {
  const std::string xmp =
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
      "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" "
      "xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" tiff:Orientation=\"6\"/></rdf:RDF></x:xmpmeta>";
  const RawPicture input =
      read_raw(write({.change =
                          [&](TiffTree& tree, TiffDirectory&) {
                            tree.first.set(tree.shorts(274, {6}));
                            tree.first.set(tree.bytes(700, byte_view(xmp)));
                            TiffDirectory interoperability;
                            interoperability.set(tree.text(1, "R03"));  // Adobe RGB
                            for (TiffEntry& entry : tree.first.entries)
                              if (entry.tag == 34665) {
                                TiffDirectory& exif = entry.directories[0];
                                exif.set(tree.shorts(40961, {65535}));
                                exif.set(tree.longs(40962, {64}));
                                exif.set(tree.longs(40963, {48}));
                                exif.set({40965, 4, 1, {}, {interoperability}});
                              }
                          }}),
               max_pixels);
  FramePool upright(
      {.width = 48, .height = 64, .layout = Layout::rgb, .sample = SampleType::u16, .bits = 16});
  const TiffTree tree = make_developed(*input.facts, upright.acquire(), nullptr);
  EXPECT_EQ(tree.numbers(*tree.first.find(274)), std::vector<double>{1});
  const TiffDirectory& exif = tree.first.find(34665)->directories[0];
  EXPECT_EQ(tree.numbers(*exif.find(40961)), std::vector<double>{1});
  EXPECT_EQ(tree.numbers(*exif.find(40962)), std::vector<double>{48});
  EXPECT_EQ(tree.numbers(*exif.find(40963)), std::vector<double>{64});
  EXPECT_FALSE(exif.find(40965));
  EXPECT_TRUE(exif.find(37500));
  if (!has_exiv2()) return;
  const std::string changed(text_view(tree.first.find(700)->bytes));
  EXPECT_THAT(changed, ::testing::AnyOf(HasSubstr("tiff:Orientation=\"1\""),
                                        HasSubstr("<tiff:Orientation>1<")));
}

TEST_F(Dng, MetadataOfOtherRawFormatsAreKeptOrReported) {
  TiffTree exif;
  exif.first.set(exif.text(315, "A photographer"));
  const ByteVector caption = {0x1c, 2, 120, 0, 1, 'x'};
  PictureMetadata metadata;
  metadata.exif = write_tiff_tree(exif).head;
  metadata.xmp = to_vector(byte_view("<x/>"));
  metadata.photoshop = photoshop_of(caption);
  const TiffTree tags = tags_of_metadata(metadata);
  EXPECT_TRUE(tags.first.find(315));
  ASSERT_TRUE(tags.first.find(700));
  EXPECT_EQ(tags.first.find(700)->bytes, metadata.xmp);
  ASSERT_TRUE(tags.first.find(34377));
  EXPECT_EQ(iptc_of(tags.first.find(34377)->bytes), caption);

  RawFacts facts = *read_raw(write({}), max_pixels).facts;
  facts.omitted = "the long tag Exif.Photo.MakerNote";
  const RawResult result{std::make_shared<RawFacts>(facts),
                         mosaic_,
                         {.black = {sensor_.black.begin(), sensor_.black.end()},
                          .white = static_cast<double>(sensor_.white)},
                         {}};
  for (const char* name : {"out.dng", "out.tif", "out.png"})
    EXPECT_THAT(write_raw_result(file(name), result, {}),
                ::testing::ElementsAre(HasSubstr("Exif.Photo.MakerNote")))
        << name;
}

TEST_F(Dng, DamagedFilesEndInAnError) {
  const auto bytes = make_dng_file(sensor_, mosaic_, {});
  std::mt19937 rng(3);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    auto damaged = bytes;
    if (i % 3 == 0)
      damaged.resize(rng() % damaged.size());
    else
      for (int k = 0; k < 3; ++k)
        damaged[rng() % std::min<std::size_t>(damaged.size(), 1200)] =
            static_cast<std::uint8_t>(rng());
    write_file(file("damaged.dng"), damaged);
    try {
      (void)read_raw(file("damaged.dng"), 1 << 20);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST_F(Dng, SequencesMustHaveOneSizeAndMosaic) {
  write({}, "a1.dng");
  write({}, "a2.dng");
  const raw::Sensor other = test_sensor();
  write_file(file("a3.dng"), make_dng_file(other, mosaic_, {}));
  RawSource source(file("a%d.dng"), max_pixels);
  ASSERT_EQ(source.files().size(), 3u);
  EXPECT_TRUE(source.read());
  EXPECT_TRUE(source.read());
  EXPECT_EQ(source.take_facts(1)->path, file("a2.dng"));
  EXPECT_THROW((void)source.read(), BadData);
}

TEST(RawNames, AreRecognisedByTheirExtension) {
  for (const char* name : {"a.dng", "b/C.CR2", "x.%04d.dng", "y.NEF"})
    EXPECT_TRUE(is_raw_name(name));
  for (const char* name : {"a.tif", "dng", "a.dng.png"}) EXPECT_FALSE(is_raw_name(name));
}

}  // namespace
}  // namespace lull::io
