// Tests the channels, time points and slices of TIFF stacks.

#include "io/axes/stack_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/error.h"
#include "io/axes/image_facts.h"
#include "io/stacks/tiff_source.h"
#include "io/support/clip.h"
#include "io/support/tiff_pictures.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StackAxes axes_of(const std::string& description, std::int64_t pages = 32) {
  return read_axes(
      {.path = "x.tif", .description = description, .pages = pages, .width = 64, .height = 48});
}

void expect_sizes(const StackAxes& axes, std::int64_t channels, std::int64_t times,
                  std::int64_t slices) {
  EXPECT_EQ(axes.channels, channels);
  EXPECT_EQ(axes.times, times);
  EXPECT_EQ(axes.slices, slices);
}

std::string ome(const std::string& order, const std::string& sizes,
                const std::string& inside = "<TiffData/>") {
  return "<?xml version=\"1.0\"?><OME UUID=\"urn:1\"><Image><Pixels ID=\"Pixels:0\" "
         "DimensionOrder=\"" +
         order + "\" SizeX=\"64\" SizeY=\"48\" " + sizes + ">" + inside + "</Pixels></Image></OME>";
}

std::string message_of(const std::string& description, std::int64_t pages = 32) {
  try {
    (void)axes_of(description, pages);
  } catch (const BadData& error) {
    return error.what();
  }
  return "no error";
}

TEST(StackAxes, FollowTheDescriptionOfImageJ) {
  const std::string imagej = "ImageJ=1.53\nimages=32\n";
  const StackAxes all = axes_of(imagej + "channels=2\nslices=8\nframes=2\n");
  expect_sizes(all, 2, 2, 8);
  EXPECT_EQ(all.page_at(1), 2);    // channel 1, second slice
  EXPECT_EQ(all.page_at(16), 1);   // channel 2, first slice
  EXPECT_EQ(all.page_at(31), 31);  // channel 2, last slice
  EXPECT_EQ(describe(all), "2 channels, 8 slices, 2 time points");
  expect_sizes(axes_of(imagej + "slices=8\nframes=4\nhyperstack=true\n"), 1, 4, 8);
  const StackAxes planes = axes_of(imagej + "channels=2\nframes=16\n");
  expect_sizes(planes, 2, 16, 1);
  EXPECT_TRUE(planes.is_over_time());
  expect_sizes(axes_of(imagej + "slices=32\n"), 1, 1, 32);
}

TEST(StackAxes, MapPagesForEveryDimensionOrderOfOme) {
  constexpr std::array<const char*, 6> orders{"CZT", "CTZ", "ZCT", "ZTC", "TCZ", "TZC"};
  constexpr int sizes[] = {2, 4, 4};  // C, Z, T
  for (const std::string order : orders) {
    const StackAxes axes = axes_of(ome("XY" + order, "SizeC=\"2\" SizeZ=\"4\" SizeT=\"4\""));
    expect_sizes(axes, 2, 4, 4);
    for (std::int64_t frame = 0; frame < 32; ++frame) {
      const std::int64_t index[] = {frame / 16, frame % 4, frame / 4 % 4};  // C, Z, T
      std::int64_t page = 0, step = 1;
      for (const char axis : order) {
        const auto place = std::string("CZT").find(axis);
        page += index[place] * step;
        step *= sizes[place];
      }
      EXPECT_EQ(axes.page_at(frame), page) << order << " " << frame;
    }
  }
}

TEST(StackAxes, FollowTiffDataOfOme) {
  const std::string runs =
      "<TiffData IFD=\"2\" FirstC=\"0\" PlaneCount=\"2\"/><!-- <TiffData IFD='9'/> -->"
      "<TiffData FirstC='1' IFD='0'/><TiffData FirstC=\"1\" FirstZ=\"1\" IFD=\"1\"/>";
  const StackAxes axes = axes_of(ome("XYZCT", "SizeC=\"2\" SizeZ=\"2\" SizeT=\"1\"", runs), 4);
  expect_sizes(axes, 2, 1, 2);
  EXPECT_THAT(axes.page_of_frame, ElementsAre(2, 3, 0, 1));
}

TEST(StackAxes, UseOnlyThePlanesOfThisFileOfSeveralFiles) {
  const std::string runs =
      "<TiffData FirstT=\"0\" IFD=\"0\" PlaneCount=\"4\"><UUID FileName=\"y.tif\">urn:2</UUID>"
      "</TiffData><TiffData FirstT=\"1\" IFD=\"0\" PlaneCount=\"4\"><UUID "
      "FileName=\"z.tif\">urn:1</UUID></TiffData>";
  const std::string sizes = "SizeC=\"1\" SizeZ=\"4\" SizeT=\"2\"";
  expect_sizes(axes_of(ome("XYZCT", sizes, runs), 4), 1, 1, 4);
}

