// Tests losses that are reported as warnings and errors, messages in the bit stream, and interlaced
// input.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/display.h>
#include <libavutil/mastering_display_metadata.h>
}

#include <algorithm>
#include <array>

#include "io/support/clip.h"
#include "io/support/ffprobe.h"
#include "io/support/side_data.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;

TEST(StrictMetadata, TurnsLossesIntoErrorsAndLeavesNoFile) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.decorate = add_chapter;
  for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(25 + i);  // space for B-frames
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

TEST(StrictMetadata, DetectsLossesInLaterFrames) {
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

// The side data survives two conversions; captions are compared byte for byte.
TEST(FrameSideData, IsEqualAfterSeveralConversions) {
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
              av_frame_get_side_data(frame->side_data->properties.get(), wanted.type);
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

void add_static_hdr(AVFormatContext& context) {
  AVMasteringDisplayMetadata display{};
  display.display_primaries[0][0] = {34000, 50000};
  display.display_primaries[0][1] = {16000, 50000};
  display.display_primaries[1][0] = {13250, 50000};
  display.display_primaries[1][1] = {34500, 50000};
  display.display_primaries[2][0] = {7500, 50000};
  display.display_primaries[2][1] = {3000, 50000};
  display.white_point[0] = {15635, 50000};
  display.white_point[1] = {16450, 50000};
  display.min_luminance = {50, 10000};
  display.max_luminance = {1000, 1};
  display.has_primaries = display.has_luminance = 1;
  const AVContentLightMetadata light{.MaxCLL = 900, .MaxFALL = 400};
  const auto add = [&](AVPacketSideDataType type, const auto& data) {
    add_stream_data(*context.streams[0], type,
                    {reinterpret_cast<const std::uint8_t*>(&data), sizeof data});
  };
  add(AV_PKT_DATA_MASTERING_DISPLAY_METADATA, display);
  add(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, light);
}

// The container of the input states the HDR10 metadata, but the container of the output cannot.
TEST(StaticHdr, OfTheContainerIsWrittenToTheStream) {
  if (!has_encoder("libx265")) GTEST_SKIP() << "this FFmpeg has no libx265";
  const TemporaryFolder folder;
  ClipSpec spec{.width = 128, .height = 96};
  spec.decorate = add_static_hdr;
  make_clip(folder / "in.mkv", spec);
  EXPECT_THAT(convert(folder / "in.mkv", folder / "out.mov", {.vcodec = "libx265"}),
              testing::Not(testing::Contains(HasSubstr("HDR10"))));
  const auto frame = open_source(folder / "out.mov")->read();
  const AVFrame& properties = *frame->side_data->properties;
  const AVFrameSideData* display =
      av_frame_get_side_data(&properties, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
  const AVFrameSideData* light =
      av_frame_get_side_data(&properties, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
  ASSERT_TRUE(display && light);
  const auto& read = *reinterpret_cast<const AVMasteringDisplayMetadata*>(display->data);
  EXPECT_NEAR(av_q2d(read.display_primaries[0][0]), 0.68, 1e-4);
  EXPECT_NEAR(av_q2d(read.max_luminance), 1000, 1e-3);
  EXPECT_EQ(reinterpret_cast<const AVContentLightMetadata*>(light->data)->MaxCLL, 900u);
}

TEST(Interlaced, IsRejectedByDefault) {
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

// DV of 525 lines has 4:1:1 subsampling.
TEST(Interlaced, DvStaysInterlacedInFfv1) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "dvvideo";
  spec.format = AV_PIX_FMT_YUV411P;
  spec.width = 720;
  spec.height = 480;
  spec.frames = 3;
  spec.time_base = {1001, 30000};
  spec.frame_rate = {30000, 1001};
  make_clip(folder / "in.avi", spec);
  ASSERT_TRUE(open_source(folder / "in.avi")->info().interlaced);
  // NUT has no field for this property.
  EXPECT_THAT(convert(folder / "in.avi", folder / "out.nut", {.vcodec = "ffv1"}),
              testing::Not(testing::Contains(HasSubstr("fields"))));
  const Decoded in = decode(folder / "in.avi"), out = decode(folder / "out.nut");
  EXPECT_TRUE(is_interlaced(*out.first));
  EXPECT_EQ(top_field_first(*out.first), top_field_first(*in.first));
  ASSERT_EQ(out.pictures.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out.pictures[i].bytes, in.pictures[i].bytes) << i;
}

// If chroma has a quarter of the columns, FFV1 either needs slices at multiples of 4 or uses level
// 1, which stores neither fields nor the sample aspect ratio.
TEST(Interlaced, Ffv1KeepsTheFlagOrReportsTheLoss) {
  const TemporaryFolder folder;
  for (const int width : {64, 72, 68, 50}) {
    SCOPED_TRACE(width);
    ClipSpec spec;
    spec.format = AV_PIX_FMT_YUV411P;
    spec.width = width;
    spec.set_up = [](AVCodecContext& e) { e.sample_aspect_ratio = {3, 2}; };
    spec.encoder_options = {{"level", "1"}};
    spec.decorate = [](AVFormatContext& c) { c.streams[0]->codecpar->field_order = AV_FIELD_BB; };
    make_clip(folder / "in.mkv", spec);
    ASSERT_TRUE(open_source(folder / "in.mkv")->info().interlaced);
    const auto losses =
        convert(folder / "in.mkv", folder / "out.nut", {.vcodec = "ffv1", .overwrite = true});
    const Decoded in = decode(folder / "in.mkv"), out = decode(folder / "out.nut");
    EXPECT_EQ(out.pictures.front().bytes, in.pictures.front().bytes);
    const bool named = std::ranges::any_of(
        losses, [](const std::string& text) { return text.find("fields") != text.npos; });
    EXPECT_EQ(named, width % 8 != 0);
    EXPECT_EQ(is_interlaced(*out.first), !named);
    if (!named) {
      EXPECT_FALSE(top_field_first(*out.first));
    }
  }
}

// x264 learns the field order from FFmpeg only with the first frame, too late for the messages
// (pic_struct) of the frames in its lookahead.
TEST(Interlaced, EveryFrameOfX264StatesTheFieldOrderOfTheContainer) {
  if (!has_encoder("libx264")) GTEST_SKIP() << "this FFmpeg has no libx264";
  if (!missing_ffprobe().empty()) GTEST_SKIP() << missing_ffprobe();
  const TemporaryFolder folder;
  for (const AVFieldOrder order : {AV_FIELD_TT, AV_FIELD_BB, AV_FIELD_TB, AV_FIELD_BT}) {
    SCOPED_TRACE(order);
    const bool top = order == AV_FIELD_TT || order == AV_FIELD_TB;
    ClipSpec spec;
    spec.height = 64;
    spec.decorate = [&](AVFormatContext& c) { c.streams[0]->codecpar->field_order = order; };
    make_clip(folder / "in.mkv", spec);
    convert(folder / "in.mkv", folder / "out.mp4", {.overwrite = true});
    const Report report(folder / "out.mp4");
    EXPECT_TRUE(report.says("frame.0.top_field_first", top ? "1" : "0"));
    EXPECT_EQ(report.traces("pic_struct", 3), top);
    EXPECT_EQ(report.traces("pic_struct", 4), !top);
  }
}

TEST(Interlaced, Y4mKeepsTheFieldOrderWithoutAWarning) {
  const TemporaryFolder folder;
  for (const AVFieldOrder order : {AV_FIELD_TT, AV_FIELD_BB, AV_FIELD_TB, AV_FIELD_BT}) {
    SCOPED_TRACE(order);
    ClipSpec spec;
    spec.decorate = [&](AVFormatContext& c) { c.streams[0]->codecpar->field_order = order; };
    make_clip(folder / "in.mkv", spec);
    EXPECT_THAT(convert(folder / "in.mkv", folder / "out.y4m", {.overwrite = true}),
                testing::IsEmpty());
    const std::vector<std::uint8_t> bytes = read_file(folder / "out.y4m");
    const std::string header(bytes.begin(), std::ranges::find(bytes, '\n'));
    EXPECT_THAT(header, HasSubstr(top_field_first(order) ? " It " : " Ib "));
    EXPECT_TRUE(open_source(folder / "out.y4m")->info().interlaced);
  }
}

TEST(Rotation, LossIsExplained) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.decorate = [](AVFormatContext& context) {
    std::array<std::int32_t, 9> matrix;
    av_display_rotation_set(matrix.data(), 90);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(matrix.data());
    add_stream_data(*context.streams[0], AV_PKT_DATA_DISPLAYMATRIX, {bytes, sizeof matrix});
  };
  spec.encoder = "mpeg4";
  make_clip(folder / "in.mp4", spec);
  EXPECT_THAT(
      convert(folder / "in.mp4", folder / "a.nut", {.vcodec = "mpeg4"}),
      testing::Contains(testing::AllOf(HasSubstr("will lie on its side"), HasSubstr("use .mp4"))));
  EXPECT_THAT(convert(folder / "in.mp4", folder / "b.nut", {.vcodec = "ffv1"}),
              testing::Contains(HasSubstr("use .mov")));
  EXPECT_THAT(convert(folder / "in.mp4", folder / "c.mp4", {.vcodec = "mpeg4"}),
              testing::Not(testing::Contains(HasSubstr("rotation"))));
}

// Apple's players require this tag for HEVC.
TEST(Conversion, HevcInMp4AndMovHasTheTagHvc1) {
  if (!has_encoder("libx265")) GTEST_SKIP() << "no encoder libx265";
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", {.width = 64, .height = 64});
  for (const char* name : {"out.mp4", "out.mov"}) {
    SCOPED_TRACE(name);
    convert(folder / "in.mkv", folder / name, {.vcodec = "libx265"});
    AVFormatContext* context = nullptr;
    ASSERT_GE(avformat_open_input(&context, (folder / name).c_str(), nullptr, nullptr), 0);
    EXPECT_EQ(context->streams[0]->codecpar->codec_tag, MKTAG('h', 'v', 'c', '1'));
    avformat_close_input(&context);
    EXPECT_EQ(decode(folder / name).pictures.size(), 10u);
  }
}

TEST(Conversion, TransportStreamsRejectUnreadableStreams) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  make_clip(folder / "in.mkv", spec);
  EXPECT_THROW(transcode(folder / "in.mkv", folder / "out.ts"), InvalidArgument);
  make_clip(folder / "silent.mkv", {});
  EXPECT_THROW(transcode(folder / "silent.mkv", folder / "out.ts", {.lossless = true}),
               InvalidArgument);
}

TEST(Conversion, Mp4KeepsForeignTagsAndTheExactStart) {
  if (!missing_ffprobe().empty()) GTEST_SKIP() << missing_ffprobe();
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.time_base = {1, 90000};
  for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(132006 + 3600 * i);
  spec.decorate = [](AVFormatContext& c) { av_dict_set(&c.metadata, "scanner", "K7", 0); };
  make_clip(folder / "in.nut", spec);
  SinkOptions options;
  options.vopts = {{"movflags", "faststart"}};
  options.keep_times = true;
  convert(folder / "in.nut", folder / "out.mp4", options);
  const Report report(folder / "out.mp4");
  EXPECT_EQ(report.value("format.tags.scanner"), "K7");
  EXPECT_EQ(report.value("stream.0.start_time"), "1.466733");
}

}  // namespace
}  // namespace lull::io::test
