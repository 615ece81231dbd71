// Volumes: what goes in comes out, slices lie where they should, and lies are found out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "io/clip.h"
#include "io/volumes.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

File zipped(const File& bytes) {
  z_stream zip{};
  deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  File packed(bytes.size() + 1000);
  zip.next_in = const_cast<Bytef*>(bytes.data());
  zip.avail_in = static_cast<uInt>(bytes.size());
  zip.next_out = packed.data();
  zip.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&zip, Z_FINISH), Z_STREAM_END);
  packed.resize(zip.total_out);
  deflateEnd(&zip);
  return packed;
}

File unzipped(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  File bytes(1 << 20);
  bytes.resize(gzread(file, bytes.data(), static_cast<unsigned>(bytes.size())));
  EXPECT_EQ(gzdirect(file), 0) << path << " is not zipped";
  EXPECT_EQ(gzclose(file), Z_OK);
  return bytes;
}

/// Values of the whole range of T, and for floats those that are none.
template <class T>
std::vector<T> hostile_samples(std::size_t count) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 rng{7};
  std::vector<T> samples(count);
  for (T& sample : samples) {
    if constexpr (std::is_floating_point_v<T>)
      sample = static_cast<T>(std::normal_distribution<double>{-300, 1000}(rng));
    else
      sample = static_cast<T>(rng());
  }
  samples[0] = Limits::lowest();
  samples[1] = Limits::max();
  if constexpr (std::is_floating_point_v<T>) {
    samples[2] = Limits::quiet_NaN();
    samples[3] = Limits::infinity();
    samples[4] = -Limits::infinity();
    samples[5] = Limits::denorm_min();
    samples[6] = static_cast<T>(-0.0);
  }
  return samples;
}

class Nifti : public testing::Test {
 protected:
  TemporaryFolder folder;
  const std::string in = folder / "in.nii", out = folder / "out.nii";

  /// Through source and sink, each slice changed by `filter`.
  void convert(const std::string& from, const std::string& to, Axis axis,
               const std::function<void(PlaneView<float>)>& filter = {},
               DataType datatype = DataType::same) {
    const auto source = open_source(from, {.axis = axis});
    const auto sink = open_sink(to, *source, {.overwrite = true, .datatype = datatype});
    while (auto frame = source->read()) {
      if (filter) filter(frame->plane<float>(0));
      sink->write(*std::move(frame));
    }
    sink->finish();
  }

  void expect_refused(const File& bytes, const std::string& part) {
    write_file(in, bytes);
    try {
      const auto source = open_source(in);
      while (source->read()) continue;
      ADD_FAILURE() << "not refused: " << part;
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), HasSubstr(part));
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
    }
  }
};

/// Adds `by` in the file's own units.
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

