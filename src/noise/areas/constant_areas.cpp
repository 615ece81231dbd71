#include "noise/areas/constant_areas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "noise/areas/area.h"
#include "noise/areas/equal_samples.h"
#include "noise/areas/opening.h"

namespace lull {
namespace {

/// A sample is similar to an area if it differs from the area's value by at most this number of
/// noise standard deviations.
constexpr double similar_sigmas = 2.5;
/// Rule 1 (constant_areas.h) applies to an area if at most this share of the samples around the
/// area is similar to the area's value.
constexpr double max_similar = 0.1;
/// If at most this share of the samples around an area is similar to the area's value, the session
/// replaces the area before filtering.
constexpr double continuous = 0.5;
/// If more than this share of the neighbouring samples differ from a constant area by 1, the area
/// is a part of a gradient.
constexpr double max_single_steps = 0.9;
/// Noise levels from which equal samples are unlikely to be noise, in quantisation steps. At the
/// noise level `wide_noise`, the probability of any single sample value is at most 0.2. At the
/// level `very_wide_noise`, this probability is at most 0.05.
constexpr double wide_noise = 2, very_wide_noise = 8;

// Minimum sizes of constant areas. In pictures, single codec blocks may be constant by chance, so
// the minimum size is larger.
constexpr int seed_in_picture = 4, seed_in_slice = 2;  // side of the squares that areas contain
constexpr std::int64_t min_in_picture = 256, min_in_slice = 9;
/// Minimum number of samples of a constant area at the border of a picture, if the neighbouring
/// samples are similar.
constexpr std::int64_t min_border_in_picture = 1024;
/// Side of the blocks that codecs quantise.
constexpr int codec_block = 8;
/// Each row of an area begins and ends at an x position. If more than this share of these positions
/// are multiples of `codec_block`, the area consists of codec blocks.
constexpr double min_on_grid = 0.5;
/// Maximum number of different sample values in the constant areas that consist of codec blocks.
/// With more values, these areas are artefacts: a codec may code blocks of different parts of a
/// picture as constant.
constexpr std::size_t max_block_values = 2;
/// Width, in samples, of the ring around an area. AreaFinder compares the samples of the ring with
/// the value of the area.
constexpr int ring = 3;
/// Sides, in samples, of the squares for the morphological opening (opening.h) that removes ragged
/// parts of an area.
constexpr std::array<int, 3> opening_sides = {3, 5, 8};
/// In slices, an area below the minimum size is also constant if it has the value of a larger
/// constant area. The search for such small areas uses at most this number of different values.
constexpr std::size_t max_values = 4;

template <class T>
class AreaFinder {
 public:
  AreaFinder(PlaneView<const T> plane, double sigma, bool is_slice)
      : plane_(plane),
        sigma_(sigma),
        similar_(std::max(similar_sigmas * sigma, is_integer ? 2.0 : 0.0)),
        seed_(is_slice ? seed_in_slice : seed_in_picture),
        min_samples_(is_slice ? min_in_slice : min_in_picture),
        is_slice_(is_slice) {}

  PlaneAreas find() && {
    for (int y = 0; y + seed_ <= plane_.height; y += seed_) {
      const T* row = plane_.row(y);
      for (int x = 0; x + seed_ <= plane_.width; x += seed_)
        if (row[x] == row[x + 1] && is_seed(x, y)) examine(x, y);
    }
    for (const int y : {0, plane_.height - 1})
      if (is_constant_row(y)) examine(0, y);
    for (const int x : {0, plane_.width - 1})
      if (is_constant_column(x)) examine(x, 0);
    if (block_values_.size() <= max_block_values)
      for (const std::vector<SampleRun>& runs : block_areas_) add(runs, true);
    if (is_slice_) find_small_areas();
    return std::move(areas_);
  }

 private:
  static constexpr bool is_integer = !std::is_floating_point_v<T>;

  bool is_seed(int x, int y) const {
    const T value = plane_(x, y);
    for (int j = 0; j < seed_; ++j)
      for (int i = 0; i < seed_; ++i)
        if (plane_(x + i, y + j) != value) return false;
    return true;
  }
  bool is_constant_row(int y) const {
    const T* row = plane_.row(y);
    return end_of_equal(row, 0, plane_.width, row[0]) == plane_.width;
  }
  bool is_constant_column(int x) const {
    for (int y = 0; y < plane_.height; ++y)
      if (plane_(x, y) != plane_(x, 0)) return false;
    return true;
  }

