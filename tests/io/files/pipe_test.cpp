// Tests standard input and output: the data that the containers for pipes preserve, and the end of
// streams.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <tuple>

#include "core/error.h"
#include "io/ffmpeg/pixel_formats.h"
#include "io/picture.h"
#include "io/support/clip.h"
#include "support/pictures.h"

namespace lull::io::test {
namespace {

using namespace std::chrono_literals;

/// A file descriptor that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const std::string& path, int flags) : Descriptor(::open(path.c_str(), flags, 0600)) {
    if (descriptor_ < 0) throw std::runtime_error("cannot open " + path);
  }
  ~Descriptor() { ::close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Copies `from` to `to` as if `to` were standard output.
void to_pipe(const std::string& from, const std::string& to, const std::string& format) {
  const Descriptor out(to, O_WRONLY | O_CREAT | O_TRUNC);
  transcode(from, "-", {.format = format, .descriptor = out});
}

/// Copies `from` to the file `to` as if `from` were standard input.
int from_pipe(const std::string& from, const std::string& to, SourceOptions options = {}) {
  const Descriptor in(from, O_RDONLY);
  options.descriptor = in;
  const auto source = open_source("-", options);
  const auto sink = open_sink(to, *source, {.lossless = true, .overwrite = true});
  int frames = 0;
  for (; auto frame = source->read(); ++frames) sink->write(std::move(*frame));
  sink->finish();
  return frames;
}

ClipSpec small_clip(AVPixelFormat format) {
  ClipSpec spec;
  spec.width = 45;
  spec.height = 33;
  spec.frames = 3;
  spec.format = format;
  spec.time_base = {1, 25};
  return spec;
}

void expect_equal(const Decoded& a, const Decoded& b) {
  EXPECT_EQ(name_of(a.format), std::string(name_of(b.format)));
  ASSERT_EQ(a.pictures.size(), b.pictures.size());
  for (std::size_t i = 0; i < a.pictures.size(); ++i) {
    EXPECT_EQ(a.pictures[i].bytes, b.pictures[i].bytes) << i;
    EXPECT_NEAR(a.pictures[i].time, b.pictures[i].time, 1e-3) << i;
  }
}

/// Compares the samples that lull reads from two files, whose pixel formats may differ.
void expect_equal_samples(const std::string& a, const std::string& b) {
  const auto x = open_source(a), y = open_source(b);
  for (int n = 0;; ++n) {
    const auto f = x->read(), g = y->read();
    ASSERT_EQ(f.has_value(), g.has_value()) << n;
    if (!f) return;
    ASSERT_EQ(f->format, g->format) << n;
    EXPECT_TRUE(test_support::same_samples(*f, *g)) << n;
    const Frame *p = alpha_of(*f), *q = alpha_of(*g);
    ASSERT_EQ(p != nullptr, q != nullptr) << n;
    if (p) {
      EXPECT_TRUE(test_support::same_samples(*p, *q)) << n;
    }
  }
}

using Kind = std::tuple<std::string, std::string>;  // container, pixel format
class Pipe : public testing::TestWithParam<Kind> {};

std::string kind_name(const testing::TestParamInfo<Kind>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(
    Y4m, Pipe,
    testing::Combine(testing::Values("y4m"),
                     testing::Values("gray", "gray10le", "gray12le", "gray16le", "yuv420p",
                                     "yuv422p", "yuv444p", "yuv420p9le", "yuv420p10le",
                                     "yuv422p10le", "yuv444p10le", "yuv420p12le", "yuv422p12le",
                                     "yuv444p14le", "yuv420p16le", "yuv422p16le", "yuv444p16le")),
    kind_name);

INSTANTIATE_TEST_SUITE_P(
    Nut, Pipe,
    testing::Combine(testing::Values("nut"),
                     testing::Values("gray", "gray10le", "gray12le", "gray16le", "yuv420p",
                                     "yuv422p", "yuv444p", "yuv420p9le", "yuv422p9le", "yuv444p9le",
                                     "yuv420p10le", "yuv422p10le", "yuv444p10le", "yuv420p12le",
                                     "yuv422p12le", "yuv444p12le", "yuv420p14le", "yuv422p14le",
                                     "yuv444p14le", "yuv420p16le", "yuv422p16le", "yuv444p16le",
                                     "bgra", "gbrp9le", "gbrp10le", "gbrp12le", "gbrp14le",
                                     "gbrp16le", "rgb48le", "rgba64le", "gbrap10le", "gbrap12le",
                                     "gbrap16le", "yuva420p", "yuva422p", "yuva444p")),
    kind_name);

TEST_P(Pipe, KeepsEverySample) {
  const auto& [container, name] = GetParam();
  const AVPixelFormat format = av_get_pix_fmt(name.c_str());
  const AVCodec* ffv1 = avcodec_find_encoder_by_name("ffv1");
  const auto* known = ffv1->pix_fmts;
  while (*known != AV_PIX_FMT_NONE && *known != format) ++known;
  const TemporaryFolder folder;
  ClipSpec spec = small_clip(format);
  if (*known == AV_PIX_FMT_NONE) spec.encoder = "rawvideo";
  make_clip(folder / "in.nut", spec);
  to_pipe(folder / "in.nut", folder / "pipe", container);
  const Decoded in = decode(folder / "in.nut"), piped = decode(folder / "pipe");
  EXPECT_EQ(traits_of(piped.format), traits_of(in.format));
  if (piped.format == in.format) expect_equal(in, piped);
  ASSERT_EQ(from_pipe(folder / "pipe", folder / "out.mkv"), 3);
  const Decoded out = decode(folder / "out.mkv");
  if (out.format == in.format) expect_equal(in, out);
  expect_equal_samples(folder / "in.nut", folder / "out.mkv");
}

TEST(Pipes, NutContainsUncompressedSamples) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", small_clip(AV_PIX_FMT_YUV420P10));
  to_pipe(folder / "in.mkv", folder / "pipe", "nut");
  EXPECT_EQ(read_packets(folder / "pipe")[0].codec, AV_CODEC_ID_RAWVIDEO);
}

TEST(Pipes, Y4mKeepsRangeAspectAndRate) {
  const TemporaryFolder folder;
  for (const AVColorRange range : {AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG}) {
    ClipSpec spec = small_clip(AV_PIX_FMT_YUV420P10);
    spec.time_base = {1001, 30000};
    spec.frame_rate = {30000, 1001};
    spec.set_up = [&](AVCodecContext& e) {
      e.color_range = range;
      e.sample_aspect_ratio = {40, 33};
    };
    spec.decorate = [](AVFormatContext& c) { c.streams[0]->sample_aspect_ratio = {40, 33}; };
    make_clip(folder / "in.mkv", spec);
    to_pipe(folder / "in.mkv", folder / "pipe", "y4m");
    ASSERT_EQ(from_pipe(folder / "pipe", folder / "out.mkv"), 3);
    for (const char* name : {"pipe", "out.mkv"}) {
      const Decoded out = decode(folder / name);
      EXPECT_EQ(out.first->color_range, range) << name;
      const auto source = open_source(folder / name);
      EXPECT_EQ(source->info().frame_rate, (Rational{30000, 1001})) << name;
    }
    const auto bytes = read_file(folder / "pipe");
    const std::string head(bytes.begin(), std::find(bytes.begin(), bytes.end(), '\n'));
    EXPECT_NE(head.find(" A40:33"), head.npos) << head;
  }
}

TEST(Pipes, NutKeepsSoundAndSubtitles) {
  const TemporaryFolder folder;
  ClipSpec spec = small_clip(AV_PIX_FMT_YUV420P);
  spec.audio = "pcm_s16le";
  spec.subtitles = "text";
  make_clip(folder / "in.nut", spec);
  to_pipe(folder / "in.nut", folder / "pipe", "");  // the container is the one of the input, nut
  ASSERT_EQ(from_pipe(folder / "pipe", folder / "out.mkv"), 3);
  const auto in = read_packets(folder / "in.nut"), out = read_packets(folder / "pipe");
  ASSERT_EQ(out.size(), in.size());
  for (std::size_t i = 1; i < in.size(); ++i) {
    EXPECT_EQ(out[i].codec, in[i].codec);
    ASSERT_EQ(out[i].packets.size(), in[i].packets.size());
    for (std::size_t p = 0; p < in[i].packets.size(); ++p)
      EXPECT_EQ(out[i].packets[p].hash, in[i].packets[p].hash);
  }
  EXPECT_EQ(read_packets(folder / "out.mkv").size(), in.size());
}

TEST(Pipes, Y4mReportsTheSoundThatItCannotHold) {
  const TemporaryFolder folder;
  ClipSpec spec = small_clip(AV_PIX_FMT_YUV420P);
  spec.audio = "pcm_s16le";
  make_clip(folder / "in.mkv", spec);
  const Descriptor out(folder / "pipe", O_WRONLY | O_CREAT);
  const auto source = open_source(folder / "in.mkv");
  const auto sink = open_sink("-", *source, {.descriptor = out});
  EXPECT_EQ(sink->container(), "yuv4mpegpipe");
  EXPECT_EQ(sink->losses().size(), 1u);
}

TEST(Pipes, RawContainsOnlySamples) {
  const TemporaryFolder folder;
  for (const char* name : {"gray", "yuv420p", "yuv422p10le", "rgb24"}) {
    ClipSpec spec = small_clip(av_get_pix_fmt(name));
    spec.encoder = "rawvideo";
    make_clip(folder / "in.nut", spec);
    to_pipe(folder / "in.nut", folder / "pipe", "raw");
    const Decoded in = decode(folder / "in.nut");
    std::vector<std::uint8_t> samples;
    for (const Picture& p : in.pictures)
      samples.insert(samples.end(), p.bytes.begin(), p.bytes.end());
    EXPECT_EQ(read_file(folder / "pipe"), samples) << name;
    SourceOptions options;
    options.raw = RawVideo{name, 45, 33};
    ASSERT_EQ(from_pipe(folder / "pipe", folder / "out.nut", options), 3) << name;
    const Decoded out = decode(folder / "out.nut");
    if (out.format == in.format) expect_equal(in, out);
    expect_equal_samples(folder / "in.nut", folder / "out.nut");
  }
}

TEST(Pipes, InvalidRawDescriptionIsRejected) {
  const TemporaryFolder folder;
  write_file(folder / "raw", std::vector<std::uint8_t>(45 * 33));
  SourceOptions options;
  options.raw = RawVideo{"nonsense", 45, 33};
  EXPECT_THROW((void)open_source(folder / "raw", options), InvalidArgument);
  options.raw = RawVideo{"gray", 0, 33};
  EXPECT_THROW((void)open_source(folder / "raw", options), InvalidArgument);
  options = {};
  options.format = "lavfi";
  EXPECT_THROW((void)open_source(folder / "raw", options), InvalidArgument);
}

class TruncatedPipe : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, TruncatedPipe, testing::Values("y4m", "nut", "raw"));

// All lengths are tested, except those that end with a complete frame of Y4M or raw samples,
// because these look complete.
TEST_P(TruncatedPipe, IsBadDataAtEveryLength) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", small_clip(AV_PIX_FMT_YUV420P));
  to_pipe(folder / "in.mkv", folder / "whole", GetParam());
  const auto whole = read_file(folder / "whole");
  SourceOptions options;
  if (GetParam() == std::string("raw")) options.raw = RawVideo{"yuv420p", 45, 33};
  ASSERT_EQ(from_pipe(folder / "whole", folder / "out.mkv", options), 3);
  const std::size_t frame = 45 * 33 + 2 * 23 * 17;
  for (const std::size_t length : {std::size_t{1}, std::size_t{40}, frame / 2, whole.size() / 2,
                                   whole.size() - frame / 2, whole.size() - 1}) {
    write_file(folder / "cut", {whole.begin(), whole.begin() + static_cast<long>(length)});
    EXPECT_THROW(from_pipe(folder / "cut", folder / "out.mkv", options), BadData) << length;
  }
}

