#include "tools/search/noise_follower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "noise/estimate/estimate_clip.h"
#include "pipeline/field_denoiser.h"
#include "tools/search/noise_scenes.h"
#include "tools/search/noise_search.h"

namespace lull::tools {
namespace {

/// Three frames say whether the noise is as it was.
constexpr std::size_t short_look = 3;
/// Frames between looks without a cut; twice as many after each in vain.
constexpr std::size_t least_patience = frames_ahead, most_patience = 32 * frames_ahead;
/// Levels that differ by more are those of different noise: after a cut, where another session
/// costs nothing, and within a scene, where it does not see the frames before.
constexpr float after_cut = 1.15f, within_scene = 1.2f;
/// A level below it is none to speak of.
constexpr float least_told = 0.7f;
/// Noise that is found has to be seen at a glance, too: it is everywhere, and quiet places have
/// this share of it at least. (Seen: 0.89 and more; motion that was not followed: 0.17 to 0.73, and
/// more where all of the picture is texture.)
constexpr float least_shown = 0.75f;
/// What clean single pictures read at most.
constexpr float most_of_clean = 2;

bool is_over_time(const NoiseEstimate& estimate) { return !estimate.excerpt_level.empty(); }

/// Small levels are hardly told apart.
bool are_near(float a, float b, float factor) {
  constexpr float slack = 0.3f;
  const float less = std::max(std::min(a, b), least_told);
  return std::max(a, b) <= std::max(factor * less, less + slack);
}

/// How much of Glance::quiet noise of this kind makes: samples of a row against their neighbours.
float quiet_of(const NoiseEstimate& estimate) {
  const PlaneNoise& luma = estimate.noise.plane(0);
  const float near = luma.is_white() ? 0 : static_cast<float>(luma.correlation_at(1, 0));
  const float next = luma.is_white() ? 0 : static_cast<float>(luma.correlation_at(2, 0));
  const float bend = std::sqrt(std::max(0.0f, (6 - 8 * near + 2 * next) / 6));
  return 0.9f * estimate.level[0] * bend;
}

/// In luma as after a cut, in chroma and in spectrum as well as a few frames tell.
bool are_alike(const NoiseEstimate& a, const NoiseEstimate& b) {
  constexpr float roughly = 1.3f;
  for (int i = 0; i < 3; ++i)
    if (!are_near(a.level[i], b.level[i], i == 0 ? after_cut : roughly)) return false;
  constexpr float least_coarse = least_told / 8;
  const float coarse = std::max(std::min(a.coarse, b.coarse), least_coarse);
  return std::max(a.coarse, b.coarse) <= roughly * coarse;
}

}  // namespace

bool follows_scenes(const DenoiseOptions& options, const io::VideoInfo& input) {
  return !options.stack && !input.stack && !input.still && !options.align && !options.keep &&
         options.source.selection.ranges.size() <= 1;
}

std::vector<Frame> before_cut(const std::vector<Frame>& frames) {
  std::size_t count = std::min<std::size_t>(frames.size(), 1);
  if (count == 0) return {};
  Glance last = glance_at(frames.front());
  for (; count < frames.size(); ++count) {
    Glance next = glance_at(frames[count]);
    if (!is_same_scene(last, next)) break;
    last = std::move(next);
  }
  return {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count)};
}

NoiseFollower::NoiseFollower(FrameSource& source, const DenoiseOptions& options,
                             std::vector<SceneNoise> known, KnownFrom from, Found found)
    : source_(source),
      fields_(options.interlaced == Interlaced::fields),
      found_(std::move(found)),
      known_(std::move(known)),
      foretold_(known_.size()),
      over_time_(known_.front().over_time),
      is_film_(std::ranges::any_of(known_, &SceneNoise::over_time)),
      begun_(from == KnownFrom::first_frames),
      patience_(least_patience) {}

std::optional<Frame> NoiseFollower::read() {
  if (!fill(1)) {
    if (failure_) std::rethrow_exception(failure_);
    return std::nullopt;
  }
  see_next();
  Frame frame = std::move(ahead_.front().frame);
  ahead_.pop_front();
  return frame;
}

/// The frame that is given next.
void NoiseFollower::see_next() {
  Seen& next = ahead_.front();
  if (next.frame.context_only) {
    begun_ = false;
    return;
  }
  const double time_s = time_of(next.frame);
  const std::size_t expected = foretold_by(time_s);
  if (!next.shown) {
    go_on_with(expected, true);
  } else {
    const bool cut = last_ ? !is_same_scene(*last_, next.glance) : !begun_;
    if (!last_) quiet_ = next.glance.quiet;
    if (cut || expected != at_ || is_worth_a_look()) look(cut, expected);
    last_ = std::move(next.glance);
    ++since_;
  }
  if (!from_s_) from_s_ = time_s;
}

/// The scene of those that are known that has begun by then and had not before; else, and where its
/// noise is like that of the one at hand, which began where the frames showed it, that.
std::size_t NoiseFollower::foretold_by(double time_s) {
  constexpr double rounding = 1e-4;  // as of sessions
  std::size_t scene = at_;
  while (due_ < foretold_ && known_[due_].from_s <= time_s + rounding) scene = due_++;
  return are_alike(known_[scene].estimate, known_[at_].estimate) ? at_ : scene;
}

/// Whether so many frames are there. What fails ahead of its time fails when its time has come.
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
    const bool shown = !frame->context_only && !frame->on_device;
    Glance glance = shown ? glance_at(*frame) : Glance{};
    ahead_.push_back({*std::move(frame), shown, std::move(glance)});
  }
  return ahead_.size() >= count;
}

