// Tests DICOM series as outputs.

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "io/dicom/dicom_series.h"

namespace lull::io::test {
namespace {

class DicomOutput : public DicomTest {};

/// Returns the text of an attribute.
std::string attribute(const std::string& path, int group, int element) {
  DcmFileFormat file;
  if (file.loadFile(path.c_str()).bad()) return "not readable";
  const DcmTagKey tag(static_cast<Uint16>(group), static_cast<Uint16>(element));
  OFString text;
  (void)file.getDataset()->findAndGetOFStringArray(tag, text);
  return text.c_str();
}

TEST_F(DicomOutput, OutputsAreDerivedSeriesWithTheOtherAttributes) {
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

TEST_F(DicomOutput, DescriptionsKeepTheirCharacters) {
  const std::string iso_2022 = "\x1b$B<!\x1b(B head";
  std::string long_utf8;
  for (int i = 0; i < 20; ++i) long_utf8 += "\xe6\xac\xa1";
  const std::pair<std::string, std::string> descriptions[] = {
      {iso_2022, iso_2022 + " (denoised)"},
      {long_utf8, long_utf8},
      {std::string(64, 'a'), std::string(53, 'a') + " (denoised)"}};
  for (const auto& [before, after] : descriptions) {
    DicomSpec spec{.position = position_of(0), .orientation = oblique, .description = before};
    spec.samples = samples_of_slice(0);
    write_file(folder / "a.dcm", dicom_file(spec));
    std::filesystem::remove(folder / "b.dcm");
    convert(folder / "a.dcm", folder / "b.dcm");
    EXPECT_EQ(attribute(folder / "b.dcm", 8, 0x103e), after);
  }
}

TEST_F(DicomOutput, TemporaryFolderOfAKilledRunIsRemovedByTheNextRun) {
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

TEST_F(DicomOutput, OutputsStoreFilteredSamplesWithTheScaleAndTheBitsOfEachFile) {
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

}  // namespace
}  // namespace lull::io::test
