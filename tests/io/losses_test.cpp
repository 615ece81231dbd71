// Losses as warnings and errors, messages in the bit stream, interlaced input.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/clip.h"
#include "io/dressing.h"
#include "io/ffprobe.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;

TEST(StrictMetadata, MakesAnErrorOfEveryLossAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.decorate = add_chapter;
  for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(25 + i);  // room for B frames
  make_clip(folder / "in.mkv", spec);
  EXPECT_THAT(convert(folder / "in.mkv", folder / "free.ts", {}),
              testing::Contains(HasSubstr("1 chapter")));
  try {
    convert(folder / "in.mkv", folder / "out.ts", {.strict_metadata = true});
    FAIL() << "a chapter was lost";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("chapter"));
    EXPECT_THAT(error.what(), HasSubstr("--strict-metadata"));
  }
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"free.ts", "in.mkv"}));
  EXPECT_NO_THROW(convert(folder / "in.mkv", folder / "out.mkv", {.strict_metadata = true}));
}

TEST(StrictMetadata, SeesWhatComesWithLaterFrames) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", {});
  int frames = 0;
  const auto late = [&](AVFrame& frame) {
    if (++frames == 5) add_captions(frame);
  };
  EXPECT_THAT(convert(folder / "in.mkv", folder / "free.mkv", {.vcodec = "ffv1"}, late),
              testing::ElementsAre(HasSubstr("A53")));
  frames = 0;
  EXPECT_THROW(convert(folder / "in.mkv", folder / "out.mkv",
                       {.vcodec = "ffv1", .strict_metadata = true}, late),
               InvalidArgument);
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"free.mkv", "in.mkv"}));
}

// Through two conversions; of captions byte by byte.
TEST(FrameMessages, StayTheSameOverGenerations) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", {.width = 128, .height = 96});
  for (const std::string encoder : {"libx264", "libx265"}) {
    if (!has_encoder(encoder.c_str())) continue;
    SCOPED_TRACE(encoder);
    const SinkOptions options{.vcodec = encoder, .overwrite = true};
    for (const auto add : {add_captions, add_hdr_plus}) {
      convert(folder / "in.mkv", folder / "a.mp4", options, add);
      convert(folder / "a.mp4", folder / "b.mkv", options);
      for (const char* name : {"a.mp4", "b.mkv"}) {
        const auto source = open_source(folder / name);
        const FramePtr expected = make_frame();
        add(*expected);
        const AVFrameSideData& wanted = *expected->side_data[0];
        int count = 0;
        while (auto frame = source->read()) {
          const AVFrameSideData* data =
              av_frame_get_side_data(frame->passenger->properties.get(), wanted.type);
          if (encoder == "libx264" && wanted.type == AV_FRAME_DATA_DYNAMIC_HDR_PLUS && !data)
            continue;  // FFmpeg 5.1 does not read it from H.264
          ASSERT_TRUE(data) << name << " frame " << count;
          if (wanted.type == AV_FRAME_DATA_A53_CC) {
            ASSERT_EQ(std::vector(data->data, data->data + data->size),
                      std::vector(wanted.data, wanted.data + wanted.size));
          }
          ++count;
        }
      }
    }
  }
}

TEST(Interlaced, IsRefusedWhereItIsNotWanted) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "libx264";
  spec.height = 64;
  spec.encoder_options = {{"flags", "+ildct+ilme"}};
  make_clip(folder / "in.mkv", spec);
  EXPECT_TRUE(open_source(folder / "in.mkv")->info().interlaced);
  SourceOptions strict;
  strict.refuse_interlaced = true;
  try {
    (void)open_source(folder / "in.mkv", strict);
    FAIL() << "interlaced video was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("--interlaced fields"));
  }
  make_clip(folder / "whole.mkv", {});
  EXPECT_FALSE(open_source(folder / "whole.mkv", strict)->info().interlaced);
}

TEST(Conversion, ToTransportStreamsHoldsNoStreamThatNobodyCanRead) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  make_clip(folder / "in.mkv", spec);
  EXPECT_THROW(transcode(folder / "in.mkv", folder / "out.ts"), InvalidArgument);
  make_clip(folder / "silent.mkv", {});
  EXPECT_THROW(transcode(folder / "silent.mkv", folder / "out.ts", {.lossless = true}),
               InvalidArgument);
}

TEST(Conversion, ToMp4KeepsTheTagsThatItsListLacksAndTheStartInFineUnits) {
  if (!missing_ffprobe().empty()) GTEST_SKIP() << missing_ffprobe();
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.time_base = {1, 90000};
  for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(132006 + 3600 * i);
  spec.decorate = [](AVFormatContext& c) { av_dict_set(&c.metadata, "scanner", "K7", 0); };
  make_clip(folder / "in.nut", spec);
  SinkOptions options;
  options.vopts = {{"movflags", "faststart"}};
  convert(folder / "in.nut", folder / "out.mp4", options);
  const Report report(folder / "out.mp4");
  EXPECT_EQ(report.value("format.tags.scanner"), "K7");
  EXPECT_EQ(report.value("stream.0.start_time"), "1.466733");
}

}  // namespace
}  // namespace lull::io::test
