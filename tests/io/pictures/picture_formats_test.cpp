// Tests the formats of pictures: files that are read as a still, outputs that need no --vcodec, and
// inputs that are rejected by name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using Bytes = std::vector<std::uint8_t>;

void put(Bytes& to, std::uint32_t value) {
  for (int i = 4; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

void put_chunk(Bytes& to, std::string_view type, const Bytes& data) {
  put(to, static_cast<std::uint32_t>(data.size()));
  Bytes body(type.begin(), type.end());
  body.insert(body.end(), data.begin(), data.end());
  to.insert(to.end(), body.begin(), body.end());
  put(to, static_cast<std::uint32_t>(crc32(0, body.data(), static_cast<uInt>(body.size()))));
}

/// Returns a PNG file of 8x8 pixels. `rows` are the filtered rows, with their filter bytes.
Bytes png_of(int bits, int colour, int interlace, const Bytes& rows, const Bytes& palette = {}) {
  constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
  Bytes file(signature.begin(), signature.end()), header;
  put(header, 8);
  put(header, 8);
  for (const int value : {bits, colour, 0, 0, interlace})
    header.push_back(static_cast<std::uint8_t>(value));
  put_chunk(file, "IHDR", header);
  if (!palette.empty()) put_chunk(file, "PLTE", palette);
  Bytes packed(compressBound(rows.size()));
  uLongf size = packed.size();
  compress(packed.data(), &size, rows.data(), rows.size());
  packed.resize(size);
  put_chunk(file, "IDAT", packed);
  put_chunk(file, "IEND", {});
  return file;
}

std::uint8_t sample(int x, int y) { return static_cast<std::uint8_t>(16 * y + 3 * x); }

/// Returns the rows of each pass of Adam7, or the rows of the picture.
Bytes grey_rows(bool adam7) {
  struct Pass {
    int x, y, step_x, step_y;
  };
  constexpr std::array<Pass, 7> passes{{{0, 0, 8, 8},
                                        {4, 0, 8, 8},
                                        {0, 4, 4, 8},
                                        {2, 0, 4, 4},
                                        {0, 2, 2, 4},
                                        {1, 0, 2, 2},
                                        {0, 1, 1, 2}}};
  constexpr std::array<Pass, 1> rows{{{0, 0, 1, 1}}};
  Bytes out;
  for (const Pass& pass : adam7 ? std::span<const Pass>(passes) : std::span<const Pass>(rows))
    for (int y = pass.y; y < 8; y += pass.step_y) {
      out.push_back(0);
      for (int x = pass.x; x < 8; x += pass.step_x) out.push_back(sample(x, y));
    }
  return out;
}

class PictureFormats : public testing::Test {
 protected:
  TemporaryFolder folder;
  const SourceOptions strict{.refuse_interlaced = true};

  std::vector<std::string> losses_of(const std::string& from, const std::string& to) {
    const auto source = open_source(from);
    const auto sink = open_sink(to, *source, {.overwrite = true});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
    return sink->losses();
  }
  std::string clip(const std::string& name, AVPixelFormat format, int frames) {
    ClipSpec spec;
    spec.format = format;
    spec.frames = frames;
    make_clip(folder / name, spec);
    return folder / name;
  }
};

TEST_F(PictureFormats, ReadsAdam7AsAStill) {
  write_file(folder / "adam7.png", png_of(8, 0, 1, grey_rows(true)));
  write_file(folder / "plain.png", png_of(8, 0, 0, grey_rows(false)));
  const auto source = open_source(folder / "adam7.png", strict);
  EXPECT_TRUE(source->info().still);
  EXPECT_FALSE(source->info().interlaced);
  transcode(folder / "adam7.png", folder / "adam7.pgm");
  transcode(folder / "plain.png", folder / "plain.pgm");
  EXPECT_EQ(read_file(folder / "adam7.pgm"), read_file(folder / "plain.pgm"));
}

TEST_F(PictureFormats, IgnoresBytesAfterTheEndOfPng) {
  for (const Bytes& rest : {Bytes(1, 0), Bytes(5000, 0), Bytes(200000, 7)}) {
    Bytes file = png_of(8, 0, 0, grey_rows(false));
    file.insert(file.end(), rest.begin(), rest.end());
    write_file(folder / "in.png", file);
    EXPECT_TRUE(open_source(folder / "in.png")->info().still) << rest.size();
    EXPECT_EQ(count_frames(folder / "in.png"), 1) << rest.size();
  }
}

/// Returns the samples of a picture of 4x3 pixels in 8 bits.
std::string samples_of(io::MediaSource& source) {
  const auto frame = source.read();
  if (!frame) return "no frame";
  const auto plane = frame->plane<const std::uint8_t>(0);
  std::string samples;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) samples += static_cast<char>(plane(x, y));
  return samples;
}

TEST_F(PictureFormats, ReadsNetpbmWithAnySeparatorFromFilesSequencesAndPipes) {
  const std::string samples = "0123456789AB";
  for (const std::string head : {"P5\n4 3\n255\n", "P5 4 3 255\n", "P5\t4\t3\t255 ",
                                 "P5\r\n4 3\r\n255\n", "P5#text\n4 3 255\n"}) {
    const std::string file = head + samples;
    write_file(folder / "in.pgm", Bytes(file.begin(), file.end()));
    EXPECT_EQ(samples_of(*open_source(folder / "in.pgm")), samples) << head;
    for (const char* name : {"in.1.pgm", "in.2.pgm"})
      write_file(folder / name, Bytes(file.begin(), file.end()));
    EXPECT_EQ(count_frames(folder / "in.%d.pgm"), 2) << head;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ASSERT_EQ(::write(ends[1], file.data(), file.size()), static_cast<ssize_t>(file.size()));
    ::close(ends[1]);
    EXPECT_EQ(samples_of(*open_source("-", {.descriptor = ends[0]})), samples) << head;
    ::close(ends[0]);
  }
}

TEST_F(PictureFormats, IgnoresBytesAfterTheEndOfNetpbm) {
  const std::string picture = "P5\n4 3\n255\n0123456789AB";
  for (const std::string rest : {"\n", "\r\n", "\n\n\n", "some text"}) {
    const std::string file = picture + rest;
    write_file(folder / "in.pgm", Bytes(file.begin(), file.end()));
    EXPECT_TRUE(open_source(folder / "in.pgm", strict)->info().still) << rest.size();
    EXPECT_EQ(count_frames(folder / "in.pgm"), 1) << rest.size();
  }
  // A file of two pictures, which is a clip.
  const std::string two = picture + picture;
  write_file(folder / "in.pgm", Bytes(two.begin(), two.end()));
  EXPECT_EQ(count_frames(folder / "in.pgm"), 2);
}

TEST_F(PictureFormats, IgnoresBytesAfterTheEndOfQoi) {
  ClipSpec spec = png_spec();
  spec.encoder = "qoi";
  spec.format = AV_PIX_FMT_RGB24;
  make_clip(folder / "in.qoi", spec);
  const Bytes file = read_file(folder / "in.qoi");
  for (const std::size_t rest : {1, 2, 5000}) {
    Bytes longer = file;
    longer.resize(file.size() + rest);
    write_file(folder / "in.qoi", longer);
    EXPECT_EQ(count_frames(folder / "in.qoi"), 1) << rest;
  }
}

TEST_F(PictureFormats, NotesPalettesAndSingleBits) {
  write_file(folder / "palette.png", png_of(8, 3, 0, Bytes(72, 0), {1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(open_source(folder / "palette.png")->info().notes, Contains(HasSubstr("palette")));
  write_file(folder / "bits.png", png_of(1, 0, 0, Bytes(16, 0)));
  EXPECT_THAT(open_source(folder / "bits.png")->info().notes, Contains(HasSubstr("1 bit")));
  write_file(folder / "plain.png", png_of(8, 0, 0, grey_rows(false)));
  EXPECT_THAT(open_source(folder / "plain.png")->info().notes, IsEmpty());
}

/// Returns a JPEG file of 8x8 pixels whose four components have the value 128.
Bytes jpeg_of_four_components() {
  Bytes jpeg{0xFF, 0xD8, 0xFF, 0xEE, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0};
  jpeg.insert(jpeg.end(), {0xFF, 0xDB, 0, 67, 0});
  jpeg.insert(jpeg.end(), 64, 1);
  jpeg.insert(jpeg.end(), {0xFF, 0xC0, 0, 20, 8, 0, 8, 0, 8, 4});
  for (const std::uint8_t id : {1, 2, 3, 4}) jpeg.insert(jpeg.end(), {id, 0x11, 0});
  // One code for a DC difference of 0, and one code for the end of a block.
  for (const std::uint8_t kind : {0x00, 0x10}) {
    jpeg.insert(jpeg.end(), {0xFF, 0xC4, 0, 20, kind, 1});
    jpeg.insert(jpeg.end(), 16, 0);
  }
  jpeg.insert(jpeg.end(), {0xFF, 0xDA, 0, 14, 4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0, 0, 0xFF, 0xD9});
  return jpeg;
}

TEST_F(PictureFormats, NotesTheConversionOfCmyk) {
  write_file(folder / "in.jpg", jpeg_of_four_components());
  const auto source = open_source(folder / "in.jpg");
  EXPECT_THAT(source->info().notes, Contains(HasSubstr("CMYK")));
  const auto frame = source->read();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->format.layout, Layout::rgb);
  // Adobe's programs store the complements of the inks.
  EXPECT_NEAR(frame->plane<std::uint8_t>(0)(0, 0), 128 * 128 / 255, 1);
}

TEST_F(PictureFormats, WritesAnimationsByTheirExtension) {
  const std::string in = clip("in.mkv", AV_PIX_FMT_YUV420P, 5);
  const std::pair<const char*, const char*> outputs[] = {
      {"apng", "apng"}, {"gif", "gif"}, {"webp", "libwebp_anim"}, {"avif", "libaom-av1"}};
  for (const auto& [extension, encoder] : outputs) {
    if (!has_encoder(encoder)) continue;
    const std::string out = folder / ("out." + std::string(extension));
    ASSERT_NO_THROW(losses_of(in, out)) << extension;
    if (std::string_view(extension) != "webp")  // FFmpeg does not read animations of WebP
      EXPECT_EQ(decode(out).pictures.size(), 5u) << extension;
  }
}

TEST_F(PictureFormats, ApngKeepsRgbSamples) {
  ClipSpec spec;
  spec.encoder = "png";
  spec.format = AV_PIX_FMT_RGB24;
  spec.frames = 3;
  const std::string in = folder / "in.mkv";
  make_clip(in, spec);
  transcode(in, folder / "out.apng");
  transcode(in, folder / "in%d.ppm");
  transcode(folder / "out.apng", folder / "out%d.ppm");
  for (const char* number : {"0", "1", "2"})
    EXPECT_EQ(read_file(folder / ("out" + std::string(number) + ".ppm")),
              read_file(folder / ("in" + std::string(number) + ".ppm")));
}

TEST_F(PictureFormats, WritesWebpStills) {
  if (!has_encoder("libwebp")) GTEST_SKIP() << "this FFmpeg has no libwebp";
  ClipSpec spec = png_spec();
  spec.format = AV_PIX_FMT_RGB24;
  make_clip(folder / "in.png", spec);
  EXPECT_THAT(losses_of(folder / "in.png", folder / "out.webp"), IsEmpty());
  transcode(folder / "in.png", folder / "in.ppm");
  SinkOptions options{.pix_fmt = "rgb24"};
  transcode(folder / "out.webp", folder / "out.ppm", options);
  EXPECT_EQ(read_file(folder / "out.ppm"), read_file(folder / "in.ppm"));
}

TEST_F(PictureFormats, DpxKeepsItsHeader) {
  clip("in.mkv", AV_PIX_FMT_GBRP10, 2);
  for (const std::string format : {"gbrp10be", "gbrp10le"}) {
    transcode(folder / "in.mkv", folder / "plain%d.dpx", {.pix_fmt = format, .overwrite = true});
    Bytes file = read_file(folder / "plain0.dpx");
    const bool is_little = file[0] == 'X';
    ASSERT_EQ(is_little, format == "gbrp10le");
    // A header of 2048 bytes with a project, a transfer function and a time code.
    file.insert(file.begin() + 1664, 2048 - 1664, 0xFF);
    const auto number = [&](std::size_t at, std::uint32_t value) {
      for (std::size_t i = 0; i < 4; ++i)
        file[at + i] = static_cast<std::uint8_t>(value >> (is_little ? 8 * i : 24 - 8 * i));
    };
    number(4, 2048);
    number(808, 2048);
    std::ranges::copy(std::string_view("Project"), file.begin() + 260);
    file[801] = 3;  // logarithmic
    number(1920, 0x01020304);
    write_file(folder / "in0.dpx", file);
    EXPECT_THAT(losses_of(folder / "in%d.dpx", folder / "out%d.dpx"), IsEmpty());
    const Bytes out = read_file(folder / "out0.dpx");
    const std::string_view text(reinterpret_cast<const char*>(out.data()), out.size());
    EXPECT_EQ(text.substr(260, 8), std::string_view("Project\0", 8));
    EXPECT_EQ(out[801], 3);
    const bool out_is_little = out[0] == 'X';
    EXPECT_EQ(out[1920], out_is_little ? 4 : 1);
    EXPECT_EQ(decode(folder / "out0.dpx").pictures.at(0).bytes,
              decode(folder / "plain0.dpx").pictures.at(0).bytes);
    EXPECT_THAT(losses_of(folder / "in%d.dpx", folder / "out%d.png"),
                Contains(HasSubstr("the DPX header")));
    std::filesystem::remove(folder / "in0.dpx");
  }
}

TEST_F(PictureFormats, NamesFormatsThatItDoesNotRead) {
  const auto with_head = [](std::string_view head, std::size_t at) {
    Bytes file(400, 0);
    std::ranges::copy(head, file.begin() + static_cast<std::ptrdiff_t>(at));
    return file;
  };
  const std::tuple<const char*, std::size_t, const char*, const char*> formats[] = {
      {"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 64 +X 64\n", 0, "Radiance HDR", "OpenEXR"},
      {"SIMPLE  =                    T", 0, "a FITS file", "TIFF"}};
  for (const auto& [head, at, name, suggestion] : formats) {
    write_file(folder / "in.bin", with_head(head, at));
    try {
      (void)open_source(folder / "in.bin");
      ADD_FAILURE() << name << " is not refused";
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(name), HasSubstr(suggestion)));
    }
  }
}

TEST_F(PictureFormats, RefusesFitsAsOutput) {
  make_clip(folder / "in.png", png_spec());
  EXPECT_THROW(transcode(folder / "in.png", folder / "out.fits"), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder / "out.fits"));
}

}  // namespace
}  // namespace lull::io::test
