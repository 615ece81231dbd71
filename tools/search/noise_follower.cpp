#include "tools/search/noise_follower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "noise/estimate/estimate_clip.h"
#include "pipeline/field_denoiser.h"
#include "tools/search/codec_steps.h"
#include "tools/search/noise_scenes.h"
#include "tools/search/noise_search.h"

namespace lull::tools {
namespace {

/// Number of frames in a short excerpt, for the comparison with the noise of the current scene.
constexpr std::size_t short_excerpt = 3;
/// Minimum and maximum number of frames between two checks within a scene. The interval doubles
/// after each check that finds no temporal noise.
constexpr std::size_t min_interval = frames_ahead, max_interval = 32 * frames_ahead;
/// Maximum ratio of two noise levels that count as equal. The limit within a scene is higher than
/// the limit after a cut, because a new scene restarts the session.
constexpr float after_cut = 1.15f, within_scene = 1.2f;
/// Noise levels below this value (on the 0..255 scale) are negligible and count as equal.
constexpr float min_distinct_level = 0.7f;
/// Minimum ratio of the measured QuickCheck::flat_noise to the value expected from the noise
/// estimate. For real noise, the ratio is at least 0.89. If the estimator mistakes motion for
/// noise, the ratio is 0.17 to 0.73, except in completely textured pictures.
constexpr float min_flat_share = 0.75f;
/// Maximum noise level that the estimator reports for a clean single picture.
constexpr float max_clean_level = 2;

bool is_over_time(const NoiseEstimate& estimate) { return !estimate.excerpt_level.empty(); }

/// Returns whether two noise levels are nearly equal: their ratio is at most `factor`, or their
/// difference is at most 0.3. Estimates of low levels are precise only to 0.3.
bool are_near(float a, float b, float factor) {
  constexpr float slack = 0.3f;
  const float less = std::max(std::min(a, b), min_distinct_level);
  return std::max(a, b) <= std::max(factor * less, less + slack);
}

/// Returns the value of QuickCheck::flat_noise for a flat area with exactly the estimated noise.
/// flat_noise is the mean absolute difference between a sample and the mean of its two neighbours
/// in the row.
float expected_flat_noise(const NoiseEstimate& estimate) {
  const PlaneNoise& luma = estimate.noise.plane(0);
  const float near = luma.is_white() ? 0 : static_cast<float>(luma.correlation_at(1, 0));
  const float next = luma.is_white() ? 0 : static_cast<float>(luma.correlation_at(2, 0));
  const float bend = std::sqrt(std::max(0.0f, (6 - 8 * near + 2 * next) / 6));
  return 0.9f * estimate.level[0] * bend;
}

/// Returns the level that filters remove from plane `i`: the standard deviation of noise plus
/// coding error.
float removed_level(const NoiseEstimate& estimate, int i) {
  return std::hypot(estimate.level[i], estimate.codec_error[i]);
}

/// Returns whether two estimates describe the same noise. The tolerance is larger for chroma levels
/// and for the noise in means of 8x8 samples (NoiseEstimate::coarse), because these estimates are
/// less precise.
bool are_alike(const NoiseEstimate& a, const NoiseEstimate& b) {
  constexpr float roughly = 1.3f;
  for (int i = 0; i < 3; ++i)
    if (!are_near(removed_level(a, i), removed_level(b, i), i == 0 ? after_cut : roughly))
      return false;
  constexpr float min_coarse = min_distinct_level / 8;
  const float coarse_a = coarse_with(a.coarse, a.codec_error[0]);
  const float coarse_b = coarse_with(b.coarse, b.codec_error[0]);
  return std::max(coarse_a, coarse_b) <=
         roughly * std::max(std::min(coarse_a, coarse_b), min_coarse);
}

}  // namespace

bool follows_scenes(const DenoiseOptions& options, const io::VideoInfo& input) {
  return !options.input.stack && !input.stack && !input.still && !options.method.align &&
         !options.output.keep && options.input.source.selection.ranges.size() <= 1;
}

std::vector<Frame> first_scene_of(const std::vector<Frame>& frames) {
  std::size_t count = std::min<std::size_t>(frames.size(), 1);
  if (count == 0) return {};
  QuickCheck last = quick_check(frames.front());
  for (; count < frames.size(); ++count) {
    QuickCheck next = quick_check(frames[count]);
    if (!is_same_scene(last, next)) break;
    last = std::move(next);
  }
  return {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count)};
}

