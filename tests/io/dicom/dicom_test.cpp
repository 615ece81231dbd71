// Tests DICOM series as volumes. The tests write their files byte by byte; DCMTK only
// compresses some of them.

#include "io/dicom/dicom.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>
#include <dcmtk/dcmdata/dcrleerg.h>
#include <dcmtk/dcmjpeg/djencode.h>
#include <dcmtk/dcmjpls/djencode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <random>
#include <set>

#include "core/error.h"
#include "io/media.h"
#include "io/support/clip.h"
#include "io/support/volumes.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/volume_output.h"

namespace lull::io::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Writes elements in the transfer syntax Explicit VR Little Endian (PS3.5, 7.1.2).
class ElementWriter {
 public:
  ElementWriter& text(int group, int element, const std::string& vr, std::string value) {
    if (value.size() % 2 != 0) value += vr == "UI" ? '\0' : ' ';
    return bytes(group, element, vr, File(value.begin(), value.end()));
  }
  ElementWriter& number(int group, int element, int value) {
    File raw;
    put(raw, 0, static_cast<std::uint16_t>(value), false);
    return bytes(group, element, "US", raw);
  }
  ElementWriter& bytes(int group, int element, const std::string& vr, const File& value) {
    put(file_, file_.size(), static_cast<std::uint16_t>(group), false);
    put(file_, file_.size(), static_cast<std::uint16_t>(element), false);
    file_.insert(file_.end(), vr.begin(), vr.end());
    if (vr == "OW" || vr == "OB" || vr == "SQ") {
      put(file_, file_.size(), std::uint16_t{0}, false);
      put(file_, file_.size(), static_cast<std::uint32_t>(value.size()), false);
    } else {
      put(file_, file_.size(), static_cast<std::uint16_t>(value.size()), false);
    }
    file_.insert(file_.end(), value.begin(), value.end());
    return *this;
  }
  ElementWriter& sequence(int group, int element, const std::vector<File>& items) {
    File all;
    for (const File& item : items) {
      put(all, all.size(), std::uint16_t{0xfffe}, false);
      put(all, all.size(), std::uint16_t{0xe000}, false);
      put(all, all.size(), static_cast<std::uint32_t>(item.size()), false);
      all.insert(all.end(), item.begin(), item.end());
    }
    return bytes(group, element, "SQ", all);
  }
  const File& file() const { return file_; }

 private:
  File file_;
};

constexpr const char* series_root = "1.2.826.0.1.3680043.10.511.3";

struct DicomSpec {
  std::string sop_class = "1.2.840.10008.5.1.4.1.1.2", image_type = "ORIGINAL\\PRIMARY\\AXIAL";
  std::string series = "7", uid = "1", instance = "1";
  std::string position = {}, orientation = {}, slope = {}, inter = {};
  std::string photometric = "MONOCHROME2";
  int columns = 5, rows = 4, stored = 16;
  bool is_signed = true;
  std::vector<int> samples = {};
  std::vector<std::string> frame_positions = {};  // an enhanced image with several frames
};

