// Tests DICOM series as inputs. The tests write their files byte by byte; DCMTK only compresses
// some of them.

#include "io/dicom/dicom.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>
#include <dcmtk/dcmdata/dcrleerg.h>
#include <dcmtk/dcmjpeg/djencode.h>
#include <dcmtk/dcmjpls/djencode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include "io/dicom/dicom_series.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/volume_output.h"

namespace lull::io::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Dicom : public DicomTest {};

TEST_F(Dicom, SlicesAreSortedByPositionAndHaveTheGeometryOfTheStandard) {
  add_series({2, 0, 3, 1});
  EXPECT_EQ(values(series_), expected({0, 1, 2, 3}));
  for (const char* name : {"a.nii", "a.nrrd", "a.mgh"}) {
    const std::string to = folder / name;
    convert(to);
    EXPECT_EQ(values(to), expected({0, 1, 2, 3})) << name;
    const auto foreign = read_foreign_volume(to);
    const auto head = first_bytes(to, 352);
    const VolumeGeometry g =
        foreign ? foreign->geometry
                : VolumeInput{.head = head, .header = parse_nifti(head, to)}.geometry();
    // C.7.6.2.1.1: the columns are 0.5 mm apart, the rows 0.75 mm. RAS reverses two axes of LPS.
    constexpr std::array<double, 3> sign{-1, -1, 1}, first{-10, 20, 30};
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(g.directions[0][k], sign[k] * 0.5 * row[k], 1e-5) << name;
      EXPECT_NEAR(g.directions[1][k], sign[k] * 0.75 * column[k], 1e-5) << name;
      EXPECT_NEAR(g.directions[2][k], sign[k] * 2 * normal[k], 1e-5) << name;
      EXPECT_NEAR(g.origin[k], sign[k] * first[k], 1e-5) << name;
    }
  }
}

TEST_F(Dicom, RescaleAndUnusedBitsAreApplied) {
  DicomSpec spec{.slope = "2", .inter = "-1024", .stored = 12};
  spec.orientation = oblique;
  spec.position = position_of(0);
  for (const int v : samples_of_slice(0)) spec.samples.push_back((v & 0xfff) | 0x5000);
  add("a", spec);
  EXPECT_EQ(values(series_), expected({0}, 2, -1024));
  convert(folder / "a.nii");
  EXPECT_EQ(values(folder / "a.nii"), expected({0}, 2, -1024));
}

TEST_F(Dicom, SlicesWithScalesOfTheirOwnBecomeFloats) {
  add_series({0}, {.slope = "1"});
  add_series({1, 2}, {.slope = "0.5"});
  std::vector<double> all = expected({0});
  for (const double v : expected({1, 2}, 0.5)) all.push_back(v);
  EXPECT_EQ(values(series_), all);
  EXPECT_EQ(open_source(series_, {})->info().pixel_format, "float32");
}

TEST_F(Dicom, MissingAndRepeatedSlicesAreRefused) {
  add_series({0, 1, 3});
  EXPECT_THAT(refusal(series_), HasSubstr("at a distance of 4 mm"));
  add_series({4});
  EXPECT_THAT(refusal(series_), AllOf(HasSubstr("at a distance of 4 mm"), HasSubstr("missing")));
  add_series({2});
  EXPECT_EQ(refusal(series_), "no error");
  DicomSpec again{.uid = "99", .instance = "50"};
  again.orientation = oblique;
  again.position = position_of(2);
  again.samples = samples_of_slice(1);
  add("again", again);
  EXPECT_THAT(refusal(series_), HasSubstr("occur twice"));
  again.uid = "7.2";
  add("again", again);
  EXPECT_THAT(refusal(series_), HasSubstr("contains an image twice"));
}

TEST_F(Dicom, SeriesAreListedAndChosenByUidOrNumber) {
  add_series({0, 1});
  add_series({2, 3, 4}, {.series = "8"});
  const std::string uid = std::string(series_root) + ".3.8";
  EXPECT_THAT(refusal(series_),
              AllOf(HasSubstr("2 series"), HasSubstr(uid),
                    HasSubstr("number 7, 'A series 7', 2 files"), HasSubstr("--series-uid")));
  EXPECT_EQ(values(series_, {.series_uid = uid}), expected({2, 3, 4}));
  EXPECT_EQ(values(series_, {.series_uid = "7"}), expected({0, 1}));
  EXPECT_THAT(refusal(series_, {.series_uid = "9"}), HasSubstr("does not exist"));
}

