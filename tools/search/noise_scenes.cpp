#include "tools/search/noise_scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "noise/estimate/codec_error.h"
#include "pipeline/scale_denoiser.h"

namespace lull::tools {
namespace {

/// Maximum ratio of two noise levels that count as equal. Each estimate may have an error of up to
/// 15 %.
constexpr float same_level = 1.3f;
/// Length of the interval at which the bisection for a cut ends, in seconds. The search then reads
/// all frames of this interval.
constexpr double near_s = 1.0;
/// Noise is coarse if the noise level of means of 16x16 samples exceeds both limits:
/// `min_coarse_share` times the noise level of means of 8x8 samples, and `min_coarse` on the 0..255
/// scale. Coarse noise requires a session at half size.
constexpr float min_coarse_share = 0.7f, min_coarse = 0.4f;
constexpr int min_side = 128;
constexpr int max_halvings = 6, max_frames = 240;

bool is_same(float a, float b) {
  return std::max(a, b) <=
         same_level * std::min(a, b) + 0.3f;  // low levels cannot be measured precisely
}

/// Returns the mean absolute difference of two luma planes, at every 8th sample along both axes.
template <class T>
double change(PlaneView<const T> a, PlaneView<const T> b) {
  double sum = 0;
  int count = 0;
  for (int y = 4; y < a.height; y += 8)
    for (int x = 4; x < a.width; x += 8, ++count)
      sum += std::abs(static_cast<double>(a(x, y)) - static_cast<double>(b(x, y)));
  return count > 0 ? sum / count : 0;
}

double change(const Frame& a, const Frame& b) {
  switch (a.format.sample) {
    case SampleType::u8:
      return change<std::uint8_t>(a.plane<std::uint8_t>(0), b.plane<std::uint8_t>(0));
    case SampleType::u16:
      return change<std::uint16_t>(a.plane<std::uint16_t>(0), b.plane<std::uint16_t>(0));
    case SampleType::f32:
      return change<float>(a.plane<float>(0), b.plane<float>(0));
  }
  return 0;
}

/// The noise level of an excerpt, and the time of the excerpt.
struct Level {
  double time_s;
  float level;
};

/// Returns the time of the last frame of an excerpt. If the excerpt follows a cut, the search for
/// the cut ends at this time, because the cut may be within the excerpt.
double end_of(const TimedExcerpt& excerpt) { return time_of(excerpt.frames.back()); }

/// The time of a frame, and the difference of the frame from the previous frame.
struct Change {
  double time_s, change;
};

/// Returns the time of the cut. If the largest change exceeds 2.5 times the median change, this is
/// the time of the largest change. Otherwise, it is the time that divides the changes into two
/// groups with the largest between-group variance.
double cut_at(const std::vector<Change>& changes) {
  const auto largest = std::ranges::max_element(changes, {}, &Change::change);
  std::vector<Change> sorted = changes;
  std::ranges::sort(sorted, {}, &Change::change);
  constexpr double outstanding = 2.5;  // relative to the median
  if (largest->change > outstanding * sorted[sorted.size() / 2].change) return largest->time_s;
  double sum = 0, before = 0, max_variance = 0, cut = changes.front().time_s;
  for (const Change& c : changes) sum += c.change;
  const auto count = static_cast<double>(changes.size());
  for (std::size_t k = 1; k < changes.size(); ++k) {
    before += changes[k - 1].change;
    const auto n = static_cast<double>(k);
    const double step = before / n - (sum - before) / (count - n);
    const double between = step * step * n * (count - n);
    if (between > max_variance) cut = changes[k].time_s;
    max_variance = std::max(max_variance, between);
  }
  return cut;
}

/// Searches for the cut between two excerpts with different noise. Returns the time of the first
/// frame after the cut.
double cut_between(Level before, Level after, const FramesFrom& frames_from) {
  for (int i = 0; i < max_halvings && after.time_s - before.time_s > near_s; ++i) {
    const TimedExcerpt middle = read_excerpt(frames_from, (before.time_s + after.time_s) / 2, 3);
    // The bisection ends if no keyframe lies between the two excerpts, because a source can seek
    // only to keyframes.
    if (middle.frames.empty() || middle.time_s <= before.time_s || end_of(middle) >= after.time_s)
      break;
    const std::vector<Excerpt> one{middle.frames};
    const NoiseEstimate estimate = estimate_noise(one);
    const float level = estimate.level[0];
    const bool first = std::abs(std::log(std::max(level, 0.1f) / std::max(before.level, 0.1f))) <
                       std::abs(std::log(std::max(level, 0.1f) / std::max(after.level, 0.1f)));
    if (first)
      before.time_s = middle.time_s;
    else
      after.time_s = end_of(middle);
  }
  std::vector<Change> changes;
  int remaining = max_frames;
  std::optional<Frame> last;
  frames_from(before.time_s, [&](Frame frame) {
    const double time = time_of(frame);
    if (last && time > before.time_s && time <= after.time_s)
      changes.push_back({time, change(*last, frame)});
    last = std::move(frame);
    return time < after.time_s && --remaining > 0;
  });
  return changes.empty() ? after.time_s : cut_at(changes);
}

}  // namespace

void add_codec_error_to_half(SceneNoise& scene) {
  if (!scene.half || !(scene.estimate.codec_error[0] > 0)) return;
  std::array<float, 3> error = scene.estimate.codec_error;
  for (float& of_plane : error) of_plane /= 2;
  // For white noise, the noise level of means of 8x8 samples is an eighth of the noise level of
  // samples.
  const float half_coarse = coarse_with(scene.half->coarse, error[0]);
  const float coarse = coarse_with(scene.estimate.coarse, scene.estimate.codec_error[0]);
  if (half_coarse > min_coarse_share * coarse)
    add_white_error(error, *scene.half);
  else
    scene.half.reset();
}

double time_of(const Frame& frame) {
  const Rational& tick = frame.time_base;
  return tick.den == 0 ? 0
                       : static_cast<double>(frame.pts) * static_cast<double>(tick.num) /
                             static_cast<double>(tick.den);
}

std::vector<Excerpt> excerpts_of(std::span<const TimedExcerpt> excerpts) {
  std::vector<Excerpt> only;
  for (const TimedExcerpt& excerpt : excerpts) only.push_back(excerpt.frames);
  return only;
}

std::vector<Excerpt> split_excerpts(const std::vector<Frame>& frames) {
  constexpr std::size_t length = 3;
  std::vector<Excerpt> excerpts;
  for (std::size_t at = 0; at < frames.size(); at += length) {
    const std::size_t end = std::min(frames.size(), at + length);
    excerpts.emplace_back(frames.begin() + static_cast<std::ptrdiff_t>(at),
                          frames.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return excerpts;
}

TimedExcerpt read_excerpt(const FramesFrom& frames_from, double time_s, int count) {
  TimedExcerpt excerpt;
  frames_from(time_s, [&](Frame frame) {
    excerpt.frames.push_back(std::move(frame));
    return static_cast<int>(excerpt.frames.size()) < count;
  });
  if (!excerpt.frames.empty()) excerpt.time_s = time_of(excerpt.frames.front());
  return excerpt;
}

SceneNoise scene_noise(double from_s, const std::vector<Excerpt>& excerpts,
                       const NoiseEstimate& estimate) {
  SceneNoise scene{.from_s = from_s,
                   .estimate = estimate,
                   .over_time = !estimate.excerpt_level.empty(),
                   .half = {},
                   .volume = {}};
  // A session at half size removes low-frequency noise. An estimate from a single picture already
  // includes low-frequency noise (docs/measurements/noise-estimation.md).
  if (!scene.over_time || estimate.noise.is_white()) return scene;
  const FrameFormat& format = excerpts.front().front().format;
  if (std::min(format.width, format.height) < min_side) return scene;
  pipeline::Halving halving(format);
  std::vector<Excerpt> halves;
  for (const Excerpt& excerpt : excerpts) {
    Excerpt& half = halves.emplace_back();
    for (const Frame& frame : excerpt) half.push_back(halving.of(frame));
  }
  const NoiseEstimate half = estimate_noise(halves);
  // The noise levels at half size and at full size must come from the same areas.
  const bool excludes_dark = estimate.share_in_all_areas < 1;
  const float coarse = half.coarse * (excludes_dark ? 1 : half.share_in_all_areas);
  if (coarse > min_coarse_share * estimate.coarse && coarse > min_coarse) scene.half = half;
  return scene;
}

std::vector<SceneNoise> scenes_of(std::span<const TimedExcerpt> excerpts, const NoiseEstimate& all,
                                  float codec_error, const FramesFrom& frames_from) {
  std::vector<SceneNoise> scenes{scene_noise(excerpts.front().time_s, excerpts_of(excerpts), all)};
  if (!frames_from || all.excerpt_level.size() != excerpts.size()) return scenes;
  // A scene is a group of consecutive excerpts with nearly equal noise levels. `begins` contains
  // the index of the first excerpt of each group.
  std::vector<std::size_t> begins{0};
  std::size_t last = 0;  // last excerpt of the current group that has a level
  for (std::size_t i = 1; i < excerpts.size(); ++i) {
    const float level = all.excerpt_level[i];
    if (level <= 0) continue;
    // Filters remove the measured noise and the coding error together. The function therefore adds
    // the coding error to both levels before it compares them. Levels far below the coding error
    // count as equal.
    if (all.excerpt_level[last] > 0 &&
        !is_same(std::hypot(level, codec_error), std::hypot(all.excerpt_level[last], codec_error)))
      begins.push_back(i);
    last = i;
  }
  if (begins.size() == 1) return scenes;
  scenes.clear();
  for (std::size_t k = 0; k < begins.size(); ++k) {
    const std::size_t first = begins[k];
    const std::size_t end = k + 1 < begins.size() ? begins[k + 1] : excerpts.size();
    const double from =
        k == 0 ? excerpts.front().time_s
               : cut_between({excerpts[first - 1].time_s, all.excerpt_level[first - 1]},
                             {end_of(excerpts[first]), all.excerpt_level[first]}, frames_from);
    const std::vector<Excerpt> of_scene = excerpts_of(excerpts.subspan(first, end - first));
    scenes.push_back(scene_noise(from, of_scene, estimate_noise(of_scene)));
  }
  return scenes;
}

}  // namespace lull::tools
