#include "bench/support/pictures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "bench/support/gaussian.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "io/media.h"

namespace lull::bench {
namespace {

constexpr double synthetic_sigma = 20;

/// Mirrors an index: 0, 1, .. n - 1, n - 1, .. 1, 0, 0, 1 and so on.
int mirrored(int at, int n) {
  const int turn = at % (2 * n);
  return turn < n ? turn : 2 * n - 1 - turn;
}

template <class T>
void fill(PlaneView<const T> from, int x0, int y0, PlaneView<T> to) {
  for (int y = 0; y < to.height; ++y) {
    const T* row = from.row(mirrored(y + y0, from.height));
    for (int x = 0; x < to.width; ++x) to(x, y) = row[mirrored(x + x0, from.width)];
  }
}

template <class T>
double squared_error(PlaneView<const T> a, PlaneView<const T> b) {
  double sum = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      const double d = static_cast<double>(a(x, y)) - static_cast<double>(b(x, y));
      sum += d * d;
    }
  return sum;
}

double squared_error(const Frame& a, const Frame& b, int plane) {
  switch (a.format.sample) {
    case SampleType::u8:
      return squared_error<std::uint8_t>(a.plane<std::uint8_t>(plane),
                                         b.plane<std::uint8_t>(plane));
    case SampleType::u16:
      return squared_error<std::uint16_t>(a.plane<std::uint16_t>(plane),
                                          b.plane<std::uint16_t>(plane));
    case SampleType::f32:
      return squared_error<float>(a.plane<float>(plane), b.plane<float>(plane));
  }
  return 0;
}

Frame first_frame(const std::string& path, std::pmr::memory_resource* memory) {
  auto frame = io::open_source(path, {.memory = memory})->read();
  if (!frame) throw BadData(path + " (no frame)");
  return *std::move(frame);
}

/// Returns a synthetic picture: waves with many similar patches, and edges with few.
PicturePair synthetic_pair(std::pmr::memory_resource* memory) {
  FramePool pool({.width = 1920, .height = 1080}, memory);
  PicturePair pair{pool.acquire(), pool.acquire()};
  const auto noisy = pair.noisy.plane<std::uint8_t>(0), clean = pair.clean.plane<std::uint8_t>(0);
  Gaussian gaussian(1);
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x) {
      const double wave = 40 * std::sin(0.02 * (x + 0.001 * y * y));
      const double edge = (x / 37 + y / 53) % 3 == 0 ? 60 : 0;
      clean(x, y) = static_cast<std::uint8_t>(std::lround(90 + wave + edge));
      const double value = clean(x, y) + synthetic_sigma * gaussian();
      noisy(x, y) = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
    }
  return pair;
}

template <class T>
void add_noise(PlaneView<const T> clean, double sigma, double full_scale, Gaussian& gaussian,
               PlaneView<T> noisy) {
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x) {
      const double value = clean(x, y) + sigma * gaussian();
      noisy(x, y) = static_cast<T>(std::lround(std::clamp(value, 0.0, full_scale)));
    }
}

template <class T>
void add_averaged_noise(PlaneView<const T> clean, double sigma, int squares, double full_scale,
                        Gaussian& gaussian, PlaneView<T> noisy) {
  const std::vector<double> noise = averaged_noise(clean.width, clean.height, squares, gaussian);
  auto sample = noise.begin();
  for (int y = 0; y < clean.height; ++y)
    for (int x = 0; x < clean.width; ++x) {
      const double value = clean(x, y) + sigma * *sample++;
      noisy(x, y) = static_cast<T>(std::lround(std::clamp(value, 0.0, full_scale)));
    }
}

}  // namespace

Size parse_size(const std::string& text) {
  Size size;
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, size.width);
  const bool by = width.ec == std::errc{} && width.ptr != end && *width.ptr == 'x';
  const auto height = by ? std::from_chars(width.ptr + 1, end, size.height) : width;
  if (!by || height.ec != std::errc{} || height.ptr != end || size.width < 1 || size.height < 1)
    throw InvalidArgument("size \"" + text + "\" (must be WIDTHxHEIGHT); give one like 1920x1080");
  return size;
}

FrameFormat format_of(const Shape& shape, const FrameFormat& own) {
  FrameFormat format = own;
  if (shape.size.width > 0) {
    format.width = shape.size.width;
    format.height = shape.size.height;
  }
  if (shape.layout == "gray") {
    format.layout = Layout::gray;
    format.chroma_shift_x = format.chroma_shift_y = 0;
  } else if (shape.layout == "420") {
    format.layout = Layout::yuv;
    format.chroma_shift_x = format.chroma_shift_y = 1;
  } else if (!shape.layout.empty()) {
    throw InvalidArgument("layout \"" + shape.layout + "\" (unknown layout); give gray or 420");
  }
  return format;
}

