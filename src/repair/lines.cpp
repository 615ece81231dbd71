#include "repair/lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>

#include "repair/windows.h"

namespace lull::repair {
namespace {

constexpr int strips = 4;  // number of parts of each line; their offsets must be equal
constexpr int max_order = 3;
constexpr int max_line_samples = 512;  // maximum number of samples of a strip in a median
constexpr int min_lines = 64;

int lines_of(PlaneView<const float> plane, LineAxis axis) {
  return axis == LineAxis::rows ? plane.height : plane.width;
}

int length_of(PlaneView<const float> plane, LineAxis axis) {
  return axis == LineAxis::rows ? plane.width : plane.height;
}

float sample_at(PlaneView<const float> plane, LineAxis axis, int line, int at) {
  return axis == LineAxis::rows ? plane(at, line) : plane(line, at);
}

std::vector<float> means_of(PlaneView<const float> plane, LineAxis axis) {
  std::vector<double> sums(static_cast<std::size_t>(lines_of(plane, axis)));
  for (int y = 0; y < plane.height; ++y) {
    const float* row = plane.row(y);
    if (axis == LineAxis::rows) {
      sums[static_cast<std::size_t>(y)] = std::accumulate(row, row + plane.width, 0.0);
    } else {
      for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += static_cast<double>(row[x]);
    }
  }
  std::vector<float> means;
  for (const double sum : sums) means.push_back(static_cast<float>(sum / length_of(plane, axis)));
  return means;
}

/// Computes the brightness difference between a line and the previous line, as a median over one
/// strip (a part of each line).
class StepOfStrip {
 public:
  StepOfStrip(PlaneView<const float> plane, LineAxis axis, int strip)
      : plane_(plane),
        axis_(axis),
        begin_(length_of(plane, axis) * strip / strips),
        end_(length_of(plane, axis) * (strip + 1) / strips) {}

  float operator()(int line) {
    differences_.clear();
    const int stride = 1 + (end_ - begin_) / max_line_samples;
    for (int at = begin_; at < end_; at += stride)
      differences_.push_back(sample_at(plane_, axis_, line, at) -
                             sample_at(plane_, axis_, line - 1, at));
    return median(differences_);
  }

