// Tests the relation between frames, which is determined on the host.

#include "time/frame_relation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>

#include "support/pictures.h"
#include "time/frame_statistics.h"

namespace lull {
namespace {

using namespace lull::test_support;

constexpr float sigma = 20;
constexpr FrameFormat format{.width = 70, .height = 90};

TEST(FrameRelation, IndependentNoiseDistinguishesFrames) {
  const std::array<float, 3> noise{sigma, sigma, sigma};
  const Plane<float> clean = texture_picture(format.width, format.height, 0);
  Frame a = make_frame(format), b = make_frame(format);
  store_plane(with_noise(clean.view(), sigma, 1).view(), a, 0);
  store_plane(with_noise(clean.view(), sigma, 2).view(), b, 0);
  EXPECT_EQ(relation_of(difference_of(a, b, noise)), Relation::independent);
  EXPECT_EQ(relation_of(difference_of(a, a, noise)), Relation::identical);
  // The relation is the same if the noise is a fifth of the given level.
  store_plane(with_noise(clean.view(), sigma / 5, 1).view(), a, 0);
  store_plane(with_noise(clean.view(), sigma / 5, 2).view(), b, 0);
  EXPECT_EQ(relation_of(difference_of(a, b, noise)), Relation::independent);
  // Two frames without noise do not share noise.
  store_plane(clean.view(), a, 0);
  store_plane(texture_picture(format.width, format.height, 3).view(), b, 0);
  EXPECT_EQ(relation_of(difference_of(a, b, noise)), Relation::independent);
}

// The function may decide after some rows. The decision must equal that after all rows.
TEST(FrameRelation, EarlyDecisionEqualsCompleteCount) {
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

// A few rows may show that a block has independent noise; otherwise the remaining rows decide.
TEST(FrameRelation, BlockCountsEqualCompleteCounts) {
  const std::array<float, 3> noise{sigma, sigma, sigma};
  const std::uint32_t limit = same_block_limit(sigma);
  std::mt19937 rng{7};
  const auto any = [&](int below) { return static_cast<int>(rng() % below); };
  std::uint32_t shared = 0, dull = 0;
  for (int round = 0; round < 300; ++round) {
    Frame a = make_frame(format), b = make_frame(format);
    FrameDifference expected;
    const int contrast = 10 + any(60), change = 10 + any(60);  // around the limits, too
    for (int top = 0; top < format.height; top += relation_block) {
      // The number of flat rows and of equal rows; the equal rows are above or below the others.
      const bool usual = any(3) > 0, above = any(2) > 0;
      const int flat = usual ? 0 : any(17), same_rows = usual ? 0 : any(17);
      for (int left = 0; left < format.width; left += relation_block) {
        const int bottom = std::min(top + relation_block, format.height);
        const int right = std::min(left + relation_block, format.width);
        std::uint32_t squares = 0, sum = 0, sum_of_squares = 0, samples = 0;
        for (int y = top; y < bottom; ++y)
          for (int x = left; x < right; ++x, ++samples) {
            const int row = above ? y - top : relation_block - 1 - (y - top);
            const int now = row < flat ? 90 : 60 + any(contrast);
            const int before = row < same_rows ? now : now + any(change);
            a.planes[0](x, y) = static_cast<std::byte>(now);
            b.planes[0](x, y) = static_cast<std::byte>(before);
            squares += (now - before) * (now - before);
            sum += now;
            sum_of_squares += now * now;
          }
        const bool same = same_block(squares, samples, limit);
        const bool counts = is_textured_block(sum, sum_of_squares, samples, limit);
        if (!same) ++expected.different[0];
        if (counts) ++expected.textured;
        if (counts && same) ++expected.shared;
        dull += counts ? 0 : 1;
      }
    }
    const FrameDifference found = difference_of(a, b, noise);
    EXPECT_EQ(found.different, expected.different);
    EXPECT_EQ(found.textured, expected.textured);
    EXPECT_EQ(found.shared, expected.shared);
    shared += expected.shared;
  }
  EXPECT_GT(shared, 0u);
  EXPECT_GT(dull, 0u);
}

}  // namespace
}  // namespace lull
