// Tests volumes: samples are unchanged after reading and writing, and slices lie along the right
// axis.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "io/support/nifti_fixture.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;

File unzipped(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  File bytes(1 << 20);
  bytes.resize(gzread(file, bytes.data(), static_cast<unsigned>(bytes.size())));
  EXPECT_EQ(gzdirect(file), 0) << path << " is not zipped";
  EXPECT_EQ(gzclose(file), Z_OK);
  return bytes;
}

/// Adds `by` in the units of the file.
std::function<void(PlaneView<float>)> adding(double by, double span) {
  return [=](PlaneView<float> plane) {
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x) plane(x, y) += static_cast<float>(by / span);
  };
}

template <class T>
class NiftiTypes : public Nifti {};
using AllTypes =
    testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                   std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(NiftiTypes, AllTypes);

TYPED_TEST(NiftiTypes, UnfilteredSamplesKeepEveryBit) {
  const std::vector<TypeParam> samples = hostile_samples<TypeParam>(5 * 4 * 3 * 2);
  for (const int version : {1, 2})
    for (const bool big_endian : {false, true})
      for (const double slope : {0.0, 1.0, -0.125, 1e-3}) {
        const VolumeSpec spec{.version = version,
                              .big_endian = big_endian,
                              .dim = {5, 4, 3, 2},
                              .datatype = code_of<TypeParam>(),
                              .bitpix = 8 * sizeof(TypeParam),
                              .slope = slope,
                              .inter = 17,
                              .extension = File(4 + 32, 0x5a)};
        const File file = volume(spec, samples);
        write_file(this->in, file);
        for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
          this->convert(this->in, this->out, axis);
          EXPECT_TRUE(read_file(this->out) == file)
              << "version " << version << ", slope " << slope << ", axis " << static_cast<int>(axis)
              << (big_endian ? ", big" : ", little") << " endian";
        }
      }
}

TYPED_TEST(NiftiTypes, FilteredSamplesAreRoundedAndClamped) {
  constexpr bool real = std::is_floating_point_v<TypeParam>;
  using Limits = std::numeric_limits<TypeParam>;
  // A ramp of 101 values at the upper end of the type's range.
  const auto top = static_cast<TypeParam>(real ? TypeParam{100} : Limits::max());
  const double step = real ? 1 : std::pow(2.0, std::max(0, Limits::digits - 7));
  std::vector<TypeParam> samples(101);
  for (int i = 0; i < 101; ++i)
    samples[i] = static_cast<TypeParam>(top - static_cast<TypeParam>((100 - i) * step));
  const VolumeSpec spec{
      .dim = {101, 1, 1}, .datatype = code_of<TypeParam>(), .bitpix = 8 * sizeof(TypeParam)};
  write_file(this->in, volume(spec, samples));
  const double span = open_source(this->in)->info().values.span;
  const double by = 10.25 * step;
  this->convert(this->in, this->out, Axis::z, adding(by, span));
  const auto result = samples_of<TypeParam>(read_file(this->out), spec);
  ASSERT_EQ(result.size(), samples.size());
  for (int i = 0; i < 101; ++i) {
    const double wanted = static_cast<double>(samples[i]) + by;
    if (!real && wanted >= static_cast<double>(top)) {
      EXPECT_EQ(result[i], top) << i;
      continue;
    }
    // A frame's sample is a float up to 1.5; integers are additionally rounded.
    const double tolerance = span * 1.2e-7 + (real ? 1e-4 : 0.5);
    EXPECT_NEAR(static_cast<double>(result[i]), wanted, tolerance) << i;
  }
}

