#include "noise/volume/photon_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/error.h"

namespace lull {
namespace {

/// The inverse uses an asymptotic formula if the expected number of photons, plus the variance of
/// the read noise in units of gain^2, is at least `asymptotic_from`. The error of the formula is
/// then at most 0.03 %.
constexpr double asymptotic_from = 60;
/// Number of points of the trapezoidal rule. The rule integrates over a normal distribution from -5
/// to 5 standard deviations.
constexpr int normal_nodes = 41;

/// Bias of patch-based filters for skewed noise (stabiliser.h), divided by the standard deviation
/// and by the skewness of the noise. The value comes from measurements of BM4D on flat areas of 1
/// to 8 photons.
constexpr double skew_bias = 0.04;

/// Returns the closed-form approximation of the exact unbiased inverse, in photons (Makitalo and
/// Foi 2013, equation 10).
double asymptotic_photons(double d, double read_variance) {
  const double root = std::sqrt(1.5);
  return d * d / 4 + root / 4 / d - 11.0 / 8 / (d * d) + 5 * root / 8 / (d * d * d) - 1.0 / 8 -
         read_variance;
}

}  // namespace

double PhotonNoise::variance(double mean) const {
  return std::max(gain * (mean - offset), 0.0) + read * read;
}

PhotonNoise rescaled(const PhotonNoise& noise, double low, double factor) {
  return {.gain = noise.gain * factor,
          .offset = (noise.offset - low) * factor,
          .read = noise.read * factor};
}

void validate(const PhotonNoise& noise) {
  const bool valid = std::isfinite(noise.gain) && noise.gain > 0 && std::isfinite(noise.offset) &&
                     std::isfinite(noise.read) && noise.read >= 0;
  if (!valid)
    throw InvalidArgument(
        "invalid photon noise (the gain must be above 0, the read noise at least 0); estimate the "
        "noise again");
}

PhotonStabiliser::PhotonStabiliser(const PhotonNoise& noise)
    : noise_(noise), variance_(noise.read * noise.read / (noise.gain * noise.gain)) {
  validate(noise);
  const auto at = [this](double sample) {
    return transform((sample - noise_.offset) / noise_.gain);
  };
  low_ = at(0);
  // Lower bound of the divisor. Without this bound, `scale_` could be infinite if the offset is
  // above nearly all samples.
  scale_ = 255 / std::max(at(255) - low_, 1e-6);
  first_ = expected_result(0);
  if (variance_ < asymptotic_from) make_table();
}

double PhotonStabiliser::transform(double photons) const {
  const double argument = photons + 0.375 + variance_;
  return argument > 0 ? 2 * std::sqrt(argument) : argument <= 0 ? 0 : argument;
}

/// Returns the expectation of the filter's result for pixels that receive `photons` photons on
/// average. This expectation is the mean of the transformed samples, minus the bias of patch-based
/// filters for skewed noise (`skew_bias`).
double PhotonStabiliser::expected_result(double photons) const {
  std::array<double, normal_nodes> nodes, weights;
  double total = 0;
  for (int i = 0; i < normal_nodes; ++i) {
    nodes[i] = (i - normal_nodes / 2) * 0.25 * std::sqrt(variance_);
    const double n = (i - normal_nodes / 2) * 0.25;
    weights[i] = std::exp(-n * n / 2);
    total += weights[i];
  }
  const double reach = 9 * std::sqrt(photons) + 12;
  const auto begin = static_cast<int>(std::max(0.0, std::floor(photons - reach)));
  const auto end = static_cast<int>(std::ceil(photons + reach));
  const double middle = transform(photons);
  double mean = 0, square = 0, cube = 0, probability_sum = 0;
  for (int count = begin; count <= end; ++count) {
    const double probability =
        photons > 0 ? std::exp(count * std::log(photons) - photons - std::lgamma(count + 1.0))
                    : (count == 0 ? 1.0 : 0.0);
    for (int i = 0; i < normal_nodes; ++i) {
      const double weight = probability * weights[i] / total;
      const double v = transform(count + nodes[i]) - middle;
      mean += weight * v, square += weight * v * v, cube += weight * v * v * v;
    }
    probability_sum += probability;
  }
  mean /= probability_sum, square /= probability_sum, cube /= probability_sum;
  const double variance = std::max(square - mean * mean, 1e-12);
  const double third = cube - mean * (3 * square - 2 * mean * mean);
  return middle + mean - skew_bias * third / variance;
}

/// Makes the table of the inverse function. The function computes expected_result(), the
/// expectation of the filter's result, for increasing mean numbers of photons, and inverts this
/// relation by linear interpolation.
void PhotonStabiliser::make_table() {
  constexpr int samples = 400;
  const double last_photons = asymptotic_from - variance_;
  std::vector<double> photons(samples + 1), means(samples + 1);
  for (int i = 0; i <= samples; ++i) {
    // Quadratic spacing of the photon numbers makes the stabilised means nearly equidistant.
    const double share = static_cast<double>(i) / samples;
    photons[i] = last_photons * share * share;
    means[i] = expected_result(photons[i]);
  }
  constexpr int knots = 1024;
  step_ = (means.back() - first_) / knots;
  table_.resize(knots + 1);
  std::size_t next = 1;
  for (int k = 0; k <= knots; ++k) {
    const double d = first_ + step_ * k;
    while (next < means.size() - 1 && means[next] < d) ++next;
    const double share = (d - means[next - 1]) / (means[next] - means[next - 1]);
    table_[k] = std::lerp(photons[next - 1], photons[next], std::clamp(share, 0.0, 1.0));
  }
}

double PhotonStabiliser::photons_of(double d) const {
  if (table_.empty()) {
    // For results below `least`, the inverse is linear. The asymptotic formula is not valid for
    // such small or negative results, which occur with strong read noise.
    const double least = std::max(first_ / 2, 1.0);
    if (d >= least || std::isnan(d)) return asymptotic_photons(d, variance_);
    return asymptotic_photons(least, variance_) + (d - least) * least / 2;
  }
  const double place = (d - first_) / step_;
  const auto last = static_cast<double>(table_.size() - 1);
  if (place > last) return asymptotic_photons(d, variance_);
  if (!(place >= 0)) return place * (table_[8] - table_[0]) / 8;
  const auto below = std::min(static_cast<std::size_t>(place), table_.size() - 2);
  return std::lerp(table_[below], table_[below + 1], place - static_cast<double>(below));
}

float PhotonStabiliser::forward(float sample) const {
  const double photons = (static_cast<double>(sample) - noise_.offset) / noise_.gain;
  return static_cast<float>((transform(photons) - low_) * scale_);
}

float PhotonStabiliser::inverse(float stabilised) const {
  const double d = static_cast<double>(stabilised) / scale_ + low_;
  return static_cast<float>(noise_.offset + noise_.gain * photons_of(d));
}

}  // namespace lull