 private:
  PlaneView<const float> plane_;
  LineAxis axis_;
  int begin_, end_;
  std::vector<float> differences_;
};

/// Returns the brightness differences of successive lines in one strip.
std::vector<float> steps_of(PlaneView<const float> plane, LineAxis axis, int strip) {
  StepOfStrip step(plane, axis, strip);
  std::vector<float> steps;
  for (int line = 1; line < lines_of(plane, axis); ++line) steps.push_back(step(line));
  return steps;
}

/// Returns the brightness differences of successive lines, averaged over all strips.
std::vector<float> mean_steps_of(PlaneView<const float> plane, LineAxis axis) {
  std::vector<float> mean(static_cast<std::size_t>(lines_of(plane, axis)) - 1);
  for (int strip = 0; strip < strips; ++strip) {
    const std::vector<float> steps = steps_of(plane, axis, strip);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += steps[i] / strips;
  }
  return mean;
}

std::vector<float> differences_of(std::span<const float> values) {
  std::vector<float> differences;
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(values[i] - values[i - 1]);
  return differences;
}

/// Limits each value to three robust standard deviations, to reduce the influence of edges.
std::vector<float> limited(std::vector<float> values, float deviation) {
  for (float& value : values) value = std::clamp(value, -3 * deviation, 3 * deviation);
  return values;
}

double product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

double correlation(std::span<const float> a, std::span<const float> b) {
  const double energy = product(a, a) * product(b, b);
  return energy > 0 ? product(a, b) / std::sqrt(energy) : 0;
}

/// Returns the standard deviation of independent line offsets, computed from the second differences
/// of the lines.
float deviation_of(std::span<const float> steps) {
  return robust_deviation(differences_of(steps), 0) / std::sqrt(6.0f);
}

/// Compares the first and last strips of some lines. Returns false if the offsets of the lines
/// differ between the two strips. The comparison is much faster than examine_lines().
bool may_have_offsets(PlaneView<const float> plane, LineAxis axis) {
  constexpr int max_samples = 256;
  const int lines = lines_of(plane, axis);
  if (lines <= 2 * max_samples) return true;
  StepOfStrip first(plane, axis, 0), last(plane, axis, strips - 1);
  std::vector<float> of_first, of_last;
  for (int i = 0; i < max_samples; ++i) {
    const auto line = static_cast<int>(1 + std::int64_t{lines - 2} * i / max_samples);
    of_first.push_back(first(line + 1) - first(line));
    of_last.push_back(last(line + 1) - last(line));
  }
  of_first = limited(of_first, robust_deviation(of_first, 0));
  of_last = limited(of_last, robust_deviation(of_last, 0));
  // This threshold is lower than the 0.7 of are_offsets(), because the correlation of only 256
  // pairs is less exact: its standard deviation is up to 0.07.
  return correlation(of_first, of_last) >= 0.4;
}

/// Returns whether line offsets cause the brightness differences between lines. Two properties
/// distinguish offsets from content: the offset of a line is equal in all strips, and the offsets
/// of different lines are independent.
bool are_offsets(const std::array<std::vector<float>, strips>& steps, float deviation) {
  // Second differences of the line profile of each strip, which do not depend on a constant slope
  // of the brightness.
  std::array<std::vector<float>, strips> bends;
  for (int i = 0; i < strips; ++i)
    bends[i] = limited(differences_of(steps[i]), deviation * std::sqrt(6.0f));
  for (int i = 0; i < strips; ++i)
    for (int k = i + 1; k < strips; ++k)
      if (correlation(bends[i], bends[k]) < 0.7) return false;
  // The second differences of independent offsets have the autocorrelation -2/3 at lag 1 and 1/6 at
  // lag 2.
  const std::span<const float> first = bends[0];
  const double chance = 2.5 / std::sqrt(static_cast<double>(first.size()));
  if (std::abs(correlation(first, first.subspan(1)) + 2.0 / 3) > 0.1 + chance) return false;
  if (std::abs(correlation(first, first.subspan(2)) - 1.0 / 6) > 0.15 + chance) return false;
  // With independent offsets, nearly all neighbouring lines differ. If many neighbouring lines are
  // equal, the lines belong to the picture, for example to ruled paper.
  const auto equal =
      std::ranges::count_if(first, [&](float bend) { return std::abs(bend) < 0.3f * deviation; });
  return static_cast<double>(equal) < 0.25 * static_cast<double>(first.size());
}

/// Computes the standard deviation of the samples in each examined line, and returns the median
/// over these lines.
float variation_along(PlaneView<const float> plane, LineAxis axis) {
  constexpr int line_step = 4;
  const int length = length_of(plane, axis);
  std::vector<float> deviations;
  for (int line = 0; line < lines_of(plane, axis); line += line_step) {
    double sum = 0, squares = 0;
    for (int at = 0; at < length; ++at) {
      const auto value = static_cast<double>(sample_at(plane, axis, line, at));
      sum += value;
      squares += value * value;
    }
    const double variance = squares / length - sum / length * (sum / length);
    deviations.push_back(static_cast<float>(std::sqrt(std::max(variance, 0.0))));
  }
  return median(deviations);
}

/// Returns the degrees of freedom of the smoothing: the trace of its matrix, to within 1 %. The
/// first `order` eigenvalues of the penalty D^T D are 0; eigenvalue k is about (2 - 2 *
/// cos(w))^order, where w = pi * (k - (order - 1) / 2) / size.
double freedom_of(Smoothing smoothing, std::size_t size) {
  const double shift = (smoothing.order - 1) / 2.0;
  double trace = smoothing.order;
  for (auto k = static_cast<std::size_t>(smoothing.order); k < size; ++k) {
    const double w =
        std::numbers::pi * (static_cast<double>(k) - shift) / static_cast<double>(size);
    trace += 1 / (1 + static_cast<double>(smoothing.lambda) *
                          std::pow(2 - 2 * std::cos(w), smoothing.order));
  }
  return trace;
}

using Profiles = std::vector<std::vector<float>>;

struct ChosenSmoothing {
  Smoothing smoothing;
  double score = std::numeric_limits<double>::max();
};

/// Factor for the degrees of freedom in the cross-validation, against overfitting (Kim and Gu 2004
/// recommend 1.4).
constexpr double caution = 1.4;

/// Chooses a common smoothing for all profiles by generalised cross-validation.
ChosenSmoothing choose_smoothing(const Profiles& profiles) {
  const std::size_t size = profiles.front().size();
  ChosenSmoothing best;
  for (int order = 1; order <= max_order; ++order)
    for (int power = -1; power < 6 + 3 * order; ++power) {
      const Smoothing smoothing{order, std::pow(4.0f, static_cast<float>(power))};
      const double left = 1 - caution * freedom_of(smoothing, size) / static_cast<double>(size);
      if (left < 0.2) continue;
      double squares = 0;
      for (const std::vector<float>& profile : profiles) {
        const std::vector<float> smooth = smoothed(profile, smoothing);
        for (std::size_t i = 0; i < size; ++i)
          squares += static_cast<double>((profile[i] - smooth[i]) * (profile[i] - smooth[i]));
      }
      const double score = squares / static_cast<double>(profiles.size() * size) / (left * left);
      if (score < best.score) best = {smoothing, score};
    }
  return best;
}

std::vector<float> mean_of(const Profiles& profiles) {
  std::vector<float> mean(profiles.front().size());
  for (const std::vector<float>& profile : profiles)
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += profile[i] / static_cast<float>(profiles.size());
  return mean;
}

}  // namespace

std::vector<float> smoothed(std::span<const float> profile, Smoothing smoothing) {
  const std::size_t size = profile.size();
  const auto order = static_cast<std::size_t>(smoothing.order);
  constexpr std::array<std::array<double, max_order + 1>, max_order + 1> rows{
      {{1}, {-1, 1}, {1, -2, 1}, {-1, 3, -3, 1}}};
  const auto& difference = rows[order];
  // The smoothed profile s is the solution of (I + lambda * D^T * D) * s = p. p is the input
  // profile, and D is the difference operator of the given order. `band` contains the lower band of
  // the matrix, for the Cholesky decomposition.
  std::vector<std::array<double, max_order + 1>> band(size);
  for (std::size_t i = 0; i < size; ++i) band[i][0] = 1;
  for (std::size_t r = 0; r + order < size; ++r)
    for (std::size_t a = 0; a <= order; ++a)
      for (std::size_t b = 0; b <= a; ++b)
        band[r + a][a - b] += static_cast<double>(smoothing.lambda) * difference[a] * difference[b];
  std::vector<double> values(profile.begin(), profile.end());
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t back = std::min(order, i); back > 0; --back) {
      double sum = band[i][back];
      for (std::size_t k = back + 1; k <= std::min(order, i); ++k)
        sum -= band[i][k] * band[i - back][k - back];
      band[i][back] = sum / band[i - back][0];
    }
    for (std::size_t k = 1; k <= std::min(order, i); ++k) {
      band[i][0] -= band[i][k] * band[i][k];
      values[i] -= band[i][k] * values[i - k];
    }
    band[i][0] = std::sqrt(band[i][0]);
    values[i] /= band[i][0];
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = 1; k <= order && i + k < size; ++k)
      values[i] -= band[i + k][k] * values[i + k];
    values[i] /= band[i][0];
  }
  return {values.begin(), values.end()};
}

