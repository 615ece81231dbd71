// Tests lull compare on volumes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "io/support/volumes.h"
#include "tools/commands/volume_quality.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using io::test::volume;
using io::test::VolumeSpec;
using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Size {
  int x, y, z;
  int voxels() const { return x * y * z; }
};

std::vector<double> random_volume(const Size& size, unsigned seed) {
  std::mt19937 rng{seed};
  std::normal_distribution<double> noise{0, 20};
  std::vector<double> values(size.voxels());
  for (int i = 0; i < size.voxels(); ++i)
    values[i] = 120 + 60 * std::sin(0.21 * (i % size.x) + 0.05 * (i / size.x)) + noise(rng);
  return values;
}

/// SSIM by definition: every window is computed separately.
double plain_ssim(const Size& size, const std::vector<double>& a, const std::vector<double>& b,
                  double peak, const std::function<bool(int, int, int)>& inside) {
  const auto window = [](int length) {
    std::vector<double> w(std::min(length, 11));
    double sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double d = static_cast<double>(i) - (static_cast<double>(w.size()) - 1) / 2;
      sum += w[i] = std::exp(-d * d / (2 * 1.5 * 1.5));
    }
    for (double& v : w) v /= sum;
    return w;
  };
  const auto wx = window(size.x), wy = window(size.y), wz = window(size.z);
  const int nx = static_cast<int>(wx.size()), ny = static_cast<int>(wy.size()),
            nz = static_cast<int>(wz.size());
  double total = 0, places = 0;
  for (int z = 0; z + nz <= size.z; ++z)
    for (int y = 0; y + ny <= size.y; ++y)
      for (int x = 0; x + nx <= size.x; ++x) {
        if (!inside(x + (nx - 1) / 2, y + (ny - 1) / 2, z + (nz - 1) / 2)) continue;
        double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
        for (int k = 0; k < nz; ++k)
          for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
              const double w = wx[i] * wy[j] * wz[k];
              const int at = ((z + k) * size.y + y + j) * size.x + x + i;
              ma += w * a[at], mb += w * b[at];
              aa += w * a[at] * a[at], bb += w * b[at] * b[at], ab += w * a[at] * b[at];
            }
        if (!std::isfinite(ma + mb)) continue;
        const double c1 = std::pow(0.01 * peak, 2), c2 = std::pow(0.03 * peak, 2);
        total += (2 * ma * mb + c1) * (2 * (ab - ma * mb) + c2) /
                 ((ma * ma + mb * mb + c1) * (aa - ma * ma + bb - mb * mb + c2));
        ++places;
      }
  return total / places;
}

VolumeTotals totals_of(const Size& size, const std::vector<double>& a, const std::vector<double>& b,
                       double peak, const std::function<bool(int, int, int)>& inside) {
  VolumeQuality quality(size.x, size.y, size.z, peak);
  std::vector<SliceMask> masks;
  masks.reserve(size.z);
  const int area = size.x * size.y;
  for (int z = 0; z < size.z; ++z) {
    std::vector<bool> bits(area);
    for (int i = 0; i < area; ++i) bits[i] = inside(i % size.x, i / size.x, z);
    masks.emplace_back(size.x, size.y, bits, false);
    quality.add({a.begin() + z * area, a.begin() + (z + 1) * area},
                {b.begin() + z * area, b.begin() + (z + 1) * area}, &masks.back());
  }
  return quality.totals();
}

TEST(VolumeQuality, EqualsTheDefinition) {
  const auto everywhere = [](int, int, int) { return true; };
  const auto part = [](int x, int y, int z) { return x + y < 17 && z != 6; };
  for (const Size& size : {Size{15, 14, 13}, Size{12, 4, 20}, Size{3, 2, 1}, Size{11, 11, 12}}) {
    const auto a = random_volume(size, 1), b = random_volume(size, 2);
    EXPECT_NEAR(totals_of(size, a, b, 255, everywhere).ssim(),
                plain_ssim(size, a, b, 255, everywhere), 1e-5);
    EXPECT_NEAR(totals_of(size, a, b, 100, part).ssim(), plain_ssim(size, a, b, 100, part), 1e-5);
    EXPECT_NEAR(totals_of(size, a, a, 255, everywhere).ssim(), 1, 1e-6);
    EXPECT_EQ(totals_of(size, a, a, 255, everywhere).mse(), 0);
  }
}

TEST(VolumeQuality, ExcludesNanVoxels) {
  const Size size{14, 13, 12};
  const auto everywhere = [](int, int, int) { return true; };
  const auto a = random_volume(size, 1);
  auto b = a;
  b[5] = std::numeric_limits<double>::quiet_NaN();
  b[size.voxels() - 1] = std::numeric_limits<double>::infinity();
  b[700] += 3;
  const VolumeTotals totals = totals_of(size, a, b, 255, everywhere);
  EXPECT_EQ(totals.not_finite, 2);
  EXPECT_EQ(totals.voxels, size.voxels() - 2);
  EXPECT_DOUBLE_EQ(totals.squares, 9);
  EXPECT_NEAR(totals.ssim(), plain_ssim(size, a, b, 255, everywhere), 1e-5);
  EXPECT_LT(totals.positions, 4 * 3 * 2);
}

