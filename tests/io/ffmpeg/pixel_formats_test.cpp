#include "io/ffmpeg/pixel_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/frame_pool.h"
#include "io/support/clip.h"

namespace lull::io {
namespace {

std::vector<AVPixelFormat> all_formats() {
  std::vector<AVPixelFormat> formats;
  for (const AVPixFmtDescriptor* d = nullptr; (d = av_pix_fmt_desc_next(d));) {
    const AVPixelFormat format = av_pix_fmt_desc_get_id(d);
    // Palettes and single bits cannot be packed again; other tests check them.
    if (traits_of(format) && !(d->flags & AV_PIX_FMT_FLAG_PAL) && d->comp[0].depth >= 8)
      formats.push_back(format);
  }
  return formats;
}

struct Planar {
  Frame frame, alpha;
  explicit Planar(const AVFrame& picture) {
    FrameFormat format = traits_of(picture)->format;
    format.width = picture.width;
    format.height = picture.height;
    frame = FramePool(format).acquire();
    if (traits_of(picture)->alpha) {
      FrameFormat grey;
      grey.width = format.width;
      grey.height = format.height;
      grey.sample = format.sample;
      grey.bits = format.bits;
      alpha = FramePool(grey).acquire();
    }
  }
  const Frame* alpha_or_null() const { return alpha.pixels ? &alpha : nullptr; }
};

std::uint16_t sample(const Frame& frame, int plane, int x, int y) {
  return frame.format.sample == SampleType::u8 ? frame.plane<std::uint8_t>(plane)(x, y)
                                               : frame.plane<std::uint16_t>(plane)(x, y);
}

// FFmpeg's reader does not support floats. The float planes are in the order G, B, R, A.
void expect_floats(const AVFrame& picture, const Planar& planar) {
  const bool grey = planar.frame.format.planes() == 1;
  constexpr int planes[] = {2, 0, 1, 3};
  for (int c = 0; c < (grey ? 1 : planar.alpha_or_null() ? 4 : 3); ++c) {
    const int plane = grey ? 0 : planes[c];
    const PlaneView<float> ours =
        c == 3 ? planar.alpha.plane<float>(0) : planar.frame.plane<float>(c);
    for (int y = 0; y < picture.height; ++y)
      ASSERT_EQ(std::memcmp(ours.row(y),
                            picture.data[plane] + std::ptrdiff_t{y} * picture.linesize[plane],
                            sizeof(float) * static_cast<std::size_t>(picture.width)),
                0)
          << c;
  }
}

// Compares with FFmpeg's own, slow reader for all formats.
void expect_samples(const AVFrame& picture, const Planar& planar) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  if (d.flags & AV_PIX_FMT_FLAG_FLOAT) return expect_floats(picture, planar);
  const int colours = planar.frame.format.planes();
  for (int c = 0; c < d.nb_components; ++c) {
    const bool is_alpha = c == colours;
    const Frame& frame = is_alpha ? planar.alpha : planar.frame;
    const int plane = is_alpha ? 0 : c;
    const int width = frame.format.plane_width(plane);
    std::vector<std::uint16_t> line(width);
    for (int y = 0; y < frame.format.plane_height(plane); ++y) {
      av_read_image_line(line.data(), const_cast<const std::uint8_t**>(picture.data),
                         picture.linesize, &d, 0, y, c, width, 0);
      for (int x = 0; x < width; ++x)
        ASSERT_EQ(sample(frame, plane, x, y), line[x])
            << d.name << " component " << c << " at " << x << "," << y;
    }
  }
}

TEST(PixelFormats, UnpacksLikeFfmpegAndPacksBackUnchanged) {
  const auto formats = all_formats();
  ASSERT_GT(formats.size(), 100u);
  for (const AVPixelFormat format : formats)
    for (const auto& [width, height] : {std::pair{1, 1}, {2, 3}, {17, 9}, {33, 1}, {1, 31}}) {
      SCOPED_TRACE(std::string(name_of(format)) + " " + std::to_string(width) + "x" +
                   std::to_string(height));
      const FramePtr picture = test::random_picture(format, width, height, 42);
      Planar planar(*picture);
      unpack(*picture, planar.frame, planar.alpha_or_null());
      expect_samples(*picture, planar);
      if (testing::Test::HasFatalFailure()) return;
      const FramePtr again = make_frame();
      again->format = format;
      again->width = width;
      again->height = height;
      ASSERT_GE(av_frame_get_buffer(again.get(), 0), 0);
      for (int i = 0; i < AV_NUM_DATA_POINTERS && again->buf[i]; ++i)
        std::memset(again->buf[i]->data, 0xa5, again->buf[i]->size);
      pack(planar.frame, planar.alpha_or_null(), *again);
      const int bytes = av_image_get_buffer_size(format, width, height, 1);
      std::vector<std::uint8_t> before(bytes), after(bytes);
      av_image_copy_to_buffer(before.data(), bytes, picture->data, picture->linesize, format, width,
                              height, 1);
      av_image_copy_to_buffer(after.data(), bytes, again->data, again->linesize, format, width,
                              height, 1);
      ASSERT_EQ(before, after);
    }
}

TEST(PixelFormats, KnowsLayoutDepthSubsamplingAndAlpha) {
  const auto yuv = traits_of(AV_PIX_FMT_YUV420P10LE);
  ASSERT_TRUE(yuv);
  EXPECT_EQ(yuv->format.layout, Layout::yuv);
  EXPECT_EQ(yuv->format.sample, SampleType::u16);
  EXPECT_EQ(yuv->format.bits, 10);
  EXPECT_EQ(yuv->format.chroma_shift_x, 1);
  EXPECT_EQ(yuv->format.chroma_shift_y, 1);
  EXPECT_FALSE(yuv->alpha);
  EXPECT_EQ(traits_of(AV_PIX_FMT_P010LE), yuv);
  EXPECT_EQ(traits_of(AV_PIX_FMT_NV12), traits_of(AV_PIX_FMT_YUVJ420P));
  EXPECT_EQ(traits_of(AV_PIX_FMT_GBRAP16LE), traits_of(AV_PIX_FMT_RGBA64BE));
  EXPECT_TRUE(traits_of(AV_PIX_FMT_YA8)->alpha);
  EXPECT_NE(traits_of(AV_PIX_FMT_RGB24), traits_of(AV_PIX_FMT_RGBA));
}

TEST(PixelFormats, RejectsFormatsThatFiltersDoNotSupport) {
  for (const AVPixelFormat format :
       {AV_PIX_FMT_GBRPF32BE, AV_PIX_FMT_GRAYF32BE, AV_PIX_FMT_RGB565LE, AV_PIX_FMT_XYZ12LE,
        AV_PIX_FMT_BAYER_BGGR8, AV_PIX_FMT_CUDA, AV_PIX_FMT_UYYVYY411, AV_PIX_FMT_NONE})
    EXPECT_FALSE(traits_of(format)) << name_of(format);
}

// unpack() and pack() access no byte beyond a row.
TEST(PixelFormats, SamplesLieWithinTheirRow) {
  constexpr int width = 64;
  for (const AVPixelFormat format : all_formats()) {
    const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(format);
    FrameFormat frame = traits_of(format)->format;
    frame.width = width;
    for (int c = 0; c < d.nb_components; ++c) {
      const AVComponentDescriptor& channel = d.comp[c];
      const int samples = frame.plane_width(c < frame.planes() ? c : 0);  // alpha is the last one
      const int bits = channel.shift + channel.depth;
      const int bytes = bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
      EXPECT_LE(channel.offset + (samples - 1) * channel.step + bytes,
                av_image_get_linesize(format, width, channel.plane))
          << d.name << " component " << c;
    }
  }
}

TEST(PixelFormats, ClampsSamplesBeyondTheDepth) {
  const FramePtr picture = test::random_picture(AV_PIX_FMT_GRAY10LE, 8, 2, 1);
  std::memset(picture->data[0], 0xff, 16);  // the value 65535 in a row of 10-bit samples
  Planar planar(*picture);
  unpack(*picture, planar.frame, nullptr);
  for (int x = 0; x < 8; ++x) EXPECT_EQ(sample(planar.frame, 0, x, 0), 1023);
}

TEST(PixelFormats, UnpacksOneBitAndPalette) {
  for (const auto& [format, first] :
       {std::pair{AV_PIX_FMT_MONOBLACK, 255}, {AV_PIX_FMT_MONOWHITE, 0}}) {
    const FramePtr picture = test::random_picture(format, 9, 1, 1);
    picture->data[0][0] = 0x80;
    picture->data[0][1] = 0x80;
    Planar planar(*picture);
    unpack(*picture, planar.frame, nullptr);
    for (int x = 0; x < 9; ++x)
      EXPECT_EQ(sample(planar.frame, 0, x, 0), x % 8 == 0 ? first : 255 - first) << x;
  }
  const FramePtr picture = test::random_picture(AV_PIX_FMT_PAL8, 3, 1, 1);
  auto* palette = reinterpret_cast<std::uint32_t*>(picture->data[1]);
  std::fill_n(palette, 256, 0xff000000u);
  EXPECT_FALSE(traits_of(*picture)->alpha);
  palette[7] = 0x40102030;  // A R G B
  picture->data[0][1] = 7;
  picture->data[0][0] = picture->data[0][2] = 0;
  Planar planar(*picture);
  ASSERT_TRUE(planar.alpha_or_null());
  unpack(*picture, planar.frame, planar.alpha_or_null());
  EXPECT_EQ(sample(planar.frame, 0, 1, 0), 0x10);
  EXPECT_EQ(sample(planar.frame, 1, 1, 0), 0x20);
  EXPECT_EQ(sample(planar.frame, 2, 1, 0), 0x30);
  EXPECT_EQ(sample(planar.alpha, 0, 1, 0), 0x40);
  EXPECT_EQ(sample(planar.alpha, 0, 0, 0), 0xff);
}

FramePtr bare_picture(AVPixelFormat format, int width, int height) {
  FramePtr picture = make_frame();
  picture->format = format;
  picture->width = width;
  picture->height = height;
  return picture;
}

TEST(PixelFormats, SharedPlanesEqualFfmpegs) {
  std::vector<std::string> shared;
  for (const AVPixelFormat format : all_formats()) {
    SCOPED_TRACE(name_of(format));
    const FramePtr picture = test::random_picture(format, 33, 17, 7);
    Planar planar(*picture);
    unpack(*picture, planar.frame, planar.alpha_or_null());
    const FramePtr other = bare_picture(format, 33, 17);
    if (!share_planes(planar.frame, *other)) {
      EXPECT_EQ(other->data[0], nullptr);
      continue;
    }
    EXPECT_FALSE(planar.alpha_or_null());
    expect_samples(*other, planar);
    shared.push_back(name_of(format));
  }
  for (const char* name : {"gray", "yuv420p", "yuv420p10le", "gbrp", "yuvj422p"})
    EXPECT_THAT(shared, testing::Contains(name));
  for (const char* name : {"nv12", "rgb24", "p010le", "yuv420p10be", "yuva420p", "yuyv422"})
    EXPECT_THAT(shared, testing::Not(testing::Contains(name)));
}

TEST(PixelFormats, DoesNotShareUnalignedPlanes) {
  const FramePtr picture = test::random_picture(AV_PIX_FMT_GRAY8, 80, 4, 7);
  Planar planar(*picture);
  Frame frame = planar.frame;
  frame.planes[0].stride = 96;
  EXPECT_FALSE(share_planes(frame, *bare_picture(AV_PIX_FMT_GRAY8, 80, 4)));
  frame = planar.frame;
  frame.planes[0].data += 16;
  EXPECT_FALSE(share_planes(frame, *bare_picture(AV_PIX_FMT_GRAY8, 80, 4)));
}

TEST(PixelFormats, EqualFormatMustHaveEqualRange) {
  const auto traits = *traits_of(AV_PIX_FMT_YUV420P);
  const AVPixelFormat jpeg[] = {AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_NONE};
  EXPECT_EQ(find_equal(jpeg, AV_PIX_FMT_YUV420P, traits, false), AV_PIX_FMT_NONE);
  EXPECT_EQ(find_equal(jpeg, AV_PIX_FMT_YUV420P, traits, true), AV_PIX_FMT_YUVJ420P);
  const AVPixelFormat list[] = {AV_PIX_FMT_YUV444P, AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P,
                                AV_PIX_FMT_NONE};
  EXPECT_EQ(find_equal(list, AV_PIX_FMT_YUV420P, traits, false), AV_PIX_FMT_YUV420P);
  EXPECT_EQ(find_equal(list, AV_PIX_FMT_YUVJ420P, traits, true), AV_PIX_FMT_NV12);
}

TEST(FFmpegPictures, SizesThatFFmpegDoesNotSupportAreBadData) {
  EXPECT_THROW((void)make_picture(AV_PIX_FMT_GRAY16, 2555916, 10), BadData);
  EXPECT_THROW((void)make_picture(AV_PIX_FMT_GRAY8, 0, 10), BadData);
  EXPECT_EQ(make_picture(AV_PIX_FMT_GRAY16, 25559, 10)->width, 25559);
}

}  // namespace
}  // namespace lull::io
