// Tests the outputs without a file: null and hash.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

extern "C" {
#include <libavutil/hash.h>
}

#include "core/error.h"
#include "io/support/clip.h"
#include "io/support/volumes.h"

namespace lull::io::test {
namespace {

std::string sha256(const void* data, std::size_t bytes) {
  AVHashContext* context = nullptr;
  if (av_hash_alloc(&context, "SHA256") < 0) throw std::bad_alloc();
  av_hash_init(context);
  av_hash_update(context, static_cast<const std::uint8_t*>(data), bytes);
  std::uint8_t text[2 * AV_HASH_MAX_SIZE + 1];
  av_hash_final_hex(context, text, sizeof text);
  av_hash_freep(&context);
  return reinterpret_cast<const char*>(text);
}

/// Returns the text that `-o hash` prints for a file.
std::string hash_text(const std::string& path, const std::string& text_file) {
  const int out = ::open(text_file.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  transcode(path, "hash", {.descriptor = out});
  ::close(out);
  const auto bytes = read_file(text_file);
  return {bytes.begin(), bytes.end()};
}

struct HashCase {
  const char* name;
  AVPixelFormat format;
};
class Hash : public testing::TestWithParam<HashCase> {};

// Planar formats with lull's order of planes, so that the digest of FFmpeg's layout is comparable.
INSTANTIATE_TEST_SUITE_P(Formats, Hash,
                         testing::Values(HashCase{"grey", AV_PIX_FMT_GRAY8},
                                         HashCase{"grey16", AV_PIX_FMT_GRAY16LE},
                                         HashCase{"yuv420", AV_PIX_FMT_YUV420P},
                                         HashCase{"yuv422_10", AV_PIX_FMT_YUV422P10LE},
                                         HashCase{"yuva444", AV_PIX_FMT_YUVA444P}),
                         [](const auto& param) { return param.param.name; });

TEST_P(Hash, EqualsTheHashOfFfmpegsSamples) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.width = 45;
  spec.height = 33;
  spec.frames = 3;
  spec.format = GetParam().format;
  spec.pts = {0, 2, 7};
  make_clip(folder / "a.nut", spec);
  std::istringstream text(hash_text(folder / "a.nut", folder / "text"));
  const Decoded decoded = decode(folder / "a.nut");
  std::string line, last, above;
  std::size_t frames = 0;
  double tick = 0;
  while (std::getline(text, line)) {
    if (line.starts_with("# time base ")) {
      tick = std::stod(line.substr(12)) / std::stod(line.substr(line.find('/') + 1));
    } else if (line.starts_with("all ")) {
      EXPECT_EQ(line, "all 3 " + sha256(above.data(), above.size()));
    } else if (line[0] != '#') {
      std::istringstream words(line);
      std::size_t number;
      std::int64_t pts;
      std::string digest;
      words >> number >> pts >> digest;
      ASSERT_LT(frames, decoded.pictures.size());
      const Picture& picture = decoded.pictures[frames];
      EXPECT_EQ(number, frames);
      EXPECT_NEAR(static_cast<double>(pts) * tick, picture.time, 1e-9);
      EXPECT_EQ(digest, sha256(picture.bytes.data(), picture.bytes.size()));
      ++frames;
    }
    above += line + "\n";
    last = line;
  }
  EXPECT_EQ(frames, 3u);
  EXPECT_TRUE(last.starts_with("all "));
}

TEST(PlainSinks, EqualSamplesHaveEqualDigests) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 4;
  make_clip(folder / "a.nut", spec);
  spec.frames = 4;
  transcode(folder / "a.nut", folder / "b.mkv", {.lossless = true});
  const std::string a = hash_text(folder / "a.nut", folder / "text");
  const std::string b = hash_text(folder / "b.mkv", folder / "text");
  const auto digests = [](const std::string& text) {
    std::istringstream lines(text);
    std::string line, result;
    while (std::getline(lines, line))
      if (line[0] != '#' && line[0] != 'a') result += line.substr(line.rfind(' '));
    return result;
  };
  EXPECT_EQ(digests(a), digests(b));
  EXPECT_EQ(a, hash_text(folder / "a.nut", folder / "text"));
}

TEST(PlainSinks, FullDiskIsAnIoError) {
  const TemporaryFolder folder;
  make_clip(folder / "a.mkv", {});
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "no /dev/full";
  EXPECT_THROW(transcode(folder / "a.mkv", "hash", {.descriptor = full}), IoError);
  ::close(full);
}

TEST(PlainSinks, CreateNoFiles) {
  const TemporaryFolder folder;
  make_clip(folder / "a.mkv", {});
  const auto old = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(transcode("a.mkv", "null"), 10);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a.mkv"});
  std::filesystem::current_path(old);
}

// The samples are those that the filters get: the value range of a volume is mapped to 0..1.
TEST(PlainSinks, AcceptStacks) {
  const TemporaryFolder folder;
  const std::vector<std::int16_t> values = {0, 1000, 1000, 0};
  write_file(folder / "a.nii", volume({.dim = {2, 1, 2}}, values));
  const std::vector<float> slices[] = {{0, 1}, {1, 0}};
  std::string expected = "# lull hash 1, SHA-256\n# 2x1 grey 32 bits\n# time base 1/1\n";
  for (int i = 0; i < 2; ++i)
    expected += std::to_string(i) + " " + std::to_string(i) + " " +
                sha256(slices[i].data(), 2 * sizeof(float)) + "\n";
  expected += "all 2 " + sha256(expected.data(), expected.size()) + "\n";
  EXPECT_EQ(hash_text(folder / "a.nii", folder / "text"), expected);
  EXPECT_EQ(transcode(folder / "a.nii", "null"), 2);
  for (const char* name : {"null", "hash"})
    EXPECT_THROW(transcode(folder / "a.nii", name, {.datatype = DataType::int16}), InvalidArgument);
}

}  // namespace
}  // namespace lull::io::test
