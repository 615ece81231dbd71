#include "noise/depth/depth_scale.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lull {
namespace {

template <class Use>
void for_samples(const Frame& frame, Use use) {
  const auto each = [&]<class T>(PlaneView<T> plane) {
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x) use(static_cast<double>(plane(x, y)));
  };
  switch (frame.format.sample) {
    case SampleType::u8:
      return each(frame.plane<const std::uint8_t>(0));
    case SampleType::u16:
      return each(frame.plane<const std::uint16_t>(0));
    case SampleType::f32:
      return each(frame.plane<const float>(0));
  }
}

}  // namespace

bool DepthSamples::is_hole(double sample) const {
  if (!std::isfinite(sample)) return true;
  // Tolerance for rounding errors of a conversion between units of depth.
  constexpr double rounding = 1e-6;
  const double z = depth(sample);
  if (invalid && std::isfinite(*invalid)) {
    const bool exact = unit == 1 && zero == 0;
    const double off = std::abs(z - *invalid);
    if (exact ? static_cast<float>(z) == static_cast<float>(*invalid)
              : off <= rounding * std::max(std::abs(unit), std::abs(*invalid)))
      return true;
  }
  return noise == DepthNoise::squared && !(z > 0);
}

std::vector<bool> DepthSamples::holes_of(const Frame& frame) const {
  std::vector<bool> holes;
  holes.reserve(static_cast<std::size_t>(frame.format.width) * frame.format.height);
  for_samples(frame, [&](double sample) { holes.push_back(is_hole(sample)); });
  return holes;
}

double DepthScale::inverse(double stabilised) const {
  const double mean = low + stabilised / 255 * span;
  if (!is_squared()) return mean;
  const double minimum = std::max(2 * sigma, 1e-12 * span);
  const double m = std::max(mean, minimum);
  return reference * reference / ((m + std::sqrt(std::max(m * m - 4 * sigma * sigma, 0.0))) / 2);
}

void DepthStatistics::add(const Frame& frame) {
  for_samples(frame, [&](double sample) {
    all_ += 1;
    if (!samples_.is_hole(sample)) depths_.push_back(static_cast<float>(samples_.depth(sample)));
  });
}

double DepthStatistics::share_of_holes() const {
  return all_ > 0 ? 1 - static_cast<double>(depths_.size()) / all_ : 0;
}

double DepthStatistics::quantile(double share) const {
  const auto place = depths_.begin() + static_cast<std::ptrdiff_t>(
                                           share * static_cast<double>(depths_.size() - 1) + 0.5);
  std::nth_element(depths_.begin(), place, depths_.end());
  return static_cast<double>(*place);
}

double DepthStatistics::median() const { return quantile(0.5); }
double DepthStatistics::min_depth() const { return quantile(0); }
double DepthStatistics::max_depth() const { return quantile(1); }

DepthScale DepthStatistics::scale(double sigma, std::optional<double> reference) const {
  // At each end of the scale, at most the share `beyond` of all depths lies outside the scale. The
  // span of the scale is at least `min_span` times sigma.
  constexpr double beyond = 0.001, min_span = 8;
  DepthScale scale{.samples = samples_, .sigma = sigma};
  double low = quantile(beyond), high = quantile(1 - beyond);
  if (samples_.noise == DepthNoise::squared) {
    scale.reference = reference.value_or(median());
    const double square = scale.reference * scale.reference;
    const double nearest = low;
    low = square / high;
    high = square / nearest;
  }
  // The last term makes the span positive if all depths are equal and sigma is 0.
  scale.span = std::max({high - low, min_span * sigma, 1e-6 * std::max(std::abs(high), 1e-30)});
  scale.low = (low + high - scale.span) / 2;
  return scale;
}

}  // namespace lull
