// Tests damaged still pictures: the exit code is 65, and no file has the output's name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <filesystem>
#include <memory>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::HasSubstr;

class DamagedTiff : public testing::Test {
 protected:
  void SetUp() override {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    write_tiff();
    intact_ = bytes_of(in_);
  }
  /// Writes two deflated strips of grey samples.
  void write_tiff() const {
    constexpr int side = 96;
    const std::unique_ptr<TIFF, decltype(&TIFFClose)> file(TIFFOpen(in_.c_str(), "w"), TIFFClose);
    const Frame picture = noisy_picture(clean_picture({.width = side, .height = side}), 8);
    TIFFSetField(file.get(), TIFFTAG_IMAGEWIDTH, side);
    TIFFSetField(file.get(), TIFFTAG_IMAGELENGTH, side);
    TIFFSetField(file.get(), TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(file.get(), TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(file.get(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(file.get(), TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(file.get(), TIFFTAG_ROWSPERSTRIP, side / 2);
    for (int y = 0; y < side; ++y) {
      const auto* row = reinterpret_cast<const std::uint8_t*>(picture.planes[0].row(y));
      TIFFWriteScanline(file.get(), const_cast<std::uint8_t*>(row), static_cast<std::uint32_t>(y),
                        0);
    }
  }
  std::string with_flipped_bit(std::size_t at) const {
    std::string bytes = intact_;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    return bytes;
  }
  Outcome denoise(const std::string& in, const std::string& out) const {
    return run_lull({folder_ / in, folder_ / out, "--sigma", "10", "--device", "cpu"});
  }
  Folder folder_;
  std::string in_ = folder_ / "in.tif", intact_;
};

TEST_F(DamagedTiff, IsDenoisedIfIntact) {
  EXPECT_EQ(denoise("in.tif", "out.tif").code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out.tif"));
}

TEST_F(DamagedTiff, GivesBadDataAndNoResultForAFlippedBit) {
  write_bytes(in_, with_flipped_bit(intact_.size() * 3 / 4));
  const Outcome outcome = denoise("in.tif", "out.tif");
  EXPECT_EQ(outcome.code, 65) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("strip 1"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.tif"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.partial.tif"));
}

TEST_F(DamagedTiff, IsNamedInASequence) {
  write_bytes(folder_ / "in.01.tif", intact_);
  write_bytes(folder_ / "in.02.tif", with_flipped_bit(intact_.size() / 2));
  const Outcome outcome = denoise("in.%02d.tif", "out.%02d.tif");
  EXPECT_EQ(outcome.code, 65) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("in.02.tif"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.02.tif"));
}

}  // namespace
}  // namespace lull::tools
