#include "noise/grain/grain_curve.h"

#include <algorithm>
#include <cmath>

namespace lull {
namespace {

constexpr std::int64_t min_bin_samples = 64;  // minimum number of samples of a bin

constexpr double luma_of(int bin) { return 8.0 * bin + 4; }

bool is_populated(const GrainStatistics::Bin& bin) { return bin.count >= min_bin_samples; }

/// Returns the grain variance of one bin of luma: the variance of the removed noise minus the
/// variance `rounding` of rounding errors. Samples are in units of 1 / grain_unit of an 8-bit step.
double variance_of(const GrainStatistics::Bin& bin, double rounding) {
  const auto n = static_cast<double>(bin.count), mean = static_cast<double>(bin.sum) / n;
  return static_cast<double>(bin.squares) / n - mean * mean - rounding;
}

/// Mean variances of the removed noise. The frequencies of the luma values in one scene are the
/// weights of both means. The variances at these luma values come from the samples of this scene
/// (`own`) or from the samples of all scenes (`of_all`).
struct Compared {
  double own = 0, of_all = 0;
};
Compared compare(const GrainStatistics& statistics, const GrainStatistics& all, int plane) {
  const double rounding = rounding_variance(all.format());
  Compared mean;
  double count = 0;
  for (int i = 0; i < GrainStatistics::bins; ++i) {
    const auto &own = statistics.plane(plane).by_luma[i], &whole = all.plane(plane).by_luma[i];
    if (!is_populated(own) || !is_populated(whole)) continue;
    const auto n = static_cast<double>(own.count);
    mean.own += n * variance_of(own, rounding);
    mean.of_all += n * variance_of(whole, rounding);
    count += n;
  }
  if (count > 0) mean.own /= count, mean.of_all /= count;
  return mean;
}

}  // namespace

double rounding_variance(const FrameFormat& format) {
  if (format.sample == SampleType::f32 || format.bits >= 12) return 0;
  const double step = grain_unit / std::ldexp(1, format.bits - 8);
  return step * step / 12;
}

GrainCurve removed_curve(const GrainStatistics& statistics, int plane) {
  const auto& bins = statistics.plane(plane).by_luma;
  const double rounding = rounding_variance(statistics.format());
  GrainCurve curve;
  for (int i = 0; i < GrainStatistics::bins; ++i) {
    if (!is_populated(bins[i])) continue;
    double variance = 0, weights = 0;
    for (int k = std::max(i - 1, 0); k <= std::min(i + 1, GrainStatistics::bins - 1); ++k) {
      if (!is_populated(bins[k])) continue;
      const auto n = static_cast<double>(bins[k].count);
      const double weight = k == i ? 2 * n : n / 2;
      variance += weight * variance_of(bins[k], rounding);
      weights += weight;
    }
    curve.push_back({luma_of(i), std::sqrt(std::max(variance / weights, 0.0)) / grain_unit});
  }
  return curve;
}

GrainCurve known_curve(const GrainCurve& removed, const GrainStatistics& scene,
                       const GrainStatistics& all, int plane,
                       const std::vector<LevelAtLuma>& known) {
  const Compared removed_by = compare(scene, all, plane);
  if (known.empty() || !has_grain(removed) || !(removed_by.own > 0) || !(removed_by.of_all > 0))
    return removed;
  const double share = std::sqrt(removed_by.own / removed_by.of_all);
  const double rounding = rounding_variance(all.format()) / (grain_unit * grain_unit);
  GrainCurve curve;
  for (const auto& [luma, level] : known) {
    const auto sigma = static_cast<double>(level);
    curve.push_back(
        {static_cast<double>(luma), share * std::sqrt(std::max(sigma * sigma - rounding, 0.0))});
  }
  return curve;
}

bool has_grain(const GrainCurve& curve) {
  return std::ranges::any_of(curve, [](const GrainLevel& p) { return p.sigma >= min_grain; });
}

}  // namespace lull