File dicom_file(const DicomSpec& spec) {
  ElementWriter meta;
  meta.bytes(2, 1, "OB", {0, 1})
      .text(2, 2, "UI", spec.sop_class)
      .text(2, 3, "UI", std::string(series_root) + ".1." + spec.uid)
      .text(2, 0x10, "UI", "1.2.840.10008.1.2.1");
  File length;
  put(length, 0, static_cast<std::uint32_t>(meta.file().size()), false);
  ElementWriter all;
  all.bytes(2, 0, "UL", length);
  ElementWriter set;
  set.text(8, 8, "CS", spec.image_type)
      .text(8, 0x16, "UI", spec.sop_class)
      .text(8, 0x18, "UI", std::string(series_root) + ".1." + spec.uid)
      .text(8, 0x103e, "LO", "A series " + spec.series)
      .text(0x10, 0x10, "PN", "Nobody^Real")
      .text(0x18, 0x50, "DS", "2.5")
      .text(0x20, 0xd, "UI", std::string(series_root) + ".2")
      .text(0x20, 0xe, "UI", std::string(series_root) + ".3." + spec.series)
      .text(0x20, 0x11, "IS", spec.series)
      .text(0x20, 0x13, "IS", spec.instance);
  if (!spec.position.empty()) set.text(0x20, 0x32, "DS", spec.position);
  if (!spec.orientation.empty() && spec.frame_positions.empty())
    set.text(0x20, 0x37, "DS", spec.orientation);
  set.number(0x28, 2, spec.photometric == "RGB" ? 3 : 1).text(0x28, 4, "CS", spec.photometric);
  if (!spec.frame_positions.empty())
    set.text(0x28, 8, "IS", std::to_string(spec.frame_positions.size()));
  set.number(0x28, 0x10, spec.rows).number(0x28, 0x11, spec.columns);
  if (spec.frame_positions.empty()) set.text(0x28, 0x30, "DS", "0.75\\0.5");
  set.number(0x28, 0x100, 16)
      .number(0x28, 0x101, spec.stored)
      .number(0x28, 0x102, spec.stored - 1)
      .number(0x28, 0x103, spec.is_signed ? 1 : 0);
  if (!spec.inter.empty()) set.text(0x28, 0x1052, "DS", spec.inter);
  if (!spec.slope.empty()) set.text(0x28, 0x1053, "DS", spec.slope);
  if (!spec.frame_positions.empty()) {
    const auto group = [](int element, const File& item, int of = 0x20) {
      return ElementWriter().sequence(of, element, {item}).file();
    };
    File shared = group(0x9116, ElementWriter().text(0x20, 0x37, "DS", spec.orientation).file());
    const File measures =
        group(0x9110, ElementWriter().text(0x28, 0x30, "DS", "0.75\\0.5").file(), 0x28);
    shared.insert(shared.end(), measures.begin(), measures.end());
    std::vector<File> frames;
    for (const std::string& p : spec.frame_positions)
      frames.push_back(group(0x9113, ElementWriter().text(0x20, 0x32, "DS", p).file()));
    set.sequence(0x5200, 0x9229, {shared}).sequence(0x5200, 0x9230, frames);
  }
  File samples;
  for (const int v : spec.samples)
    put(samples, samples.size(), static_cast<std::uint16_t>(v), false);
  set.bytes(0x7fe0, 0x10, "OW", samples);
  File file(128);
  for (const char c : {'D', 'I', 'C', 'M'}) file.push_back(static_cast<std::uint8_t>(c));
  for (const File* part : {&all.file(), &meta.file(), &set.file()})
    file.insert(file.end(), part->begin(), part->end());
  return file;
}

// An oblique plane: both directions have length 1 and are perpendicular.
constexpr const char* oblique = "0.8\\0.6\\0\\0\\0\\-1";
constexpr std::array<double, 3> row{0.8, 0.6, 0}, column{0, 0, -1}, normal{-0.6, 0.8, 0};

std::string position_of(double distance) {
  std::string text;
  constexpr std::array<double, 3> first{-10, 20, 30};
  for (int i = 0; i < 3; ++i)
    text += (i ? "\\" : "") + std::to_string(first[i] + distance * normal[i]);
  return text;
}
std::vector<int> samples_of_slice(int slice) {
  std::vector<int> samples;
  for (int i = 0; i < 20; ++i) samples.push_back(100 * slice + 3 * i - 50);
  return samples;
}

class Dicom : public testing::Test {
 protected:
  void add(const std::string& name, const DicomSpec& spec) const {
    std::filesystem::create_directories(series_);
    write_file(series_ + "/" + name, dicom_file(spec));
  }
  /// Adds slices whose names and instance numbers contradict their positions.
  void add_series(const std::vector<int>& slices, DicomSpec spec = {}) const {
    spec.orientation = oblique;
    for (const int s : slices) {
      spec.uid = spec.series + "." + std::to_string(s + 1);
      spec.instance = std::to_string((s * 7 + 3) % 11);
      spec.position = position_of(2.0 * s);
      spec.samples = samples_of_slice(s);
      add("IM" + std::to_string(spec.samples[0] < 0 ? 9 : (s * 5) % 8) + spec.series, spec);
    }
  }
  std::vector<double> values(const std::string& path, const SourceOptions& options = {}) const {
    const auto source = open_source(path, options);
    std::vector<double> all, slice;
    while (const auto frame = source->read()) {
      source->values_of(*frame, slice);
      all.insert(all.end(), slice.begin(), slice.end());
    }
    return all;
  }
  static std::vector<double> expected(const std::vector<int>& slices, double slope = 1,
                                      double inter = 0) {
    std::vector<double> values;
    for (const int s : slices)
      for (const int v : samples_of_slice(s)) values.push_back(slope * v + inter);
    return values;
  }
  std::string refusal(const std::string& path, const SourceOptions& options = {}) const {
    try {
      (void)values(path, options);
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.what();
    } catch (const Error& error) {
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
      return error.what();
    }
    return "no error";
  }
  void convert(const std::string& to) const { convert(series_, to); }
  void convert(const std::string& from, const std::string& to) const {
    const auto source = open_source(from, {});
    const auto sink = open_sink(to, *source, {});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
  }

