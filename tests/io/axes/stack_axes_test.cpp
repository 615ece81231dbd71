// Tests the channels, volumes and slices of TIFF stacks.

#include "io/stacks/tiff_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/stacks/tiff_source.h"
#include "io/support/clip.h"
#include "io/support/tiff_pictures.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;

void expect_axes(const TiffAxes& axes, std::int64_t channels, std::int64_t step,
                 std::int64_t slices) {
  EXPECT_EQ(axes.channels, channels);
  EXPECT_EQ(axes.channel_step, step);
  EXPECT_EQ(axes.slices, slices);
}

TEST(TiffAxes, FollowTheDescriptionOfImageJ) {
  const std::string imagej = "ImageJ=1.53\nimages=32\n";
  expect_axes(parse_axes(imagej + "channels=2\nslices=8\nframes=2\n", 32), 2, 1, 8);
  expect_axes(parse_axes(imagej + "slices=8\nframes=4\nhyperstack=true\n", 32), 1, 1, 8);
  expect_axes(parse_axes(imagej + "channels=2\nframes=16\n", 32), 2, 1, 16);
  expect_axes(parse_axes(imagej + "slices=32\n", 32), 1, 1, 32);
}

TEST(TiffAxes, FollowTheDimensionOrderOfOme) {
  const auto ome = [](const std::string& order, const std::string& sizes) {
    return "<?xml version=\"1.0\"?><OME><Image><Pixels ID=\"Pixels:0\" DimensionOrder=\"" + order +
           "\" SizeX=\"64\" SizeY=\"48\" " + sizes + "></Pixels></Image></OME>";
  };
  const std::string sizes = "SizeC=\"2\" SizeZ=\"8\" SizeT=\"2\"";
  expect_axes(parse_axes(ome("XYCZT", sizes), 32), 2, 1, 8);
  expect_axes(parse_axes(ome("XYZCT", sizes), 32), 2, 8, 8);
  expect_axes(parse_axes(ome("XYZTC", sizes), 32), 2, 16, 8);
  expect_axes(parse_axes(ome("XYCTZ", sizes), 32), 1, 1, 32);  // times before z
  expect_axes(parse_axes(ome("XYCTZ", "SizeC=\"2\" SizeZ=\"1\" SizeT=\"16\""), 32), 2, 1, 16);
}

TEST(TiffAxes, AreOneVolumeWithoutAValidDescription) {
  for (const char* text :
       {"", "a photograph", "ImageJ=1\nchannels=3\nslices=8\n", "ImageJ=1\nchannels=0\nslices=32\n",
        "ImageJ=1\nchannels=-2\nslices=-16\n", "<OME><Pixels SizeC=\"2\" SizeZ=\"16\"></OME>",
        "ImageJ=1\nchannels=9223372036854775807\nslices=9223372036854775807\n", "<OME>"})
    expect_axes(parse_axes(text, 32), 1, 1, 32);
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
    EXPECT_EQ(source->info().notes.size(), 1u);
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
