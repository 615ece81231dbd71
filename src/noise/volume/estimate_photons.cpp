#include "noise/volume/estimate_photons.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "noise/volume/flat_cubes.h"

namespace lull {
namespace {

/// Statistics of the mean of 8 squared values from the standard normal distribution. The median of
/// this mean is `median_of_8_squares`. The logarithm of the median of n such means has the variance
/// `variance_of_median` / n.
constexpr double median_of_8_squares = 0.9180, variance_of_median = 0.4;
/// Upper limits of the low-frequency energy of flat cubes, relative to the noise variance. In each
/// bin, the fit uses the lowest limit for which at least `min_flat_in_bin` cubes are flat. If
/// each limit yields fewer flat cubes, the fit uses the highest limit.
constexpr double flat_limits[] = {1.15, 1.4, 2, 3, 5};
constexpr std::size_t min_flat_in_bin = 10, min_cubes = 24;
constexpr int fit_rounds = 12;
/// Maximum number of bins of cubes with similar means, and minimum number of cubes per bin.
constexpr std::size_t max_bins = 32, min_in_bin = 12;
/// Threshold of Huber weights, in standard errors (Huber 1964, doi:10.1214/aoms/1177703732).
constexpr double huber = 1.5;

struct Line {
  double slope = 0, constant = 0, slope_error = 0;
  double at(double mean) const { return slope * mean + constant; }
};

/// The noise variance of cubes with similar means. `error` is the relative standard error of
/// `variance`.
struct Bin {
  double mean, variance, error;
};

double mean_value(const CubeStatistics* cube) { return static_cast<double>(cube->mean); }

class PhotonFit {
 public:
  PhotonFit(Cubes cubes, const KnownPhotonNoise& known) : known_(known), cubes_(std::move(cubes)) {
    // A stable sort gives the same result on every machine.
    std::ranges::stable_sort(cubes_, {}, mean_value);
  }

  std::optional<PhotonEstimate> estimate() {
    if (cubes_.size() < min_cubes) return std::nullopt;
    fit_start();
    for (int round = 0; round < fit_rounds; ++round) {
      select_flat();
      if (flat_.size() < min_cubes) return std::nullopt;
      const Line before = line_;
      line_ = fit(bins_of(flat_));
      floor_ = least_variance();
      if (std::abs(line_.slope - before.slope) <= 1e-4 * std::abs(line_.slope)) break;
    }
    if (!(line_.slope > 0)) return std::nullopt;
    return result();
  }

 private:
  double variance_at(double mean) const { return std::max(line_.at(mean), floor_); }

  /// Returns a lower bound of the noise variance. Where the fitted line is lower than this bound,
  /// the bound replaces the line.
  double least_variance() const {
    const std::vector<Bin> bins = bins_of(flat_);
    double least = bins.front().variance;
    for (const Bin& bin : bins) least = std::min(least, bin.variance);
    return least / 2;
  }

  /// Fits the initial line to the flattest cubes of each bin. The line gives the noise variance as
  /// a function of the mean.
  void fit_start() {
    Cubes start;
    const std::size_t bins = std::clamp<std::size_t>(cubes_.size() / min_in_bin, 1, 16);
    for (std::size_t i = 0; i < bins; ++i) {
      const auto at = [&](std::size_t bin) {
        return cubes_.begin() + static_cast<std::ptrdiff_t>(bin * cubes_.size() / bins);
      };
      Cubes bin(at(i), at(i + 1));
      const std::size_t count = std::max<std::size_t>(bin.size() / 4, 6);
      const FlatLevel level = flattest_level(std::move(bin), count);
      start.insert(start.end(), level.cubes.begin(), level.cubes.end());
    }
    std::ranges::stable_sort(start, {}, mean_value);
    flat_ = std::move(start);
    line_ = {};
    floor_ = 1;
    line_ = fit(bins_of(flat_));
    floor_ = least_variance();
  }

