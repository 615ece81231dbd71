// Tests damaged still pictures: every damage is an error, and no sample shows uninitialised memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <optional>

#include "io/pictures/picture_check.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

/// Returns the error of open_source() and read() for a file; nullopt if all frames are read.
std::optional<std::string> error_for(const std::string& path) {
  try {
    count_frames(path);
    return std::nullopt;
  } catch (const BadData& error) {
    return error.what();
  }
}

void add_number(Bytes& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to.push_back(static_cast<std::uint8_t>(value >> shift));
}

Bytes deflated(const Bytes& data) {
  uLongf size = compressBound(data.size());
  Bytes out(size);
  compress(out.data(), &size, data.data(), data.size());
  out.resize(size);
  return out;
}

/// Appends a PNG chunk with a correct checksum.
void add_chunk(Bytes& png, const std::string& type, const Bytes& data) {
  add_number(png, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = png.size();
  png.insert(png.end(), type.begin(), type.end());
  png.insert(png.end(), data.begin(), data.end());
  const auto size = static_cast<uInt>(png.size() - begin);
  add_number(png, static_cast<std::uint32_t>(crc32(0, png.data() + begin, size)));
}

/// Returns a PNG file of 8-bit RGB. `rows` are the filtered rows, `more` the chunks before them.
Bytes png_of(std::uint32_t width, std::uint32_t height, const Bytes& rows,
             const std::vector<std::pair<std::string, Bytes>>& more = {}) {
  Bytes png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, head;
  add_number(head, width);
  add_number(head, height);
  head.insert(head.end(), {8, 2, 0, 0, 0});
  add_chunk(png, "IHDR", head);
  for (const auto& [type, data] : more) add_chunk(png, type, data);
  add_chunk(png, "IDAT", deflated(rows));
  add_chunk(png, "IEND", {});
  return png;
}

Bytes black_rows(std::size_t width, std::size_t height) {
  return Bytes(height * (1 + 3 * width), 0);
}

class StillPicture : public testing::Test {
 protected:
  void expect_rejected(const Bytes& bytes, const std::string& text) {
    write_file(path, bytes);
    const auto error = error_for(path);
    ASSERT_TRUE(error.has_value()) << text;
    EXPECT_THAT(*error, HasSubstr(text));
  }
  const TemporaryFolder folder;
  const std::string path = folder / "picture";
};

TEST_F(StillPicture, AcceptsBytesBehindTheEndOfPng) {
  Bytes png = png_of(40, 30, black_rows(40, 30));
  const std::string tail = "bytes that a program has left behind";
  png.insert(png.end(), tail.begin(), tail.end());
  write_file(path, png);
  EXPECT_EQ(count_frames(path), 1);
}

TEST_F(StillPicture, RejectsPngWithMissingRows) {
  expect_rejected(png_of(40, 30, black_rows(40, 29)), "without all image");
}

TEST_F(StillPicture, RejectsPngTooSmallForItsSizeBeforeAllocating) {
  expect_rejected(png_of(16000, 16000, Bytes(10)), "cannot hold a picture of 16000x16000");
}

// Deflate compresses a black picture nearly at its maximum ratio.
TEST_F(StillPicture, AcceptsPngCompressedToTheLimitOfDeflate) {
  write_file(path, png_of(1200, 1000, black_rows(1200, 1000)));
  EXPECT_EQ(count_frames(path), 1);
}

TEST_F(StillPicture, RejectsPngTextsAndProfilesThatInflateTooFar) {
  const Bytes bomb = deflated(Bytes(17 << 20));
  const auto with_bomb = [&](Bytes head) {
    head.insert(head.end(), bomb.begin(), bomb.end());
    return head;
  };
  const Bytes name = {'n', 0, 0}, international = {'n', 0, 1, 0, 'e', 'n', 0, 'n', 0};
  for (const auto& [type, head] : std::vector<std::pair<std::string, Bytes>>{
           {"iCCP", name}, {"zTXt", name}, {"iTXt", international}})
    expect_rejected(png_of(40, 30, black_rows(40, 30), {{type, with_bomb(head)}}),
                    type + " inflates to more than 16 MiB");
}

TEST_F(StillPicture, RejectsPngTextsThatTogetherInflateTooFar) {
  Bytes text = {'n', 0, 0};
  const Bytes packed = deflated(Bytes(9 << 20));
  text.insert(text.end(), packed.begin(), packed.end());
  expect_rejected(png_of(40, 30, black_rows(40, 30), {{"zTXt", text}, {"zTXt", text}}),
                  "zTXt inflates to more than 16 MiB");
}

// The text is in the extradata (before the first frame) or in a packet (after the first frame).
TEST_F(StillPicture, RejectsApngTextsThatInflateTooFar) {
  ClipSpec spec;
  spec.encoder = spec.muxer = "apng";
  spec.format = AV_PIX_FMT_RGB24;
  spec.frames = 3;
  make_clip(path, spec);
  ASSERT_EQ(count_frames(path), 3);
  const Bytes intact = read_file(path);
  const auto begin_of = [&](const std::string& type) {
    return std::search(intact.begin(), intact.end(), type.begin(), type.end()) - 4;
  };
  Bytes text = {'n', 0, 0}, chunk;
  const Bytes bomb = deflated(Bytes(17 << 20));
  text.insert(text.end(), bomb.begin(), bomb.end());
  add_chunk(chunk, "zTXt", text);
  const auto samples = begin_of("IDAT");
  for (const auto at : {begin_of("fcTL"), samples + 12 + (samples[2] << 8 | samples[3])}) {
    Bytes bytes(intact.begin(), at);
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
    bytes.insert(bytes.end(), at, intact.end());
    write_file(path, bytes);
    try {
      (void)open_source(path, {.format = "apng"});
      ADD_FAILURE() << "the file is accepted";
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), HasSubstr("zTXt inflates to more than 16 MiB"));
    }
  }
}