  TemporaryFolder folder;
  const std::string series_ = folder / "series";
};

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

/// Returns the text of an attribute.
std::string attribute(const std::string& path, int group, int element) {
  DcmFileFormat file;
  if (file.loadFile(path.c_str()).bad()) return "not readable";
  const DcmTagKey tag(static_cast<Uint16>(group), static_cast<Uint16>(element));
  OFString text;
  (void)file.getDataset()->findAndGetOFStringArray(tag, text);
  return text.c_str();
}

TEST_F(Dicom, OutputsAreDerivedSeriesWithTheOtherAttributes) {
  add_series({2, 0, 1}, {.slope = "2", .inter = "-1024", .stored = 12});
  convert(folder / "out/");
  convert(folder / "again/");
  EXPECT_EQ(values(folder / "out"), expected({0, 1, 2}, 2, -1024));
  std::set<std::string> images, series;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out")) {
    const std::string name = entry.path().filename().string(), path = entry.path().string();
    EXPECT_EQ(read_file(path), read_file(folder / ("again/" + name)));
    const std::string source = series_ + "/" + name;
    EXPECT_EQ(attribute(path, 8, 8), "DERIVED\\SECONDARY\\AXIAL");
    for (const auto& [group, element] :
         {std::pair(0x10, 0x10), {0x20, 0xd}, {0x20, 0x32}, {0x20, 0x13}, {0x28, 0x30}})
      EXPECT_EQ(attribute(path, group, element), attribute(source, group, element));
    EXPECT_EQ(attribute(path, 8, 0x103e), "A series 7 (denoised)");
    images.insert(attribute(path, 8, 0x18));
    series.insert(attribute(path, 0x20, 0xe));
  }
  EXPECT_EQ(images.size(), 3u);
  EXPECT_EQ(series.size(), 1u);
  for (const std::string& uid : images) EXPECT_TRUE(uid.starts_with("2.25.") && uid.size() <= 64);
  const auto source = open_source(series_, {});
  EXPECT_THROW((void)open_sink(folder / "out/", *source, {.overwrite = true}), CannotCreate);
  EXPECT_THROW((void)open_sink(folder / "out.dcm", *source, {}), InvalidArgument);
  EXPECT_THROW((void)open_sink(folder / "new/", *source, {.datatype = DataType::int16}),
               InvalidArgument);
  {
    const auto sink = open_sink(folder / "new/", *source, {});
    sink->write(*source->read());
  }
  EXPECT_THAT(folder.files(), testing::ElementsAre("again", "out", "series"));
}

TEST_F(Dicom, TemporaryFolderOfAKilledRunIsRemovedByTheNextRun) {
  add_series({0, 1});
  const pid_t child = ::fork();
  if (child == 0) {
    const auto source = open_source(series_, {});
    const auto sink = open_sink(folder / "out/", *source, {});
    sink->write(*source->read());
    ::_exit(0);  // without destructors, like a killed process
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_THAT(folder.files(), testing::SizeIs(2));
  {
    const auto source = open_source(series_, {});
    const auto other = open_sink(folder / "other/", *source, {});
    EXPECT_THAT(folder.files(), testing::SizeIs(3));  // that of another output remains
  }
  convert(folder / "out/");
  EXPECT_THAT(folder.files(), testing::ElementsAre("out", "series"));
}

TEST_F(Dicom, OutputsStoreFilteredSamplesWithTheScaleAndTheBitsOfEachFile) {
  add_series({0}, {.slope = "1", .stored = 8});
  add_series({1, 2}, {.slope = "0.5", .stored = 8});
  for (const bool again : {false, true}) {
    const auto source = open_source(series_, {.axis = again ? Axis::x : Axis::z});
    const auto sink = open_sink(folder / (again ? "b/" : "a/"), *source, {});
    while (auto frame = source->read()) {
      for (int y = 0; y < frame->format.height; ++y)
        for (int x = 0; x < frame->format.width; ++x) frame->plane<float>(0)(x, y) += 0.2f;
      sink->write(*std::move(frame));
    }
    sink->finish();
  }
  EXPECT_EQ(values(folder / "a"), values(folder / "b"));
  // 8 stored bits with a sign hold -128 to 127.
  const std::vector<double> before = values(series_), after = values(folder / "a");
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_GE(after[i], before[i]) << i;
    EXPECT_LE(after[i], 127);
  }
  EXPECT_EQ(*std::ranges::max_element(after), 63.5);
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
