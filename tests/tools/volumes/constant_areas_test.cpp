// Tests that lull denoise preserves constant areas of volumes, pictures and video.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/frame_pool.h"
#include "io/support/volumes.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

constexpr int width = 40, height = 36, slices = 12;

bool in_head(int i) {
  const double x = i % width - 19.5, y = i / width % height - 17.5, z = i / (width * height) - 5.5;
  return x * x / 300 + y * y / 230 + z * z / 60 < 1;
}

/// Runs the command on the CPU.
void denoise(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--device", "cpu", "-y", "--progress", "none"});
  const Outcome outcome = run_lull(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
}

TEST(ConstantAreasOfFiles, OfAMaskedVolumeArePreservedBitForBit) {
  const Folder folder;
  std::mt19937 rng{1};
  std::normal_distribution<float> noise{0, 40};
  std::vector<float> clean, noisy;
  for (int i = 0; i < width * height * slices; ++i) {
    clean.push_back(in_head(i) ? 500 + 200 * std::sin(0.2f * static_cast<float>(i % width)) : 0);
    noisy.push_back(in_head(i) ? clean.back() + noise(rng) : 0);
  }
  const io::test::VolumeSpec spec{
      .dim = {width, height, slices}, .datatype = io::test::code_of<float>(), .bitpix = 32};
  const io::test::File file = io::test::volume(spec, noisy);
  write_bytes(folder / "in.nii", {file.begin(), file.end()});
  const auto error_with = [&](const std::string& choice, const std::string& threads) {
    denoise({folder / "in.nii", folder / ("out" + threads + ".nii"), "--constant-areas", choice,
             "--threads", threads});
    const std::string bytes = bytes_of(folder / ("out" + threads + ".nii"));
    const auto result = io::test::samples_of<float>({bytes.begin(), bytes.end()}, spec);
    double squares = 0;
    for (std::size_t i = 0; i < noisy.size(); ++i) {
      if (in_head(static_cast<int>(i)))
        squares += std::pow(result[i] - clean[i], 2);
      else if (choice == "preserve")
        EXPECT_EQ(result[i], 0);
    }
    return squares;
  };
  const double filtered = error_with("filter", "1"), preserved = error_with("preserve", "1");
  EXPECT_LT(preserved, 0.9 * filtered) << "the background does not spoil the head";
  EXPECT_EQ(error_with("preserve", "3"), preserved);
  EXPECT_EQ(bytes_of(folder / "out1.nii"), bytes_of(folder / "out3.nii"));
}

TEST(ConstantAreasOfFiles, OfLetterboxesArePreservedInEachFrameAndInOtherBitDepths) {
  const Folder folder;
  const FrameFormat format{
      .width = 96, .height = 80, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
  constexpr int values[3] = {16, 128, 128};
  const auto is_bar = [&](int plane, int y) {
    const int bar = plane == 0 ? 12 : 6;
    return y < bar || y >= format.plane_height(plane) - bar;
  };
  std::vector<Frame> frames;
  for (unsigned n = 0; n < 5; ++n) {
    Frame frame = noisy_picture(clean_picture(format, 0.1 * n), 12, n + 1);
    for (int i = 0; i < 3; ++i)
      for (int y = 0; y < format.plane_height(i); ++y)
        if (is_bar(i, y))
          std::fill_n(frame.plane<std::uint8_t>(i).row(y), format.plane_width(i), values[i]);
    frames.push_back(std::move(frame));
  }
  write_y4m(folder / "in.y4m", frames);
  denoise({folder / "in.y4m", folder / "out.y4m", "--sigma", "12"});
  denoise({folder / "in.y4m", folder / "out10.y4m", "--sigma", "12", "--bits", "10", "--dither",
           "none"});
  const auto expect_bars = [&]<class T>(const std::string& name, int factor, T) {
    const std::vector<Frame> results = frames_of(folder / name);
    ASSERT_EQ(results.size(), frames.size());
    for (const Frame& result : results)
      for (int i = 0; i < 3; ++i)
        for (int y = 0; y < format.plane_height(i); ++y)
          for (int x = 0; x < format.plane_width(i) && is_bar(i, y); ++x)
            ASSERT_EQ(result.plane<T>(i)(x, y), values[i] * factor) << i << ": " << x << ", " << y;
  };
  expect_bars("out.y4m", 1, std::uint8_t{});
  expect_bars("out10.y4m", 4, std::uint16_t{});
}

}  // namespace
}  // namespace lull::tools