LineProfile examine_lines(PlaneView<const float> plane, LineAxis axis, float noise) {
  LineProfile profile;
  const int length = length_of(plane, axis);
  if (lines_of(plane, axis) < min_lines || length < min_lines) return profile;
  if (!may_have_offsets(plane, axis)) return profile;
  profile.mean = means_of(plane, axis);
  std::array<std::vector<float>, strips> steps;
  std::vector<float> deviations;
  for (int i = 0; i < strips; ++i) {
    steps[i] = steps_of(plane, axis, i);
    deviations.push_back(deviation_of(steps[i]));
  }
  profile.deviation = median(deviations);
  // The standard deviation of the median of n Gaussian samples is 1.25 / sqrt(n) times the noise
  // level.
  const int samples = std::min(length / strips, max_line_samples);
  const float by_noise = 1.25f * noise / std::sqrt(static_cast<float>(samples));
  if (profile.deviation < 0.7f || profile.deviation < 2 * by_noise) return profile;
  // Lines with little variation along the line occur in synthetic graphics, but not in pictures
  // from a sensor.
  if (variation_along(plane, axis) < 0.5f * profile.deviation) return profile;
  // Row offsets cause differences only between rows, and column offsets only between columns. If
  // rows differ and columns differ, too, the cause is probably the content of the picture.
  const LineAxis other = axis == LineAxis::rows ? LineAxis::columns : LineAxis::rows;
  if (deviation_of(mean_steps_of(plane, other)) > 0.3f * profile.deviation) return profile;
  profile.has_offsets = are_offsets(steps, profile.deviation);
  return profile;
}

std::optional<LineModel> model_lines(std::span<const LineProfile> frames) {
  Profiles profiles;
  std::vector<float> deviations;
  std::size_t certain = 0;
  for (const LineProfile& frame : frames) {
    if (frame.mean.empty()) continue;
    certain += frame.has_offsets;
    deviations.push_back(frame.deviation);
    profiles.push_back(frame.mean);
  }
  if (certain == 0 || certain * 10 < frames.size() * 8) return std::nullopt;
  const ChosenSmoothing by_frame = choose_smoothing(profiles);
  LineModel model{median(deviations), {}, by_frame.smoothing};
  if (profiles.size() == 1) return model;
  // The mean of a line is the brightness of the scene in this line plus the offset of the line.
  // `reference` is an estimate of the brightness of the scene: the function averages the mean of
  // each line over all frames, and smooths the averages. In clips with little motion, the
  // brightness of the scene is nearly constant.
  const std::vector<float> mean = mean_of(profiles);
  const std::vector<float> reference = smoothed(mean, choose_smoothing({mean}).smoothing);
  for (std::vector<float>& profile : profiles)
    for (std::size_t i = 0; i < profile.size(); ++i) profile[i] -= reference[i];
  const ChosenSmoothing by_reference = choose_smoothing(profiles);
  if (by_reference.score < by_frame.score) {
    model.reference = reference;
    model.smoothing = by_reference.smoothing;
  }
  return model;
}

void remove_offsets(const LineModel& model, LineAxis axis, PlaneView<float> plane) {
  std::vector<float> profile = means_of(plane, axis);
  if (model.reference.size() == profile.size())
    for (std::size_t i = 0; i < profile.size(); ++i) profile[i] -= model.reference[i];
  const std::vector<float> smooth = smoothed(profile, model.smoothing);
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) {
      const auto line = static_cast<std::size_t>(axis == LineAxis::rows ? y : x);
      plane(x, y) -= profile[line] - smooth[line];
    }
}

}  // namespace lull::repair