TYPED_TEST(NiftiTypes, EveryBitThatNoFilterChangedStays) {
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

TYPED_TEST(NiftiTypes, WhatAFilterChangedIsRoundedAndClamped) {
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
    // A frame's sample is a float up to 1.5; integers round to nearest on top.
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

TEST_F(Nifti, ScaleIsHonoured) {
  // Values from 100 down to 99.5.
  const VolumeSpec spec{.dim = {6, 1, 1}, .slope = -0.1, .inter = 100};
  write_file(in, volume<std::int16_t>(spec, {0, 1, 2, 3, 4, 5}));
  const ValueScale scale = open_source(in)->info().values;
  EXPECT_NEAR(scale.low, 99.5, 1e-5);
  EXPECT_NEAR(scale.span, 0.5, 1e-5);
  convert(in, out, Axis::z, adding(-0.2, scale.span));
  EXPECT_THAT(samples_of<std::int16_t>(read_file(out), spec), ElementsAre(2, 3, 4, 5, 6, 7));
}

TEST_F(Nifti, NegativeNumbersSurvive) {
  const VolumeSpec spec{.dim = {5, 1, 1}};
  write_file(in, volume<std::int16_t>(spec, {-1000, -999, -500, 0, 3}));
  const double span = open_source(in)->info().values.span;
  convert(in, out, Axis::z, adding(-7.4, span));
  EXPECT_THAT(samples_of<std::int16_t>(read_file(out), spec),
              ElementsAre(-1007, -1006, -507, -7, -4));
}

TEST_F(Nifti, SpikesAndWhatIsNoNumberPassThrough) {
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
  // The spike moves the end of the range by half the range at most.
  EXPECT_NEAR(scale.low, 10, 0.1);
  EXPECT_NEAR(scale.low + scale.span, 25, 0.2);
  const auto frame = source->read();
  for (int i = 0; i < 200 * 200; ++i) {
    const float v = frame->plane<float>(0)(i % 200, i / 200);
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

TEST_F(Nifti, DataTypes) {
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
  // All equal: no range to spread.
  const VolumeSpec spec{.dim = {2, 1, 1}, .datatype = 16, .bitpix = 32};
  write_file(in, volume<float>(spec, {3.5f, 3.5f}));
  convert(in, out, Axis::z, {}, DataType::int16);
  EXPECT_NEAR(open_source(out)->info().values.low, 3.5, 1e-6);
}

TEST_F(Nifti, ZippedOrNotByTheName) {
  const VolumeSpec spec{.dim = {30, 20, 10}};
  const File file = volume(spec, hostile_samples<std::int16_t>(6000));
  write_file(folder / "in.nii.gz", zipped(file));
  const std::string packed = folder / "out.nii.gz";
  convert(folder / "in.nii.gz", packed, Axis::y);
  EXPECT_TRUE(unzipped(packed) == file);
  convert(packed, out, Axis::x);
  EXPECT_TRUE(read_file(out) == file);
  // A name that says nothing, and an output in capitals.
  write_file(folder / "volume", zipped(file));
  convert(folder / "volume", folder / "OUT.NII.GZ", Axis::z);
  EXPECT_TRUE(unzipped(folder / "OUT.NII.GZ") == file);
  write_file(folder / "plain", file);
  EXPECT_EQ(count_frames(folder / "plain"), 10);
}

TEST_F(Nifti, FewAndManyDimensions) {
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

TEST_F(Nifti, HeadersThatLieAreRefused) {
  const std::vector<std::int16_t> samples(60);
  const auto with = [&](VolumeSpec spec, const std::function<void(File&)>& change = {}) {
    File file = volume(spec, samples);
    if (change) change(file);
    return file;
  };
  expect_refused({}, "empty");
  expect_refused(File(100), "no NIfTI");
  expect_refused(File(1000), "no NIfTI");
  expect_refused(with({.dim = {5, 0, 3}}), "0 samples along dimension 2");
  expect_refused(with({.dim = {5, 4, -3}}), "-3 samples along dimension 3");
  expect_refused(with({.dim = {32767, 32767, 32767}}), "samples");
  expect_refused(with({.dim = {32767, 32767, 32767, 32767, 32767}}), "64 bits");
  for (const bool big : {false, true}) {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    expect_refused(with({.version = 2, .big_endian = big, .dim = {huge, 2}}), "64 bits");
    expect_refused(with({.version = 2, .big_endian = big, .dim = {5, 4, huge / 640}}), "cut short");
    expect_refused(with({.version = 2, .big_endian = big, .dim = {5, 4, -huge}}), "dimension 3");
    expect_refused(with({.version = 2, .big_endian = big, .dim = {1 << 15, 1 << 15, 1}}),
                   "cut it up");
    expect_refused(with({.version = 2, .big_endian = big, .dim = {std::int64_t{1} << 33, 1, 1}}),
                   "cut it up");
  }
  for (const int count : {0, 8, -1, 300})
    expect_refused(with({}, [=](File& f) { put(f, 40, static_cast<std::int16_t>(count), false); }),
                   "dimensions");
  expect_refused(with({.datatype = 32}), "complex");
  expect_refused(with({.datatype = 1792}), "complex");
  expect_refused(with({.datatype = 128}), "RGB");
  expect_refused(with({.datatype = 2304}), "RGB");
  expect_refused(with({.datatype = 1}), "bits");
  expect_refused(with({.datatype = 1536}), "128-bit");
  for (const int code : {0, 3, 255, -4, 9999}) expect_refused(with({.datatype = code}), "unknown");
  for (const float offset : {0.0f, -1.0f, 100.0f, 352.5f, NAN, INFINITY, -INFINITY, 1e30f})
    expect_refused(with({}, [=](File& f) { put(f, 108, offset, false); }), "begin at byte");
  expect_refused(with({}, [](File& f) { put(f, 108, 1e9f, false); }), "extensions");
  expect_refused(with({}, [](File& f) { put(f, 108, 1e6f, false); }), "cut short");
  for (const std::int64_t offset :
       {std::int64_t{0}, std::int64_t{-5}, std::numeric_limits<std::int64_t>::max()})
    expect_refused(with({.version = 2}, [=](File& f) { put(f, 168, offset, false); }),
                   "begin at byte");
  expect_refused(with({.slope = 2, .inter = NAN}), "scl_inter");
  expect_refused(with({}, [](File& f) { f[344] = 'x'; }), "ANALYZE");
  expect_refused(with({}, [](File& f) { f[345] = 'x'; }), "no magic");
  expect_refused(with({}, [](File& f) { std::copy_n("ni1", 4, f.begin() + 344); }), "pair");
  expect_refused(with({.version = 2}, [](File& f) { std::copy_n("ni2", 4, f.begin() + 4); }),
                 "pair");
  expect_refused(with({.version = 2}, [](File& f) { f[8] = '\n'; }), "damaged");
}

TEST_F(Nifti, NoScaleWhereItIsNoNumber) {
  for (const double slope : {0.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    const VolumeSpec spec{.dim = {3, 1, 1}, .slope = slope, .inter = 50};
    write_file(in, volume<std::int16_t>(spec, {1, 2, 5}));
    const ValueScale scale = open_source(in)->info().values;
    EXPECT_EQ(scale.low, 1);
    EXPECT_EQ(scale.span, 4);
  }
}

TEST_F(Nifti, EveryCutIsFound) {
  const File file = volume({.dim = {5, 4, 3}}, hostile_samples<std::int16_t>(60));
  const File packed = zipped(file);
  for (const File* whole : {&file, &packed})
    for (std::size_t bytes = 0; bytes < whole->size(); ++bytes) {
      write_file(in, File(whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(bytes)));
      EXPECT_THROW((void)open_source(in), BadData) << bytes;
    }
}

TEST_F(Nifti, DamagedZipIsFound) {
  const File packed = zipped(volume({.dim = {5, 4, 3}}, hostile_samples<std::int16_t>(60)));
  for (std::size_t at = 10; at < packed.size(); ++at) {
    if (at == packed.size() - 9) continue;  // bits that fill up the last byte of data
    File broken = packed;
    broken[at] ^= 0x10;
    write_file(in, broken);
    EXPECT_THROW((void)open_source(in), BadData) << at;
  }
}

TEST_F(Nifti, KindsDoNotCross) {
  write_file(in, volume({}, hostile_samples<std::int16_t>(60)));
  const auto source = open_source(in);
  for (const char* name : {"out.mkv", "out.png", "out.tif", "out.nii.bz2", "out"})
    EXPECT_THROW((void)open_sink(folder / name, *source, {}), InvalidArgument) << name;
  EXPECT_THROW((void)open_sink(in, *source, {.overwrite = true}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.vcodec = "ffv1"}), InvalidArgument);
  EXPECT_THROW((void)open_sink(out, *source, {.crf = 18}), InvalidArgument);
  make_clip(folder / "clip.mkv", {.frames = 2});
  EXPECT_THROW((void)open_source(folder / "clip.mkv", {.axis = Axis::x}), InvalidArgument);
  const auto clip = open_source(folder / "clip.mkv");
  EXPECT_THROW((void)open_sink(out, *clip, {}), InvalidArgument);
  EXPECT_THROW((void)open_sink(folder / "out.mkv", *clip, {.datatype = DataType::int16}),
               InvalidArgument);
  EXPECT_THAT(folder.files(), ElementsAre("clip.mkv", "in.nii"));
}

TEST_F(Nifti, OutputAppearsWhole) {
  write_file(in, volume({}, hostile_samples<std::int16_t>(60)));
  {
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, {});
    sink->write(*source->read());
    EXPECT_EQ(folder.files().size(), 2u);
  }
  EXPECT_THAT(folder.files(), ElementsAre("in.nii"));
  EXPECT_THROW((void)open_source(folder / "none.nii"), NoInput);
  std::filesystem::create_directory(folder / "folder.nii");
  EXPECT_THROW((void)open_source(folder / "folder.nii"), NoInput);
}

}  // namespace
}  // namespace lull::io::test