TEST_F(Nifti, SlicesLieAlongTheAxis) {
  const VolumeSpec spec{.dim = {3, 4, 5, 2}};
  std::vector<std::int16_t> samples(3 * 4 * 5 * 2);
  std::iota(samples.begin(), samples.end(), std::int16_t{-40});
  write_file(in, volume(spec, samples));
  const auto at = [](int x, int y, int z, int t) { return -40 + x + 3 * (y + 4 * (z + 5 * t)); };
  for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
    const auto source = open_source(in, {.axis = axis});
    const FrameFormat& format = source->format();
    EXPECT_EQ(format.width, axis == Axis::x ? 4 : 3);
    EXPECT_EQ(format.height, axis == Axis::z ? 4 : 5);
    const int slices = axis == Axis::x ? 3 : axis == Axis::y ? 4 : 5;
    EXPECT_EQ(source->info().frames_estimate, 2 * slices);
    const ValueScale scale = source->info().values;
    EXPECT_TRUE(scale.native);
    for (int n = 0; n < 2 * slices; ++n) {
      const auto frame = source->read();
      ASSERT_TRUE(frame);
      EXPECT_EQ(frame->pts, n);
      for (int v = 0; v < format.height; ++v)
        for (int u = 0; u < format.width; ++u) {
          const int s = n % slices, t = n / slices;
          const int wanted = axis == Axis::x   ? at(s, u, v, t)
                             : axis == Axis::y ? at(u, s, v, t)
                                               : at(u, v, s, t);
          EXPECT_NEAR(scale.low + frame->plane<float>(0)(u, v) * scale.span, wanted, 1e-4);
        }
    }
    EXPECT_FALSE(source->read());
  }
}

TEST_F(Nifti, ScaleIsApplied) {
  // The values decrease from 100 to 99.5.
  const VolumeSpec spec{.dim = {6, 1, 1}, .slope = -0.1, .inter = 100};
  write_file(in, volume<std::int16_t>(spec, {0, 1, 2, 3, 4, 5}));
  const ValueScale scale = open_source(in)->info().values;
  EXPECT_NEAR(scale.low, 99.5, 1e-5);
  EXPECT_NEAR(scale.span, 0.5, 1e-5);
  convert(in, out, Axis::z, adding(-0.2, scale.span));
  EXPECT_THAT(samples_of<std::int16_t>(read_file(out), spec), ElementsAre(2, 3, 4, 5, 6, 7));
}

TEST_F(Nifti, NegativeNumbersAreKept) {
  const VolumeSpec spec{.dim = {5, 1, 1}};
  write_file(in, volume<std::int16_t>(spec, {-1000, -999, -500, 0, 3}));
  const double span = open_source(in)->info().values.span;
  convert(in, out, Axis::z, adding(-7.4, span));
  EXPECT_THAT(samples_of<std::int16_t>(read_file(out), spec),
              ElementsAre(-1007, -1006, -507, -7, -4));
}

TEST_F(Nifti, SpikesNanAndInfinityPassThrough) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinite = INFINITY;
  std::vector<float> samples(200 * 200);
  std::mt19937 rng{3};
  for (float& v : samples) v = std::uniform_real_distribution<float>{10, 20}(rng);
  samples[77] = nan;
  samples[78] = 1e30f;
  samples[79] = -infinite;
  const VolumeSpec spec{.dim = {200, 200, 1}, .datatype = 16, .bitpix = 32};
  write_file(in, volume(spec, samples));
  const auto source = open_source(in);
  const ValueScale scale = source->info().values;
  // The spike may extend the range by at most half of the range.
  EXPECT_NEAR(scale.low, 10, 0.1);
  EXPECT_NEAR(scale.low + scale.span, 25, 0.2);
  const auto frame = source->read();
  for (int i = 0; i < 200 * 200; ++i) {
    const float v = frame->plane<float>(0)(i % 200, i / 200);
    if (i >= 77 && i <= 79)
      // The filter gets a value that is interpolated from the surroundings.
      EXPECT_TRUE(std::isnan(v)) << i;
    else
      EXPECT_TRUE(v >= -0.5f && v <= 1.5f) << i;
  }
  convert(in, out, Axis::z, adding(1, scale.span));
  const auto result = samples_of<float>(read_file(out), spec);
  EXPECT_TRUE(std::isnan(result[77]));
  EXPECT_EQ(result[78], 1e30f);
  EXPECT_EQ(result[79], -infinite);
  EXPECT_NEAR(result[80], samples[80] + 1, 1e-5);
}

TEST_F(Nifti, FloatsBeyondTheRangeAreNotClipped) {
  const VolumeSpec spec{.dim = {3, 1, 1}, .datatype = 16, .bitpix = 32};
  write_file(in, volume<float>(spec, {0, 1, 2}));
  convert(in, out, Axis::z, adding(50, 2));
  EXPECT_THAT(samples_of<float>(read_file(out), spec), ElementsAre(50, 51, 52));
  convert(in, out, Axis::z, adding(-50, 2));
  EXPECT_THAT(samples_of<float>(read_file(out), spec), ElementsAre(-50, -49, -48));
}