NoiseFollower::NoiseFollower(FrameSource& source, const DenoiseOptions& options,
                             std::vector<SceneNoise> known, KnownFrom from, OnScene on_scene)
    : source_(source),
      fields_(options.input.interlaced == Interlaced::fields),
      on_scene_(std::move(on_scene)),
      known_(std::move(known)),
      predicted_count_(known_.size()),
      is_temporal_(known_.front().over_time),
      has_temporal_scene_(std::ranges::any_of(known_, &SceneNoise::over_time)),
      continues_scene_(from == KnownFrom::first_frames),
      check_interval_(min_interval) {}

std::optional<Frame> NoiseFollower::read() {
  if (!fill(1)) {
    if (failure_) std::rethrow_exception(failure_);
    return std::nullopt;
  }
  check_next();
  Frame frame = std::move(ahead_.front().frame);
  ahead_.pop_front();
  return frame;
}

/// Checks the next frame of read(). If the noise has changed, the function begins another scene.
void NoiseFollower::check_next() {
  AheadFrame& next = ahead_.front();
  if (next.frame.context_only) {
    continues_scene_ = false;
    return;
  }
  const double time_s = time_of(next.frame);
  const std::size_t expected = predicted_at(time_s);
  if (!next.can_check) {
    switch_to(expected, true);
  } else {
    const bool cut = last_check_ ? !is_same_scene(*last_check_, next.check) : !continues_scene_;
    if (!last_check_) checked_flat_noise_ = next.check.flat_noise;
    if (cut || expected != scene_ || needs_estimate()) update_scene(cut, expected);
    last_check_ = std::move(next.check);
    ++frames_since_check_;
  }
  if (!from_s_) from_s_ = time_s;
}

/// Returns the index of the known scene at `time_s` if its noise differs from the noise of the
/// current scene, and otherwise the index of the current scene.
std::size_t NoiseFollower::predicted_at(double time_s) {
  constexpr double rounding = 1e-4;  // same tolerance as in sessions
  std::size_t scene = scene_;
  while (next_predicted_ < predicted_count_ && known_[next_predicted_].from_s <= time_s + rounding)
    scene = next_predicted_++;
  return are_alike(known_[scene].estimate, known_[scene_].estimate) ? scene_ : scene;
}

/// Reads frames ahead until `ahead_` contains `count` frames. Returns false if the stream ends
/// earlier or a read error occurs. After a read error, read() first returns the frames before the
/// error, and then throws the error.
bool NoiseFollower::fill(std::size_t count) {
  while (ahead_.size() < count && !ended_) {
    std::optional<Frame> frame;
    try {
      frame = source_.read();
    } catch (...) {
      failure_ = std::current_exception();
    }
    ended_ = !frame;
    if (ended_) break;
    const bool can_check = !frame->context_only && !frame->on_device;
    QuickCheck check = can_check ? quick_check(*frame) : QuickCheck{};
    ahead_.push_back({*std::move(frame), can_check, std::move(check)});
  }
  return ahead_.size() >= count;
}

/// Returns the number of frames before the next cut or jump of the noise level, at most
/// `max_count`.
std::size_t NoiseFollower::frames_of_scene(std::size_t max_count) {
  std::size_t count = 1;
  for (; count < max_count && fill(count + 1) && ahead_[count].can_check; ++count) {
    const QuickCheck &before = ahead_[count - 1].check, &next = ahead_[count].check;
    if (!is_same_scene(before, next) || noise_jumps(before.flat_noise, next.flat_noise)) break;
  }
  return count;
}

bool NoiseFollower::repeats(std::size_t count) const {
  for (std::size_t i = 1; i < count; ++i)
    if (!may_repeat(ahead_[i - 1].check, ahead_[i].check)) return false;
  return count > 1;
}

std::vector<Excerpt> NoiseFollower::excerpts_at(std::size_t count) const {
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < count; ++i)
    frames.push_back(fields_ ? pipeline::field_of(ahead_[i].frame, 0) : ahead_[i].frame);
  return split_excerpts(frames);
}

bool NoiseFollower::is_near_level_of(float level, std::size_t scene, bool cut) const {
  const NoiseEstimate& known = known_[scene].estimate;
  return are_near(std::hypot(level, known.codec_error[0]), removed_level(known, 0),
                  cut ? after_cut : within_scene);
}

/// Returns the known scene whose noise is most similar to `found`, or no value if no known scene is
/// similar.
std::optional<std::size_t> NoiseFollower::find_similar_scene(const NoiseEstimate& found) const {
  if (!is_over_time(found)) return std::nullopt;
  std::optional<std::size_t> nearest;
  float min_difference = 0;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (!known_[i].over_time || !are_alike(known_[i].estimate, found)) continue;
    const float off = std::abs(known_[i].estimate.level[0] - found.level[0]);
    if (!nearest || off < min_difference) nearest = i, min_difference = off;
  }
  return nearest;
}

