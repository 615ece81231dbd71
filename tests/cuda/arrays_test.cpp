// Tests the conversion of numbers in arrays to samples and back, compared with the result of numpy.

#include "cuda/samples/arrays.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/device.h"
#include "support/gpu.h"

namespace lull::cuda {
namespace {

using test_support::on_device;
using test_support::on_host;

class CudaArrays : public test_support::GpuTest {};

constexpr int width = 37, height = 11, number_stride = 3;  // numbers between consecutive samples

template <class Number>
constexpr NumberType type_of() {
  using enum NumberType;
  constexpr bool is_signed = std::is_signed_v<Number>;
  if (std::is_floating_point_v<Number>) return sizeof(Number) == 4 ? f32 : f64;
  if (sizeof(Number) == 1) return is_signed ? i8 : u8;
  if (sizeof(Number) == 2) return is_signed ? i16 : u16;
  if (sizeof(Number) == 4) return is_signed ? i32 : u32;
  return is_signed ? i64 : u64;
}

/// The value is rounded and limited to the range of the type.
template <class Number>
Number as_number(double v) {
  if constexpr (std::is_floating_point_v<Number>) {
    return static_cast<Number>(v);
  } else {
    constexpr auto least = std::numeric_limits<Number>::min();
    constexpr auto most = std::numeric_limits<Number>::max();
    const double whole = std::nearbyint(v);
    if (whole >= static_cast<double>(most)) return most;
    return whole <= static_cast<double>(least) ? least : static_cast<Number>(whole);
  }
}

template <class Number>
std::vector<Number> numbers_around(double low, double span) {
  std::mt19937 rng{3};
  std::uniform_real_distribution<double> spread{-0.8, 1.8};
  std::vector<Number> numbers(width * height * number_stride);
  for (Number& one : numbers) one = as_number<Number>(low + span * spread(rng));
  if constexpr (std::is_floating_point_v<Number>) {
    numbers[number_stride] = std::numeric_limits<Number>::quiet_NaN();
    numbers[2 * number_stride] = std::numeric_limits<Number>::infinity();
  } else {
    numbers[number_stride] = std::numeric_limits<Number>::min();
    numbers[2 * number_stride] = std::numeric_limits<Number>::max();
  }
  return numbers;
}

template <class Number>
float expected_sample(Number v, double low, double span) {
  if (low == 0 && span == 1) return static_cast<float>(v);
  const double at = (static_cast<double>(v) - low) / span;
  return at >= -0.5 && at <= 1.5 ? static_cast<float>(at) : std::numeric_limits<float>::quiet_NaN();
}

template <class Number>
Number expected_number(float sample, Number original, double low, double span) {
  if (std::isnan(sample) || sample == expected_sample(original, low, span)) return original;
  const volatile double product = static_cast<double>(sample) * span;
  return as_number<Number>(product + low);
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return a == b;
}

/// Every third number, from the last row to the first.
template <class Number>
ArrayPicture flipped_picture(const DeviceBuffer<Number>& numbers, double low, double span) {
  constexpr std::ptrdiff_t row = std::ptrdiff_t{width} * number_stride * sizeof(Number);
  ArrayPicture array{
      .device = 0, .type = type_of<Number>(), .low = low, .span = span, .planes = {}};
  array.planes[0] = {reinterpret_cast<std::byte*>(numbers.get()) + (height - 1) * row, -row,
                     number_stride * sizeof(Number)};
  return array;
}

template <class Number>
void expect_conversions(double low, double span) {
  SCOPED_TRACE(::testing::Message() << static_cast<int>(type_of<Number>()) << " " << low);
  const FrameFormat format{.width = width, .height = height, .sample = SampleType::f32, .bits = 32};
  const std::vector<Number> numbers = numbers_around<Number>(low, span);
  const auto there = on_device(numbers);
  const ArrayPicture array = flipped_picture(there, low, span);
  constexpr int pitch = width + 5;
  auto samples = on_device(std::vector<float>(pitch * height, -77.0f));
  const PlaneView<std::byte> plane{reinterpret_cast<std::byte*>(samples.get()), width * 4, height,
                                   pitch * 4};
  array_to_samples(array, format, {plane});
  std::vector<float> made = on_host(samples);
  const auto number = [&](int x, int y) { return ((height - 1 - y) * width + x) * number_stride; };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < pitch; ++x)
      ASSERT_TRUE(same(made[y * pitch + x],
                       x < width ? expected_sample(numbers[number(x, y)], low, span) : -77.0f))
          << x << ", " << y;

