#include "tools/commands/quality.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/error.h"

namespace lull::tools {
namespace {

constexpr int window = 11;
constexpr double window_sigma = 1.5;

// Local means for one row of window positions: the means of a, b, a^2 + b^2 and a * b for samples a
// and b of the two pictures. One mean of a^2 + b^2 is enough, because SSIM contains only the sum of
// the variances of a and b.
struct Moments {
  explicit Moments(int width) : a(width), b(width), squares(width), product(width) {}
  std::vector<float> a, b, squares, product;
};

/// Filters a row with `weights`. `out` receives one value for each position at which the filter is
/// completely within `in`.
void convolve(const std::vector<float>& in, const std::vector<float>& weights,
              std::vector<float>& out) {
  std::fill(out.begin(), out.end(), 0.0f);
  const int positions = static_cast<int>(out.size());
  for (std::size_t t = 0; t < weights.size(); ++t) {
    const float weight = weights[t];
    const float* shifted = in.data() + t;
    float* sum = out.data();
    for (int x = 0; x < positions; ++x) sum[x] += weight * shifted[x];
  }
}

void add_scaled(const std::vector<float>& row, float weight, std::vector<float>& sum) {
  const int positions = static_cast<int>(sum.size());
  for (int x = 0; x < positions; ++x) sum[x] += weight * row[x];
}

/// A sum of SSIM over window positions, and the number of these positions.
struct IndexSum {
  double sum = 0, positions = 0;
};

/// Adds the SSIM of one row of window positions, for peak 1. The caller has subtracted 0.5 from the
/// samples before it computed the moments `m`, because variances of floats are most precise near 0.
/// The function omits windows with samples that are not finite, for which SSIM is NaN.
void add_indices(const Moments& m, IndexSum& total) {
  constexpr float c1 = 0.01f * 0.01f, c2 = 0.03f * 0.03f;
  for (std::size_t x = 0; x < m.a.size(); ++x) {
    const float covariance = m.product[x] - m.a[x] * m.b[x];
    const float variances = m.squares[x] - (m.a[x] * m.a[x] + m.b[x] * m.b[x]);
    const float a = m.a[x] + 0.5f, b = m.b[x] + 0.5f;
    const float index =
        (2 * a * b + c1) * (2 * covariance + c2) / ((a * a + b * b + c1) * (variances + c2));
    if (std::isnan(index)) continue;
    total.sum += static_cast<double>(index);
    ++total.positions;
  }
}

}  // namespace

std::vector<float> gaussian_window(int length) {
  const int taps = std::min(window, length);
  std::vector<double> weights(taps);
  double sum = 0;
  for (int i = 0; i < taps; ++i) {
    const double distance = (i - (taps - 1) / 2.0) / window_sigma;
    sum += weights[i] = std::exp(-distance * distance / 2);
  }
  std::vector<float> result(taps);
  for (int i = 0; i < taps; ++i) result[i] = static_cast<float>(weights[i] / sum);
  return result;
}

template <class T>
double mean_squared_error(PlaneView<const T> a, PlaneView<const T> b, std::int64_t* not_finite) {
  double sum = 0;
  std::int64_t left_out = 0;
  for (int y = 0; y < a.height; ++y) {
    const T *row_a = a.row(y), *row_b = b.row(y);
    if constexpr (std::is_integral_v<T>) {
      std::uint64_t row_sum = 0;  // a row of 2^31 samples of 16 bits stays below 2^63
      for (int x = 0; x < a.width; ++x) {
        const std::int64_t difference = std::int64_t{row_a[x]} - row_b[x];
        row_sum += static_cast<std::uint64_t>(difference * difference);
      }
      sum += static_cast<double>(row_sum);
    } else {
      for (int x = 0; x < a.width; ++x) {
        const double difference = static_cast<double>(row_a[x]) - static_cast<double>(row_b[x]);
        if (std::isfinite(difference))
          sum += difference * difference;
        else
          ++left_out;
      }
    }
  }
  if (not_finite) *not_finite = left_out;
  return sum / (static_cast<double>(a.width) * a.height - static_cast<double>(left_out));
}

double psnr(double mse, double peak) {
  return mse == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(peak * peak / mse);
}

template <class T>
double ssim(PlaneView<const T> a, PlaneView<const T> b, double peak) {
  const std::vector<float> across = gaussian_window(a.width), down = gaussian_window(a.height);
  const int taps = static_cast<int>(down.size());
  const int positions = a.width - static_cast<int>(across.size()) + 1;
  const float scale = static_cast<float>(1 / peak);

  Moments samples(a.width), local(positions);
  std::vector<Moments> rows(taps, Moments(positions));  // the last `taps` rows, as a ring buffer
  IndexSum total;
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) {
      const float va = static_cast<float>(a(x, y)) * scale - 0.5f;
      const float vb = static_cast<float>(b(x, y)) * scale - 0.5f;
      samples.a[x] = va;
      samples.b[x] = vb;
      samples.squares[x] = va * va + vb * vb;
      samples.product[x] = va * vb;
    }
    constexpr std::vector<float> Moments::*members[] = {&Moments::a, &Moments::b, &Moments::squares,
                                                        &Moments::product};
    for (const auto member : members) convolve(samples.*member, across, rows[y % taps].*member);
    if (y + 1 < taps) continue;
    for (const auto member : members) {
      std::fill((local.*member).begin(), (local.*member).end(), 0.0f);
      for (int t = 0; t < taps; ++t)
        add_scaled(rows[(y + 1 + t) % taps].*member, down[t], local.*member);
    }
    add_indices(local, total);
  }
  return total.sum / total.positions;
}

template double mean_squared_error(PlaneView<const std::uint8_t>, PlaneView<const std::uint8_t>,
                                   std::int64_t*);
template double mean_squared_error(PlaneView<const std::uint16_t>, PlaneView<const std::uint16_t>,
                                   std::int64_t*);
template double mean_squared_error(PlaneView<const float>, PlaneView<const float>, std::int64_t*);
template double ssim(PlaneView<const std::uint8_t>, PlaneView<const std::uint8_t>, double);
template double ssim(PlaneView<const std::uint16_t>, PlaneView<const std::uint16_t>, double);
template double ssim(PlaneView<const float>, PlaneView<const float>, double);

namespace {

template <class T>
PlaneQuality compare_planes(const Frame& a, const Frame& b, int plane) {
  const PlaneView<const T> pa = a.plane<T>(plane), pb = b.plane<T>(plane);
  const double peak = a.format.full_scale();
  PlaneQuality quality;
  quality.mse = mean_squared_error(pa, pb, &quality.not_finite);
  quality.psnr = psnr(quality.mse, peak);
  quality.ssim = ssim(pa, pb, peak);
  return quality;
}

}  // namespace

std::vector<PlaneQuality> compare_frames(const Frame& a, const Frame& b) {
  if (a.format != b.format)
    throw InvalidArgument(
        "two frames of different formats cannot be compared (no difference of "
        "samples exists); convert one of them");
  std::vector<PlaneQuality> result;
  for (int i = 0; i < a.format.planes(); ++i) switch (a.format.sample) {
      case SampleType::u8:
        result.push_back(compare_planes<std::uint8_t>(a, b, i));
        break;
      case SampleType::u16:
        result.push_back(compare_planes<std::uint16_t>(a, b, i));
        break;
      case SampleType::f32:
        result.push_back(compare_planes<float>(a, b, i));
        break;
    }
  return result;
}

}  // namespace lull::tools
