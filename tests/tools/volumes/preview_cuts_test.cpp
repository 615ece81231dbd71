// Tests lull preview on volumes, which shows three cuts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "io/support/volumes.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using io::test::volume;
using io::test::VolumeSpec;
using ::testing::HasSubstr;

constexpr int nx = 20, ny = 16, nz = 12, gap = 4;
// Voxels are twice as high as wide. A cut across z has 20x16 pixels, across y 20x24, across x
// 16x24.
constexpr int column = nx + gap, picture_width = 3 * column - gap,
              picture_height = 16 + 24 + 24 + 2 * gap;

class PreviewCuts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937 rng{4};
    std::normal_distribution<double> noise{0, 10};
    for (int i = 0; i < 2 * nx * ny * nz; ++i) {
      const int x = i % nx, z = i / (nx * ny) % nz;
      const double v = 60 + 5 * x + 4 * z + noise(rng);
      voxels_.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(v, 0.0, 255.0))));
    }
    voxels_[0] = 0, voxels_[1] = 255;  // so that a value equals its grey level
    auto file = volume({.dim = {nx, ny, nz, 2}, .datatype = 2, .bitpix = 8}, voxels_);
    for (int i = 1; i <= 3; ++i) io::test::put(file, 76 + 4 * i, i == 3 ? 3.0f : 1.5f, false);
    write_bytes(folder_ / "scan.nii", {file.begin(), file.end()});
  }
  Outcome preview(std::vector<std::string> more) {
    more.insert(more.begin(), {"preview", "scan.nii", "--sigma", "10", "-d", "cpu", "-y", "-o",
                               "p.png", "--log-level", "info"});
    return run_lull(more, {.folder = folder_ / "."});
  }
  Frame picture() {
    const std::vector<Frame> frames = frames_of(folder_ / "p.png");
    EXPECT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames.at(0).format.width, picture_width);
    EXPECT_EQ(frames.at(0).format.height, picture_height);
    return frames.at(0);
  }
  static int voxel(const std::vector<std::uint8_t>& volume, int x, int y, int z, int t) {
    return volume[((t * nz + z) * ny + y) * nx + x];
  }
  /// Panel `panel` of all cuts through (x, y, z) must show `volume`.
  void expect_cuts(const Frame& picture, int panel, const std::vector<std::uint8_t>& volume, int x,
                   int y, int z, int t) {
    const PlaneView<std::uint8_t> seen = picture.plane<std::uint8_t>(1);
    const int left = panel * column;
    for (int v = 0; v < ny; ++v)
      for (int u = 0; u < nx; ++u)
        ASSERT_NEAR(seen(left + u, ny - 1 - v), voxel(volume, u, v, z, t), 1) << u << " " << v;
    for (int v = 0; v < 2 * nz; ++v) {
      const int row = 2 * nz - 1 - v;
      for (int u = 0; u < nx; ++u)
        ASSERT_NEAR(seen(left + u, ny + gap + row), voxel(volume, u, y, v / 2, t), 1);
      for (int u = 0; u < ny; ++u)
        ASSERT_NEAR(seen(left + u, ny + 2 * nz + 2 * gap + row), voxel(volume, x, u, v / 2, t), 1);
    }
  }
  std::vector<std::uint8_t> denoised(const std::string& axis, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {folder_ / "scan.nii", folder_ / "clean.nii", "-y", "--sigma", "10",
                               "-d", "cpu", "--axis", axis});
    EXPECT_EQ(run_lull(more).code, 0);
    const std::string bytes = bytes_of(folder_ / "clean.nii").substr(352);
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::uint8_t> voxels_;
  Folder folder_;
};

TEST_F(PreviewCuts, GoThroughTheMiddleByDefault) {
  for (const std::string axis : {"z", "y", "x"}) {
    SCOPED_TRACE(axis);
    const Outcome outcome = preview({"--axis", axis});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("cuts through voxel 10,8,6 of volume 1"));
    const Frame all = picture();
    expect_cuts(all, 0, voxels_, 10, 8, 6, 1);
    // The second panel equals the denoised complete volume.
    expect_cuts(all, 1, denoised(axis), 10, 8, 6, 1);
    const auto seen = all.plane<std::uint8_t>(0);
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        ASSERT_NEAR(seen(2 * column + x, y), 128 + 4 * (seen(x, y) - seen(column + x, y)), 8);
  }
}

TEST_F(PreviewCuts, GoThroughTheRequestedVoxel) {
  ASSERT_EQ(preview({"--at", "3,15,0"}).code, 0);
  expect_cuts(picture(), 0, voxels_, 3, 15, 0, 1);
  ASSERT_EQ(preview({"--at", "19,0,11,0", "--method", "bm3d"}).code, 0);
  const Frame all = picture();
  expect_cuts(all, 0, voxels_, 19, 0, 11, 0);
  expect_cuts(all, 1, denoised("z", {"--method", "bm3d"}), 19, 0, 11, 0);
}

TEST_F(PreviewCuts, RespectMasks) {
  std::vector<std::uint8_t> mask(nx * ny * nz);
  for (int i = 0; i < nx * ny * nz; ++i) mask[i] = i % nx < 9;
  const auto file = volume({.dim = {nx, ny, nz}, .datatype = 2, .bitpix = 8}, mask);
  write_bytes(folder_ / "mask.nii", {file.begin(), file.end()});
  ASSERT_EQ(preview({"--mask", "mask.nii"}).code, 0);
  const Frame all = picture();
  const auto seen = all.plane<std::uint8_t>(0);
  for (int y = 0; y < ny; ++y)
    for (int x = 9; x < nx; ++x) ASSERT_EQ(seen(column + x, y), seen(x, y));
  expect_cuts(all, 1, denoised("z", {"--mask", folder_ / "mask.nii"}), 10, 8, 6, 1);
}

TEST_F(PreviewCuts, RejectPositionsOutside) {
  for (const auto& [at, part] :
       std::vector<std::pair<std::string, std::string>>{{"20,0,0", "20x16x12x2"},
                                                        {"0,0,0,2", "along axis 4"},
                                                        {"1,2", "X,Y,Z"},
                                                        {"1,2,-3", "X,Y,Z"},
                                                        {"1,2,3,4,5", "X,Y,Z"},
                                                        {"1:02", "no times"}}) {
    const Outcome outcome = preview({"--at", at});
    EXPECT_EQ(outcome.code, 2) << at;
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }
  write_pnm(folder_ / "flat.pgm", clean_picture({.width = 16, .height = 16}));
  const Outcome flat =
      run_lull({"preview", "flat.pgm", "--at", "1,2,3", "--sigma", "5"}, {.folder = folder_ / "."});
  EXPECT_EQ(flat.code, 2);
  EXPECT_THAT(flat.err, HasSubstr("not a grey volume"));
}

}  // namespace
}  // namespace lull::tools