TEST(Pipes, EmptyInputIsBadData) {
  const Descriptor in("/dev/null", O_RDONLY);
  EXPECT_THROW((void)open_source("-", {.descriptor = in}), BadData);
}

TEST(Pipes, InterruptEndsAWaitingRead) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", small_clip(AV_PIX_FMT_YUV420P));
  to_pipe(folder / "in.mkv", folder / "whole", "y4m");
  const auto whole = read_file(folder / "whole");
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Descriptor out(ends[0]), in(ends[1]);
  ASSERT_EQ(::write(in, whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
  std::unique_ptr<MediaSource> source;
  // FFmpeg reads some frames when it opens a stream.
  std::jthread opening([&] { source = open_source("-", {.format = "y4m", .descriptor = out}); });
  std::jthread feeder([&](const std::stop_token& stop) {
    const std::size_t frame = 6 + 45 * 33 + 2 * 23 * 17;
    signal(SIGPIPE, SIG_IGN);
    while (!stop.stop_requested() && !source) {
      if (::write(in, whole.data() + whole.size() - frame, frame) < 0) break;
      std::this_thread::sleep_for(1ms);
    }
  });
  opening.join();
  feeder.request_stop();
  feeder.join();
  std::jthread interrupter([&] {
    std::this_thread::sleep_for(50ms);
    source->interrupt();
  });
  EXPECT_THROW(while (source->read()) continue, IoError);
}

TEST(Pipes, NamedPipesAreRead) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", small_clip(AV_PIX_FMT_YUV420P));
  to_pipe(folder / "in.mkv", folder / "whole", "y4m");
  const auto whole = read_file(folder / "whole");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  for (const std::size_t cut : {0, 1}) {
    std::jthread feeder([&] {
      write_file(folder / "fifo", {whole.begin(), whole.end() - static_cast<long>(cut)});
    });
    if (cut == 0) {
      EXPECT_EQ(count_frames(folder / "fifo"), 3);
    } else {
      EXPECT_THROW(count_frames(folder / "fifo"), BadData);
    }
  }
}

TEST(Pipes, ClosedReaderIsAnIoError) {
  signal(SIGPIPE, SIG_IGN);
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", small_clip(AV_PIX_FMT_YUV420P));
  for (const char* format : {"y4m", "nut", "raw", "matroska"}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::close(ends[0]);
    const Descriptor in(ends[1]);
    EXPECT_THROW(transcode(folder / "in.mkv", "-", {.format = format, .descriptor = in}), IoError)
        << format;
  }
}

TEST(Pipes, ContainersThatNeedSeekingAreRejected) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", small_clip(AV_PIX_FMT_YUV420P));
  EXPECT_THROW(to_pipe(folder / "in.mkv", folder / "pipe", "mp4"), InvalidArgument);
  EXPECT_THROW(to_pipe(folder / "in.mkv", folder / "pipe", "nonsense"), InvalidArgument);
}

}  // namespace
}  // namespace lull::io::test
