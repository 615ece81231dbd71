// What frames are to each other, on the host.

#include "time/frame_relation.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "support/pictures.h"
#include "time/frame_statistics.h"

namespace lull {
namespace {

using namespace lull::testing;

constexpr float sigma = 20;
constexpr FrameFormat format{.width = 70, .height = 90};

TEST(FrameRelation, NoiseOfTheirOwnTellsFramesApart) {
  const std::array<float, 3> noise{sigma, sigma, sigma};
  const Plane<float> clean = texture_picture(format.width, format.height, 0);
  Frame a = make_frame(format), b = make_frame(format);
  store_plane(with_noise(clean.view(), sigma, 1).view(), a, 0);
  store_plane(with_noise(clean.view(), sigma, 2).view(), b, 0);
  EXPECT_EQ(relation_of(difference_of(a, b, noise)), Relation::fresh);
  EXPECT_EQ(relation_of(difference_of(a, a, noise)), Relation::identical);
  // Also where the noise is a fifth of what is said.
  store_plane(with_noise(clean.view(), sigma / 5, 1).view(), a, 0);
  store_plane(with_noise(clean.view(), sigma / 5, 2).view(), b, 0);
  EXPECT_EQ(relation_of(difference_of(a, b, noise)), Relation::fresh);
  // Two frames without any noise do not share it.
  store_plane(clean.view(), a, 0);
  store_plane(texture_picture(format.width, format.height, 3).view(), b, 0);
  EXPECT_EQ(relation_of(difference_of(a, b, noise)), Relation::fresh);
}

// Found early or not, it is the same.
TEST(FrameRelation, IsKnownBeforeAllIsCounted) {
  FrameFormat yuv420 = format, rgb = format;
  yuv420.layout = Layout::yuv;
  yuv420.chroma_shift_x = yuv420.chroma_shift_y = 1;
  rgb.layout = Layout::rgb;
  std::set<Relation> found;
  std::mt19937 rng{5};
  for (const FrameFormat& of : {format, yuv420, rgb})
    for (int round = 0; round < 200; ++round) {
      Frame a = make_frame(of), b = make_frame(of);
      const int changed = static_cast<int>(rng() % 110) - 10, most = rng() % 3 == 0 ? 1 : 90;
      for (int i = 0; i < of.planes(); ++i)
        for (int y = 0; y < of.plane_height(i); ++y)
          for (int x = 0; x < of.plane_width(i); ++x) {
            const int v = 60 + static_cast<int>(rng() % 90);
            const bool differs = y / 16 * 20 % 100 < changed && (i == 0 || rng() % 2 == 0);
            a.planes[i](x, y) = static_cast<std::byte>(v);
            b.planes[i](x, y) =
                static_cast<std::byte>(differs ? v + static_cast<int>(rng() % (most + 1)) : v);
          }
      const std::array<float, 3> noise{round % 7 == 0 ? 0 : sigma, sigma,
                                       round % 2 == 0 ? 0 : sigma};
      const Relation relation = relation_of(difference_of(a, b, noise));
      EXPECT_EQ(relation_between(a, b, noise), relation) << changed;
      found.insert(relation);
    }
  EXPECT_EQ(found.size(), 4u);
}

}  // namespace
}  // namespace lull
