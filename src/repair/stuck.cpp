#include "repair/stuck.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "repair/interpolate.h"
#include "repair/outliers.h"
#include "repair/windows.h"

namespace lull::repair {
namespace {

/// Number of frames in which the search examines all samples. In later frames, the search examines
/// only candidates.
constexpr std::size_t full_frames = 5;
// Maximum number of candidates. More candidates are details of the picture, not stuck pixels.
constexpr std::size_t max_candidates = 200000;

/// Returns the minimum difference between a stuck pixel and its neighbours in a frame with the
/// noise level `noise`. The difference and the noise level are on the 0..255 scale.
float min_excess(float noise) { return std::max(6.0f, 3 * noise); }

/// For each sample, counts of the frames in which the sample is brighter than its neighbours. A
/// second object of this type counts the frames in which the sample is darker.
struct Support {
  /// Number of frames in which at most one of the 8 neighbours is similar to the sample. In these
  /// frames, the sample is isolated, half of a pair, or the end of a line.
  std::vector<std::uint8_t> single;
  /// Number of frames in which two or three of the 8 neighbours are similar to the sample. In these
  /// frames, the sample is part of a line or an edge.
  std::vector<std::uint8_t> line;
};

/// For each sample of a row, counts how many of its 8 neighbours differ by more than `excess`.
/// @param sign  1: counts neighbours that are darker than the sample; -1: counts brighter
///     neighbours
void count_exceeded(PlaneView<const float> plane, int y, float excess, float sign,
                    std::vector<int>& counts) {
  const float* rows[3] = {plane.row(mirrored(y - 1, plane.height)), plane.row(y),
                          plane.row(mirrored(y + 1, plane.height))};
  const auto exceeded = [&](int x, int left, int right) {
    const float limit = sign * rows[1][x] - excess;
    int count = 0;
    for (const float* row : rows)
      count += (sign * row[left] < limit) + (sign * row[x] < limit) + (sign * row[right] < limit);
    return count;
  };
  for (int x = 1; x < plane.width - 1; ++x)
    counts[static_cast<std::size_t>(x)] = exceeded(x, x - 1, x + 1);
  for (const int x : {0, plane.width - 1})
    counts[static_cast<std::size_t>(x)] =
        exceeded(x, mirrored(x - 1, plane.width), mirrored(x + 1, plane.width));
}

void add_support(PlaneView<const float> plane, float excess, float sign, Support& support) {
  std::vector<int> counts(static_cast<std::size_t>(plane.width));
  for (int y = 0; y < plane.height; ++y) {
    count_exceeded(plane, y, excess, sign, counts);
    std::uint8_t* single = &support.single[static_cast<std::size_t>(y) * plane.width];
    std::uint8_t* line = &support.line[static_cast<std::size_t>(y) * plane.width];
    for (int x = 0; x < plane.width; ++x) {
      const int count = counts[static_cast<std::size_t>(x)];
      single[x] = static_cast<std::uint8_t>(single[x] + (count >= 7));
      line[x] = static_cast<std::uint8_t>(line[x] + (count == 5 || count == 6));
    }
  }
}

/// Statistics of one sample over the examined frames.
struct Candidate {
  Position at;
  float sign = 1;
  int supporting = 0;  // frames in which the sample exceeds its neighbours
  // Number of frames that contradict a defect, because the sample hardly differs from its
  // surroundings.
  int contradicting = 0;
  float value = 0;           // sum over the supporting frames
  float peak = 0, wing = 0;  // sums over the supporting frames, of differences from the median
  float spread = 0;          // sum of the distances between the 5th and the 20th of 24 samples
  /// Brightness gradients of the surroundings, in 8-bit levels per sample. The list has one element
  /// for each frame in which the sample exceeds its neighbours and the gradient exceeds the noise.
  std::vector<std::array<float, 2>> slopes;
  bool is_isolated = true;
};

/// Returns the least-squares brightness gradient of the 24 samples around a position.
std::array<float, 2> slope_of(const Ring24& ring) {
  std::array<float, 2> slope{};
  std::size_t i = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      if (dx == 0 && dy == 0) continue;
      slope[0] += static_cast<float>(dx) * ring[i] / 50;
      slope[1] += static_cast<float>(dy) * ring[i] / 50;
      ++i;
    }
  return slope;
}

/// Returns the brightness gradient around a position. Near a border, the gradient comes from the
/// nearest window inside the plane, because mirrored samples would make the gradient 0.
std::array<float, 2> slope_beside(PlaneView<const float> plane, int x, int y) {
  const auto inside = [](int at, int size) {
    return at < 2 ? at + 3 : at > size - 3 ? at - 3 : at;
  };
  return slope_of(ring_24(plane, inside(x, plane.width), inside(y, plane.height)));
}

void observe(PlaneView<const float> plane, float noise, float excess, Candidate& candidate) {
  const auto [x, y] = candidate.at;
  const float value = plane(x, y);
  std::array<float, 8> near = ring_8(plane, x, y);
  const float direct = (near[1] + near[3] + near[4] + near[6]) / 4;
  Ring24 ring = ring_24(plane, x, y);
  const std::array<float, 2> slope = slope_beside(plane, x, y);
  std::sort(ring.begin(), ring.end());
  const float middle = (ring[11] + ring[12]) / 2, peak = value - middle;
  const auto exceeded =
      std::ranges::count_if(near, [&](float n) { return candidate.sign * (value - n) > excess; });
  if (exceeded < 7) {
    // Hot pixels are invisible in white areas, and dead pixels are invisible in black areas.
    const float room = candidate.sign > 0 ? 255 - middle : middle;
    const float stuck_at = candidate.supporting > 0
                               ? candidate.value / static_cast<float>(candidate.supporting)
                               : value;
    const bool could_differ = room > 4 * excess && std::abs(stuck_at - middle) > 4 * excess;
    candidate.contradicting += could_differ && std::abs(peak) < excess;
    return;
  }
  ++candidate.supporting;
  candidate.value += value;
  candidate.peak += peak;
  candidate.wing += direct - middle;
  candidate.spread += ring[19] - ring[4];
  candidate.is_isolated &= exceeded == 8;
  // The brightness gradient of pure noise has a standard deviation of a seventh of the noise level.
  if (std::hypot(slope[0], slope[1]) > 6 * (noise + 0.3f) / 7) candidate.slopes.push_back(slope);
}

/// Returns whether the surroundings change: the brightness gradients of two frames differ in
/// direction by at least 45 degrees.
bool surroundings_change(const Candidate& candidate) {
  for (const auto& a : candidate.slopes)
    for (const auto& b : candidate.slopes)
      if (a[0] * b[0] + a[1] * b[1] < 0.7f * std::hypot(a[0], a[1]) * std::hypot(b[0], b[1]))
        return true;
  return false;
}

class StuckSearch {
 public:
  StuckSearch(const std::vector<float>& noise, float level, const PlaneReader& read)
      : noise_(noise), level_(level), read_(read) {}