TEST_F(StillPicture, AcceptsPngTextsOfOneMebibyte) {
  Bytes text = {'n', 0, 0};
  const Bytes packed = deflated(Bytes(1 << 20, 'a'));
  text.insert(text.end(), packed.begin(), packed.end());
  write_file(path, png_of(40, 30, black_rows(40, 30), {{"zTXt", text}, {"tEXt", {'n', 0, 'x'}}}));
  EXPECT_EQ(count_frames(path), 1);
}

TEST_F(StillPicture, RejectsPngWithAnyFlippedBit) {
  make_clip(path, png_spec());
  const Bytes intact = read_file(path);
  ASSERT_EQ(count_frames(path), 1);
  for (std::size_t at = 8; at + 12 < intact.size(); at += 37) {
    Bytes bad = intact;
    bad[at] ^= static_cast<std::uint8_t>(1U << at % 8);
    write_file(path, bad);
    EXPECT_TRUE(error_for(path)) << "byte " << at << " of " << intact.size();
  }
}

// FFmpeg's decoder ends the process at such a size.
TEST_F(StillPicture, RejectsSunRasterTooLargeForFfmpeg) {
  Bytes sun;
  for (const std::uint32_t number : {0x59a66a95U, 16000U, 16000U, 24U, 768000000U, 2U, 0U, 0U})
    add_number(sun, number);
  sun.resize(30000, 7);
  expect_rejected(sun, "too large");
}

// FFmpeg 5.1 ends the process if a frame thread finds this damage.
TEST_F(StillPicture, RejectsWebpWithDamagedAlpha) {
  if (!has_encoder("libwebp")) GTEST_SKIP() << "this FFmpeg lacks libwebp";
  ClipSpec spec = png_spec();
  spec.encoder = "libwebp";
  spec.muxer = "webp";
  spec.format = AV_PIX_FMT_YUVA420P;
  make_clip(path, spec);
  Bytes bytes = read_file(path);
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t alpha = text.find("ALPH");
  ASSERT_NE(alpha, text.npos);
  EXPECT_EQ(count_frames(path), 1);
  // The two lowest bits behind the chunk's size state the compression: 1 is lossless WebP.
  bytes[alpha + 8] = static_cast<std::uint8_t>((bytes[alpha + 8] & ~3) | 1);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(alpha + 9), 100, std::uint8_t{0xff});
  write_file(path, bytes);
  EXPECT_TRUE(error_for(path));
}

using Codes = std::vector<std::pair<unsigned, int>>;  // value and number of bits

/// Returns a GIF file of one picture of 4x4 pixels with these LZW codes, and zero bytes behind the
/// codes.
Bytes gif_of(const Codes& codes, std::size_t padding = 0) {
  Bytes gif = {'G', 'I', 'F', '8', '9', 'a', 4, 0, 4, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255};
  gif.insert(gif.end(), {0x2c, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2});
  std::uint64_t bits = 0;
  int count = 0;
  for (const auto& [code, size] : codes) {
    bits |= std::uint64_t{code} << count;
    count += size;
  }
  Bytes block;
  for (; count > 0; count -= 8, bits >>= 8) block.push_back(static_cast<std::uint8_t>(bits));
  block.resize(block.size() + padding);
  gif.push_back(static_cast<std::uint8_t>(block.size()));
  gif.insert(gif.end(), block.begin(), block.end());
  gif.insert(gif.end(), {0, 0x3b});
  return gif;
}

/// The LZW codes are the clear code, strings of 1 to 5 pixels, one pixel and the end code. They
/// yield 16 pixels.
const Codes complete = {{4, 3}, {0, 3}, {6, 3}, {7, 3}, {8, 4}, {9, 4}, {0, 4}, {5, 4}};
/// The LZW codes are the clear code, 3 pixels and the end code.
const Codes incomplete = {{4, 3}, {0, 3}, {6, 3}, {5, 3}};

TEST(GifCheck, AcceptsAllPixelsWithAndWithoutAnEndCode) {
  EXPECT_FALSE(find_gif_fault(gif_of(complete)));
  EXPECT_FALSE(find_gif_fault(gif_of({complete.begin(), complete.end() - 1})));
  EXPECT_FALSE(find_gif_fault(gif_of(complete, 2)));
}

TEST(GifCheck, FindsMissingPixelsUndefinedCodesAndDataBehindTheEndCode) {
  const auto text_of = [](const Bytes& gif) {
    const auto fault = find_gif_fault(gif);
    return fault ? fault->text : "";
  };
  EXPECT_THAT(text_of(gif_of(incomplete)), HasSubstr("3 of 16 pixels"));
  EXPECT_THAT(text_of(gif_of({{4, 3}, {0, 3}, {7, 3}, {5, 3}})), HasSubstr("code"));
  EXPECT_THAT(text_of(gif_of(complete, 20)), HasSubstr("end code"));
  Bytes cut = gif_of(complete);
  cut.resize(cut.size() - 5);
  EXPECT_NE(text_of(cut), "");
}

TEST_F(StillPicture, RejectsGifWithMissingPixels) {
  write_file(path, gif_of(complete));
  EXPECT_EQ(count_frames(path), 1);
  expect_rejected(gif_of(incomplete), "pixels");
}

}  // namespace
}  // namespace lull::io::test