TEST(StackAxes, RejectOmeXmlThatContradictsThePages) {
  const std::string sizes = "SizeC=\"2\" SizeZ=\"8\" SizeT=\"2\"";
  EXPECT_EQ(message_of(ome("XYCZT", sizes)), "no error");
  EXPECT_THAT(message_of(ome("XYCZT", sizes), 31),
              HasSubstr("'x.tif' has 31 pages, but its OME-XML describes 2 channels, 8 slices, 2 "
                        "time points, with a plane in page 32; write it again"));
  EXPECT_THAT(message_of(ome("XYCZT", sizes), 33), HasSubstr("describes 32 of them"));
  for (const std::string& text :
       {ome("XYCZQ", sizes), ome("", sizes), ome("XYCZT", "SizeC=\"2\" SizeZ=\"16\""),
        ome("XYCZT", "SizeC=\"0\" SizeZ=\"16\" SizeT=\"2\""),
        ome("XYCZT", "SizeC=\"-2\" SizeZ=\"-16\" SizeT=\"1\""),
        ome("XYCZT", "SizeC=\"99999999999999999999\" SizeZ=\"1\" SizeT=\"1\""),
        ome("XYCZT", sizes, "<TiffData IFD=\"1\" PlaneCount=\"32\"/>"),
        ome("XYCZT", sizes, "<TiffData PlaneCount=\"99\"/>"),
        ome("XYCZT", sizes, "<TiffData FirstC=\"2\" PlaneCount=\"32\"/>"),
        ome("XYCZT", sizes, "<TiffData IFD=\"0\"/><TiffData IFD=\"0\"/>")})
    EXPECT_THAT(message_of(text), HasSubstr("OME-XML")) << text;
}

TEST(StackAxes, AreOneVolumeWithoutAxes) {
  for (const char* text :
       {"", "a photograph", "ImageJ=1\nimages=32\n", "<svg><Pixels/></svg>", "<"})
    EXPECT_TRUE(axes_of(text).warning.empty()) << text;
  for (const char* text : {"ImageJ=1\nchannels=3\nslices=8\n", "ImageJ=1\nchannels=0\nslices=32\n",
                           "ImageJ=1\nchannels=-2\nslices=-16\n",
                           "ImageJ=1\nchannels=9223372036854775807\nslices=9223372036854775807\n",
                           "<OME>", "<OME><BinaryOnly MetadataFile=\"x.companion.ome\"/></OME>"}) {
    const StackAxes axes = axes_of(text);
    expect_sizes(axes, 1, 1, 32);
    EXPECT_THAT(axes.warning, HasSubstr("all pages are taken for slices of one volume")) << text;
  }
}

void expect_step(const AxisStep& axis, double step, const std::string& unit) {
  EXPECT_DOUBLE_EQ(axis.step, step);
  EXPECT_EQ(axis.unit, unit);
}

TEST(ImageFacts, FollowTheUnitsOfImageJ) {
  const std::string imagej = "ImageJ=1.54f\nimages=32\n";
  const ImageFacts plain =
      read_facts(imagej + "unit=\\u00B5m\nspacing=-1.5\nfinterval=2\n", {.x = 4, .y = 2});
  expect_step(plain.x, 0.25, "micrometer");
  expect_step(plain.y, 0.5, "micrometer");
  expect_step(plain.z, 1.5, "micrometer");
  expect_step(plain.time, 2, "second");
  const ImageFacts mixed =
      read_facts(imagej + "unit=nm\nfinterval=40\ntunit=ms\nyunit=mm\nzunit=um\nspacing=3\n",
                 {.x = 4, .y = 2});
  expect_step(mixed.x, 0.25, "nanometer");
  expect_step(mixed.y, 0.5, "millimeter");
  expect_step(mixed.z, 3, "micrometer");
  expect_step(mixed.time, 40, "millisecond");
}

