// Tests the parameters and the definitions that all backends share.

#include "bm4d/cubes.h"

#include <gtest/gtest.h>

#include <limits>

#include "bm4d/volumes.h"
#include "core/error.h"
#include "core/params/profile.h"

namespace lull::bm4d {
namespace {

TEST(Bm4dCubes, OffsetsUnpackToThePackedValues) {
  for (const int dx : {-7, -1, 0, 7})
    for (const int dy : {-7, 0, 3})
      for (const int dz : {-7, 0, 7}) {
        const std::uint32_t packed = pack_offset(dx, dy, dz);
        EXPECT_EQ(offset_x(packed), dx);
        EXPECT_EQ(offset_y(packed), dy);
        EXPECT_EQ(offset_z(packed), dz);
      }
}

TEST(Bm4dCubes, RowsOfTheDctAreOrthonormal) {
  for (const int side : {3, 4}) {
    const AxisMatrix rows = dct_rows(side);
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        double product = 0;
        for (int k = 0; k < side; ++k) product += rows[i][k] * rows[j][k];
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-12);
      }
  }
}

TEST(Bm4dCubes, EveryVoxelOfAnAxisIsCovered) {
  for (const int cube : {3, 4})
    for (int step = 1; step <= cube; ++step)
      for (int length = cube; length < 20; ++length) {
        int covered = 0;  // all voxels before this one are covered
        for (int i = 0; i < reference_count(length, step, cube); ++i) {
          const int at = reference_position(i, length, step, cube);
          EXPECT_LE(at, covered);
          EXPECT_LE(at + cube, length);
          covered = at + cube;
        }
        EXPECT_EQ(covered, length);
      }
}

TEST(Bm4dCubes, ShortAxesAreMirrored) {
  EXPECT_EQ(mirrored(3, 1), 0);
  EXPECT_EQ(mirrored(2, 2), 1);
  EXPECT_EQ(mirrored(3, 2), 0);
  EXPECT_EQ(mirrored(3, 3), 2);
  EXPECT_EQ(mirrored(1, 3), 1);
}

TEST(Bm4dParams, ProfilesAreValid) {
  for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::best})
    EXPECT_NO_THROW(validate(make_params(profile, {20, 20, 20})));
  EXPECT_EQ(make_params(Profile::best, {20, 20, 20}).hard,
            make_params(Profile::high, {20, 20, 20}).hard);
  EXPECT_THROW((void)make_params(Profile::paper, {20, 20, 20}), InvalidArgument);
}

TEST(Bm4dParams, ParameterOutOfRangeIsNamed) {
  const auto refused = [](auto change) {
    Params params = make_params(Profile::balanced, {20, 20, 20});
    change(params);
    try {
      validate(params);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused([](Params&) {}), "");
  EXPECT_NE(refused([](Params& p) { p.hard.window = 39; }).find("window of the first"),
            std::string::npos);
  EXPECT_NE(refused([](Params& p) { p.wiener.window = 4; }).find("window of the second"),
            std::string::npos);
  EXPECT_NE(refused([](Params& p) { p.hard.cube = 5; }).find("cube"), std::string::npos);
  // A step larger than the side of a cube would leave voxels uncovered.
  EXPECT_NE(refused([](Params& p) { p.wiener.cube = 3, p.wiener.step = 4; }).find("step"),
            std::string::npos);
  EXPECT_NE(refused([](Params& p) { p.hard.group = 12; }).find("group"), std::string::npos);
  EXPECT_NE(refused([](Params& p) { p.lambda = -1; }).find("lambda"), std::string::npos);
  EXPECT_NE(refused([](Params& p) { p.mu2 = 0; }).find("mu2"), std::string::npos);
  EXPECT_NE(refused([](Params& p) {
              p.mu2_mean = std::numeric_limits<float>::quiet_NaN();
            }).find("mu2-mean"),
            std::string::npos);
  EXPECT_NE(refused([](Params& p) { p.phases = 3; }).find("phases"), std::string::npos);
  EXPECT_NE(refused([](Params& p) {
              p.noise.plane(0).correlation = std::make_shared<Autocorrelation>();
            }),
            "");
}

TEST(Bm4dParams, MarginIsTwiceTheReachOfGroups) {
  Params params = make_params(Profile::balanced, {20, 20, 20});
  EXPECT_EQ(margin(params), (Margin{24, 24}));
  params.hard.window = params.wiener.window = 7;
  EXPECT_EQ(margin(params), (Margin{18, 18}));
  params.phases = 1;
  EXPECT_EQ(margin(params), (Margin{9, 9}));
}

}  // namespace
}  // namespace lull::bm4d
