// Tests volumes that are written as NRRD, MGH, MGZ and pairs, and what they keep of the input.

#include "io/volumes/volume_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.h"
#include "io/media.h"
#include "io/stacks/stack.h"
#include "io/support/nifti_fixture.h"
#include "io/volumes/gzip_stream.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int voxels = 60;

/// A NIfTI-1 file without any contents other than geometry and samples.
File plain_nifti(int datatype, int bits, int volumes = 1) {
  File file(352);
  put(file, 0, std::int32_t{348}, false);
  const std::int16_t dim[] = {static_cast<std::int16_t>(volumes > 1 ? 4 : 3), 5, 4, 3,
                              static_cast<std::int16_t>(volumes)};
  for (int i = 0; i < 5; ++i) put(file, 40 + 2 * i, dim[i], false);
  put(file, 70, static_cast<std::int16_t>(datatype), false);
  put(file, 72, static_cast<std::int16_t>(bits), false);
  const float pixdim[] = {1, 2, 3, 4, 1.5f};
  for (int i = 0; i < 5; ++i) put(file, 76 + 4 * i, pixdim[i], false);
  put(file, 108, 352.0f, false);
  file[123] = 2 | 8;  // millimetres, seconds
  std::copy_n("n+1", 4, file.begin() + 344);
  return file;
}
/// Adds an s-form with an oblique slice direction.
void add_sform(File& file) {
  put(file, 254, std::int16_t{1}, false);
  const float rows[] = {-2, 0, 0.5f, 10, 0, 3, 0.25f, -20, 0, 0.125f, 4, 30};
  for (int i = 0; i < 12; ++i) put(file, 280 + 4 * i, rows[i], false);
}
template <class T>
void add_values(File& file, int count = voxels, bool big = false) {
  for (int i = 0; i < count; ++i) put(file, file.size(), static_cast<T>(7 * i + 3), big);
}

class VolumeOutputs : public Nifti {
 protected:
  std::vector<double> values(const std::string& name) const {
    const auto source = open_source(name, {});
    std::vector<double> all, slice;
    while (const auto frame = source->read()) {
      source->values_of(*frame, slice);
      all.insert(all.end(), slice.begin(), slice.end());
    }
    return all;
  }
  VolumeGeometry geometry(const std::string& name) const {
    const auto volume = read_foreign_volume(name);
    if (volume) return volume->geometry;
    const std::vector<std::byte> head = first_bytes(name, 352);
    return VolumeInput{.head = head, .header = parse_nifti(head, name)}.geometry();
  }
  void expect_same_geometry(const std::string& a, const std::string& b) const {
    const VolumeGeometry x = geometry(a), y = geometry(b);
    EXPECT_EQ(x.is_oriented, y.is_oriented);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(x.spacing[i], y.spacing[i], 1e-6) << b;
      EXPECT_NEAR(x.origin[i], y.origin[i], 1e-5) << b;
      for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(x.directions[i][k], y.directions[i][k], 1e-6) << b << " " << i << " " << k;
    }
  }
  std::vector<std::string> losses(const std::string& from, const std::string& to) const {
    return losses_of_volume(to, *open_source(from, {}), {});
  }
  std::string text_of(const std::string& name) const {
    const auto bytes = read_file(name);
    return {bytes.begin(), bytes.end()};
  }
  std::string nrrd_text(const std::string& more = "") const {
    return "NRRD0005\n# a comment of the scanner\ntype: short\ndimension: 3\n"
           "space: left-posterior-superior\nsizes: 5 4 3\n"
           "space directions: (2,0,0) (0,3,0) (0,0.25,4)\nendian: little\nencoding: raw\n"
           "space origin: (1,-2,5)\nlabels: \"x\" \"y\" \"z\"\nkey one:=a value: with colon\n" +
           more + "\n";
  }
  File nrrd_file() const {
    const std::string text = nrrd_text();
    File file(text.begin(), text.end());
    add_values<std::int16_t>(file);
    return file;
  }
};

