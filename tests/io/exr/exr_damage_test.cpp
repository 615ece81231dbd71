// Tests OpenEXR files with damaged chunks, in the picture and in parts that are only copied.

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfMultiPartOutputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfOutputPart.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfTileDescription.h>
#include <OpenEXR/ImfTiledOutputFile.h>
#include <OpenEXR/openexr.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "io/exr/exr_chunks.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

constexpr int width = 64, height = 48;

std::vector<float> samples() {
  std::mt19937 rng(3);
  std::vector<float> all(width * height);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(i % width) / width + static_cast<float>(rng() % 8) / 64;
  return all;
}

Imf::Header header_of(Imf::Compression compression) {
  Imf::Header header(width, height);
  header.compression() = compression;
  for (const char* name : {"R", "G", "B"}) header.channels().insert(name, Imf::Channel(Imf::FLOAT));
  return header;
}

Imf::FrameBuffer buffer_of(std::vector<float>& samples) {
  Imf::FrameBuffer buffer;
  for (const char* name : {"R", "G", "B"})
    buffer.insert(name,
                  Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(samples.data()), 4, 4 * width));
  return buffer;
}

void write_one_part(const std::string& path, Imf::Compression compression) {
  std::vector<float> data = samples();
  Imf::OutputFile file(path.c_str(), header_of(compression), 0);
  file.setFrameBuffer(buffer_of(data));
  file.writePixels(height);
}

void write_two_parts(const std::string& path, Imf::Compression compression) {
  std::vector<float> data = samples();
  std::array<Imf::Header, 2> headers = {header_of(compression), header_of(compression)};
  headers[0].setName("beauty");
  headers[1].setName("normal");
  for (Imf::Header& header : headers) header.setType(Imf::SCANLINEIMAGE);
  Imf::MultiPartOutputFile file(path.c_str(), headers.data(), 2, false, 0);
  for (int part = 0; part < 2; ++part) {
    Imf::OutputPart to(file, part);
    to.setFrameBuffer(buffer_of(data));
    to.writePixels(height);
  }
}

void write_levels(const std::string& path, Imf::LevelMode mode) {
  std::vector<float> data = samples();
  Imf::Header header = header_of(Imf::ZIP_COMPRESSION);
  header.setTileDescription(Imf::TileDescription(16, 16, mode));
  Imf::TiledOutputFile file(path.c_str(), header, 0);
  file.setFrameBuffer(buffer_of(data));
  for (int ly = 0; ly < file.numYLevels(); ++ly)
    for (int lx = 0; lx < file.numXLevels(); ++lx)
      if (file.isValidLevel(lx, ly))
        file.writeTiles(0, file.numXTiles(lx) - 1, 0, file.numYTiles(ly) - 1, lx, ly);
}

std::string error_for(const std::string& path) {
  try {
    count_frames(path);
    return {};
  } catch (const BadData& error) {
    return error.what();
  }
}

/// Returns the same file with data and display windows that are `by` pixels wider.
Bytes widened(Bytes bytes, int by) {
  for (const std::string name : {"dataWindow", "displayWindow"}) {
    const std::string text(bytes.begin(), bytes.end());
    // The name and the type "box2i" end with a zero byte; 4 bytes of size and two corners follow.
    const std::size_t x_max = text.find(name) + name.size() + 1 + 6 + 4 + 8;
    bytes[x_max] = static_cast<std::uint8_t>(bytes[x_max] + by);
  }
  return bytes;
}

class ExrCompression : public testing::TestWithParam<Imf::Compression> {};

// OpenEXR's library returns uninitialised memory for the missing samples.
TEST_P(ExrCompression, RejectsChunksWithFewerSamplesThanTheWindow) {
  const TemporaryFolder folder;
  const std::string path = folder / "in.exr";
  write_one_part(path, GetParam());
  EXPECT_EQ(error_for(path), "");
  write_file(path, widened(read_file(path), 40));
  EXPECT_THAT(error_for(path), HasSubstr("damaged or cut short"));
}

