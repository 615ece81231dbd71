// Tests that volumes of MGH, NRRD and pairs are read as NIfTI volumes with the same geometry.

#include "io/volumes/foreign_volume.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "io/media.h"
#include "io/support/volumes.h"
#include "io/volumes/nifti_header.h"

namespace lull::io {
namespace {

using test::File;
using test::put;

class ForeignVolumes : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const File& bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  /// Reads all values of a volume in the order of the file.
  std::vector<double> values(const std::string& name) const {
    const auto source = open_source(path(name), {});
    std::vector<double> all, slice;
    while (const auto frame = source->read()) {
      source->values_of(*frame, slice);
      all.insert(all.end(), slice.begin(), slice.end());
    }
    return all;
  }
  std::string error_of(const std::string& name) const {
    try {
      (void)open_source(path(name), {});
      return "no error";
    } catch (const BadData& error) {
      return error.what();
    }
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("foreign_volumes." + std::to_string(getpid()));
};

constexpr std::array<std::int64_t, 3> size{5, 4, 3};
constexpr int voxels = 60;

std::vector<double> expected_values() {
  std::vector<double> values;
  for (int i = 0; i < voxels; ++i) values.push_back(7 * i - 100);
  return values;
}
void add_samples(File& file, bool big) {
  for (const double v : expected_values())
    put(file, file.size(), static_cast<std::int16_t>(v), big);
}
float affine_of(const std::vector<std::byte>& head, int row, int column, bool big) {
  std::array<std::byte, 4> raw;
  std::copy_n(head.begin() + 280 + 16 * row + 4 * column, 4, raw.begin());
  if (big) std::ranges::reverse(raw);
  return std::bit_cast<float>(raw);
}

File mgh_file() {
  File file(284);
  const std::int32_t integers[] = {1, 5, 4, 3, 1, 4, 0};  // version, sizes, frames, short, dof
  for (int i = 0; i < 7; ++i) put(file, 4 * i, integers[i], true);
  put(file, 28, std::int16_t{1}, true);
  const float reals[] = {2, 3, 4, -1, 0, 0, 0, 0, -1, 0, 1, 0, 10, 20, 30};
  for (int i = 0; i < 15; ++i) put(file, 30 + 4 * i, reals[i], true);
  add_samples(file, true);
  return file;
}

File nrrd_file(const std::string& fields, bool big) {
  const std::string text =
      "NRRD0004\n# a comment\ntype: short\ndimension: 3\nsizes: 5 4 3\nendian: " +
      std::string(big ? "big" : "little") + "\n" + fields + "\n\n";
  File file(text.begin(), text.end());
  add_samples(file, big);
  return file;
}

TEST_F(ForeignVolumes, OfFreeSurferHaveTheirGeometryAndValues) {
  write("a.mgh", mgh_file());
  EXPECT_EQ(values("a.mgh"), expected_values());
  const auto volume = read_foreign_volume(path("a.mgh"));
  ASSERT_TRUE(volume);
  EXPECT_EQ(parse_nifti(volume->head, "a").size, size);
  // The second axis points down, the third forward; the centre of the volume is (10, 20, 30).
  EXPECT_EQ(affine_of(volume->head, 0, 0, true), -2);
  EXPECT_EQ(affine_of(volume->head, 2, 1, true), -3);
  EXPECT_EQ(affine_of(volume->head, 1, 2, true), 4);
  EXPECT_EQ(affine_of(volume->head, 0, 3, true), 10 + 2 * 2.5f);
  EXPECT_EQ(affine_of(volume->head, 1, 3, true), 20 - 4 * 1.5f);
  EXPECT_EQ(affine_of(volume->head, 2, 3, true), 30 + 3 * 2.0f);
}

TEST_F(ForeignVolumes, OfNrrdHaveTheirGeometryAndValuesInBothByteOrders) {
  for (const bool big : {false, true}) {
    write("a.nrrd", nrrd_file("encoding: raw\nspace: left-posterior-superior\n"
                              "space directions: (2,0,0) (0,3,0) (0,0,4)\n"
                              "space origin: (1, -2, 5)",
                              big));
    EXPECT_EQ(values("a.nrrd"), expected_values());
    const auto volume = read_foreign_volume(path("a.nrrd"));
    ASSERT_TRUE(volume);
    EXPECT_EQ(affine_of(volume->head, 0, 0, big), -2);
    EXPECT_EQ(affine_of(volume->head, 1, 1, big), -3);
    EXPECT_EQ(affine_of(volume->head, 2, 2, big), 4);
    EXPECT_EQ(affine_of(volume->head, 0, 3, big), -1);
    EXPECT_EQ(affine_of(volume->head, 1, 3, big), 2);
    EXPECT_EQ(affine_of(volume->head, 2, 3, big), 5);
  }
}

// NrrdIO, the library of ITK and 3D Slicer, writes the names with "int".
TEST_F(ForeignVolumes, OfNrrdMayHaveAllNamesOfIntegersOf64Bits) {
  for (const std::string sign : {"", "signed ", "unsigned "})
    for (const std::string name : {"long long", "long long int"}) {
      const std::string text = "NRRD0004\ntype: " + sign + name +
                               "\ndimension: 3\nsizes: 5 4 3\nendian: little\nencoding: raw\n\n";
      File file(text.begin(), text.end());
      for (int i = 0; i < voxels; ++i) put(file, file.size(), std::int64_t{7} * i, false);
      write("a.nrrd", file);
      EXPECT_EQ(values("a.nrrd").back(), 7 * (voxels - 1)) << sign << name;
      EXPECT_EQ(open_source(path("a.nrrd"), {})->info().pixel_format,
                sign == "unsigned " ? "uint64" : "int64");
    }
}

TEST_F(ForeignVolumes, OfNrrdMayHaveASeparateFileOfSamples) {
  File samples;
  add_samples(samples, false);
  samples.insert(samples.begin(), 3, 0xff);
  write("a.raw", samples);
  const File whole = nrrd_file("encoding: raw\nbyte skip: 3\ndata file: a.raw", false);
  write("a.nhdr", {whole.begin(), whole.end() - 2 * voxels});
  EXPECT_EQ(values("a.nhdr"), expected_values());
}

TEST_F(ForeignVolumes, OfPairsAreReadFromTheNameOfEitherFile) {
  for (const char* magic : {"ni1", ""}) {
    File head(348);
    put(head, 0, std::int32_t{348}, false);
    put(head, 40, std::int16_t{3}, false);
    for (int i = 0; i < 3; ++i) put(head, 42 + 2 * i, static_cast<std::int16_t>(size[i]), false);
    put(head, 70, std::int16_t{4}, false);
    put(head, 72, std::int16_t{16}, false);
    for (int i = 0; i < 3; ++i) put(head, 80 + 4 * i, 1.5f + static_cast<float>(i), false);
    std::copy_n(magic, std::string(magic).size(), head.begin() + 344);
    File samples;
    add_samples(samples, false);
    write("a.hdr", head);
    write("a.img", samples);
    EXPECT_EQ(values("a.hdr"), expected_values()) << magic;
    EXPECT_EQ(values("a.img"), expected_values()) << magic;
    EXPECT_EQ(open_source(path("a.img"), {})->info().spacing, (std::array{1.5, 2.5, 3.5}));
  }
}

TEST_F(ForeignVolumes, WithInvalidHeadersAreRefusedInOneLine) {
  const auto refused = [&](const std::string& name, const File& file, const std::string& part) {
    write(name, file);
    const std::string error = error_of(name);
    EXPECT_NE(error.find(part), error.npos) << error;
    EXPECT_EQ(error.find('\n'), error.npos);
  };
  File mgh = mgh_file();
  mgh.resize(100);
  refused("a.mgh", mgh, "is cut short");
  mgh = mgh_file();
  put(mgh, 8, std::int32_t{-4}, true);
  refused("a.mgh", mgh, "has -4 samples along an axis");
  mgh = mgh_file();
  put(mgh, 20, std::int32_t{6}, true);
  refused("a.mgh", mgh, "has samples of type 6");
  mgh = mgh_file();
  mgh.pop_back();
  refused("a.mgh", mgh, "is cut short");
  refused("a.nrrd", nrrd_file("encoding: ascii", false), "the encoding 'ascii'");
  refused("a.nrrd", nrrd_file("", false), "no field 'encoding'");
  refused("a.nrrd", nrrd_file("encoding: raw\nsizes: 5 4 99999", false), "has 99999 samples");
  refused("a.nrrd", nrrd_file("encoding: raw\nsizes: 5 4", false), "has 2 sizes and dimension 3");
  refused("a.nrrd",
          nrrd_file("encoding: raw\nspace: RAS\nspace directions: none (1,0,0) (0,1,0)", false),
          "is not spatial");
  for (const char* kinds : {"RGB-color domain domain", "domain domain 3-vector",
                            "list domain domain", "complex space space"})
    refused("a.nrrd", nrrd_file("encoding: raw\nkinds: " + std::string(kinds), false),
            "is not spatial");
  write("a.nrrd", nrrd_file("encoding: raw\nkinds: domain ??? list", false));
  EXPECT_EQ(error_of("a.nrrd"), "no error");
  refused("a.nrrd",
          nrrd_file("encoding: raw\nspace: RAS\nspace directions: (1,0) (1,0,0) (0,1,0)", false),
          "must be three numbers");
}

}  // namespace
}  // namespace lull::io
