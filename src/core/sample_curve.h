#pragma once
// A function of samples as a table that hosts and devices read alike.

#include <array>

namespace lull {

/// Piecewise linear over samples on the 0..255 scale, from -128 to 384 (what filters see of float
/// samples, float_range.h), knots a quarter apart; beyond, the outermost pieces go on.
struct SampleCurve {
  static constexpr int knots = 2049;
  static constexpr float least = -128, spacing = 0.25f;
  /// Knots at which integer samples end.
  static constexpr int black = 512, white = 1532;
  static constexpr float place(int knot) { return least + spacing * static_cast<float>(knot); }

  std::array<float, knots> values{};

  float operator()(float v) const { return at(values.data(), v); }

  /// Of the values of a curve, wherever they lie. What is not a number stays that.
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