INSTANTIATE_TEST_SUITE_P(Compressions, ExrCompression,
                         testing::Values(Imf::RLE_COMPRESSION, Imf::ZIPS_COMPRESSION,
                                         Imf::ZIP_COMPRESSION, Imf::PXR24_COMPRESSION));

// In every mode, the byte after a fifth of the file belongs to a tile of the full size.
TEST(ExrChunks, FindsAFlippedBitInPicturesWithSmallerCopies) {
  const TemporaryFolder folder;
  const std::string path = folder / "in.exr";
  for (const Imf::LevelMode mode : {Imf::ONE_LEVEL, Imf::MIPMAP_LEVELS, Imf::RIPMAP_LEVELS}) {
    write_levels(path, mode);
    EXPECT_EQ(error_for(path), "") << mode;
    Bytes bad = read_file(path);
    bad[bad.size() / 5] ^= 16;
    write_file(path, bad);
    EXPECT_THAT(error_for(path), HasSubstr("damaged or cut short")) << mode;
  }
}

TEST(ExrChunks, FindsAFlippedBitInEachPart) {
  const TemporaryFolder folder;
  const std::string path = folder / "in.exr";
  write_two_parts(path, Imf::ZIP_COMPRESSION);
  const Bytes intact = read_file(path);
  EXPECT_EQ(find_damaged_chunk(intact, 1), "");
  EXPECT_EQ(find_damaged_chunk(intact, 4), "");
  for (const std::size_t at : {intact.size() - 20, intact.size() * 2 / 3, intact.size() / 3}) {
    Bytes bad = intact;
    bad[at] ^= 16;
    const std::string fault = find_damaged_chunk(bad, 1);
    EXPECT_THAT(fault, HasSubstr(at > intact.size() / 2 ? "part 1" : "part 0"));
    EXPECT_EQ(find_damaged_chunk(bad, 4), fault);
    // Part 1 is only copied into the result.
    write_file(path, bad);
    EXPECT_THAT(error_for(path), HasSubstr("damaged or cut short")) << at;
  }
}

TEST(ExrChunks, AcceptsAllCompressions) {
  const TemporaryFolder folder;
  for (int kind = 0; kind < Imf::NUM_COMPRESSION_METHODS; ++kind) {
    write_one_part(folder / "in.exr", static_cast<Imf::Compression>(kind));
    EXPECT_EQ(find_damaged_chunk(read_file(folder / "in.exr"), 2), "") << kind;
    EXPECT_EQ(count_frames(folder / "in.exr"), 1) << kind;
  }
}

std::uint64_t number_at(const Bytes& bytes, std::size_t at, int size) {
  std::uint64_t number = 0;
  for (int i = size; i-- > 0;) number = number << 8 | bytes[at + static_cast<std::size_t>(i)];
  return number;
}

/// Returns the positions of the chunks: the table of their positions ends where the first chunk
/// begins.
std::vector<std::size_t> chunks_of(const Bytes& bytes) {
  for (std::size_t at = 8; at + 8 < bytes.size(); ++at) {
    const std::uint64_t first = number_at(bytes, at, 8);
    if (first <= at || (first - at) % 8 != 0 || first - at > 8 * height) continue;
    std::vector<std::size_t> chunks;
    for (std::size_t entry = at; entry < first; entry += 8)
      chunks.push_back(static_cast<std::size_t>(number_at(bytes, entry, 8)));
    if (std::ranges::is_sorted(chunks) && chunks.back() < bytes.size()) return chunks;
  }
  return {};
}

// The row and the size of a chunk contradict the table and the next chunk.
TEST(ExrChunks, FindsAFlippedBitInEachChunkHeader) {
  const TemporaryFolder folder;
  for (int kind = 0; kind < Imf::NUM_COMPRESSION_METHODS; ++kind) {
    write_one_part(folder / "in.exr", static_cast<Imf::Compression>(kind));
    const Bytes intact = read_file(folder / "in.exr");
    const std::vector<std::size_t> chunks = chunks_of(intact);
    ASSERT_FALSE(chunks.empty()) << kind;
    for (const std::size_t chunk : chunks)
      for (int bit = 0; bit < 64; ++bit) {
        Bytes bad = intact;
        bad[chunk + static_cast<std::size_t>(bit / 8)] ^= static_cast<std::uint8_t>(1 << bit % 8);
        // The size of the last chunk is compared with the end of the file only.
        if (bit >= 32 && chunk == chunks.back() &&
            number_at(bad, chunk + 4, 4) < number_at(intact, chunk + 4, 4))
          continue;
        EXPECT_NE(find_damaged_chunk(bad, 1), "") << kind << " " << chunk << " " << bit;
      }
  }
}