  std::vector<Position> run() {
    find_candidates();
    if (candidates_.empty() || candidates_.size() > max_candidates) return {};
    for (std::size_t frame = 0; frame < noise_.size(); ++frame)
      read_(frame, [&](PlaneView<const float> plane) {
        for (Candidate& candidate : candidates_)
          observe(plane, noise_[frame], excess(frame), candidate);
      });
    return accepted();
  }

 private:
  float excess(std::size_t frame) const { return min_excess(noise_[frame]) + level_; }

  void find_candidates() {
    const std::size_t frames = std::min(noise_.size(), full_frames);
    const auto needed = static_cast<std::uint8_t>(frames - frames / 3);
    std::array<Support, 2> supports;
    for (std::size_t i = 0; i < frames; ++i) {
      const std::size_t frame = i * (noise_.size() - 1) / (frames - 1);
      read_(frame, [&](PlaneView<const float> plane) {
        width_ = plane.width, height_ = plane.height;
        for (const int s : {0, 1}) {
          const std::size_t samples = static_cast<std::size_t>(width_) * height_;
          supports[s].single.resize(samples), supports[s].line.resize(samples);
          add_support(plane, excess(frame), s == 0 ? 1.0f : -1.0f, supports[s]);
        }
      });
    }
    for (const int s : {0, 1})
      for (int y = 0; y < height_; ++y)
        for (int x = 0; x < width_; ++x) {
          const std::size_t at = index(x, y);
          if (supports[s].single[at] >= needed && !is_near_line(supports[s], needed, x, y))
            candidates_.push_back({.at = {x, y}, .sign = s == 0 ? 1.0f : -1.0f, .slopes = {}});
        }
  }