TEST_F(VolumeOutputs, OfNrrdKeepTheHeaderAndEveryByteOfUnchangedSamples) {
  const std::string from = folder / "a.nrrd", to = folder / "b.nrrd";
  write_file(from, nrrd_file());
  convert(from, to, Axis::z);
  const std::string text = text_of(to);
  for (const char* line : {"NRRD0005\n# a comment of the scanner\n",
                           "\nlabels: \"x\" \"y\" \"z\"\n", "\nkey one:=a value: with colon\n",
                           "\ntype: int16\n", "\nspace directions: (2,0,0) (0,3,0) (0,0.25,4)\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_EQ(text.substr(text.size() - 2 * voxels), text_of(from).substr(nrrd_text().size()));
  EXPECT_THAT(losses(from, to), IsEmpty());
}

TEST_F(VolumeOutputs, WithSeparateHeadersNameTheirSamplesAndAppearTogether) {
  const std::string from = folder / "a.nrrd", to = folder / "b.nhdr", raw = folder / "b.raw";
  write_file(from, nrrd_file());
  {
    const auto source = open_source(from, {});
    const auto sink = open_sink(to, *source, {});
    sink->write(*source->read());
  }
  EXPECT_THAT(folder.files(), ElementsAre("a.nrrd"));
  convert(from, to, Axis::y);
  EXPECT_THAT(folder.files(), ElementsAre("a.nrrd", "b.nhdr", "b.raw"));
  EXPECT_THAT(text_of(to), HasSubstr("\ndata file: b.raw\n"));
  EXPECT_EQ(text_of(raw), text_of(from).substr(nrrd_text().size()));
  EXPECT_EQ(values(to), values(from));
  expect_same_geometry(from, to);
  // The samples of the input must not be replaced, whatever the name of the header is.
  const auto source = open_source(to, {});
  EXPECT_THROW((void)open_sink(folder / "B/../b.nhdr", *source, {.overwrite = true}), Error);
  write_file(folder / "c.nhdr", read_file(to));
  const auto other = open_source(folder / "c.nhdr", {});
  EXPECT_THROW((void)open_sink(to, *other, {.overwrite = true}), InvalidArgument);
}

TEST_F(VolumeOutputs, OfNiftiKeepValuesAndGeometryInEveryFormat) {
  for (const bool oriented : {true, false}) {
    File file = plain_nifti(4, 16);
    if (oriented) add_sform(file);
    add_values<std::int16_t>(file);
    write_file(in, file);
    for (const char* name : {"b.nrrd", "b.nhdr", "b.mgh", "b.mgz", "b.hdr", "b.img.gz"}) {
      const std::string to = folder / name;
      if (!oriented && std::string(name).find(".mg") != std::string::npos) continue;
      convert(in, to, Axis::x);
      EXPECT_EQ(values(to), values(in)) << name;
      expect_same_geometry(in, to);
      convert(to, out, Axis::z);
      EXPECT_EQ(values(out), values(in)) << name;
      expect_same_geometry(in, out);
      EXPECT_THAT(losses(in, to), IsEmpty()) << name;
    }
  }
}

TEST_F(VolumeOutputs, ConvertQuaternionsToDirections) {
  // Rotation by 120 degrees about (1, 1, 1): x becomes y, y becomes z, z becomes x.
  File file = plain_nifti(4, 16);
  put(file, 252, std::int16_t{1}, false);
  put(file, 76, -1.0f, false);  // the third axis is reversed
  for (int i = 0; i < 3; ++i) put(file, 256 + 4 * i, 0.5f, false);
  for (int i = 0; i < 3; ++i) put(file, 268 + 4 * i, 10.0f * static_cast<float>(i + 1), false);
  add_values<std::int16_t>(file);
  write_file(in, file);
  const VolumeGeometry g = geometry(in);
  EXPECT_THAT(g.directions[0], testing::Pointwise(testing::DoubleNear(1e-6), {0.0, 2.0, 0.0}));
  EXPECT_THAT(g.directions[1], testing::Pointwise(testing::DoubleNear(1e-6), {0.0, 0.0, 3.0}));
  EXPECT_THAT(g.directions[2], testing::Pointwise(testing::DoubleNear(1e-6), {-4.0, 0.0, 0.0}));
  EXPECT_THAT(g.origin, ElementsAre(10, 20, 30));
}

TEST_F(VolumeOutputs, KeepTheTimeBetweenVolumes) {
  File file = plain_nifti(4, 16, 2);
  add_sform(file);
  add_values<std::int16_t>(file, 2 * voxels);
  write_file(in, file);
  for (const char* name : {"b.nrrd", "b.mgz"}) {
    const std::string to = folder / name;
    convert(in, to, Axis::z);
    convert(to, out, Axis::z);
    EXPECT_EQ(values(out), values(in)) << name;
    EXPECT_DOUBLE_EQ(geometry(out).seconds, 1.5) << name;
  }
}

TEST_F(VolumeOutputs, OfMghKeepHeaderAndTags) {
  File file = plain_nifti(4, 16);
  add_sform(file);
  add_values<std::int16_t>(file);
  write_file(in, file);
  const std::string from = folder / "a.mgh", to = folder / "b.mgz", back = folder / "c.mgh";
  convert(in, from, Axis::z);
  File mgh = read_file(from);
  mgh[100] = 0x5a;  // unused space of the header
  for (int i = 0; i < 33; ++i) mgh.push_back(static_cast<std::uint8_t>(i + 1));
  write_file(from, mgh);
  convert(from, to, Axis::x);
  convert(to, back, Axis::z);
  EXPECT_EQ(read_file(back), mgh);
  EXPECT_THAT(losses(from, to), IsEmpty());
  EXPECT_THAT(losses(from, out), ElementsAre(HasSubstr("echo time"), HasSubstr("tags")));
}

TEST_F(VolumeOutputs, WithoutScaleStoreValues) {
  const auto stored = [&](int datatype, int bits, float slope, float inter, const char* name,
                          DataType type = DataType::same) {
    File file = plain_nifti(datatype, bits);
    put(file, 112, slope, false);
    put(file, 116, inter, false);
    if (datatype == 64)
      add_values<double>(file);
    else if (datatype == 256)
      for (int i = 0; i < voxels; ++i) file.push_back(static_cast<std::uint8_t>(i - 20));
    else
      add_values<std::int16_t>(file);
    write_file(in, file);
    const std::string to = folder / name;
    convert(in, to, Axis::z, {}, type);
    const std::vector<double> a = values(in), b = values(to);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4);
    return open_source(to, {})->info().pixel_format;
  };
  EXPECT_EQ(stored(4, 16, 0, 0, "b.nrrd"), "int16");
  EXPECT_EQ(stored(4, 16, 1, -1024, "b.nrrd"), "int16");
  EXPECT_EQ(stored(4, 16, 100, 0, "b.nrrd"), "uint16");
  EXPECT_EQ(stored(4, 16, 0.5f, 3, "b.mgh"), "float32");
  EXPECT_EQ(stored(64, 64, 0, 0, "b.nrrd"), "float64");
  EXPECT_EQ(stored(64, 64, 0, 0, "b.mgh"), "float32");
  EXPECT_THAT(losses(in, folder / "c.mgh"), testing::Contains(HasSubstr("precision")));
  EXPECT_EQ(stored(256, 8, 0, 0, "b.mgh"), "int16");
  EXPECT_EQ(stored(4, 16, 0, 0, "b.nrrd", DataType::float32), "float32");
  EXPECT_THROW((void)stored(4, 16, 0.5f, 0, "c.nrrd", DataType::int16), InvalidArgument);
}

TEST_F(VolumeOutputs, StateEachContentThatTheFormatCannotHold) {
  File file = plain_nifti(4, 16);
  add_sform(file);
  put(file, 252, std::int16_t{1}, false);
  std::copy_n("a scan", 6, file.begin() + 148);
  put(file, 124, 100.0f, false);
  add_values<std::int16_t>(file);
  write_file(in, file);
  EXPECT_THAT(losses(in, folder / "b.nrrd"),
              ElementsAre(HasSubstr("descrip"), HasSubstr("cal_max"), HasSubstr("q-form")));
  EXPECT_THAT(losses(in, out), IsEmpty());
  const std::string nrrd = folder / "a.nrrd";
  write_file(nrrd, nrrd_file());
  EXPECT_THAT(losses(nrrd, out), ElementsAre(HasSubstr("1 key/value pair"), HasSubstr("1 comment"),
                                             HasSubstr("the fields labels")));
  const auto source = open_source(nrrd, {});
  EXPECT_THROW((void)open_sink(out, *source, {.strict_metadata = true}), InvalidArgument);
  EXPECT_THAT(folder.files(), ElementsAre("a.nrrd", "in.nii"));
}

}  // namespace
}  // namespace lull::io::test
