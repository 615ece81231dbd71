#include "repair/impulses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "repair/windows.h"

namespace lull::repair {
namespace {

/// The values of the impulses of one kind count as equal if their robust standard deviation is at
/// most `max_value_deviation` 8-bit steps.
constexpr float max_value_deviation = 16;

ImpulseKind kind_of(std::vector<float> values, std::size_t all, float level) {
  ImpulseKind kind;
  kind.exists = values.size() >= 3 && values.size() * 20 >= all;
  if (!kind.exists) return kind;
  kind.value = median(values);
  const float deviation = robust_deviation(values, kind.value);
  kind.has_value = deviation <= max_value_deviation;
  kind.tolerance = deviation < level ? level / 2 : 3.5f * deviation + level;
  return kind;
}

/// Returns whether many outliers of a frame have a nearby outlier in the next frame, as moving
/// objects (sparks, snow, dots) do.
bool has_successors(const OutlierField& from, const OutlierField& to) {
  constexpr int reach = 4;
  constexpr double area = (2 * reach + 1) * (2 * reach + 1);
  std::vector<float> signs(static_cast<std::size_t>(to.width) * to.height);
  for (const Outlier& outlier : to.isolated)
    signs[static_cast<std::size_t>(outlier.y) * to.width + outlier.x] = outlier.peak;
  std::int64_t successors = 0;
  for (const Outlier& outlier : from.isolated) {
    bool found = false;
    for (int y = std::max(outlier.y - reach, 0); y <= std::min(outlier.y + reach, to.height - 1);
         ++y)
      for (int x = std::max(outlier.x - reach, 0); x <= std::min(outlier.x + reach, to.width - 1);
           ++x)
        found |= signs[static_cast<std::size_t>(y) * to.width + x] * outlier.peak > 0;
    successors += found;
  }
  const auto all = static_cast<double>(from.isolated.size());
  return static_cast<double>(successors) > (0.25 + 1.5 * area * to.density()) * all;
}

constexpr std::size_t min_others = 6;

/// The samples of the 5x5 window around a position, without impulses.
struct NearbySamples {
  std::array<float, 24> values{}, dx{}, dy{};
  std::size_t count = 0;

  void add(int x, int y, float value) {
    dx[count] = static_cast<float>(x), dy[count] = static_cast<float>(y);
    values[count++] = value;
  }

  struct Fit {
    float centre, deviation;
  };
  /// Fits a linear function of x and y to the samples. The slopes minimise the squared residuals.
  /// `centre` is the constant of the function, computed as the median of the residuals. `deviation`
  /// is the standard deviation of the residuals, estimated from their quartiles.
  Fit fit() const {
    const auto n = static_cast<float>(count);
    float x = 0, y = 0, v = 0;
    for (std::size_t i = 0; i < count; ++i) x += dx[i] / n, y += dy[i] / n, v += values[i] / n;
    float xx = 0, xy = 0, yy = 0, xv = 0, yv = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const float a = dx[i] - x, b = dy[i] - y, c = values[i] - v;
      xx += a * a, xy += a * b, yy += b * b, xv += a * c, yv += b * c;
    }
    const float determinant = xx * yy - xy * xy;
    const bool has_slope = determinant > 1;
    const float slope_x = has_slope ? (xv * yy - yv * xy) / determinant : 0;
    const float slope_y = has_slope ? (yv * xx - xv * xy) / determinant : 0;
    std::array<float, 24> residuals;
    for (std::size_t i = 0; i < count; ++i)
      residuals[i] = values[i] - slope_x * dx[i] - slope_y * dy[i];
    std::sort(residuals.begin(), residuals.begin() + static_cast<std::ptrdiff_t>(count));
    // The interquartile range of Gaussian noise is 1.35 standard deviations.
    return {residuals[count / 2], (residuals[count * 3 / 4] - residuals[count / 4]) / 1.35f};
  }
};

/// Marks impulses by their value. The method requires that all salt impulses, or all pepper
/// impulses, have nearly the same value, for example 255 (ImpulseKind::has_value).
class ValueMarker {
 public:
  ValueMarker(const ImpulseModel& model, PlaneView<const float> plane, DefectMask& mask)
      : model_(model), plane_(plane), mask_(mask) {
    // If more than `max_equal_` of the 24 neighbours of a sample have the value of the impulses,
    // the sample is not an impulse. The limit is more than four standard deviations above the mean
    // number of such neighbours for impulses at random positions.
    const float expected = 24 * model.density;
    max_equal_ = static_cast<int>(2 + expected + 4 * std::sqrt(expected));
  }

  void mark_all(const ImpulseKind& kind) {
    for (int y = 0; y < plane_.height; ++y) {
      const float* row = plane_.row(y);
      for (int x = 0; x < plane_.width; ++x)
        if (std::abs(row[x] - kind.value) <= kind.tolerance) mark_if_impulse(kind, x, y);
    }
  }

 private:
  static bool has_value_of(const ImpulseKind& kind, float value) {
    return kind.exists && kind.has_value && std::abs(value - kind.value) <= kind.tolerance;
  }