  std::size_t index(int x, int y) const { return static_cast<std::size_t>(y) * width_ + x; }

  /// Returns whether the sample is near a line or edge that is visible in many frames, as in a logo
  /// or a static picture.
  bool is_near_line(const Support& support, std::uint8_t needed, int x, int y) const {
    constexpr int reach = 16;
    for (int v = std::max(y - reach, 0); v <= std::min(y + reach, height_ - 1); ++v)
      for (int u = std::max(x - reach, 0); u <= std::min(x + reach, width_ - 1); ++u)
        if (support.line[index(u, v)] >= needed) return true;
    return false;
  }

  bool is_persistent(const Candidate& candidate) const {
    const auto frames = static_cast<int>(noise_.size());
    // Unlike stuck pixels, details of the picture have similar direct neighbours (`wing`), or their
    // surroundings vary strongly (`spread`).
    const float peak = std::abs(candidate.peak), count = static_cast<float>(candidate.supporting);
    const float level = *std::ranges::max_element(noise_);
    if (peak < std::max(16.0f, 5 * level) * count || peak < 2 * candidate.spread ||
        std::abs(candidate.wing) > 0.15f * peak)
      return false;
    return candidate.supporting >= std::max<int>(min_frames_of_stuck, (frames + 1) / 2) &&
           candidate.contradicting * 10 <= frames;
  }

  std::vector<Position> accepted() const {
    std::vector<Position> stuck;
    std::vector<const Candidate*> unchanged;
    for (const Candidate& candidate : candidates_) {
      if (!is_persistent(candidate)) continue;
      if (surroundings_change(candidate))
        stuck.push_back(candidate.at);
      else
        unchanged.push_back(&candidate);
    }
    if (are_ordered(field_of(stuck))) return {};
    const std::vector<Position> isolated = isolated_of(unchanged, stuck.size());
    stuck.insert(stuck.end(), isolated.begin(), isolated.end());
    std::ranges::sort(stuck, {}, [](Position p) { return std::pair(p.y, p.x); });
    return stuck;
  }

  OutlierField field_of(const std::vector<Position>& positions) const {
    OutlierField field{.width = width_, .height = height_, .isolated = {}, .connected = {}};
    field.smooth_share = 1;
    for (const Position& at : positions) field.isolated.push_back({.x = at.x, .y = at.y});
    return field;
  }

  /// Selects stuck pixels in still surroundings, with stricter criteria than in changing
  /// surroundings.
  /// @param others  number of stuck pixels in changing surroundings
  std::vector<Position> isolated_of(const std::vector<const Candidate*>& unchanged,
                                    std::size_t others) const {
    std::vector<Position> isolated;
    if (unchanged.empty()) return isolated;
    OutlierField persistent;
    const float min_peak = std::max(24.0f, 8 * noise_.front());
    read_(0, [&](PlaneView<const float> plane) { persistent = find_outliers(plane, min_peak); });
    DefectMask candidates, strong;
    candidates.reset(width_, height_);
    strong.reset(width_, height_);
    for (const Candidate* candidate : unchanged) candidates.mark(candidate->at.x, candidate->at.y);
    std::erase_if(persistent.isolated,
                  [&](const Outlier& o) { return !candidates.is_marked(o.x, o.y); });
    // If the clip has enough stuck pixels in changing surroundings, the search also reports sharp
    // isolated samples in still surroundings. These samples need not look like impulses.
    const bool others_exist = others >= 3 && others >= persistent.isolated.size();
    if (!others_exist && (!are_impulses(persistent) || may_be_lights(persistent))) return isolated;
    for (const Outlier& outlier : persistent.isolated) strong.mark(outlier.x, outlier.y);
    for (const Candidate* candidate : unchanged) {
      const bool is_sharp = std::abs(candidate->wing) < 0.1f * std::abs(candidate->peak);
      const bool is_strong = strong.is_marked(candidate->at.x, candidate->at.y);
      if (candidate->is_isolated && is_sharp && is_strong) isolated.push_back(candidate->at);
    }
    return isolated;
  }

  const std::vector<float>& noise_;
  const float level_;
  const PlaneReader& read_;
  int width_ = 0, height_ = 0;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<Position> find_stuck(const std::vector<float>& noise, float level,
                                 const PlaneReader& read) {
  if (noise.size() < min_frames_of_stuck) return {};
  return StuckSearch(noise, level, read).run();
}

}  // namespace lull::repair