/// Up to the next cut, or to where a glance says that the noise may be another one again.
std::size_t NoiseFollower::frames_of_scene(std::size_t most) {
  std::size_t count = 1;
  for (; count < most && fill(count + 1) && ahead_[count].shown; ++count) {
    const Glance &before = ahead_[count - 1].glance, &next = ahead_[count].glance;
    if (!is_same_scene(before, next) || jumps(before.quiet, next.quiet)) break;
  }
  return count;
}

bool NoiseFollower::repeats(std::size_t count) const {
  for (std::size_t i = 1; i < count; ++i)
    if (!look_alike(ahead_[i - 1].glance, ahead_[i].glance)) return false;
  return count > 1;
}

std::vector<Excerpt> NoiseFollower::excerpts_at(std::size_t count) const {
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < count; ++i)
    frames.push_back(fields_ ? pipeline::field_of(ahead_[i].frame, 0) : ahead_[i].frame);
  return split_excerpts(frames);
}

bool NoiseFollower::is_like(float level, std::size_t scene, bool cut) const {
  return are_near(level, known_[scene].estimate.level[0], cut ? after_cut : within_scene);
}

/// Of the scenes so far the one whose noise is nearest.
std::optional<std::size_t> NoiseFollower::scene_like(const NoiseEstimate& found) const {
  if (!is_over_time(found)) return std::nullopt;
  std::optional<std::size_t> nearest;
  float least = 0;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (!known_[i].over_time || !are_alike(known_[i].estimate, found)) continue;
    const float off = std::abs(known_[i].estimate.level[0] - found.level[0]);
    if (!nearest || off < least) nearest = i, least = off;
  }
  return nearest;
}

bool NoiseFollower::is_worth_a_look() const {
  if (!last_) return false;
  const Glance& glance = ahead_.front().glance;
  if (jumps(glance.quiet, last_->quiet)) return true;
  if (since_ < patience_) return false;
  return may_differ_in_noise(glance.quiet, quiet_) || (!over_time_ && !look_alike(*last_, glance));
}

/// By the first frames.
bool NoiseFollower::is_as(std::size_t scene, bool cut) {
  if (!known_[scene].over_time || (scene == at_ && !over_time_)) return false;
  const ClipMeasurement measured = measure_clip(excerpts_at(frames_of_scene(short_look)));
  return measured.found && is_like(estimate_of(measured, format().layout).level[0], scene, cut);
}

/// Of a scene with `count` frames at hand. Nothing: it does not say.
std::optional<NoiseEstimate> NoiseFollower::estimate(std::size_t count, bool cut) const {
  NoiseEstimate found = estimate_noise(excerpts_at(count));
  if (is_over_time(found)) {
    const bool drawn = is_moved_copy(ahead_[0].frame, ahead_[1].frame);
    if (drawn || quiet_ < least_shown * quiet_of(found)) return std::nullopt;
    return found;
  }
  // What says nothing is taken for more of the same, but for a still picture. That is judged as one
  // among others; in a film it has no noise of its own.
  if (!cut || !repeats(count)) return std::nullopt;
  const bool noisy = !is_film_ && found.certain && found.level[0] > most_of_clean;
  return noisy ? found : NoiseEstimate{};
}

/// @param expected  the scene that is foretold to begin here, or else the one at hand
void NoiseFollower::look(bool cut, std::size_t expected) {
  since_ = 0;
  quiet_ = ahead_.front().glance.quiet;
  if (frames_of_scene(short_look) == 1) return go_on_with(expected, true);
  if (is_as(expected, cut)) {
    patience_ = least_patience;
    return go_on_with(expected, true);
  }
  const std::size_t count = frames_of_scene(frames_ahead);
  const std::optional<NoiseEstimate> found = estimate(count, cut);
  const bool fresh = found && is_over_time(*found);
  patience_ = fresh ? least_patience : std::min(2 * patience_, most_patience);
  if (!found) return go_on_with(expected, true);
  judge(count, *found, cut, expected);
  over_time_ = fresh;
  is_film_ = is_film_ || fresh;
}

void NoiseFollower::judge(std::size_t count, const NoiseEstimate& found, bool cut,
                          std::size_t expected) {
  const float level = found.level[0];
  // What several frames say is worth more than what one did.
  const bool was_still = expected == at_ ? !over_time_ : !known_[expected].over_time;
  const bool better = is_over_time(found) && was_still &&
                      std::max(level, known_[expected].estimate.level[0]) > least_told;
  if (!better && is_like(level, expected, cut)) return go_on_with(expected, true);
  if (!better && is_like(level, at_, cut)) return;
  if (const std::optional<std::size_t> like = scene_like(found)) return go_on_with(*like, false);
  const std::size_t next = known_.size();
  known_.push_back(scene_noise(0, excerpts_at(count), found));
  go_on_with(next, false);
}

/// From the frame that comes on. Where times do not rise, nothing can be told by them.
void NoiseFollower::go_on_with(std::size_t scene, bool foretold) {
  const double time_s = time_of(ahead_.front().frame);
  if (scene == at_ || (from_s_ && time_s <= *from_s_)) return;
  at_ = scene;
  over_time_ = known_[scene].over_time;
  from_s_ = time_s;
  SceneNoise begun = known_[scene];
  begun.from_s = time_s;
  found_(begun, foretold);
}

}  // namespace lull::tools