  bool is_seen(int x, int y) const {
    return !seen_.empty() && seen_[static_cast<std::size_t>(y) * plane_.width + x] != 0;
  }

  /// Decides whether the connected component of equal samples at (x, y) is a constant area.
  void examine(int x, int y) {
    if (is_seen(x, y)) return;
    const EqualArea area = flood(x, y);
    const bool is_small = area.samples < min_samples_;
    if (is_small && !reaches_across(area)) {
      // Removes the marks of a small area, because find_small_areas() examines the area later.
      if (is_slice_)
        for (const SampleRun& run : area.runs) mark(run, false);
      return;
    }
    const T value = plane_(x, y);
    const AreaBorder border = border_of(area, value);
    const double similar = border.share(border.similar);
    if (border.samples == 0) {
      append(areas_.preserved, area.runs);  // there is nothing else in the plane
    } else if (similar <= max_similar && !is_slice_ && !reaches_across(area) &&
               consists_of_blocks(area)) {
      block_areas_.push_back(area.runs);
      note(value, block_values_, max_block_values + 1);
    } else if (similar <= max_similar) {
      add(area.runs, true);
      note(value, values_, max_values);
    } else if (border.share(border.single_steps) <= max_single_steps) {
      add_similar(area, border, value, similar <= continuous);
    }
  }

  /// Adds an area whose surrounding samples are similar to the area's value. The function leaves
  /// out those parts of the area that noise may have produced.
  void add_similar(const EqualArea& area, const AreaBorder& border, T value, bool foreign) {
    const double steps = sigma_ / (is_integer ? 1.0 : border.step);
    if (is_slice_ && !border.is_one_sided() && steps >= very_wide_noise)
      return add(area.runs, foreign);
    // An area between brighter and darker samples needs a noise level of at least `wide_noise`. In
    // pictures, the area must also be large, touch the border, and not consist of codec blocks,
    // because codecs make areas constant. If an area does not meet these conditions, the function
    // adds only its complete rows and columns at the border.
    const bool is_border =
        touches_border(area) && area.samples >= min_border_in_picture && !consists_of_blocks(area);
    if (border.is_one_sided() || ((is_slice_ || is_border) && steps >= wide_noise))
      add(without_ragged_parts(area, value), foreign);
    else
      add(complete_lines(area), foreign);
  }

  void add(const std::vector<SampleRun>& runs, bool foreign) {
    append(areas_.preserved, runs);
    if (foreign) append(areas_.foreign, runs);
  }
  static void append(std::vector<SampleRun>& to, const std::vector<SampleRun>& runs) {
    to.insert(to.end(), runs.begin(), runs.end());
  }
  static void note(T value, std::vector<T>& values, std::size_t max_count) {
    if (values.size() < max_count && std::ranges::find(values, value) == values.end())
      values.push_back(value);
  }

  /// Finds areas of any size that have the value of a larger constant area.
  void find_small_areas() {
    for (std::size_t i = 0; i < values_.size(); ++i)
      for (int y = 0; y < plane_.height; ++y) {
        const T* row = plane_.row(y);
        for (int x = 0; x < plane_.width; ++x) {
          if (row[x] != values_[i] || is_seen(x, y)) continue;
          const EqualArea area = flood(x, y);
          const AreaBorder border = border_of(area, values_[i]);
          if (border.share(border.similar) <= max_similar) add(area.runs, true);
        }
      }
  }

