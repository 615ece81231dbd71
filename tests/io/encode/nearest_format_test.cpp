// Tests which pixel format lull chooses if the encoder does not support that of the input.

#include "io/encode/nearest_format.h"

#include <gtest/gtest.h>

#include <vector>

namespace lull::io {
namespace {

AVPixelFormat nearest(AVPixelFormat from, std::vector<AVPixelFormat> list,
                      bool full_range = false) {
  list.push_back(AV_PIX_FMT_NONE);
  return nearest_format(list.data(), *traits_of(from), full_range);
}

TEST(NearestFormat, IsLosslessIfPossible) {
  const std::vector<AVPixelFormat> yuv{AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUV422P,
                                       AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV444P10};
  EXPECT_EQ(nearest(AV_PIX_FMT_YUV411P, yuv), AV_PIX_FMT_YUV422P);
  EXPECT_EQ(nearest(AV_PIX_FMT_YUV440P, yuv), AV_PIX_FMT_YUV444P);
  EXPECT_EQ(nearest(AV_PIX_FMT_YUV422P10, yuv), AV_PIX_FMT_YUV444P10);
  const std::vector<AVPixelFormat> png{AV_PIX_FMT_RGB24,    AV_PIX_FMT_RGBA,     AV_PIX_FMT_RGB48BE,
                                       AV_PIX_FMT_RGBA64BE, AV_PIX_FMT_PAL8,     AV_PIX_FMT_GRAY8,
                                       AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_MONOBLACK};
  EXPECT_EQ(nearest(AV_PIX_FMT_YUV420P, png), AV_PIX_FMT_RGB24);
  EXPECT_EQ(nearest(AV_PIX_FMT_YUV420P10, png), AV_PIX_FMT_RGB48BE);
  EXPECT_EQ(nearest(AV_PIX_FMT_YUVA420P, png), AV_PIX_FMT_RGBA);
  EXPECT_EQ(nearest(AV_PIX_FMT_YUVA444P12, png), AV_PIX_FMT_RGBA64BE);
  EXPECT_EQ(nearest(AV_PIX_FMT_GRAY10, png), AV_PIX_FMT_GRAY16BE);
}

TEST(NearestFormat, LosesAsLittleAsPossible) {
  EXPECT_EQ(nearest(AV_PIX_FMT_YUVA444P12,
                    {AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV444P12}),
            AV_PIX_FMT_YUV444P12);
  EXPECT_EQ(
      nearest(AV_PIX_FMT_RGB48, {AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P}),
      AV_PIX_FMT_YUVJ444P);
  EXPECT_EQ(nearest(AV_PIX_FMT_YUV420P, {AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUV444P}),
            AV_PIX_FMT_YUV444P);  // full range only if no other format is available
  EXPECT_EQ(nearest(AV_PIX_FMT_YUV420P, {AV_PIX_FMT_YUVJ420P}), AV_PIX_FMT_YUVJ420P);
}

TEST(NearestFormat, DoesNotConvertColourToGreyOrFloatsToIntegers) {
  EXPECT_EQ(nearest(AV_PIX_FMT_RGB24, {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16BE}), AV_PIX_FMT_NONE);
  EXPECT_EQ(nearest(AV_PIX_FMT_GBRPF32, {AV_PIX_FMT_RGB48BE}), AV_PIX_FMT_NONE);
  EXPECT_EQ(nearest(AV_PIX_FMT_RGB24, {AV_PIX_FMT_GBRPF32}), AV_PIX_FMT_NONE);
  EXPECT_EQ(nearest(AV_PIX_FMT_RGB24, {}), AV_PIX_FMT_NONE);
}

TEST(NearestFormat, LossesAreNamed) {
  const auto text = [](AVPixelFormat from, AVPixelFormat to) {
    return describe(loss_of(*traits_of(from), *traits_of(to)), *traits_of(from));
  };
  EXPECT_EQ(text(AV_PIX_FMT_YUV420P, AV_PIX_FMT_RGB24), "");
  EXPECT_EQ(text(AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P16), "");
  EXPECT_EQ(text(AV_PIX_FMT_RGBA, AV_PIX_FMT_RGB24), "alpha");
  EXPECT_EQ(text(AV_PIX_FMT_YUVA444P12, AV_PIX_FMT_YUV420P),
            "alpha, 4 of 12 bits and rows or columns of chroma");
  EXPECT_EQ(text(AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8), "colour");
}

}  // namespace
}  // namespace lull::io