class CompareVolumes : public ::testing::Test {
 protected:
  template <class T>
  void write(const std::string& name, const std::vector<T>& values,
             std::vector<std::int64_t> dim = {16, 16, 16}, double slope = 0) {
    const auto file = volume({.dim = std::move(dim),
                              .datatype = io::test::code_of<T>(),
                              .bitpix = 8 * sizeof(T),
                              .slope = slope},
                             values);
    write_bytes(folder / name, {file.begin(), file.end()});
  }
  Outcome compare(std::vector<std::string> more) {
    more.insert(more.begin(), {"compare", folder / "a.nii", folder / "b.nii"});
    return run_lull(more);
  }
  Json json_of(std::vector<std::string> more) {
    more.emplace_back("--json");
    const Outcome outcome = compare(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }
  Folder folder;
};

TEST_F(CompareVolumes, CountsOnlyMaskedVoxels) {
  std::vector<std::int16_t> a(4096), b, mask(4096);
  for (int i = 0; i < 4096; ++i) a[i] = static_cast<std::int16_t>(i % 201);  // 0 to 200
  b = a;
  for (int i = 0; i < 2048; ++i) b[i] += i % 2 ? 2 : -2;
  for (int i = 1024; i < 4096; ++i) mask[i] = 7;
  write("a.nii", a);
  write("b.nii", b);
  write("mask.nii", mask);
  Json json = json_of({});
  EXPECT_EQ(json["range"], 200);
  EXPECT_EQ(json["voxels"], 4096);
  EXPECT_NEAR(json["psnr"].get<double>(), 10 * std::log10(200 * 200 / 2.0), 1e-9);
  EXPECT_LT(json["ssim"].get<double>(), 1);
  EXPECT_EQ(json["volumes"].size(), 1u);
  json = json_of({"--mask", folder / "mask.nii", "--range", "255"});
  EXPECT_EQ(json["voxels"], 3072);
  EXPECT_NEAR(json["psnr"].get<double>(), 10 * std::log10(255 * 255 / (4 / 3.0)), 1e-9);
  const Outcome text = compare({"--mask", folder / "mask.nii"});
  EXPECT_THAT(text.out, HasSubstr("voxels 3072 within " + (folder / "mask.nii")));
  EXPECT_THAT(text.out, HasSubstr("range 200"));
  // The volumes have equal values but different types. The command compares values.
  std::vector<float> floats(a.begin(), a.end());
  for (float& v : floats) v *= 2;
  write("b.nii", floats, {16, 16, 16}, 0.5);
  json = json_of({});
  EXPECT_TRUE(json["psnr"].is_null());
  EXPECT_NEAR(json["ssim"].get<double>(), 1, 1e-6);
}

TEST_F(CompareVolumes, ReportsEachVolumeOfASeries) {
  std::vector<float> a(3 * 512), b;
  for (int i = 0; i < 3 * 512; ++i) a[i] = static_cast<float>(i % 101) - 50;
  b = a;
  for (int i = 512; i < 1024; ++i) b[i] += 1;
  b[1500] = std::numeric_limits<float>::quiet_NaN();
  write("a.nii", a, {8, 8, 8, 3});
  write("b.nii", b, {8, 8, 8, 3});
  const Json json = json_of({"--csv", folder / "c.csv"});
  EXPECT_EQ(json["range"], 100);  // from -50 to 50
  ASSERT_EQ(json["volumes"].size(), 3u);
  EXPECT_TRUE(json["volumes"][0]["psnr"].is_null());
  EXPECT_NEAR(json["volumes"][1]["psnr"].get<double>(), 40, 1e-9);
  EXPECT_EQ(json["volumes"][2]["not_finite"], 1);
  EXPECT_THAT(bytes_of(folder / "c.csv"), HasSubstr("volume,psnr,ssim\n0,inf,1.0"));
  EXPECT_THAT(compare({}).out, HasSubstr("left out 1"));
  EXPECT_THAT(compare({}).out, HasSubstr("\n1         40.0000"));
}

TEST_F(CompareVolumes, InvalidRequestsAreRejectedInOneLine) {
  write("a.nii", std::vector<float>(4096, 0));
  write("b.nii", std::vector<float>(4096, 0), {16, 32, 8});
  const auto expect = [&](std::vector<std::string> more, int code, const std::string& part) {
    const Outcome outcome = compare(std::move(more));
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
  };
  expect({}, 65, "16x32x8");
  write("b.nii", std::vector<float>(4096, 1));
  expect({}, 65, "--range");
  expect({"--range", "0"}, 2, "--range");
  expect({"--mask", folder / "none.nii"}, 66, "none.nii");
  expect({"--range", "1", "--mask", folder / "a.nii"}, 65, "selects no voxel");
  write_pnm(folder / "a.pgm", clean_picture({.width = 16, .height = 16}));
  for (const std::string option : {"--range", "--mask"}) {
    const Outcome picture =
        run_lull({"compare", folder / "a.pgm", folder / "a.pgm", option, "255"});
    EXPECT_EQ(picture.code, 2);
    EXPECT_THAT(picture.err, HasSubstr(option));
  }
  const Outcome json = run_lull({"compare", folder / "a.pgm", folder / "a.pgm", "--json"});
  EXPECT_EQ(Json::parse(json.out)["planes"][0]["plane"], "Y");
}

}  // namespace
}  // namespace lull::tools