  // The loop simulates a filter that leaves some samples unchanged.
  for (int k = 0; k < pitch * height; ++k)
    if (k % 3 != 0) made[k] += 0.01f * static_cast<float>(k % 11) - 0.05f;
  samples = on_device(made);
  DevicePicture result{.device = 0, .planes = {}};
  result.planes[0] = {reinterpret_cast<std::byte*>(samples.get()), width * 4, height, pitch * 4};
  const auto back = on_device(std::vector<Number>(numbers.size(), Number{42}));
  samples_to_array(result, format, array, flipped_picture(back, low, span));
  const std::vector<Number> found = on_host(back);
  const bool samples_alone = type_of<Number>() == NumberType::f32 && low == 0 && span == 1;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const float sample = made[y * pitch + x];
      const int k = number(x, y);
      const Number expected = samples_alone ? static_cast<Number>(sample)
                                            : expected_number(sample, numbers[k], low, span);
      ASSERT_TRUE(same(found[k], expected)) << x << ", " << y;
      ASSERT_EQ(found[k + 1], Number{42}) << "a number that is not the picture's";
    }
}

TEST_F(CudaArrays, ConversionsMatchTheHost) {
  expect_conversions<std::uint8_t>(11.5, 201.3);
  expect_conversions<std::int8_t>(-61.7, 93.1);
  expect_conversions<std::uint16_t>(100.25, 3791.1);
  expect_conversions<std::int16_t>(-813.5, 4099.7);
  expect_conversions<std::uint32_t>(5e5, 3.1e9);
  expect_conversions<std::int32_t>(-1e9, 1.7e9);
  expect_conversions<std::uint64_t>(1e15, 1.3e19);
  expect_conversions<std::int64_t>(-2e18, 7.7e18);
  for (const auto& [low, span] : {std::pair{0.0, 1.0}, std::pair{-1e3 / 3, 7e5 / 9}}) {
    expect_conversions<float>(low, span);
    expect_conversions<double>(low, span);
  }
}

TEST_F(CudaArrays, CopySelectedNumbers) {
  std::vector<std::uint16_t> numbers(5 * 7 * 3);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(37 * i);
  const auto there = on_device(numbers);
  // The axes are in another order, and one of them runs backwards.
  NumberGrid grid{.data = reinterpret_cast<const std::byte*>(there.get() + 6 * 3),
                  .length = {1, 3, 1, 7, 5},
                  .stride = {0, 2, 0, -6, 42}};
  for (const int step : {1, 4}) {
    std::vector<std::uint16_t> expected;
    for (int c = 0, k = 0; c < 3; ++c)
      for (int y = 0; y < 7; ++y)
        for (int x = 0; x < 5; ++x, ++k)
          if (k % step == 0) expected.push_back(numbers[(x * 7 + 6 - y) * 3 + c]);
    const auto some = on_device(std::vector<std::uint16_t>(expected.size()));
    gather(grid, 2, step, some.get(), 0);
    EXPECT_EQ(on_host(some), expected);
  }
  EXPECT_EQ(max_u16(grid, 0), numbers.back());
  grid.length[4] = 3;  // excludes the last columns
  EXPECT_EQ(max_u16(grid, 0), 37 * (3 * 7 * 3 - 1));
}

}  // namespace
}  // namespace lull::cuda
