#include "scale/resampling.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lull::scale {
namespace {

constexpr double support = 3;  // half width of the Lanczos kernel, in samples of the input
constexpr int rows_at_a_time = 16;

double sinc(double x) {
  const double t = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(t) / t;
}

double lanczos(double x) { return std::abs(x) < support ? sinc(x) * sinc(x / support) : 0; }

/// Returns index `at`, mirrored at the borders.
int mirrored(int at, int size) {
  while (at < 0 || at >= size) at = at < 0 ? -1 - at : 2 * size - 1 - at;
  return at;
}

/// Returns filter taps that resample `inputs` to `outputs` samples. Output i is a weighted mean of
/// the inputs within `reach` of centre(i).
template <class Centre, class Weight>
Taps make_taps(int inputs, int outputs, double reach, const Centre& centre, const Weight& weight) {
  Taps taps;
  taps.count = std::min(inputs, 2 * static_cast<int>(std::ceil(reach)) + 1);
  taps.first.resize(outputs);
  taps.weights.assign(static_cast<std::size_t>(outputs) * taps.count, 0.0f);
  std::vector<double> sums(taps.count);
  for (int i = 0; i < outputs; ++i) {
    const double c = centre(i);
    const int least = static_cast<int>(std::ceil(c - reach));
    const int most = static_cast<int>(std::floor(c + reach));
    const int first = std::clamp(least, 0, inputs - taps.count);
    taps.first[i] = first;
    std::ranges::fill(sums, 0.0);
    double all = 0;
    for (int k = least; k <= most; ++k) {
      // If a mirrored index is outside the taps, the outermost tap receives its weight.
      const int at = std::clamp(mirrored(k, inputs) - first, 0, taps.count - 1);
      const double w = weight(k - c);
      sums[at] += w, all += w;
    }
    for (int k = 0; k < taps.count; ++k)
      taps.weights[static_cast<std::size_t>(i) * taps.count + k] =
          static_cast<float>(sums[k] / all);
  }
  return taps;
}

template <class Use>
void for_rows(int rows, const Use& use) {
  tbb::parallel_for(tbb::blocked_range<int>(0, rows, rows_at_a_time), [&](const auto& range) {
    for (int y = range.begin(); y < range.end(); ++y) use(y);
  });
}

}  // namespace

Taps enlarging_taps(int from, int to, double ratio, double site) {
  return make_taps(
      from, to, support, [=](int i) { return (i + site) / ratio - site; }, lanczos);
}

Taps reducing_taps(int from, int to, double ratio, double site) {
  const double half = ratio / 2;
  const auto overlap = [=](double distance) {
    return std::max(0.0, std::min(distance + 0.5, half) - std::max(distance - 0.5, -half));
  };
  return make_taps(
      to, from, half + 0.5, [=](int i) { return (i + site) * ratio - site; }, overlap);
}

void resample_rows(const Taps& taps, PlaneView<const float> from, PlaneView<float> to) {
  for_rows(to.height, [&](int y) {
    const float* const in = from.row(y);
    float* const out = to.row(y);
    const float* weights = taps.weights.data();
    for (int x = 0; x < to.width; ++x, weights += taps.count) {
      const float* const first = in + taps.first[x];
      float sum = 0;
      for (int k = 0; k < taps.count; ++k) sum += weights[k] * first[k];
      out[x] = sum;
    }
  });
}

void resample_columns(const Taps& taps, PlaneView<const float> from, PlaneView<float> to,
                      Write write) {
  for_rows(to.height, [&](int y) {
    float* const out = to.row(y);
    const float* const weights = &taps.weights[static_cast<std::size_t>(y) * taps.count];
    if (write == Write::replace) std::fill_n(out, to.width, 0.0f);
    for (int k = 0; k < taps.count; ++k) {
      if (weights[k] == 0) continue;
      const float* const in = from.row(taps.first[y] + k);
      for (int x = 0; x < to.width; ++x) out[x] += weights[k] * in[x];
    }
  });
}

}  // namespace lull::scale