  /// Returns the connected component (4-neighbourhood) of equal samples at (x, y), and marks its
  /// samples as seen.
  EqualArea flood(int x, int y) {
    if (seen_.empty()) seen_.resize(static_cast<std::size_t>(plane_.width) * plane_.height);
    const T value = plane_(x, y);
    EqualArea area{.runs = {}, .samples = 0, .left = x, .right = x + 1, .top = y, .bottom = y + 1};
    add_run(area, x, y, value);
    for (std::size_t i = 0; i < area.runs.size(); ++i) {
      const SampleRun run = area.runs[i];
      for (const int next : {run.y - 1, run.y + 1}) {
        if (next < 0 || next >= plane_.height) continue;
        const T* row = plane_.row(next);
        for (int at = run.begin; at < run.end;)
          if (row[at] != value)
            ++at;
          else if (is_seen(at, next))  // with the complete run that contains the sample
            at = end_of_equal(row, at, run.end, value);
          else
            at = add_run(area, at, next, value);
      }
    }
    return area;
  }
  void mark(const SampleRun& run, bool seen) {
    std::fill_n(&seen_[static_cast<std::size_t>(run.y) * plane_.width + run.begin],
                run.end - run.begin, static_cast<std::uint8_t>(seen));
  }
  /// Adds the run of equal samples around (x, y) to an area. Returns the end of the run.
  int add_run(EqualArea& area, int x, int y, T value) {
    const T* row = plane_.row(y);
    SampleRun run{.y = y, .begin = x, .end = end_of_equal(row, x, plane_.width, value)};
    while (run.begin > 0 && row[run.begin - 1] == value) --run.begin;
    mark(run, true);
    area.runs.push_back(run);
    area.samples += run.end - run.begin;
    area.left = std::min(area.left, run.begin);
    area.right = std::max(area.right, run.end);
    area.top = std::min(area.top, y);
    area.bottom = std::max(area.bottom, y + 1);
    return run.end;
  }

  AreaBorder border_of(const EqualArea& area, T value) const {
    AreaBorder border;
    for (const SampleRun& run : area.runs) {
      if (run.begin > 0) add_sample(border, plane_(run.begin - 1, run.y), value);
      if (run.end < plane_.width) add_sample(border, plane_(run.end, run.y), value);
      for (const int y : {run.y - 1, run.y + 1})
        if (y >= 0 && y < plane_.height)
          for (int x = run.begin; (x = end_of_equal(plane_.row(y), x, run.end, value)) < run.end;
               ++x)
            add_sample(border, plane_(x, y), value);
    }
    return border;
  }
  void add_sample(AreaBorder& border, T sample, T value) const {
    const double difference = static_cast<double>(sample) - static_cast<double>(value);
    if (!std::isfinite(difference)) return;
    const double distance = std::abs(difference);
    ++border.samples;
    border.similar += distance <= similar_;
    border.single_steps += is_integer && distance <= 1;
    ++(difference > 0 ? border.above : border.below);
    border.step = std::min(border.step, distance);
  }

  bool is_in_plane(int x, int y) const {
    return x >= 0 && y >= 0 && x < plane_.width && y < plane_.height;
  }
  bool touches_border(const EqualArea& area) const {
    return area.left == 0 || area.top == 0 || area.right == plane_.width ||
           area.bottom == plane_.height;
  }
  bool reaches_across(const EqualArea& area) const {
    return (area.left == 0 && area.right == plane_.width) ||
           (area.top == 0 && area.bottom == plane_.height);
  }

  /// Returns whether most rows of the area begin and end on the block grid of a codec.
  bool consists_of_blocks(const EqualArea& area) const {
    std::size_t ends = 0, on_grid = 0;
    for (const SampleRun& run : area.runs)
      for (const int end : {run.begin, run.end}) {
        if (end == 0 || end == plane_.width) continue;
        ++ends;
        on_grid += end % codec_block == 0;
      }
    return static_cast<double>(on_grid) > min_on_grid * static_cast<double>(ends);
  }

  /// Returns the complete rows and columns of the area at the border of the plane. A row or column
  /// is complete if all its samples belong to the area, and if all rows or columns between it and
  /// the border are complete, too.
  std::vector<SampleRun> complete_lines(const EqualArea& area) const {
    std::vector<int> row_samples(plane_.height), column_samples(plane_.width + 1);
    for (const SampleRun& run : area.runs) {
      row_samples[run.y] += run.end - run.begin;
      ++column_samples[run.begin];
      --column_samples[run.end];
    }
    for (int x = 1; x < plane_.width; ++x) column_samples[x] += column_samples[x - 1];
    const auto full_row = [&](int y) { return row_samples[y] == plane_.width; };
    const auto full_column = [&](int x) { return column_samples[x] == plane_.height; };
    int top = 0, bottom = plane_.height, left = 0, right = plane_.width;
    while (top < bottom && full_row(top)) ++top;
    while (bottom > top && full_row(bottom - 1)) --bottom;
    while (left < right && full_column(left)) ++left;
    while (right > left && full_column(right - 1)) --right;
    std::vector<SampleRun> lines;
    for (int y = 0; y < plane_.height; ++y) {
      if (y < top || y >= bottom) {
        lines.push_back({.y = y, .begin = 0, .end = plane_.width});
        continue;
      }
      if (left > 0) lines.push_back({.y = y, .begin = 0, .end = left});
      if (right < plane_.width) lines.push_back({.y = y, .begin = right, .end = plane_.width});
    }
    return lines;
  }