TEST_F(Dicom, OtherSeriesOfTheFolderMayHaveColours) {
  add_series({0, 1});
  add("report",
      {.series = "8", .uid = "80", .photometric = "RGB", .samples = std::vector<int>(60)});
  EXPECT_EQ(values(series_, {.series_uid = "7"}), expected({0, 1}));
  EXPECT_THAT(refusal(series_), HasSubstr("2 series"));
  EXPECT_THAT(refusal(series_, {.series_uid = "8"}), HasSubstr("colours"));
}

TEST_F(Dicom, PositionsThatOccurEquallyOftenAreASeriesOfVolumes) {
  for (int t = 0; t < 2; ++t)
    for (int s = 0; s < 3; ++s) {
      DicomSpec spec{.uid = std::to_string(10 * t + s), .instance = std::to_string(3 * t + s)};
      spec.orientation = oblique;
      spec.position = position_of(2.0 * s);
      spec.samples = samples_of_slice(3 * t + s);
      add(std::to_string(9 - 3 * t - s), spec);
    }
  EXPECT_EQ(values(series_), expected({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(open_source(series_, {})->info().slices, 3);
}

TEST_F(Dicom, FramesOfOneFileAreSortedByTheirPositions) {
  DicomSpec spec{.sop_class = "1.2.840.10008.5.1.4.1.1.2.1"};
  spec.orientation = oblique;
  for (const int s : {2, 1, 0}) {
    spec.frame_positions.push_back(position_of(1.5 * s));
    for (const int v : samples_of_slice(s)) spec.samples.push_back(v);
  }
  write_file(folder / "a.dcm", dicom_file(spec));
  EXPECT_EQ(values(folder / "a.dcm"), expected({0, 1, 2}));
  EXPECT_NEAR(open_source(folder / "a.dcm", {})->info().spacing[2], 1.5, 1e-6);
}

TEST_F(Dicom, FramesOfDoseGridsAreSlicesOfOneVolume) {
  DicomSpec spec{.sop_class = "1.2.840.10008.5.1.4.1.1.481.2",
                 .position = position_of(0),
                 .orientation = oblique,
                 .frames = 3,
                 .dose_scaling = "0.5"};
  for (const int s : {0, 1, 2})
    for (const int v : samples_of_slice(s)) spec.samples.push_back(v);
  const std::string path = folder / "a.dcm";
  const auto spacing = [&](const std::string& offsets) {
    spec.offsets = offsets;
    write_file(path, dicom_file(spec));
    const auto source = open_source(path, {});
    EXPECT_EQ(source->info().slices, 3) << offsets;
    return source->info().spacing[2];
  };
  EXPECT_NEAR(spacing("0\\-1.5\\-3"), 1.5, 1e-6);
  EXPECT_EQ(values(path), expected({2, 1, 0}, 0.5));
  EXPECT_NEAR(spacing(""), 2.5, 1e-6);  // the thickness, because the distance is unknown
  EXPECT_EQ(values(path), expected({0, 1, 2}, 0.5));
  spec.position = "-10\\20\\30";
  spec.orientation = "1\\0\\0\\0\\-1\\0";  // the normal points to the feet
  EXPECT_NEAR(spacing("30\\32\\34"), 2, 1e-6);
  EXPECT_EQ(values(path), expected({2, 1, 0}, 0.5));
}

#ifdef DCM_DICT_USE_DCMDICTPATH
// Without the dictionary, DCMTK reads images with implicit VR as files without an image.
TEST_F(Dicom, ImagesAreRefusedWithoutTheDictionary) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string path = folder / "a.dcm";
  write_file(path, dicom_file({.position = position_of(0), .orientation = oblique}));
  const auto read = [&] {
    setenv("DCMDICTPATH", "/dev/null", 1);
    try {
      read_dicom(path, "");
    } catch (const BadData& error) {
      std::cerr << error.what();
      std::exit(3);
    }
    std::exit(0);
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(3), "no dictionary of attributes");
}
#endif

TEST_F(Dicom, CompressedSamplesAreDecoded) {
  DicomSpec spec{.position = position_of(0), .orientation = oblique, .columns = 64, .rows = 48};
  for (int i = 0; i < 64 * 48; ++i) spec.samples.push_back(i % 64 * 20 - i / 64 * 30);
  const std::string from = folder / "a.dcm", packed = folder / "b.dcm";
  write_file(from, dicom_file(spec));
  DcmRLEEncoderRegistration::registerCodecs();
  DJEncoderRegistration::registerCodecs();
  DJLSEncoderRegistration::registerCodecs();
  for (const E_TransferSyntax syntax :
       {EXS_RLELossless, EXS_JPEGProcess14SV1, EXS_JPEGLSLossless, EXS_LittleEndianImplicit,
        EXS_BigEndianExplicit, EXS_DeflatedLittleEndianExplicit}) {
    DcmFileFormat file;
    ASSERT_TRUE(file.loadFile(from.c_str()).good());
    ASSERT_TRUE(file.getDataset()->chooseRepresentation(syntax, nullptr).good()) << syntax;
    ASSERT_TRUE(file.saveFile(packed.c_str(), syntax).good()) << syntax;
    EXPECT_EQ(values(packed), values(from)) << syntax;
    const std::string out = folder / ("out" + std::to_string(syntax) + ".dcm");
    convert(packed, out);
    EXPECT_EQ(values(out), values(from)) << syntax;
  }
  DcmRLEEncoderRegistration::cleanup();
  DJEncoderRegistration::cleanup();
  DJLSEncoderRegistration::cleanup();
}

TEST_F(Dicom, RleOffsetsOutsideTheFrameAreRefused) {
  DicomSpec spec{.position = position_of(0), .orientation = oblique};
  spec.samples = samples_of_slice(0);
  const std::string from = folder / "a.dcm", packed = folder / "b.dcm";
  write_file(from, dicom_file(spec));
  DcmRLEEncoderRegistration::registerCodecs();
  DcmFileFormat coded;
  ASSERT_TRUE(coded.loadFile(from.c_str()).good());
  ASSERT_TRUE(coded.getDataset()->chooseRepresentation(EXS_RLELossless, nullptr).good());
  ASSERT_TRUE(coded.saveFile(packed.c_str(), EXS_RLELossless).good());
  DcmRLEEncoderRegistration::cleanup();
  ASSERT_EQ(values(packed), values(from));
  const File whole = read_file(packed);
  constexpr std::array<std::uint8_t, 8> header{2, 0, 0, 0, 64, 0, 0, 0};
  const auto at = std::ranges::search(whole, header).begin() - whole.begin();
  ASSERT_LT(at, std::ssize(whole));
  for (const int offset : {0, 4, 6, 8, 11}) {
    File file = whole;
    file[static_cast<std::size_t>(at + offset)] += 100;
    write_file(packed, file);
    EXPECT_THAT(refusal(packed), HasSubstr("damaged samples (RLE")) << offset;
  }
}

TEST_F(Dicom, ImagesThatAreNoVolumeAreRefused) {
  add_series({0, 1});
  DicomSpec other{.uid = "50", .position = position_of(4), .orientation = "1\\0\\0\\0\\1\\0"};
  other.samples = samples_of_slice(2);
  add("other", other);
  EXPECT_THAT(refusal(series_), HasSubstr("different orientations"));
  other.orientation = oblique;
  other.rows = 5;
  other.columns = 4;
  add("other", other);
  EXPECT_THAT(refusal(series_), HasSubstr("different sizes"));
  write_file(folder / "a.dcm", dicom_file({.photometric = "RGB", .samples = std::vector<int>(60)}));
  EXPECT_THAT(refusal(folder / "a.dcm"), HasSubstr("colours"));
  write_file(folder / "a.dcm", dicom_file({.image_type = "ORIGINAL\\PRIMARY\\M\\MOSAIC",
                                           .samples = samples_of_slice(0)}));
  EXPECT_THAT(refusal(folder / "a.dcm"), HasSubstr("dcm2niix"));
  EXPECT_THROW((void)open_source(folder.path().string(), {}), Error);
}

TEST_F(Dicom, DamagedFilesAreReadOrRefusedInOneLine) {
  const File whole = dicom_file({.position = position_of(0),
                                 .orientation = oblique,
                                 .slope = "2",
                                 .samples = samples_of_slice(0)});
  const std::string path = folder / "a.dcm";
  int refused = 0;
  for (std::size_t bytes = 132; bytes < whole.size(); bytes += 3) {
    write_file(path, File(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
    refused += refusal(path) != "no error";
  }
  EXPECT_GT(refused, 200);
  std::mt19937 rng{1};
  for (int n = 0; n < 600; ++n) {
    File file = whole;
    for (int changes = static_cast<int>(rng() % 3); changes >= 0; --changes)
      file[132 + rng() % (file.size() - 132)] = static_cast<std::uint8_t>(rng());
    write_file(path, file);
    refused += refusal(path) != "no error";
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace lull::io::test