bool NoiseFollower::needs_estimate() const {
  if (!last_check_) return false;
  const QuickCheck& check = ahead_.front().check;
  if (noise_jumps(check.flat_noise, last_check_->flat_noise)) return true;
  if (frames_since_check_ < check_interval_) return false;
  return may_differ_in_noise(check.flat_noise, checked_flat_noise_) ||
         (!is_temporal_ && !may_repeat(*last_check_, check));
}

/// Returns whether the first frames of the new scene have the same noise as `scene`.
bool NoiseFollower::has_noise_of(std::size_t scene, bool cut) {
  if (!known_[scene].over_time || (scene == scene_ && !is_temporal_)) return false;
  const ClipMeasurement measured = measure_clip(excerpts_at(frames_of_scene(short_excerpt)));
  return measured.found &&
         is_near_level_of(estimate_of(measured, format().layout).level[0], scene, cut);
}

/// Estimates the noise from the next `count` frames. Returns no value after a failure.
std::optional<NoiseEstimate> NoiseFollower::estimate(std::size_t count, bool cut) const {
  NoiseEstimate found = estimate_noise(excerpts_at(count));
  if (is_over_time(found)) {
    const bool is_synthetic = is_moved_copy(ahead_[0].frame, ahead_[1].frame);
    // Dark areas can contain less noise than other areas. The quick check includes dark areas, but
    // the estimate may exclude them, so the quick check may measure less noise than the estimate.
    // After a cut, a lower limit allows for this difference.
    const float share = cut && last_check_ ? found.share_in_all_areas : 1;
    if (is_synthetic || checked_flat_noise_ < min_flat_share * share * expected_flat_noise(found))
      return std::nullopt;
    add_codec_error(excerpts_at(count), found);
    return found;
  }
  // Without temporal noise (noise that differs between frames), a new scene begins only at a cut to
  // a still picture. The picture may still contain noise, but counts as noise-free if any other
  // scene has temporal noise.
  if (!cut || !repeats(count)) return std::nullopt;
  const bool noisy = !has_temporal_scene_ && found.certain && found.level[0] > max_clean_level;
  return noisy ? found : NoiseEstimate{};
}

/// Estimates the noise of the next frames, and begins another scene if this noise differs from the
/// noise of the current scene.
/// @param expected  the scene that predicted_at() returns for the next frame
void NoiseFollower::update_scene(bool cut, std::size_t expected) {
  frames_since_check_ = 0;
  checked_flat_noise_ = ahead_.front().check.flat_noise;
  if (frames_of_scene(short_excerpt) == 1) return switch_to(expected, true);
  if (has_noise_of(expected, cut)) {
    check_interval_ = min_interval;
    return switch_to(expected, true);
  }
  const std::size_t count = frames_of_scene(frames_ahead);
  const std::optional<NoiseEstimate> found = estimate(count, cut);
  const bool is_temporal = found && is_over_time(*found);
  check_interval_ = is_temporal ? min_interval : std::min(2 * check_interval_, max_interval);
  if (!found) return switch_to(expected, true);
  choose_scene(count, *found, cut, expected);
  is_temporal_ = is_temporal;
  has_temporal_scene_ = has_temporal_scene_ || is_temporal;
}

void NoiseFollower::choose_scene(std::size_t count, const NoiseEstimate& found, bool cut,
                                 std::size_t expected) {
  const float level = found.level[0];
  // `better` is true if an estimate from several frames can replace an estimate from a single
  // frame.
  const bool was_still = expected == scene_ ? !is_temporal_ : !known_[expected].over_time;
  const bool better = is_over_time(found) && was_still &&
                      std::max(level, known_[expected].estimate.level[0]) > min_distinct_level;
  if (!better && is_near_level_of(level, expected, cut)) return switch_to(expected, true);
  if (!better && is_near_level_of(level, scene_, cut)) return;
  if (const std::optional<std::size_t> like = find_similar_scene(found))
    return switch_to(*like, false);
  const std::size_t next = known_.size();
  known_.push_back(scene_noise(0, excerpts_at(count), found));
  add_codec_error_to_half(known_.back());
  switch_to(next, false);
}

/// Begins the scene with the index `scene` at the next frame, unless it is the current scene. The
/// function also does nothing if the current scene does not begin earlier than this frame, because
/// a start time identifies a scene.
void NoiseFollower::switch_to(std::size_t scene, bool is_predicted) {
  const double time_s = time_of(ahead_.front().frame);
  if (scene == scene_ || (from_s_ && time_s <= *from_s_)) return;
  scene_ = scene;
  is_temporal_ = known_[scene].over_time;
  from_s_ = time_s;
  SceneNoise new_scene = known_[scene];
  new_scene.from_s = time_s;
  on_scene_(new_scene, is_predicted);
}

}  // namespace lull::tools
