#pragma once
// A function of sample values, stored as a table that host code and device code can read.

#include <array>

namespace lull {

/// A piecewise linear function of samples on the 0..255 scale. Its knots are 0.25 apart, from -128
/// to 384, a range that includes the filter range (float_range.h). Beyond the knots, the first and
/// the last segment continue.
struct SampleCurve {
  static constexpr int knots = 2049;
  static constexpr float least = -128, spacing = 0.25f;
  /// Indices of the knots at the sample values 0 and 255.
  static constexpr int black = 512, white = 1532;
  static constexpr float place(int knot) { return least + spacing * static_cast<float>(knot); }

  std::array<float, knots> values{};

  float operator()(float v) const { return at(values.data(), v); }

  /// Evaluates a curve from its values, on the host or on a device. For NaN, the result is NaN.
  static constexpr float at(const float* values, float v) {
    const float place = (v - least) * (1 / spacing);
    int below = 0;
    if (place > 0) below = place < knots - 2 ? static_cast<int>(place) : knots - 2;
    const float share = place - static_cast<float>(below);
    return values[below] + share * (values[below + 1] - values[below]);
  }
};
static_assert(SampleCurve::place(SampleCurve::black) == 0);
static_assert(SampleCurve::place(SampleCurve::white) == 255);

}  // namespace lull
