#pragma once
// Pictures, noise and quality measures for the tests of the filters.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>
#include <random>
#include <string>

#include "core/frame.h"
#include "core/plane.h"
#include "core/samples.h"

namespace lull::test_support {

/// Returns a grey picture with the content that BM3D relies on: flat and sloping areas, edges,
/// repeating texture. Values are 16 to 235. `phase` displaces the texture, so that planes differ.
inline Plane<float> texture_picture(int width, int height, double phase = 0) {
  constexpr double tau = 2 * std::numbers::pi;
  Plane<float> picture(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double v = 90 + 0.35 * x + 0.2 * y;
      if (x > width / 2) v = 120 + 40 * std::sin(tau * (x * 0.11 + y * 0.05) + phase);
      if (y > height / 2) v += 25 * std::sin(tau * (y * 0.08 - x * 0.02) + 2 * phase);
      const double dx = x - 0.4 * width, dy = y - 0.45 * height;
      if (dx * dx + dy * dy < 0.04 * width * height) v = 200 - 60 * std::cos(phase);
      if ((x / 13 + y / 17) % 7 == 0) v -= 50;
      picture.view()(x, y) = static_cast<float>(std::clamp(v, 16.0, 235.0));
    }
  return picture;
}

/// Adds white Gaussian noise in float, without clipping.
inline Plane<float> with_noise(PlaneView<const float> clean, double sigma, unsigned seed = 1) {
  std::mt19937 rng{seed};
  std::normal_distribution<double> noise{0, 1};
  Plane<float> result(clean.width, clean.height);
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x)
      result.view()(x, y) = static_cast<float>(clean(x, y) + sigma * noise(rng));
  return result;
}

/// Peak signal-to-noise ratio in dB of planes on the 0..255 scale; NaN if a sample is NaN.
inline double psnr(PlaneView<const float> a, PlaneView<const float> b) {
  double sum = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      const double d = static_cast<double>(a(x, y)) - static_cast<double>(b(x, y));
      sum += d * d;
    }
  return 10 * std::log10(255.0 * 255.0 * a.width * a.height / sum);
}

/// Returns a frame with its own memory; rows have `padding` additional bytes, and every byte is
/// initially `fill`.
inline Frame make_frame(const FrameFormat& format, int padding = 0, int fill = 0) {
  Frame frame;
  frame.format = format;
  std::array<std::size_t, 3> offset{};
  std::size_t bytes = 0;
  for (int i = 0; i < format.planes(); ++i) {
    const int width = format.plane_width(i) * format.bytes_per_sample();
    frame.planes[i] = {nullptr, width, format.plane_height(i), (width + padding + 3) / 4 * 4};
    offset[i] = bytes;
    bytes += static_cast<std::size_t>(frame.planes[i].stride) * format.plane_height(i);
  }
  frame.pixels = std::shared_ptr<std::byte[]>(new std::byte[bytes]);
  std::fill_n(frame.pixels.get(), bytes, static_cast<std::byte>(fill));
  for (int i = 0; i < format.planes(); ++i) frame.planes[i].data = frame.pixels.get() + offset[i];
  return frame;
}

/// Plane `i` on the 0..255 scale.
inline Plane<float> plane_of(const Frame& frame, int i) {
  Plane<float> plane(frame.format.plane_width(i), frame.format.plane_height(i));
  load_plane(frame, i, plane.view());
  return plane;
}

/// Returns true if all samples are equal bit for bit; the padding between rows is ignored.
inline bool same_plane(const Frame& a, const Frame& b, int i) {
  const int bytes = a.format.plane_width(i) * a.format.bytes_per_sample();
  for (int y = 0; y < a.format.plane_height(i); ++y)
    if (!std::equal(a.planes[i].row(y), a.planes[i].row(y) + bytes, b.planes[i].row(y)))
      return false;
  return true;
}
inline bool same_samples(const Frame& a, const Frame& b) {
  for (int i = 0; i < a.format.planes(); ++i)
    if (!same_plane(a, b, i)) return false;
  return true;
}

/// Returns the folder of test data, if LULL_TEST_DATA names one.
inline std::optional<std::filesystem::path> data_folder() {
  const char* folder = std::getenv("LULL_TEST_DATA");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

/// Returns the luma of the first frame of a file in 8-bit planar YUV: raw, or YUV4MPEG2 with its
/// headers. Throws std::runtime_error if the file is missing or too short.
inline Plane<float> load_luma(const std::filesystem::path& file, int width, int height) {
  std::ifstream in(file, std::ios::binary);
  std::string line;
  if (file.extension() == ".y4m") std::getline(in, line), std::getline(in, line);
  Plane<float> plane(width, height);
  std::string row(width, '\0');
  for (int y = 0; y < height; ++y) {
    if (!in.read(row.data(), width)) throw std::runtime_error("cannot read " + file.string());
    for (int x = 0; x < width; ++x)
      plane.view()(x, y) = static_cast<float>(static_cast<std::uint8_t>(row[x]));
  }
  return plane;
}

}  // namespace lull::test_support