/// Decompresses all chunks with OpenEXR's C library. Returns whether it reports an error.
bool has_core_error(const std::string& path) {
  exr_context_initializer_t options = EXR_DEFAULT_CONTEXT_INITIALIZER;
  options.error_handler_fn = [](exr_const_context_t, exr_result_t, const char*) {};
  exr_context_t file = nullptr;
  if (exr_start_read(&file, path.c_str(), &options) != EXR_ERR_SUCCESS) return true;
  std::int32_t rows = 0;
  bool failed = exr_get_scanlines_per_chunk(file, 0, &rows) != EXR_ERR_SUCCESS;
  for (int y = 0; y < height && !failed; y += rows) {
    exr_chunk_info_t info{};
    exr_decode_pipeline_t decoding = EXR_DECODE_PIPELINE_INITIALIZER;
    failed = exr_read_scanline_chunk_info(file, 0, y, &info) != EXR_ERR_SUCCESS ||
             exr_decoding_initialize(file, 0, &info, &decoding) != EXR_ERR_SUCCESS ||
             exr_decoding_choose_default_routines(file, 0, &decoding) != EXR_ERR_SUCCESS ||
             exr_decoding_run(file, 0, &decoding) != EXR_ERR_SUCCESS;
    exr_decoding_destroy(file, &decoding);
  }
  exr_finish(&file);
  return failed;
}

// PIZ has no checksum. OpenEXR's C++ library accepts some damage that its C library reports.
TEST(ExrChunks, RefusesPizDataThatOpenExrCannotDecompress) {
  const TemporaryFolder folder;
  const std::string path = folder / "in.exr";
  write_one_part(path, Imf::PIZ_COMPRESSION);
  const Bytes intact = read_file(path);
  EXPECT_EQ(find_damaged_chunk(intact, 2), "");
  const std::vector<std::size_t> chunks = chunks_of(intact);
  ASSERT_EQ(chunks.size(), 2u);
  std::mt19937 rng(5);
  int reported = 0;
  for (int i = 0; i < 300; ++i) {
    constexpr std::size_t head = 8;  // row and size
    const std::size_t first = chunks[i % 2] + head,
                      last = i % 2 == 0 ? chunks[1] - 1 : intact.size() - 1;
    Bytes bad = intact;
    const std::size_t at = first + rng() % (last - first + 1);
    bad[at] ^= static_cast<std::uint8_t>(1 << rng() % 8);
    write_file(path, bad);
    if (!has_core_error(path)) continue;
    ++reported;
    EXPECT_THAT(error_for(path), HasSubstr("damaged or cut short")) << at;
  }
  EXPECT_GT(reported, 15);
}

TEST(ExrSize, IsComparedWithTheFileBeforeAllocating) {
  const TemporaryFolder folder;
  const std::string path = folder / "in.exr";
  write_one_part(path, Imf::ZIP_COMPRESSION);
  Bytes bytes = read_file(path);
  for (const std::string name : {"dataWindow", "displayWindow"}) {
    const std::string text(bytes.begin(), bytes.end());
    const std::size_t x_max = text.find(name) + name.size() + 1 + 6 + 4 + 8;
    bytes[x_max + 2] = 100;  // about 6.5 million pixels wide
  }
  write_file(path, bytes);
  SourceOptions options;
  options.limits.pixels = std::int64_t{1} << 40;
  try {
    (void)open_source(path, options);
    ADD_FAILURE() << "the file was opened";
  } catch (const BadData& error) {
    EXPECT_THAT(error.what(), HasSubstr("can hold"));
  }
}

}  // namespace
}  // namespace lull::io::test