std::string describe_shape(const FrameFormat& format) {
  const char* layout = format.layout == Layout::gray  ? "gray"
                       : format.layout == Layout::rgb ? "rgb"
                       : format.chroma_shift_y == 1   ? "420"
                       : format.chroma_shift_x == 1   ? "422"
                                                      : "444";
  return std::to_string(format.width) + "x" + std::to_string(format.height) + " " + layout;
}

PicturePair load_pair(const std::string& noisy, const std::string& clean,
                      std::pmr::memory_resource* memory) {
  if (!noisy.empty())
    return {first_frame(noisy, memory), clean.empty() ? Frame{} : first_frame(clean, memory)};
  if (const char* data = std::getenv("LULL_TEST_DATA")) {
    const std::string still = std::string(data) + "/bench/kodak1080_";
    if (std::filesystem::exists(still + "noisy20.png"))
      return {first_frame(still + "noisy20.png", memory), first_frame(still + "clean.png", memory)};
  }
  return synthetic_pair(memory);
}

Frame reshape(const Frame& picture, const FrameFormat& format, int shift,
              std::pmr::memory_resource* memory) {
  if (!picture.pixels || (format == picture.format && shift == 0)) return picture;
  if (format.sample != picture.format.sample || format.bits != picture.format.bits)
    throw InvalidArgument(
        "the format has another bit depth than the picture (only the size and the layout can "
        "change)");
  Frame frame = FramePool(format, memory).acquire();
  for (int i = 0; i < format.planes(); ++i) {
    // The displacements between the planes are odd, so that the planes have no edges at equal
    // positions.
    const int x0 = shift + 389 * i, y0 = shift + 211 * i;
    switch (format.sample) {
      case SampleType::u8:
        fill<std::uint8_t>(picture.plane<std::uint8_t>(0), x0, y0, frame.plane<std::uint8_t>(i));
        break;
      case SampleType::u16:
        fill<std::uint16_t>(picture.plane<std::uint16_t>(0), x0, y0, frame.plane<std::uint16_t>(i));
        break;
      case SampleType::f32:
        fill<float>(picture.plane<float>(0), x0, y0, frame.plane<float>(i));
        break;
    }
  }
  return frame;
}

double psnr(const Frame& a, const Frame& b, int first, int last) {
  if (a.format != b.format)
    throw InvalidArgument("pictures of different formats (PSNR compares equal ones)");
  double sum = 0, samples = 0;
  for (int i = first; i <= last; ++i) {
    sum += squared_error(a, b, i);
    samples += static_cast<double>(a.format.plane_width(i)) * a.format.plane_height(i);
  }
  const double peak = a.format.full_scale();
  return 10 * std::log10(peak * peak * samples / sum);
}

std::vector<double> averaged_noise(int width, int height, int squares, Gaussian& gaussian) {
  const std::size_t across = static_cast<std::size_t>(width) + squares - 1;
  std::vector<double> white(across * (static_cast<std::size_t>(height) + squares - 1));
  for (double& v : white) v = gaussian();
  std::vector<double> noise;
  noise.reserve(static_cast<std::size_t>(width) * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int j = 0; j < squares; ++j)
        for (int i = 0; i < squares; ++i) sum += white[(y + j) * across + x + i];
      noise.push_back(sum / squares);
    }
  return noise;
}

Frame with_noise(const PicturePair& pair, double sigma, int squares,
                 std::pmr::memory_resource* memory) {
  if (squares == 0) return pair.noisy;
  const Frame& clean = pair.clean;
  if (!clean.pixels || clean.format.sample == SampleType::f32)
    throw InvalidArgument("cannot add noise (no clean picture of integers); give --clean");
  Frame noisy = FramePool(clean.format, memory).acquire();
  const double full_scale = clean.format.full_scale(), scaled = sigma * full_scale / 255.0;
  Gaussian gaussian(1);
  for (int i = 0; i < clean.format.planes(); ++i) {
    if (clean.format.sample == SampleType::u8)
      add_averaged_noise<std::uint8_t>(clean.plane<std::uint8_t>(i), scaled, squares, full_scale,
                                       gaussian, noisy.plane<std::uint8_t>(i));
    else
      add_averaged_noise<std::uint16_t>(clean.plane<std::uint16_t>(i), scaled, squares, full_scale,
                                        gaussian, noisy.plane<std::uint16_t>(i));
  }
  return noisy;
}

Frame add_noise(const Frame& clean, double sigma, Gaussian& gaussian, FramePool& pool) {
  Frame noisy = pool.acquire();
  noisy.copy_info(clean);
  const double full_scale = clean.format.full_scale(), scaled = sigma * full_scale / 255.0;
  for (int i = 0; i < clean.format.planes(); ++i) {
    if (clean.format.sample == SampleType::u8)
      add_noise<std::uint8_t>(clean.plane<std::uint8_t>(i), scaled, full_scale, gaussian,
                              noisy.plane<std::uint8_t>(i));
    else
      add_noise<std::uint16_t>(clean.plane<std::uint16_t>(i), scaled, full_scale, gaussian,
                               noisy.plane<std::uint16_t>(i));
  }
  return noisy;
}

}  // namespace lull::bench