TEST_F(Nifti, DataTypeOfTheOutputCanBeChosen) {
  const VolumeSpec whole{.big_endian = true, .dim = {4, 1, 1}, .datatype = 8, .bitpix = 32};
  write_file(in, volume<std::int32_t>(whole, {-32768, 5, 7, 32767}));
  convert(in, out, Axis::z, {}, DataType::int16);
  VolumeSpec result = whole;
  result.datatype = 4;
  result.bitpix = 16;
  EXPECT_TRUE(read_file(out) == volume<std::int16_t>(result, {-32768, 5, 7, 32767}));

  VolumeSpec scaled = whole;
  scaled.slope = 0.5;
  scaled.inter = 3;
  write_file(in, volume<std::int32_t>(scaled, {-32768, 5, 7, 32767}));
  convert(in, out, Axis::z, {}, DataType::float32);
  result.datatype = 16;
  result.bitpix = 32;
  result.slope = 1;
  EXPECT_TRUE(read_file(out) == volume<float>(result, {-16381, 5.5, 6.5, 16386.5}));
}

TEST_F(Nifti, FloatsAsInt16AreScaled) {
  for (const int version : {1, 2}) {
    const VolumeSpec spec{.version = version, .dim = {5, 1, 1}, .datatype = 16, .bitpix = 32};
    const std::vector<float> values{0.5f, -1.5f, 3.25f, 1000.125f, NAN};
    write_file(in, volume(spec, values));
    convert(in, out, Axis::z, {}, DataType::int16);
    const auto source = open_source(out);
    EXPECT_EQ(source->info().pixel_format, "int16");
    const ValueScale scale = source->info().values;
    const auto frame = source->read();
    for (int i = 0; i < 5; ++i) {
      const double wanted = i == 4 ? 0 : values[i];  // NaN: 0
      EXPECT_NEAR(scale.low + frame->plane<float>(0)(i, 0) * scale.span, wanted, 1002.0 / 65534);
    }
  }
  // All values are equal, so there is no range to map.
  const VolumeSpec spec{.dim = {2, 1, 1}, .datatype = 16, .bitpix = 32};
  write_file(in, volume<float>(spec, {3.5f, 3.5f}));
  convert(in, out, Axis::z, {}, DataType::int16);
  EXPECT_NEAR(open_source(out)->info().values.low, 3.5, 1e-6);
}

TEST_F(Nifti, NameDecidesCompression) {
  const VolumeSpec spec{.dim = {30, 20, 10}};
  const File file = volume(spec, hostile_samples<std::int16_t>(6000));
  write_file(folder / "in.nii.gz", zipped(file));
  const std::string packed = folder / "out.nii.gz";
  convert(folder / "in.nii.gz", packed, Axis::y);
  EXPECT_TRUE(unzipped(packed) == file);
  convert(packed, out, Axis::x);
  EXPECT_TRUE(read_file(out) == file);
  // A name without an extension, and an output in capital letters.
  write_file(folder / "volume", zipped(file));
  convert(folder / "volume", folder / "OUT.NII.GZ", Axis::z);
  EXPECT_TRUE(unzipped(folder / "OUT.NII.GZ") == file);
  write_file(folder / "plain", file);
  EXPECT_EQ(count_frames(folder / "plain"), 10);
}

TEST_F(Nifti, OneToSevenDimensionsAreRead) {
  for (const auto& [dim, frames] :
       std::vector<std::pair<std::vector<std::int64_t>, int>>{{{7}, 1},
                                                              {{7, 5}, 1},
                                                              {{7, 5, 3}, 3},
                                                              {{7, 5, 3, 1, 2}, 6},
                                                              {{2, 2, 2, 2, 2, 2, 2}, 32}}) {
    const auto count = std::accumulate(dim.begin(), dim.end(), std::int64_t{1}, std::multiplies{});
    write_file(in, volume({.dim = dim}, hostile_samples<std::int16_t>(count)));
    EXPECT_EQ(count_frames(in), frames);
  }
}

}  // namespace
}  // namespace lull::io::test
