// Tests decoded samples: pictures are cropped exactly, and the film grain that decoders would add
// is missing. Also tests the location of files in a playlist.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

/// Returns the pictures that FFmpeg decodes after `set_up` has changed the decoder.
std::vector<FramePtr> decode_with(const std::string& path,
                                  const std::function<void(AVCodecContext&)>& set_up) {
  AVFormatContext* context = nullptr;
  if (avformat_open_input(&context, path.c_str(), nullptr, nullptr) < 0) return {};
  const std::unique_ptr<AVFormatContext, Releaser<avformat_close_input>> input(context);
  avformat_find_stream_info(context, nullptr);
  const AVCodecParameters& codec = *context->streams[0]->codecpar;
  const CodecPtr decoder(avcodec_alloc_context3(avcodec_find_decoder(codec.codec_id)));
  avcodec_parameters_to_context(decoder.get(), &codec);
  set_up(*decoder);
  avcodec_open2(decoder.get(), nullptr, nullptr);
  std::vector<FramePtr> frames;
  bool more = true;
  for (PacketPtr packet = make_packet(); more; av_packet_unref(packet.get())) {
    more = av_read_frame(context, packet.get()) >= 0;
    avcodec_send_packet(decoder.get(), more ? packet.get() : nullptr);
    for (FramePtr f = make_frame(); avcodec_receive_frame(decoder.get(), f.get()) >= 0;
         f = make_frame())
      frames.push_back(std::move(f));
  }
  return frames;
}

/// Returns true if the frame is the part of `whole` that begins at (`left`, `top`), in luma
/// samples.
bool is_part(const Frame& frame, const AVFrame& whole, int left, int top) {
  for (int p = 0; p < frame.format.planes(); ++p) {
    const int x = p == 0 ? left : left / 2, y = p == 0 ? top : top / 2;
    const auto& plane = frame.planes[p];
    for (int row = 0; row < plane.height; ++row) {
      const auto* from = reinterpret_cast<const std::byte*>(
          whole.data[p] + std::ptrdiff_t{row + y} * whole.linesize[p] + x);
      if (!std::equal(plane.row(row), plane.row(row) + plane.width, from)) return false;
    }
  }
  return true;
}

TEST(Cropping, AtTheLeftIsExactToTheSample) {
  if (!has_encoder("libx264")) GTEST_SKIP() << "this FFmpeg lacks libx264";
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "libx264";
  spec.width = 96;
  spec.height = 64;
  spec.frames = 5;
  spec.encoder_options = {{"x264-params", "crop-rect=6,2,4,0:log-level=none"}};
  make_clip(folder / "in.mkv", spec);
  const auto whole = decode_with(folder / "in.mkv", [](AVCodecContext& decoder) {
    decoder.flags2 |= AV_CODEC_FLAG2_IGNORE_CROP;
    decoder.width = decoder.height = 0;  // otherwise the container's size is used
  });
  ASSERT_EQ(whole.size(), 5u);
  ASSERT_EQ(whole[0]->width, 96);
  const auto source = open_source(folder / "in.mkv");
  ASSERT_EQ(source->format().width, 86);
  ASSERT_EQ(source->format().height, 62);
  for (const FramePtr& picture : whole) {
    const std::optional<Frame> frame = source->read();
    ASSERT_TRUE(frame);
    EXPECT_TRUE(is_part(*frame, *picture, 6, 2));
  }
}

TEST(FilmGrain, IsNotApplied) {
  if (!has_encoder("libaom-av1")) GTEST_SKIP() << "this FFmpeg lacks libaom-av1";
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "libaom-av1";
  spec.width = spec.height = 96;
  spec.frames = 3;
  spec.encoder_options = {{"cpu-used", "8"}, {"aom-params", "film-grain-test=1"}};
  make_clip(folder / "in.mkv", spec);
  const auto grainy = decode_with(folder / "in.mkv", [](AVCodecContext&) {});
  const auto clean = decode_with(folder / "in.mkv", [](AVCodecContext& decoder) {
    decoder.export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
  });
  ASSERT_EQ(grainy.size(), 3u);
  ASSERT_EQ(clean.size(), 3u);
  const auto source = open_source(folder / "in.mkv");
  EXPECT_THAT(source->info().notes, testing::Contains(testing::HasSubstr("film grain")));
  for (int i = 0; i < 3; ++i) {
    const std::optional<Frame> frame = source->read();
    ASSERT_TRUE(frame);
    EXPECT_TRUE(is_part(*frame, *clean[i], 0, 0)) << i;
    EXPECT_FALSE(is_part(*frame, *grainy[i], 0, 0)) << i;
  }
}

TEST(Playlists, ResolveNamesRelativeToTheirFolder) {
  for (const std::string name : {"sub", "a b#c?d%41"}) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / name);
    ClipSpec spec;
    spec.encoder = "libx264";
    if (!has_encoder("libx264")) spec.encoder = "mpeg4";
    make_clip(folder / (name + "/a.mkv"), spec);
    std::ofstream(folder / (name + "/list.ffconcat"))
        << "ffconcat version 1.0\nfile a.mkv\nfile a.mkv\n";
    EXPECT_EQ(count_frames(folder / (name + "/list.ffconcat")), 20);
    const auto old = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    EXPECT_EQ(count_frames(name + "/list.ffconcat"), 20);
    std::filesystem::current_path(old);
  }
}

}  // namespace
}  // namespace lull::io::test
