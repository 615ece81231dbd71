#include "repair/outliers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "repair/windows.h"

namespace lull::repair {
namespace {

/// The spread of the 24 samples around a position is the difference between the sorted samples with
/// the ranks `high_rank` and `low_rank` (counted from 0). For Gaussian noise, the spread is 1.8
/// standard deviations. Up to four impulses of each sign hardly change the spread.
constexpr std::size_t low_rank = 4, high_rank = 19;
/// Minimum difference of an outlier from the median of its surroundings, in units of the spread: 9
/// standard deviations of Gaussian noise.
constexpr float peak_of_spread = 5;
/// A neighbour is similar to an outlier if the neighbour deviates by at least this share of the
/// outlier's deviation, in the same direction. Both deviations are differences from the median of
/// the outlier's surroundings.
constexpr float resembling = 0.5f;

constexpr int grid_step = 8;  // distance of the samples at which the smoothness is measured

struct Surroundings {
  float median = 0, spread = 0;
};

Surroundings surroundings_of(PlaneView<const float> plane, int x, int y) {
  Ring24 ring = ring_24(plane, x, y);
  const auto at = [&](std::size_t rank) {
    return ring.begin() + static_cast<std::ptrdiff_t>(rank);
  };
  std::nth_element(ring.begin(), at(11), ring.end());
  std::nth_element(ring.begin(), at(low_rank), at(11));
  std::nth_element(at(12), at(high_rank), ring.end());
  const float upper = *std::min_element(at(12), at(high_rank) + 1);
  return {(ring[11] + upper) / 2, ring[high_rank] - ring[low_rank]};
}

/// Let p be the absolute difference between a sample and the median of the 24 surrounding samples.
/// An outlier differs from at least `min_exceeded` of the 24 samples in the same direction. Each of
/// these differences is at least `exceeded_share` * p.
constexpr int min_exceeded = 20;
constexpr float exceeded_share = 1 - 1 / peak_of_spread;

/// Marks candidates for outliers in row `y`. A sample is a candidate if at least four of the eight
/// samples at a distance of 2 are darker by `limit` or more, or if at least four are brighter. The
/// function marks the first two and the last two samples of the row without this test.
void mark_row(PlaneView<const float> plane, int y, float limit, std::vector<int>& marks) {
  constexpr int needed = min_exceeded - (24 - 8);
  const int width = plane.width;
  const float* row = plane.row(y);
  const float* up = plane.row(mirrored(y - 2, plane.height));
  const float* down = plane.row(mirrored(y + 2, plane.height));
  for (int x = 2; x < width - 2; ++x) {
    const float low = row[x] - limit, high = row[x] + limit;
    int brighter = 0, darker = 0;
    for (const float* other : {up, row, down})
      for (const int dx : {-2, 0, 2}) {
        brighter += other[x + dx] <= low;
        darker += other[x + dx] >= high;
      }
    marks[static_cast<std::size_t>(x)] = (brighter >= needed) | (darker >= needed);
  }
  for (const int x : {0, 1, width - 2, width - 1}) marks[static_cast<std::size_t>(x)] = 1;
}

/// Returns whether a sample is an outlier in its 5x5 neighbourhood. At least `min_exceeded` of the
/// 24 neighbours must differ from an outlier by at least `limit`, all in the same direction.
bool exceeds_surroundings(PlaneView<const float> plane, int x, int y, float limit) {
  const float low = plane(x, y) - limit, high = plane(x, y) + limit;
  int brighter = 0, darker = 0;
  for (const float other : ring_24(plane, x, y)) {
    brighter += other <= low;
    darker += other >= high;
  }
  return std::max(brighter, darker) >= min_exceeded;
}

/// Appends the sample to `field` if it is an outlier.
void examine(PlaneView<const float> plane, int x, int y, float min_peak, OutlierField& field) {
  if (!exceeds_surroundings(plane, x, y, exceeded_share * min_peak)) return;
  const auto [middle, spread] = surroundings_of(plane, x, y);
  const float value = plane(x, y), peak = value - middle;
  if (std::abs(peak) < min_peak || std::abs(peak) < peak_of_spread * spread) return;
  const std::array<float, 8> ring = ring_8(plane, x, y);
  const bool connected =
      std::ranges::any_of(ring, [&](float n) { return (n - middle) / peak > resembling; });
  const float direct = (ring[1] + ring[3] + ring[4] + ring[6]) / 4;
  (connected ? field.connected : field.isolated)
      .push_back({x, y, value, peak, (direct - middle) / peak});
}

double smooth_share(PlaneView<const float> plane, float peak) {
  std::int64_t all = 0, smooth = 0;
  for (int y = grid_step / 2; y < plane.height; y += grid_step)
    for (int x = grid_step / 2; x < plane.width; x += grid_step) {
      ++all;
      smooth += peak_of_spread * surroundings_of(plane, x, y).spread <= peak;
    }
  return all > 0 ? static_cast<double>(smooth) / static_cast<double>(all) : 0;
}

/// Returns whether the number of events is too large for a Poisson distribution with the mean
/// `expected` * `factor`. `factor` allows for a density that varies.
bool exceeds(double events, double expected, double factor) {
  return events > factor * expected + 6 * std::sqrt(factor * expected) + 3;
}

/// Returns whether many pairs of outliers have the same displacement, as in dotted lines, dithering
/// and halftone screens.
bool has_frequent_displacement(const OutlierField& field) {
  constexpr int reach = 8, side = 2 * reach + 1;
  std::vector<bool> is_outlier(static_cast<std::size_t>(field.width) * field.height);
  const auto index = [&](int x, int y) { return static_cast<std::size_t>(y) * field.width + x; };
  for (const Outlier& outlier : field.isolated) is_outlier[index(outlier.x, outlier.y)] = true;
  std::array<std::int64_t, side * side> counts{};
  for (const Outlier& outlier : field.isolated)
    for (int dy = 0; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx) {
        const int x = outlier.x + dx, y = outlier.y + dy;
        if ((dy == 0 && dx <= 0) || x < 0 || x >= field.width || y >= field.height) continue;
        counts[static_cast<std::size_t>(dy * side + dx + reach)] += is_outlier[index(x, y)];
      }
  const double expected = static_cast<double>(field.isolated.size()) * field.density();
  return std::ranges::any_of(
      counts, [&](std::int64_t n) { return exceeds(static_cast<double>(n), expected, 2.5); });
}

/// Returns whether many outliers are in one row or column, as in text and tables.
template <class Coordinate>
bool has_aligned(const OutlierField& field, int size, const Coordinate& coordinate) {
  std::vector<double> counts(static_cast<std::size_t>(size));
  for (const Outlier& outlier : field.isolated)
    ++counts[static_cast<std::size_t>(coordinate(outlier))];
  double pairs = 0;
  for (const double count : counts) pairs += count * (count - 1) / 2;
  const double all = static_cast<double>(field.isolated.size());
  return exceeds(pairs, all * all / (2.0 * size), 2);
}

/// Returns whether most outliers are in a small part of the picture. Such outliers are details of
/// the picture.
bool is_concentrated(const OutlierField& field) {
  constexpr int parts = 6;
  std::array<int, parts * parts> counts{};
  for (const Outlier& outlier : field.isolated)
    ++counts[static_cast<std::size_t>(outlier.y * parts / field.height * parts +
                                      outlier.x * parts / field.width)];
  std::ranges::sort(counts, std::greater{});
  const auto all = static_cast<double>(field.isolated.size());
  constexpr int fullest = parts * parts / 10;  // the test examines the fullest tenth of the parts
  double inside = 0;                           // number of outliers in these parts
  for (int i = 0; i < fullest; ++i) inside += counts[static_cast<std::size_t>(i)];
  const double share = static_cast<double>(fullest) / (parts * parts * field.smooth_share);
  return inside > 0.6 * all && exceeds(inside, std::min(share, 1.0) * all, 2);
}

}  // namespace

OutlierField find_outliers(PlaneView<const float> plane, float min_peak) {
  OutlierField field{.width = plane.width, .height = plane.height, .isolated = {}, .connected = {}};
  std::vector<int> marks(static_cast<std::size_t>(plane.width));
  for (int y = 0; y < plane.height; ++y) {
    mark_row(plane, y, exceeded_share * min_peak, marks);
    for (int x = 0; x < plane.width; ++x)
      if (marks[static_cast<std::size_t>(x)] != 0) examine(plane, x, y, min_peak, field);
  }
  if (field.isolated.empty()) return field;
  std::vector<float> peaks;
  for (const Outlier& outlier : field.isolated) peaks.push_back(std::abs(outlier.peak));
  field.smooth_share = smooth_share(plane, median(peaks));
  return field;
}

bool are_impulses(const OutlierField& field) {
  constexpr std::size_t min_count = 6;
  constexpr float max_wing = 0.06f;
  if (field.isolated.size() < min_count || !(field.smooth_share > 0)) return false;
  const auto isolated = static_cast<double>(field.isolated.size());
  // If impulses are at random positions, the share of the impulses that touch another impulse is
  // about 8 times the density of the impulses.
  const double touching = 0.15 + 12 * field.density();
  if (static_cast<double>(field.connected.size()) > touching * isolated) return false;
  std::vector<float> wings;
  for (const Outlier& outlier : field.isolated) wings.push_back(outlier.wing);
  if (std::abs(median(wings)) > max_wing) return false;
  return !are_ordered(field);
}

bool may_be_lights(const OutlierField& field) {
  constexpr float max_ground = 64;
  const auto lights = std::ranges::count_if(
      field.isolated, [](const Outlier& o) { return o.peak > 0 && o.value - o.peak < max_ground; });
  return static_cast<std::size_t>(lights) * 8 > field.isolated.size() * 7;
}

bool are_ordered(const OutlierField& field) {
  return has_frequent_displacement(field) ||
         has_aligned(field, field.height, [](const Outlier& o) { return o.y; }) ||
         has_aligned(field, field.width, [](const Outlier& o) { return o.x; }) ||
         is_concentrated(field);
}

}  // namespace lull::repair
