// Tests lull denoise on volumes: masks, sample types, NaN, and series.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <random>

#include "io/support/volumes.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using io::test::samples_of;
using io::test::volume;
using io::test::VolumeSpec;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int width = 26, height = 22, slices = 16;
constexpr int voxels = width * height * slices;

struct Voxel {
  int x, y, z;
  explicit Voxel(int i) : x(i % width), y(i / width % height), z(i / (width * height)) {}
};

double clean_voxel(int i) {
  const Voxel v(i);
  return 120 + 30 * std::sin(0.3 * v.x) + 25 * std::cos(0.25 * v.y + 0.2 * v.z);
}
bool inside(int i) {
  const Voxel v(i);
  return v.x > 3 && v.x < 20 && v.y > 4 && v.y < 17 && v.z > 2 && v.z < 13;
}

template <class T>
std::vector<T> noisy_voxels(double scale = 1, double offset = 0, unsigned seed = 1) {
  std::mt19937 rng{seed};
  std::normal_distribution<double> noise{0, 12};
  std::vector<T> values;
  for (int i = 0; i < voxels; ++i) {
    const double v = scale * std::clamp(clean_voxel(i) + noise(rng), 0.0, 255.0) + offset;
    values.push_back(static_cast<T>(std::is_integral_v<T> ? std::round(v) : v));
  }
  return values;
}

template <class T>
VolumeSpec spec_of(std::vector<std::int64_t> dim = {width, height, slices}) {
  return {.dim = std::move(dim), .datatype = io::test::code_of<T>(), .bitpix = 8 * sizeof(T)};
}

class Masks : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::uint8_t> mask(voxels);
    for (int i = 0; i < voxels; ++i) mask[i] = inside(i);
    write("mask.nii", spec_of<std::uint8_t>(), mask);
  }
  template <class T>
  void write(const std::string& name, const VolumeSpec& spec, const std::vector<T>& values) {
    const auto file = volume(spec, values);
    write_bytes(folder / name, {file.begin(), file.end()});
  }
  template <class T>
  std::vector<T> read(const std::string& name, const VolumeSpec& spec) {
    const std::string bytes = bytes_of(folder / name);
    return samples_of<T>({bytes.begin(), bytes.end()}, spec);
  }
  Outcome denoise(const std::string& sigma, std::vector<std::string> more = {},
                  const std::string& in = "in.nii", const std::string& out = "out.nii") {
    if (std::ranges::find(more, "--method") == more.end())
      more.insert(more.end(), {"--method", "bm4d"});
    more.insert(more.begin(), {"denoise", "-y", folder / in, folder / out, "--sigma", sigma, "-d",
                               "cpu", "--threads", "1", "--profile", "fast"});
    return run_lull(more);
  }
  Outcome denoise_inside(const std::string& sigma, std::vector<std::string> more = {},
                         const std::string& in = "in.nii", const std::string& out = "out.nii") {
    more.insert(more.end(), {"--mask", folder / "mask.nii"});
    return denoise(sigma, more, in, out);
  }
  Folder folder;
};

template <class T>
double error_of(const std::vector<T>& values, double scale = 1, double offset = 0,
                const std::function<bool(int)>& counts = inside) {
  double sum = 0, count = 0;
  for (int i = 0; i < voxels; ++i)
    if (counts(i)) {
      sum += std::pow((static_cast<double>(values[i]) - offset) / scale - clean_voxel(i), 2);
      ++count;
    }
  return std::sqrt(sum / count);
}

TEST_F(Masks, KeepTheOutsideByteForByte) {
  // The file has a scale, so that several stored values could represent a value.
  VolumeSpec spec = spec_of<std::int16_t>();
  spec.slope = 0.1;
  spec.inter = -7;
  const auto noisy = noisy_voxels<std::int16_t>(10, 70);
  write("in.nii", spec, noisy);
  const Outcome outcome = denoise_inside("12");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto result = read<std::int16_t>("out.nii", spec);
  int kept = 0;
  for (int i = 0; i < voxels; ++i) {
    if (inside(i))
      kept += result[i] == noisy[i];
    else
      EXPECT_EQ(result[i], noisy[i]) << i;
  }
  EXPECT_LT(kept, 100);
  EXPECT_LT(error_of(result, 10, 70), 4);
  // The header must be equal, including the extension.
  EXPECT_EQ(bytes_of(folder / "out.nii").substr(0, 352),
            bytes_of(folder / "in.nii").substr(0, 352));
  // The mask also applies slice by slice.
  ASSERT_EQ(denoise_inside("12", {"--method", "bm3d"}).code, 0);
  const auto pictures = read<std::int16_t>("out.nii", spec);
  EXPECT_LT(error_of(pictures, 10, 70), 6);
  for (int i = 0; i < voxels; ++i)
    if (!inside(i)) {
      EXPECT_EQ(pictures[i], noisy[i]) << i;
    }
}

