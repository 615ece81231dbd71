// Tests truncated, empty, damaged and foreign inputs: reading them must give an error. They must
// never be accepted silently.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

struct Medium {
  std::string name, encoder, muxer, audio;
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
  std::vector<std::pair<std::string, std::string>> muxer_options;
};

std::ostream& operator<<(std::ostream& out, const Medium& m) { return out << m.name << m.encoder; }

ClipSpec spec_of(const Medium& m) {
  ClipSpec spec;
  spec.encoder = m.encoder;
  spec.muxer = m.muxer;
  spec.audio = m.audio;
  spec.format = m.format;
  spec.muxer_options = m.muxer_options;
  spec.frames = m.muxer == "image2pipe" ? 1 : 25;
  spec.set_up = [](AVCodecContext& e) {
    e.flags |= AV_CODEC_FLAG_QSCALE;
    e.global_quality = 2 * FF_QP2LAMBDA;
    if (e.codec_id == AV_CODEC_ID_MJPEG) e.color_range = AVCOL_RANGE_JPEG;
  };
  return spec;
}

/// Returns true if skipped damage was counted or nothing could be read at all.
bool is_counted(const std::string& path) {
  try {
    const auto source = open_source(path, {.tolerate_damage = true});
    while (source->read()) continue;
    return source->damage().frames > 0 && !source->damage().first.empty();
  } catch (const BadData&) {
    return true;
  }
}

class TruncatedFile : public testing::TestWithParam<Medium> {};

TEST_P(TruncatedFile, IsBadDataAtEveryLength) {
  const Medium& m = GetParam();
  const TemporaryFolder folder;
  const std::string whole = folder / m.name, cut = folder / ("cut-" + m.name);
  const ClipSpec spec = spec_of(m);
  if (!has_encoder(spec.encoder.c_str())) GTEST_SKIP() << "this FFmpeg lacks " << spec.encoder;
  make_clip(whole, spec);
  ASSERT_EQ(count_frames(whole), spec.frames);
  const auto bytes = read_file(whole);
  const std::size_t n = bytes.size();
  for (const std::size_t missing :
       {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{40}, n / 20, n / 7, n / 3,
        n / 2, n * 2 / 3, n * 9 / 10, n - 60, n - 12, n - 1}) {
    if (missing == 0 || missing >= n) continue;
    write_file(cut, {bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(missing)});
    EXPECT_THROW(count_frames(cut), BadData) << missing << " of " << n << " bytes missing";
    EXPECT_THROW(transcode(cut, folder / "out.mkv"), BadData) << missing;
    EXPECT_TRUE(is_counted(cut)) << missing;
  }
  EXPECT_THAT(folder.files(), testing::Not(testing::Contains("out.mkv")));
  EXPECT_THAT(folder.files(), testing::Not(testing::Contains(testing::HasSubstr(".tmp"))));
}

INSTANTIATE_TEST_SUITE_P(
    Media, TruncatedFile,
    testing::Values(
        Medium{"a.mp4", "libx264", "", "aac"},
        Medium{
            "faststart.mp4", "libx264", "", "aac", AV_PIX_FMT_YUV420P, {{"movflags", "faststart"}}},
        Medium{"a.mov", "mjpeg", "", "pcm_s16le", AV_PIX_FMT_YUVJ420P},
        Medium{"a.mkv", "libx264", "", "flac"}, Medium{"b.mkv", "ffv1", "", "pcm_s16le"},
        Medium{"a.webm", "libvpx-vp9", "", ""}, Medium{"a.avi", "mpeg4", "", "pcm_s16le"},
        Medium{"a.nut", "ffv1", "", ""}, Medium{"a.y4m", "wrapped_avframe", "", ""},
        Medium{"a.png", "png", "image2pipe", "", AV_PIX_FMT_RGB24},
        Medium{"a.tiff", "tiff", "image2pipe", "", AV_PIX_FMT_GRAY16LE},
        Medium{"a.pgm", "pgm", "image2pipe", "", AV_PIX_FMT_GRAY8},
        Medium{"a16.pgm", "pgm", "image2pipe", "", AV_PIX_FMT_GRAY16BE},
        Medium{"a.ppm", "ppm", "image2pipe", "", AV_PIX_FMT_RGB24},
        Medium{"a.bmp", "bmp", "image2pipe", "", AV_PIX_FMT_BGR24},
        Medium{"a.jpg", "mjpeg", "image2pipe", "", AV_PIX_FMT_YUVJ420P}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::ranges::replace(name, '.', '_');
      return name;
    });