  /// Selects the flat cubes of each bin of cubes with similar means. If too few cubes of a bin are
  /// flat, the function also selects cubes with structure, because structure contributes little to
  /// the measured high frequencies.
  void select_flat() {
    flat_.clear();
    for (const auto& [begin, end] : ranges_of(cubes_)) {
      const std::size_t wanted = std::min(end - begin, min_flat_in_bin);
      for (const double limit : flat_limits) {
        const std::size_t before = flat_.size();
        for (std::size_t i = begin; i < end; ++i)
          if (static_cast<double>(cubes_[i]->low) <= limit * variance_at(mean_value(cubes_[i])))
            flat_.push_back(cubes_[i]);
        if (flat_.size() - before >= wanted || limit == flat_limits[std::size(flat_limits) - 1])
          break;
        flat_.resize(before);
      }
    }
  }

  /// Divides sorted cubes into bins. Each bin is a pair: the index of its first cube, and the index
  /// of its last cube plus 1. The bins have equal widths on the scale of the square root of the
  /// mean. On this scale, rare bright cubes get separate bins.
  static std::vector<std::pair<std::size_t, std::size_t>> ranges_of(const Cubes& cubes) {
    const double least = mean_value(cubes.front()), range = mean_value(cubes.back()) - least;
    const auto number_of = [&](const CubeStatistics* cube) {
      return range > 0
                 ? std::sqrt((mean_value(cube) - least) / range) * static_cast<double>(max_bins)
                 : 0.0;
    };
    std::vector<std::pair<std::size_t, std::size_t>> ranges;
    for (std::size_t begin = 0; begin < cubes.size();) {
      const double bin_end = std::floor(number_of(cubes[begin])) + 1;
      std::size_t end = begin;
      while (end < cubes.size() && (end - begin < min_in_bin || number_of(cubes[end]) < bin_end))
        ++end;
      if (cubes.size() - end < min_in_bin) end = cubes.size();
      ranges.emplace_back(begin, end);
      begin = end;
    }
    return ranges;
  }

  /// Measures the noise variance of each bin relative to the fitted line, so that the width of the
  /// bin causes no bias. For each cube, the function divides the measured variance by the
  /// prediction of the line at the cube's mean. The variance of the bin is the median of these
  /// ratios, times the prediction at the mean of the bin.
  std::vector<Bin> bins_of(const Cubes& cubes) const {
    std::vector<Bin> bins;
    for (const auto& [begin, end] : ranges_of(cubes)) bins.push_back(bin_of(cubes, begin, end));
    return bins;
  }

  Bin bin_of(const Cubes& cubes, std::size_t begin, std::size_t end) const {
    const auto count = static_cast<double>(end - begin);
    double mean = 0;
    std::vector<double> ratios;
    for (std::size_t k = begin; k < end; ++k) {
      mean += mean_value(cubes[k]) / count;
      ratios.push_back(static_cast<double>(cubes[k]->high) / variance_at(mean_value(cubes[k])));
    }
    const double ratio = median(std::move(ratios)) / median_of_8_squares;
    return {mean, ratio * variance_at(mean), std::sqrt(variance_of_median / count)};
  }

