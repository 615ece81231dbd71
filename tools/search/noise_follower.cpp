#include "tools/search/noise_follower.h"

#include <algorithm>
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
constexpr float after_cut = 1.15f, within_scene = 1.3f;
/// A level below it is none to speak of.
constexpr float least_told = 0.7f;
/// What clean single pictures read at most.
constexpr float most_of_clean = 2;

bool is_over_time(const NoiseEstimate& estimate) { return !estimate.look_level.empty(); }

}  // namespace

bool follows_scenes(const DenoiseOptions& options) {
  return !options.stack && !options.align && !options.keep &&
         options.source.selection.ranges.size() <= 1;
}

std::vector<Frame> before_cut(const std::vector<Frame>& frames) {
  std::size_t count = std::min<std::size_t>(frames.size(), 1);
  if (count == 0) return {};
  Glance last = glance_at(frames.front());
  for (; count < frames.size(); ++count) {
    Glance next = glance_at(frames[count]);
    if (!show_one_scene(last, next)) break;
    last = std::move(next);
  }
  return {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count)};
}

NoiseFollower::NoiseFollower(FrameSource& source, const DenoiseOptions& options,
                             const SceneNoise& first, Found found)
    : source_(source),
      fields_(options.interlaced == Interlaced::fields),
      found_(std::move(found)),
      level_(first.estimate.level[0]),
      over_time_(is_over_time(first.estimate)),
      is_film_(over_time_),
      from_s_(first.from_s),
      patience_(least_patience) {}

std::optional<Frame> NoiseFollower::read() {
  if (!fill(1)) {
    if (failure_) std::rethrow_exception(failure_);
    return std::nullopt;
  }
  if (!last_) quiet_ = ahead_.front().glance.quiet;
  const bool cut = last_ && !show_one_scene(*last_, ahead_.front().glance);
  if (cut || is_worth_a_look()) look(cut);
  last_ = std::move(ahead_.front().glance);
  Frame frame = std::move(ahead_.front().frame);
  ahead_.pop_front();
  ++since_;
  return frame;
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
    Glance glance = glance_at(*frame);
    ahead_.push_back({*std::move(frame), std::move(glance)});
  }
  return ahead_.size() >= count;
}

/// Up to the next cut.
std::size_t NoiseFollower::frames_of_scene(std::size_t most) {
  std::size_t count = 1;
  while (count < most && fill(count + 1) &&
         show_one_scene(ahead_[count - 1].glance, ahead_[count].glance))
    ++count;
  return count;
}

bool NoiseFollower::repeats(std::size_t count) const {
  for (std::size_t i = 1; i < count; ++i)
    if (!look_alike(ahead_[i - 1].glance, ahead_[i].glance)) return false;
  return count > 1;
}

std::vector<Look> NoiseFollower::looks_at(std::size_t count) const {
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < count; ++i)
    frames.push_back(fields_ ? pipeline::field_of(ahead_[i].frame, 0) : ahead_[i].frame);
  return split_looks(frames);
}

bool NoiseFollower::is_known(float level, bool cut) const {
  const float factor = cut ? after_cut : within_scene;
  return std::max(level, level_) <= factor * std::max(std::min(level, level_), least_told);
}

bool NoiseFollower::is_worth_a_look() const {
  if (!last_ || since_ < patience_) return false;
  const Glance& glance = ahead_.front().glance;
  return may_differ_in_noise(glance.quiet, quiet_) || (!over_time_ && !look_alike(*last_, glance));
}

bool NoiseFollower::is_as_it_was(bool cut) {
  const ClipMeasurement measured = measure_clip(looks_at(frames_of_scene(short_look)));
  return measured.found && over_time_ &&
         is_known(estimate_of(measured, format().layout).level[0], cut);
}

/// Of a scene with `count` frames at hand. Nothing: it does not say.
std::optional<NoiseEstimate> NoiseFollower::estimate(std::size_t count, bool cut) const {
  NoiseEstimate found = estimate_noise(looks_at(count));
  if (is_over_time(found)) return found;
  // What says nothing is taken for more of the same, but for a still picture. That is judged as one
  // among others; in a film it has no noise of its own.
  if (!cut || !repeats(count)) return std::nullopt;
  const bool noisy = !is_film_ && found.certain && found.level[0] > most_of_clean;
  return noisy ? found : NoiseEstimate{};
}

void NoiseFollower::look(bool cut) {
  since_ = 0;
  quiet_ = ahead_.front().glance.quiet;
  if (frames_of_scene(short_look) == 1) return;
  if (is_as_it_was(cut)) {
    patience_ = least_patience;
    return;
  }
  const std::size_t count = frames_of_scene(frames_ahead);
  const std::optional<NoiseEstimate> found = estimate(count, cut);
  const bool fresh = found && is_over_time(*found);
  patience_ = fresh ? least_patience : std::min(2 * patience_, most_patience);
  if (!found) return;
  // What several frames say is worth more than what one did.
  const float level = found->level[0];
  const bool better = fresh && !over_time_ && std::max(level, level_) > least_told;
  const double time_s = time_of(ahead_.front().frame);
  over_time_ = fresh;
  is_film_ = is_film_ || fresh;
  if ((!better && is_known(level, cut)) || time_s <= from_s_) return;
  level_ = level, from_s_ = time_s;
  found_(scene_noise(time_s, looks_at(count), *found));
}

}  // namespace lull::tools