// Python's ElementTree writes all characters beyond ASCII as references.
TEST(ImageFacts, DecodeCharacterReferencesOfOme) {
  const auto facts_with = [](const std::string& unit, const std::string& name) {
    return read_facts("<OME><Image Name=\"" + name +
                          "\"><Pixels PhysicalSizeX=\"0.5\" PhysicalSizeXUnit=\"" + unit +
                          "\"><Channel Name=\"" + name + "\"/></Pixels></Image></OME>",
                      {});
  };
  for (const char* unit : {"&#181;m", "&#xB5;m", "&#xb5;m", "\u00b5m"})
    expect_step(facts_with(unit, "x").x, 0.5, "micrometer");
  EXPECT_THAT(facts_with("nm", "&#946;-&#x20AC;&#x1F52C;&amp;").channels,
              ElementsAre("\u03b2-\u20ac\U0001f52c&"));
  EXPECT_EQ(facts_with("nm", "&#0;&#xD800;&#x110000;&#;&#1 &#").name,
            "&#0;&#xD800;&#x110000;&#;&#1 &#");
}

TEST(ImageFacts, SizesWithoutAnOmeUnitAreKeptOrReported) {
  const OmePixels pixels{.width = 20, .height = 18, .type = "uint16"};
  const ImageFacts facts{.name = "",
                         .x = {.step = 0.3, .unit = ""},
                         .y = {.step = 2, .unit = "inch"},
                         .z = {.step = 1, .unit = ""},
                         .time = {.step = 5, .unit = ""},
                         .channels = {}};
  const std::string xml = make_ome_xml({}, pixels, facts);
  EXPECT_THAT(xml, HasSubstr("PhysicalSizeX=\"0.3\" PhysicalSizeXUnit=\"reference frame\""));
  EXPECT_THAT(xml, HasSubstr("PhysicalSizeY=\"2\" PhysicalSizeYUnit=\"in\""));
  EXPECT_THAT(xml, testing::Not(HasSubstr("PhysicalSizeZ")));
  EXPECT_THAT(xml, testing::Not(HasSubstr("TimeIncrement")));
  const ImageFacts again = read_facts(xml, {});
  expect_step(again.x, 0.3, "");
  expect_step(again.y, 2, "inch");
  EXPECT_THAT(losses_in_ome_xml(facts), ElementsAre(HasSubstr("time between time points")));
  EXPECT_THAT(losses_in_ome_xml({.name = "",
                                 .x = {.step = 1, .unit = "furlong"},
                                 .y = {},
                                 .z = {},
                                 .time = {.step = 1, .unit = ""},
                                 .channels = {}}),
              ElementsAre("the unit 'furlong' of the axis x"));
}

class TiffChannels : public testing::Test {
 protected:
  static constexpr int slices = 3, channels = 2, times = 2;

  void make(const std::string& path, int bits) const {
    const TiffFile file(TIFFOpen(path.c_str(), "w"));
    for (int page = 0; page < slices * channels * times; ++page) {
      if (page == 0)
        TIFFSetField(file.get(), TIFFTAG_IMAGEDESCRIPTION,
                     "ImageJ=1.53\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\n");
      TIFFSetField(file.get(), TIFFTAG_XRESOLUTION, 1.0 + page);
      const PictureSpec spec{.name = "",
                             .samples = 1,
                             .bits = bits,
                             .photometric = PHOTOMETRIC_MINISBLACK,
                             .width = 20,
                             .height = 18,
                             .seed = page};
      write_picture(file.get(), spec);
      TIFFWriteDirectory(file.get());
    }
  }
  TemporaryFolder folder;
  const std::string in = folder / "in.tif", out = folder / "out.tif";
};

TEST_F(TiffChannels, FramesComeChannelByChannelAndPagesStayInOrder) {
  for (const int bits : {8, 12, 16}) {
    make(in, bits);
    const auto source = open_source(in);
    EXPECT_EQ(source->info().slices, slices);
    EXPECT_EQ(source->info().channels, channels);
    EXPECT_THAT(source->info().axes, HasSubstr("2 channels, 3 slices, 2 time points"));
    const auto sink = open_sink(out, *source, {.overwrite = true, .strict_metadata = true});
    std::vector<int> positions;
    while (auto frame = source->read()) {
      positions.push_back(frame->slice);
      sink->write(*std::move(frame));
    }
    sink->finish();
    EXPECT_THAT(positions, ElementsAre(0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2));
    const TiffFile a(TIFFOpen(in.c_str(), "r")), b(TIFFOpen(out.c_str(), "r"));
    for (int page = 0; page < slices * channels * times; ++page) {
      TIFFSetDirectory(a.get(), page);
      TIFFSetDirectory(b.get(), page);
      EXPECT_EQ(tag_of<float>(b.get(), TIFFTAG_XRESOLUTION), 1.0f + page);
      EXPECT_TRUE(chunks_of(a.get()) == chunks_of(b.get())) << page;
    }
  }
  EXPECT_THAT(folder.files(), ElementsAre("in.tif", "out.tif"));
}

}  // namespace
}  // namespace lull::io::test