  /// Fits a line to the bins, by iteratively reweighted least squares. The line gives the noise
  /// variance as a function of the mean. The weight of a bin is 1 / (standard error)^2. The
  /// standard error is proportional to the variance that the line of the previous iteration
  /// predicts. Outliers have smaller weights (Huber).
  Line fit(const std::vector<Bin>& bins) const {
    Line line{.slope = 0, .constant = 0, .slope_error = 0};
    for (int round = 0; round < fit_rounds; ++round) {
      double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
      double least = bins.front().variance;
      for (const Bin& bin : bins) least = std::min(least, bin.variance);
      for (const Bin& bin : bins) {
        const double expected =
            round == 0 ? std::max(bin.variance, 1e-12) : std::max(line.at(bin.mean), least / 2);
        const double deviation = std::max(expected * bin.error, 1e-12);
        const double residual = std::abs(bin.variance - line.at(bin.mean)) / deviation;
        double weight = 1 / (deviation * deviation);
        if (round > 1 && residual > huber) weight *= huber / residual;
        w += weight, wx += weight * bin.mean, wy += weight * bin.variance;
        wxx += weight * bin.mean * bin.mean, wxy += weight * bin.mean * bin.variance;
      }
      const double spread = wxx - wx * wx / w;
      if (known_.gain)
        line.slope = *known_.gain;
      else
        line.slope = spread > 0 ? (wxy - wx * wy / w) / spread : 0;
      line.constant = (wy - line.slope * wx) / w;
      line.slope_error = spread > 0 && !known_.gain ? 1 / std::sqrt(spread) : 0;
    }
    return line;
  }

  /// Returns an estimate of the offset from the third moments of the flat cubes. For photon noise,
  /// the third moment of a flat cube is gain^2 * (mean - offset). The function solves this equation
  /// for the offset in each cube, and returns the weighted mean of the solutions.
  double offset_by_third_moment() const {
    constexpr double unbiased = 64.0 * 64 / (63 * 62);  // factor for the third moment of 64 samples
    double sum = 0, weights = 0;
    for (const CubeStatistics* cube : flat_) {
      const double variance = variance_at(mean_value(cube));
      const double weight = 1 / (variance * variance * variance);
      const double third = unbiased * static_cast<double>(cube->third);
      sum += weight * (mean_value(cube) - third / (line_.slope * line_.slope));
      weights += weight;
    }
    return sum / weights;
  }

  double misfit(const std::vector<Bin>& bins) const {
    double sum = 0;
    for (const Bin& bin : bins) {
      const double expected = variance_at(bin.mean);
      const double deviation = (bin.variance - expected) / (expected * bin.error);
      sum += deviation * deviation;
    }
    return std::sqrt(sum / static_cast<double>(bins.size()));
  }

  PhotonEstimate result() const {
    const double gain = line_.slope, darkest = mean_value(flat_[flat_.size() / 100]);
    // The function limits the offset to a range. A smaller offset would make the variance of the
    // read noise negative, and a larger offset would be above the darkest samples.
    const double least_offset = -line_.constant / gain;
    double offset =
        std::clamp(offset_by_third_moment(), least_offset, std::max(darkest, least_offset));
    if (known_.read) offset = (*known_.read * *known_.read - line_.constant) / gain;
    if (known_.offset) offset = *known_.offset;
    double read = std::sqrt(std::max(line_.constant + gain * offset, 0.0));
    if (known_.read) read = *known_.read;
    PhotonEstimate estimate{.noise = {.gain = gain, .offset = offset, .read = read}};
    const std::vector<Bin> bins = bins_of(flat_);
    const auto level = [&](double mean) { return std::sqrt(variance_at(mean)); };
    estimate.dark = level(bins.front().mean);
    estimate.level = level(mean_value(flat_[flat_.size() / 2]));
    estimate.bright = level(bins.back().mean);
    estimate.slope_error = line_.slope_error / gain;
    estimate.misfit = misfit(bins);
    return estimate;
  }

  const KnownPhotonNoise& known_;
  Cubes cubes_, flat_;  // sorted by their means
  Line line_;
  double floor_ = 0;
};

}  // namespace

std::optional<PhotonEstimate> estimate_photons(const CubeCollector& collector,
                                               const KnownPhotonNoise& known) {
  return PhotonFit(valid_cubes(collector), known).estimate();
}

std::optional<PhotonEstimate> estimate_photons(const std::vector<CubeStatistics>& cubes,
                                               const KnownPhotonNoise& known) {
  Cubes pointers;
  for (const CubeStatistics& cube : cubes) pointers.push_back(&cube);
  return PhotonFit(std::move(pointers), known).estimate();
}

}  // namespace lull
