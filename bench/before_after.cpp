// lull_before_after BEFORE AFTER OUT: writes one frame of two clips side by side as a picture.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "bench/support/arguments.h"
#include "core/error.h"
#include "io/media.h"

namespace {

using namespace lull;

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // 3 bytes per pixel, row by row
};

/// Returns the sample of a plane at a pixel of the first plane, from 0 to 1.
double sample(const Frame& frame, int plane, int x, int y) {
  if (plane > 0) x >>= frame.format.chroma_shift_x, y >>= frame.format.chroma_shift_y;
  const double value = frame.format.sample == SampleType::u8
                           ? frame.plane<std::uint8_t>(plane)(x, y)
                           : frame.plane<std::uint16_t>(plane)(x, y);
  return value / frame.format.full_scale();
}

/// YUV is interpreted as limited-range ITU-R BT.709, which is the format of the project's clips.
std::array<double, 3> pixel(const Frame& frame, int x, int y) {
  const double first = sample(frame, 0, x, y);
  if (frame.format.layout == Layout::gray) return {first, first, first};
  const double second = sample(frame, 1, x, y), third = sample(frame, 2, x, y);
  if (frame.format.layout == Layout::rgb) return {first, second, third};
  const double luma = (first * 255 - 16) / 219;
  const double blue = (second * 255 - 128) / 224, red = (third * 255 - 128) / 224;
  return {luma + 1.5748 * red, luma - 0.1873 * blue - 0.4681 * red, luma + 1.8556 * blue};
}

Frame frame_at(const std::string& path, int index) {
  const auto source = io::open_source(path);
  for (int i = 0;; ++i) {
    auto frame = source->read();
    if (!frame)
      throw InvalidArgument("frame " + std::to_string(index) + " (" + path + " has " +
                            std::to_string(i) + "); give a smaller --frame");
    if (i == index) return *std::move(frame);
  }
}

void draw(const Frame& frame, int left, Picture& picture) {
  for (int y = 0; y < std::min(frame.format.height, picture.height); ++y)
    for (int x = 0; x < frame.format.width; ++x) {
      const auto colour = pixel(frame, x, y);
      for (int c = 0; c < 3; ++c)
        picture.rgb[(static_cast<std::size_t>(y) * picture.width + left + x) * 3 + c] =
            static_cast<std::uint8_t>(std::lround(std::clamp(colour[c], 0.0, 1.0) * 255));
    }
}

Picture side_by_side(const Frame& before, const Frame& after) {
  constexpr int gap = 4;  // white pixels between the two pictures
  Picture picture;
  picture.width = before.format.width + gap + after.format.width;
  picture.height = std::max(before.format.height, after.format.height);
  picture.rgb.assign(static_cast<std::size_t>(picture.width) * picture.height * 3, 255);
  draw(before, 0, picture);
  draw(after, before.format.width + gap, picture);
  return picture;
}

/// Writes a temporary PPM file, which the library converts to the format that `path` names.
void save(const Picture& picture, const std::string& path) {
  const std::string ppm = path + ".ppm";
  std::ofstream file(ppm, std::ios::binary);
  file << "P6\n" << picture.width << ' ' << picture.height << "\n255\n";
  file.write(reinterpret_cast<const char*>(picture.rgb.data()),
             static_cast<std::streamsize>(picture.rgb.size()));
  file.close();
  if (!file) throw IoError(ppm + " cannot be written");
  const auto source = io::open_source(ppm);
  const auto sink = io::open_sink(path, *source, {.overwrite = true});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  std::filesystem::remove(ppm);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv, 3,
                             "lull_before_after BEFORE AFTER OUT [--frame N]\n"
                             "Puts one frame of two clips side by side.\n"
                             "  BEFORE       clip or picture on the left\n"
                             "  AFTER        clip or picture on the right\n"
                             "  OUT          picture to write (PNG)\n"
                             "  --frame N    number of the frame, counted from 0 (default: 0)");
  const std::string before = arguments.name(0), after = arguments.name(1);
  const std::string out = arguments.name(2);
  const int index = static_cast<int>(arguments.number("--frame", 1e9, 0));
  arguments.reject_others();

  try {
    save(side_by_side(frame_at(before, index), frame_at(after, index)), out);
  } catch (const std::exception& error) {
    std::cerr << "lull_before_after: " << error.what() << '\n';
    return 1;
  }
}