  void mark_if_impulse(const ImpulseKind& kind, int x, int y) {
    NearbySamples others;
    int equal = 0;
    std::size_t at = 0;
    for (const float value : ring_24(plane_, x, y)) {
      // `place` is the index of the sample in the 5x5 window. From the centre of the window (index
      // 12) on, this index is one more than the index in `ring_24`, which does not contain the
      // centre.
      const std::size_t place = at < 12 ? at : at + 1;
      ++at;
      equal += std::abs(value - kind.value) <= kind.tolerance;
      // The fit to the surroundings excludes samples with the value of salt or of pepper. `kind` is
      // one of these two kinds, and `other` is the opposite kind. If the tolerance of `other`
      // exceeds one 8-bit step, the fit includes samples with the value of `other`, because these
      // samples may be details of the picture.
      const ImpulseKind& other = &kind == &model_.salt ? model_.pepper : model_.salt;
      const bool is_other = other.tolerance <= 1 && has_value_of(other, value);
      if (!has_value_of(kind, value) && !is_other)
        others.add(static_cast<int>(place % 5) - 2, static_cast<int>(place / 5) - 2, value);
    }
    if (equal > max_equal_ || others.count < min_others) return;
    const auto [centre, deviation] = others.fit();
    if (std::abs(plane_(x, y) - centre) > min_peak(kind, deviation)) mask_.mark(x, y);
  }

  /// Returns the minimum difference between an impulse and its surroundings. The minimum is small
  /// for impulses of exactly one value (for example 0 or 255).
  float min_peak(const ImpulseKind& kind, float deviation) const {
    if (kind.tolerance <= 1) return std::max(1.5f, deviation);
    return std::max(4.0f, 3 * std::max(deviation, 0.9f * model_.noise));
  }

  const ImpulseModel& model_;
  PlaneView<const float> plane_;
  DefectMask& mask_;
  int max_equal_ = 0;
};

/// Marks impulses without a common value: dark impulses if `dark` is true, and bright impulses if
/// `bright` is true.
void mark_by_peak(const ImpulseModel& model, bool dark, bool bright, PlaneView<const float> plane,
                  DefectMask& mask) {
  const OutlierField field = find_outliers(plane, std::max(12.0f, 6 * model.noise));
  const auto is_wanted = [&](const Outlier& o) { return o.peak > 0 ? bright : dark; };
  for (const Outlier& outlier : field.isolated)
    if (is_wanted(outlier)) mask.mark(outlier.x, outlier.y);
  // Two touching outliers may be impulses, so the function marks such pairs, too. Longer chains of
  // outliers are probably details of the picture.
  const auto resembling = [&](const Outlier& outlier) {
    const float middle = outlier.value - outlier.peak;
    int count = 0;
    for (const float value : ring_8(plane, outlier.x, outlier.y))
      count += (value - middle) / outlier.peak > 0.5f;
    return count;
  };
  DefectMask pairs;
  pairs.reset(plane.width, plane.height);
  for (const Outlier& outlier : field.connected)
    if (is_wanted(outlier) && resembling(outlier) == 1) pairs.mark(outlier.x, outlier.y);
  for (const auto& [x, y] : pairs.places())
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const bool inside =
            x + dx >= 0 && y + dy >= 0 && x + dx < plane.width && y + dy < plane.height;
        if ((dx != 0 || dy != 0) && inside && pairs.is_marked(x + dx, y + dy)) mask.mark(x, y);
      }
}

}  // namespace

std::optional<ImpulseModel> model_impulses(std::span<const ExaminedFrame> frames, float level) {
  // Stars and lamps look like impulses, but hardly move. has_successors() detects such lights in
  // successive frames. Without successive frames, may_be_lights() detects lights in a single frame.
  const bool over_time =
      std::ranges::any_of(frames, [](const ExaminedFrame& f) { return f.follows_previous; });
  std::size_t certain = 0;
  std::vector<float> salt, pepper, noise;
  double density = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const OutlierField& field = frames[i].outliers;
    if (!are_impulses(field) || (!over_time && may_be_lights(field))) continue;
    if (frames[i].follows_previous && has_successors(frames[i - 1].outliers, field))
      return std::nullopt;
    ++certain;
    density += field.density();
    noise.push_back(frames[i].noise);
    for (const Outlier& outlier : field.isolated)
      (outlier.peak > 0 ? salt : pepper).push_back(outlier.value);
  }
  if (certain == 0 || certain * 10 < frames.size() * 8) return std::nullopt;
  const std::size_t all = salt.size() + pepper.size();
  return ImpulseModel{.density = static_cast<float>(density / static_cast<double>(certain)),
                      .noise = median(noise),
                      .pepper = kind_of(std::move(pepper), all, level),
                      .salt = kind_of(std::move(salt), all, level)};
}

void mark_impulses(const ImpulseModel& model, PlaneView<const float> plane, DefectMask& mask) {
  ValueMarker by_value(model, plane, mask);
  bool dark = false, bright = false;
  for (const ImpulseKind* kind : {&model.pepper, &model.salt}) {
    if (!kind->exists) continue;
    if (kind->has_value)
      by_value.mark_all(*kind);
    else
      (kind == &model.salt ? bright : dark) = true;
  }
  if (dark || bright) mark_by_peak(model, dark, bright, plane, mask);
}

}  // namespace lull::repair