TEST_F(Masks, MakeTheOutsideZero) {
  VolumeSpec spec = spec_of<float>();
  const auto noisy = noisy_voxels<float>(1, 1000);  // 0 is far outside the range
  write("in.nii", spec, noisy);
  ASSERT_EQ(denoise_inside("12", {"--outside", "zero"}).code, 0);
  const auto result = read<float>("out.nii", spec);
  for (int i = 0; i < voxels; ++i)
    if (!inside(i)) {
      EXPECT_EQ(result[i], 0) << i;
    }
  EXPECT_LT(error_of(result, 1, 1000), 4);
  // The value is zero, but the stored number is not.
  spec = spec_of<std::uint8_t>();
  spec.slope = 2;
  spec.inter = -100;
  write("in.nii", spec, noisy_voxels<std::uint8_t>());
  ASSERT_EQ(denoise_inside("24", {"--outside", "zero"}).code, 0);
  EXPECT_EQ(read<std::uint8_t>("out.nii", spec).front(), 50);
}

TEST_F(Masks, SingleMaskAppliesToASeries) {
  const VolumeSpec spec = spec_of<std::uint8_t>({width, height, slices, 2});
  auto noisy = noisy_voxels<std::uint8_t>();
  const auto second = noisy_voxels<std::uint8_t>(1, 0, 2);
  noisy.insert(noisy.end(), second.begin(), second.end());
  write("in.nii", spec, noisy);
  ASSERT_EQ(denoise_inside("12").code, 0);
  const auto result = read<std::uint8_t>("out.nii", spec);
  for (int i = 0; i < 2 * voxels; ++i)
    if (!inside(i % voxels)) {
      EXPECT_EQ(result[i], noisy[i]) << i;
    }
  for (const int volume : {0, 1})
    EXPECT_LT(error_of(std::vector(result.begin() + volume * voxels,
                                   result.begin() + (volume + 1) * voxels)),
              4);
  // A mask of a series has a volume for each volume of the series.
  std::vector<std::uint8_t> masks(2 * voxels);
  for (int i = 0; i < voxels; ++i) masks[voxels + i] = inside(i);
  write("mask.nii", spec, masks);
  ASSERT_EQ(denoise_inside("12").code, 0);
  const auto one = read<std::uint8_t>("out.nii", spec);
  EXPECT_TRUE(std::equal(one.begin(), one.begin() + voxels, noisy.begin()));
  EXPECT_TRUE(std::equal(one.begin() + voxels, one.end(), result.begin() + voxels));
}

