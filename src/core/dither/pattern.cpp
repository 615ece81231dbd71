#include <cstdint>
#include <utility>

#include "core/dither/dither.h"

namespace lull {
namespace {

// Number of strata: equal parts of the range (0, 1) of dithering thresholds. Each of 8 successive
// rows uses another stratum.
constexpr int strata = 8;

using Strata = std::array<int, dither_columns * dither_rows>;

/// Returns a threshold in the stratum `stratum`, one of 8 equal parts of the threshold range. The
/// threshold is in the lower half of the stratum for even columns, and in the upper half for odd
/// columns.
constexpr float threshold(int stratum, int column) {
  return (static_cast<float>(2 * stratum + column % 2) + 0.5f) / (2 * strata);
}

DitherPattern pattern_of(const Strata& at) {
  DitherPattern pattern{};
  for (int i = 0; i < dither_rows * dither_columns; ++i)
    pattern[i] = threshold(at[i], i % dither_columns);
  return pattern;
}

/// Returns the three bits of `v` in reverse order.
constexpr int reversed(int v) { return (v & 1) << 2 | (v & 2) | (v >> 2 & 1); }

/// Makes the pattern of ordered dithering, whose columns contain one-dimensional Bayer matrices.
DitherPattern ordered_pattern() {
  Strata at{};
  for (int y = 0; y < dither_rows; ++y)
    for (int x = 0; x < dither_columns; ++x)
      at[y * dither_columns + x] = reversed((y ^ (x & 1)) % strata);
  return pattern_of(at);
}

/// Makes the pattern of blue-noise dithering. Integer arithmetic gives the same pattern on every
/// machine.
class BlueNoise {
 public:
  BlueNoise() {
    for (int top = 0; top < dither_rows; top += strata)
      for (int x = 0; x < dither_columns; ++x) shuffle(x, top);
    while (improve()) {
    }
  }
  const Strata& strata_at() const { return at_; }

 private:
  int& at(int x, int y) {
    return at_[(y + dither_rows) % dither_rows * dither_columns +
               (x + dither_columns) % dither_columns];
  }

  std::uint32_t random() {  // Lehmer's generator with the multiplier of MINSTD
    state_ = state_ * std::uint64_t{48271} % 2147483647;
    return static_cast<std::uint32_t>(state_);
  }

  void shuffle(int x, int top) {
    for (int k = 0; k < strata; ++k) at(x, top + k) = k;
    for (int k = strata - 1; k > 0; --k)
      std::swap(at(x, top + k), at(x, top + static_cast<int>(random() % (k + 1))));
  }

  /// Returns how similar the threshold at (x, y) is to its 12 neighbours. Each neighbour
  /// contributes 100 * cos(2 * pi * d / 8) * w, where w is the weight of the neighbour. The range
  /// of thresholds consists of 8 equal strata, and d is the difference between the strata of the
  /// two thresholds.
  int likeness(int x, int y) {
    struct Neighbour {
      int x, y, weight;
    };
    constexpr Neighbour neighbours[] = {{0, 1, 20}, {0, 2, 7}, {0, 3, 3},
                                        {1, 0, 10}, {1, 1, 6}, {1, -1, 6}};
    constexpr int cosine[strata] = {100, 71, 0, -71, -100, -71, 0, 71};
    int sum = 0;
    for (const Neighbour& n : neighbours)
      for (const int side : {-1, 1})
        sum += n.weight * cosine[(at(x, y) - at(x + side * n.x, y + side * n.y) + strata) % strata];
    return sum;
  }

  /// Tries to exchange all pairs of dithering thresholds that are in one column and in the same 8
  /// rows. The function keeps an exchange if neighbouring thresholds become less similar. Returns
  /// whether the pattern has changed.
  bool improve() {
    bool improved = false;
    for (int top = 0; top < dither_rows; top += strata)
      for (int x = 0; x < dither_columns; ++x)
        for (int i = top; i < top + strata; ++i)
          for (int k = top; k < i; ++k) improved |= exchange(x, i, k);
    return improved;
  }
  bool exchange(int x, int i, int k) {
    const int before = likeness(x, i) + likeness(x, k);
    std::swap(at(x, i), at(x, k));
    if (likeness(x, i) + likeness(x, k) < before) return true;
    std::swap(at(x, i), at(x, k));
    return false;
  }

  std::uint64_t state_ = 1;
  Strata at_{};
};

}  // namespace

const DitherPattern* dither_pattern(Dither dither) {
  if (dither == Dither::none) return nullptr;
  if (dither == Dither::ordered) {
    static const DitherPattern ordered = ordered_pattern();
    return &ordered;
  }
  static const DitherPattern noise = pattern_of(BlueNoise().strata_at());
  return &noise;
}

}  // namespace lull