  /// Returns an area without its ragged parts: the union of complete_lines() and the morphological
  /// opening of the area by a square. Noise near the area may also have the value `value`. The
  /// function therefore chooses the smallest side in `opening_sides` for which noise is unlikely to
  /// fill a square. If there is no such side, the function chooses the largest side.
  std::vector<SampleRun> without_ragged_parts(const EqualArea& area, T value) const {
    constexpr int margin = opening_sides.back();
    const int left = area.left - margin, top = area.top - margin;
    SampleSet set(area.right - left + margin, area.bottom - top + margin);
    for (const SampleRun& run : area.runs)
      std::fill_n(&set.at(run.begin - left, run.y - top), run.end - run.begin, std::uint8_t{1});
    for (const int side : opening_sides) {
      SampleSet inside = opened(set, side);
      for (const SampleRun& run : complete_lines(area))
        std::fill_n(&inside.at(run.begin - left, run.y - top), run.end - run.begin,
                    std::uint8_t{1});
      const auto [near, equal] = count_near(inside, left, top, value);
      const double share = near > 0 ? static_cast<double>(equal) / static_cast<double>(near) : 0;
      if (side == margin || std::pow(share, side * side) * static_cast<double>(near) < 0.1)
        return runs_of(inside, area);
    }
    return {};
  }

  /// Counts the samples near the set `inside`: samples outside the set, at most `ring` samples away
  /// from it along a row or column. Returns the number of near samples, and the number of near
  /// samples with the value `value`.
  std::pair<std::int64_t, std::int64_t> count_near(const SampleSet& inside, int left, int top,
                                                   T value) const {
    std::int64_t near = 0, equal = 0;
    for (int y = 0; y < inside.height; ++y)
      for (int x = 0; x < inside.width; ++x) {
        if (inside.has(x, y) || !is_in_plane(x + left, y + top) || !has_near(inside, x, y))
          continue;
        ++near;
        equal += plane_(x + left, y + top) == value;
      }
    return {near, equal};
  }
  static bool has_near(const SampleSet& set, int x, int y) {
    for (int i = -ring; i <= ring; ++i) {
      if (x + i >= 0 && x + i < set.width && set.has(x + i, y)) return true;
      if (y + i >= 0 && y + i < set.height && set.has(x, y + i)) return true;
    }
    return false;
  }

  /// Returns the intersection of `set` and the area, as runs of samples.
  static std::vector<SampleRun> runs_of(const SampleSet& set, const EqualArea& area) {
    const int left = area.left - opening_sides.back(), top = area.top - opening_sides.back();
    std::vector<SampleRun> runs;
    for (const SampleRun& run : area.runs)
      for (int x = run.begin; x < run.end; ++x) {
        if (!set.has(x - left, run.y - top)) continue;
        if (!runs.empty() && runs.back().y == run.y && runs.back().end == x)
          ++runs.back().end;
        else
          runs.push_back({.y = run.y, .begin = x, .end = x + 1});
      }
    return runs;
  }

  PlaneView<const T> plane_;
  double sigma_, similar_;
  int seed_;
  std::int64_t min_samples_;
  bool is_slice_;
  std::vector<std::uint8_t> seen_;
  std::vector<T> values_, block_values_;
  std::vector<std::vector<SampleRun>> block_areas_;
  PlaneAreas areas_;
};

}  // namespace

PlaneAreas find_areas(const Frame& frame, int plane, float sigma, bool is_slice) {
  const double level = static_cast<double>(sigma) * frame.format.full_scale(plane) / 255;
  const auto find = [&]<class T>(PlaneView<const T> samples) {
    return AreaFinder<T>(samples, level, is_slice).find();
  };
  switch (frame.format.sample) {
    case SampleType::u8:
      return find(PlaneView<const std::uint8_t>(frame.plane<std::uint8_t>(plane)));
    case SampleType::u16:
      return find(PlaneView<const std::uint16_t>(frame.plane<std::uint16_t>(plane)));
    case SampleType::f32:
      break;
  }
  return find(PlaneView<const float>(frame.plane<float>(plane)));
}

}  // namespace lull