// Reading random bytes must end, and the only allowed error is one about the input.
TEST(RandomDamage, IsCountedOrBadData) {
  const TemporaryFolder folder;
  std::uint32_t state = 7;
  const auto random = [&](std::size_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  for (const Medium& m :
       {Medium{"a.mkv", "libx264", "", "aac"}, Medium{"a.ts", "libx264", "", "aac"},
        Medium{"a.mp4", "mpeg4", "", "aac"}, Medium{"b.mkv", "ffv1", "", "flac"},
        Medium{"a.mov", "mjpeg", "", "", AV_PIX_FMT_YUVJ420P}}) {
    if (!has_encoder(m.encoder.c_str())) continue;
    make_clip(folder / m.name, spec_of(m));
    const auto whole = read_file(folder / m.name);
    int read = 0;
    for (int i = 0; i < 15; ++i) {
      auto bytes = whole;
      for (std::size_t flips = std::size_t{1} << random(8); flips > 0; --flips)
        bytes[random(bytes.size())] ^= static_cast<std::uint8_t>(1 + random(255));
      const std::string bad = folder / ("bad-" + m.name);
      write_file(bad, bytes);
      try {
        const auto source = open_source(bad, {.tolerate_damage = true});
        const auto sink =
            open_sink(folder / "out.mkv", *source, {.lossless = true, .overwrite = true});
        while (auto frame = source->read()) sink->write(*std::move(frame));
        const std::string kept = sink->finish_if([] { return false; });
        EXPECT_TRUE(std::filesystem::remove(kept));
        ++read;
      } catch (const BadData&) {
      } catch (const InvalidArgument&) {  // a nonsensical value that the container cannot hold
      }
    }
    EXPECT_GT(read, 0) << m.name;
    EXPECT_THAT(folder.files(), testing::Not(testing::Contains("out.mkv")));
  }
}

void expect_bad(const std::string& path) { EXPECT_THROW(count_frames(path), BadData) << path; }

TEST(BadInput, EmptyAndForeignFilesAreBadData) {
  const TemporaryFolder folder;
  for (const char* name : {"empty.mp4", "empty.png", "empty"}) {
    write_file(folder / name, {});
    expect_bad(folder / name);
  }
  const std::string text = "This is no video at all, it is a text.\nIt has lines.\n";
  std::string long_text;
  for (int i = 0; i < 500; ++i) long_text += text;
  for (const char* name : {"text.mp4", "text.mkv", "text.png", "text.y4m", "text"}) {
    std::ofstream(folder / name) << long_text;
    expect_bad(folder / name);
  }
  std::vector<std::uint8_t> noise(20000);
  std::uint32_t state = 1;
  for (auto& byte : noise)
    byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  write_file(folder / "noise.mp4", noise);
  expect_bad(folder / "noise.mp4");
}

TEST(BadInput, FilesWithoutVideoAreBadData) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  make_clip(folder / "both.mkv", spec);
  // A hand-made WAV file: 16-bit mono.
  std::ofstream wav(folder / "sound.wav", std::ios::binary);
  constexpr unsigned char head[] = {'R', 'I', 'F',  'F',  0x24, 0x10, 0,    0,    'W',  'A', 'V',
                                    'E', 'f', 'm',  't',  ' ',  16,   0,    0,    0,    1,   0,
                                    1,   0,   0x40, 0x1f, 0,    0,    0x80, 0x3e, 0,    0,   2,
                                    0,   16,  0,    'd',  'a',  't',  'a',  0,    0x10, 0,   0};
  wav.write(reinterpret_cast<const char*>(head), sizeof head) << std::string(4096, 'x');
  wav.close();
  expect_bad(folder / "sound.wav");
}

TEST(BadInput, MissingOrUnreadableIsNoInput) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)open_source(folder / "missing.mp4"), NoInput);
  EXPECT_THROW((void)open_source(folder / "no/such/folder.mp4"), NoInput);
  EXPECT_THROW((void)open_source(folder.path().string()), NoInput);
  EXPECT_THROW((void)open_source(""), NoInput);
  if (geteuid() != 0) {  // root may read every file
    write_file(folder / "secret.mp4", {1, 2, 3});
    std::filesystem::permissions(folder / "secret.mp4", std::filesystem::perms::none);
    EXPECT_THROW((void)open_source(folder / "secret.mp4"), NoInput);
  }
}

TEST(BadInput, FlippedBytesInPictureDataAreDetected) {
  const TemporaryFolder folder;
  for (const Medium& m : {Medium{"a.png", "png", "image2pipe", "", AV_PIX_FMT_RGB24},
                          Medium{"a.mkv", "ffv1", "", ""}}) {
    ClipSpec spec = spec_of(m);
    spec.encoder_options =
        m.encoder == "ffv1"
            ? std::vector<std::pair<std::string, std::string>>{{"level", "3"}, {"slicecrc", "1"}}
            : std::vector<std::pair<std::string, std::string>>{};
    make_clip(folder / m.name, spec);
    auto bytes = read_file(folder / m.name);
    for (int i = 0; i < 4; ++i) bytes[bytes.size() / 2 + i] ^= 0x5a;
    write_file(folder / ("bad-" + m.name), bytes);
    expect_bad(folder / ("bad-" + m.name));
  }
}

TEST(BadInput, ChangeOfPictureSizeIsNamed) {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> both;
  for (const int width : {32, 48}) {
    ClipSpec spec;
    spec.encoder = "ppm";
    spec.muxer = "image2pipe";
    spec.format = AV_PIX_FMT_RGB24;
    spec.frames = 2;
    spec.width = width;
    make_clip(folder / "part.ppm", spec);
    const auto part = read_file(folder / "part.ppm");
    both.insert(both.end(), part.begin(), part.end());
  }
  write_file(folder / "both.ppm", both);
  try {
    count_frames(folder / "both.ppm");
    FAIL();
  } catch (const BadData& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("48x48"));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(BadInput, UnsupportedPixelFormatIsNamed) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "rawvideo";
  spec.format = AV_PIX_FMT_RGB565LE;
  make_clip(folder / "a.nut", spec);
  try {
    (void)open_source(folder / "a.nut");
    FAIL();
  } catch (const BadData& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rgb565le"));
  }
}

TEST(FileNames, SpecialCharactersAreTakenLiterally) {
  const TemporaryFolder folder;
  ClipSpec spec = png_spec();
  make_clip(folder / "plain.png", spec);
  const auto old = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const std::string name : {"a%03d.png", "-i.png", "http:x.png", "a*b?[c].png", "sp ace.png",
                                 "pipe:1.png", "\xc3\xa4.png", "file:x.png"}) {
    EXPECT_EQ(transcode("plain.png", name), 1) << name;
    EXPECT_EQ(transcode(name, "again.png", {.overwrite = true}), 1) << name;
    EXPECT_EQ(read_file(name), read_file("again.png")) << name;
  }
  std::filesystem::current_path(old);
}

}  // namespace
}  // namespace lull::io::test
