// The report of probe() about an output must agree with what open_sink() does.

#include "io/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/display.h>
}

#include <algorithm>
#include <array>

#include "core/error.h"
#include "io/support/clip.h"
#include "io/support/volumes.h"

namespace lull::io::test {
namespace {

using ::testing::HasSubstr;

int count_fate(const InputReport& report, const std::string& fate) {
  return static_cast<int>(std::ranges::count(report.streams, fate, &StreamReport::fate));
}

TEST(Probe, ReportsTheFateOfEachStream) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "pcm_s16le";
  spec.subtitles = "srt";
  make_clip(folder / "in.mkv", spec);
  for (const char* name :
       {"a.mkv", "a.mp4", "a.mov", "a.avi", "a.nut", "a.webm", "a.y4m", "a.ts"}) {
    const InputReport report = probe(folder / "in.mkv", {}, folder / name, {});
    ASSERT_EQ(report.streams.size(), 3u);
    if (count_fate(report, "refused") > 0) {
      EXPECT_FALSE(report.lost.empty()) << name;
      EXPECT_THROW(transcode(folder / "in.mkv", folder / name), InvalidArgument) << name;
      continue;
    }
    const auto source = open_source(folder / "in.mkv");
    const auto sink = open_sink(folder / name, *source, {});
    EXPECT_EQ(report.lost.size(), sink->losses().size()) << name;
    EXPECT_EQ(transcode(folder / "in.mkv", folder / name), 10) << name;
    EXPECT_EQ(static_cast<int>(read_packets(folder / name).size()),
              1 + count_fate(report, "copied") + count_fate(report, "converted"))
        << name;
  }
  EXPECT_EQ(count_fate(probe(folder / "in.mkv", {}, "-", {}), "left out"), 2);
  EXPECT_EQ(count_fate(probe(folder / "in.mkv", {}, "hash", {}), "left out"), 2);
  EXPECT_EQ(count_fate(probe(folder / "in.mkv", {}, folder / "a%d.png", {}), "left out"), 2);
  EXPECT_EQ(folder.files().front(), "a.mkv") << "and writes nothing";
}

TEST(Probe, ReportsTheVideoFormat) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.format = AV_PIX_FMT_YUV422P10;
  spec.width = 62;
  spec.set_up = [](AVCodecContext& e) {
    e.color_range = AVCOL_RANGE_JPEG;
    e.color_primaries = AVCOL_PRI_BT2020;
    e.color_trc = AVCOL_TRC_SMPTE2084;
    e.colorspace = AVCOL_SPC_BT2020_NCL;
  };
  make_clip(folder / "in.mkv", spec);
  const InputReport report = probe(folder / "in.mkv", {}, "out.mkv", {});
  EXPECT_EQ(report.format.width, 62);
  EXPECT_EQ(report.format.bits, 10);
  EXPECT_EQ(report.video.codec, "ffv1");
  EXPECT_EQ(report.range, "pc");
  EXPECT_EQ(report.primaries, "bt2020");
  EXPECT_EQ(report.transfer, "smpte2084");
  EXPECT_EQ(report.matrix, "bt2020nc");
  EXPECT_EQ(report.pixel_format, "yuv422p10le");
  EXPECT_EQ(report.streams[0].fate, "denoised");
}

// In videos of phones, only the container states the rotation.
TEST(Probe, ReportsTheRotationOfTheContainer) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "mpeg4";
  spec.decorate = [](AVFormatContext& context) {
    std::array<std::int32_t, 9> matrix;
    av_display_rotation_set(matrix.data(), 90);
    add_stream_data(*context.streams[0], AV_PKT_DATA_DISPLAYMATRIX,
                    {reinterpret_cast<const std::uint8_t*>(matrix.data()), sizeof matrix});
  };
  make_clip(folder / "in.mp4", spec);
  EXPECT_NEAR(probe(folder / "in.mp4", {}, "out.mp4", {}).rotation, 90, 1e-6);
}

TEST(Probe, ListsTheFilesOfASequence) {
  const TemporaryFolder folder;
  ClipSpec spec = png_spec();
  for (const char* name : {"a.1.png", "a.3.png"}) make_clip(folder / name, spec);
  const InputReport report = probe(folder / "a.%d.png", {}, folder / "b.%d.png", {});
  EXPECT_EQ(report.files, (std::vector<std::string>{folder / "a.1.png", folder / "a.3.png"}));
  EXPECT_THAT(report.video.notes, testing::ElementsAre(HasSubstr("no number 2")));
  EXPECT_EQ(report.encoder, "png");
}

TEST(Probe, ReportsStacks) {
  const TemporaryFolder folder;
  write_file(folder / "in.nii", volume({}, std::vector<std::int16_t>(60, 3)));
  for (const char* name : {"", "a.nii.gz", "null", "hash"}) {
    const InputReport report = probe(folder / "in.nii", {}, name, {});
    EXPECT_EQ(report.video.frames_estimate, 3);
    EXPECT_EQ(report.format.width, 5);
    EXPECT_TRUE(report.streams.empty());
    EXPECT_TRUE(report.lost.empty()) << name;
  }
  const InputReport report = probe(folder / "in.nii", {}, "a.mkv", {});
  ASSERT_EQ(report.lost.size(), 1u);
  EXPECT_THAT(report.lost[0], HasSubstr("a volume remains a volume"));
}

}  // namespace
}  // namespace lull::io::test