TEST_F(Masks, UnsuitableMasksAreRejected) {
  write("in.nii", spec_of<std::uint8_t>(), noisy_voxels<std::uint8_t>());
  write("small.nii", spec_of<std::uint8_t>({width, height, slices - 1}),
        std::vector<std::uint8_t>(voxels - width * height, 1));
  write("empty.nii", spec_of<float>(), std::vector<float>(voxels, 0));
  write("nan.nii", spec_of<float>(), std::vector<float>(voxels, NAN));
  write_bytes(folder / "cut.nii", bytes_of(folder / "mask.nii").substr(0, 1000));
  write_pnm(folder / "picture.pgm", clean_picture({.width = width, .height = height}));
  const auto before = folder.names();
  const auto expect = [&](const std::string& mask, int code, const std::string& part,
                          std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--mask", folder / mask});
    const Outcome outcome = denoise("12", more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_EQ(folder.names(), before);
  };
  expect("none.nii", 66, "none.nii");
  expect("small.nii", 65, "26x22x15");
  expect("empty.nii", 65, "selects no voxel");
  expect("nan.nii", 65, "selects no voxel");
  expect("cut.nii", 65, "cut short");
  expect("picture.pgm", 2, "not a volume");
  expect("mask.nii", 2, "--segment-frames", {"--segment-frames", "4"});
  EXPECT_EQ(denoise("12", {"--outside", "zero"}).code, 2);
  EXPECT_EQ(denoise_inside("12", {"--outside", "grey"}).code, 2);
  const Outcome picture = run_lull(
      {folder / "picture.pgm", folder / "out.pgm", "--sigma", "5", "--mask", folder / "mask.nii"});
  EXPECT_EQ(picture.code, 2);
  EXPECT_THAT(picture.err, HasSubstr("--stack"));
}

// ---- Values in volumes -----------------------------------------------------------------------

template <class T>
class VolumeSamples : public Masks {};
using AllTypes =
    ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                     std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(VolumeSamples, AllTypes);

TYPED_TEST(VolumeSamples, EveryTypeIsFiltered) {
  // Signed types also have negative values, as in CT.
  const bool small = sizeof(TypeParam) == 1;
  const double scale = small ? std::is_signed_v<TypeParam> ? 0.9 : 1.0 : 8;
  const double offset = std::is_signed_v<TypeParam> ? small ? -115 : -1024 : 0;
  VolumeSpec spec = spec_of<TypeParam>();
  spec.version = 2;
  spec.big_endian = small || sizeof(TypeParam) == 8;
  this->write("in.nii", spec, noisy_voxels<TypeParam>(scale, offset));
  const Outcome outcome = this->denoise(std::to_string(12 * scale));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto result = this->template read<TypeParam>("out.nii", spec);
  EXPECT_LT(error_of(result, scale, offset, [](int) { return true; }), 4);
}

TEST_F(Masks, AxesOfAnyLengthAreFiltered) {
  for (const std::vector<std::int64_t>& dim : std::vector<std::vector<std::int64_t>>{
           {1, 1, 1}, {1, 1, 9}, {2, 1, 3}, {9, 2, 2}, {3, 3, 12}, {1, 7, 2, 3}, {12, 5, 1}}) {
    std::int64_t count = 1;
    for (const std::int64_t side : dim) count *= side;
    std::mt19937 rng{5};
    std::vector<std::uint8_t> values(count);
    for (auto& v : values) v = static_cast<std::uint8_t>(100 + rng() % 30);
    write("in.nii", spec_of<std::uint8_t>(dim), values);
    write("mask.nii", spec_of<std::uint8_t>(dim), std::vector<std::uint8_t>(count, 1));
    for (const char* axis : {"x", "y", "z"}) {
      ASSERT_EQ(denoise("8", {"--axis", axis}).code, 0);
      const std::string whole = bytes_of(folder / "out.nii");
      ASSERT_EQ(whole.size(), 352 + count);
      for (const std::uint8_t v : read<std::uint8_t>("out.nii", spec_of<std::uint8_t>(dim)))
        EXPECT_TRUE(v >= 95 && v < 135) << int{v};
      ASSERT_EQ(denoise_inside("8", {"--axis", axis}).code, 0);
      EXPECT_EQ(bytes_of(folder / "out.nii"), whole);
    }
  }
}

TEST_F(Masks, NanStaysAndDoesNotSpread) {
  const VolumeSpec spec = spec_of<float>();
  const auto noisy = noisy_voxels<float>();
  write("in.nii", spec, noisy);
  ASSERT_EQ(denoise("12").code, 0);
  const double whole = error_of(read<float>("out.nii", spec));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto with = [&](const std::function<bool(int)>& lost, float value) {
    auto values = noisy;
    for (int i = 0; i < voxels; ++i)
      if (lost(i)) values[i] = value;
    write("in.nii", spec, values);
    const Outcome outcome = denoise("12");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto result = read<float>("out.nii", spec);
    for (int i = 0; i < voxels && !std::isfinite(value); ++i)
      if (lost(i)) {
        EXPECT_EQ(std::memcmp(&result[i], &value, sizeof value), 0) << i;
      }
    return error_of(result, 1, 0, [&](int i) { return inside(i) && !lost(i); });
  };
  // The result with a background of NaN is about as good as with zeros.
  const auto outside = [](int i) { return !inside(i); };
  const double background = with(outside, nan);
  EXPECT_LT(background, 12 / 3.5);
  EXPECT_LT(background, 1.1 * with(outside, 0));
  // Single voxels inside the object are NaN.
  const auto some = [](int i) { return i % 97 == 0; };
  EXPECT_LT(with(some, nan), 1.1 * whole);
  EXPECT_LT(with(some, std::numeric_limits<float>::infinity()), 1.1 * whole);
}

// ---- Series ----------------------------------------------------------------------------------

TEST_F(Masks, VolumesOfASeriesAreFilteredIndependently) {
  const VolumeSpec spec = spec_of<std::uint8_t>({width, height, slices, 3});
  std::vector<std::uint8_t> series;
  // All volumes have the same range as each one, so that equal volumes have equal results.
  std::vector<std::string> alone;
  for (const unsigned seed : {1u, 2u, 3u}) {
    auto one = noisy_voxels<std::uint8_t>(1, 0, seed);
    one.front() = 0;
    one.back() = 255;
    write("one.nii", spec_of<std::uint8_t>(), one);
    ASSERT_EQ(denoise("12", {}, "one.nii", "one_out.nii").code, 0);
    alone.push_back(bytes_of(folder / "one_out.nii").substr(352));
    series.insert(series.end(), one.begin(), one.end());
  }
  write("in.nii", spec, series);
  ASSERT_EQ(denoise("12").code, 0);
  const std::string out = bytes_of(folder / "out.nii");
  for (std::size_t v = 0; v < 3; ++v)
    EXPECT_EQ(out.substr(352 + v * voxels, voxels), alone[v]) << v;
}

TEST_F(Masks, GradientsOfADiffusionSeriesAreCopied) {
  const VolumeSpec spec = spec_of<std::uint8_t>({4, 4, 4, 2});
  write("dwi.nii", spec, std::vector<std::uint8_t>(128, 100));
  write_bytes(folder / "dwi.bval", "0 1000\n");
  write_bytes(folder / "dwi.bvec", "0 1\n0 0\n0 0\n");
  const Outcome outcome = run_lull({folder / "dwi.nii", folder / "clean.nii.gz", "--sigma", "5",
                                    "-d", "cpu", "--log-level", "info"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("clean.bval"));
  EXPECT_EQ(bytes_of(folder / "clean.bval"), "0 1000\n");
  EXPECT_EQ(bytes_of(folder / "clean.bvec"), "0 1\n0 0\n0 0\n");
  // Equal sidecar files may stay. Different ones are replaced only if outputs may be overwritten.
  std::filesystem::remove(folder / "clean.nii.gz");
  const auto again = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {folder / "dwi.nii", folder / "clean.nii.gz", "--sigma", "5", "-d", "cpu"});
    return run_lull(more);
  };
  EXPECT_EQ(again({}).code, 0);
  std::filesystem::remove(folder / "clean.nii.gz");
  write_bytes(folder / "clean.bval", "mine");
  const auto before = folder.names();
  const Outcome refused = again({});
  EXPECT_EQ(refused.code, 73);
  EXPECT_THAT(refused.err, HasSubstr("clean.bval"));
  EXPECT_EQ(folder.names(), before);
  EXPECT_EQ(bytes_of(folder / "clean.bval"), "mine");
  EXPECT_EQ(again({"-y"}).code, 0);
  EXPECT_EQ(bytes_of(folder / "clean.bval"), "0 1000\n");
  // If the output is next to the input, the sidecar files are unchanged. A single volume has none.
  EXPECT_EQ(run_lull({folder / "dwi.nii", folder / "dwi.nii.gz", "--sigma", "5", "-d", "cpu"}).code,
            0);
  EXPECT_EQ(bytes_of(folder / "dwi.bval"), "0 1000\n");
  write("dwi.nii", spec_of<std::uint8_t>({4, 4, 8}), std::vector<std::uint8_t>(128, 100));
  ASSERT_EQ(run_lull({folder / "dwi.nii", folder / "b.nii", "--sigma", "5", "-d", "cpu"}).code, 0);
  EXPECT_THAT(folder.names(), Not(Contains("b.bval")));
}

}  // namespace
}  // namespace lull::tools
