#include "tools/sessions/input_noise.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tools/repair/repair_choice.h"
#include "tools/search/noise_follower.h"
#include "tools/search/noise_search.h"
#include "tools/search/series_search.h"
#include "tools/search/volume_noise_search.h"
#include "tools/sessions/depth.h"
#include "tools/sessions/job.h"
#include "tools/sessions/noise_choice.h"

namespace lull::tools {
namespace {

/// A source that returns the repaired frames of a run: first the frames that the noise estimation
/// has read, then the frames of `source`. If the run calls follow(), the source also tracks the
/// noise.
class RunSource final : public FrameSource {
 public:
  RunSource(FrameSource& source, std::vector<Frame> first, const RepairPlan& repair)
      : repaired_(source, repair), prefixed_(repaired_, std::move(first)) {}

  void follow(const DenoiseOptions& options, const NoiseRecord& known, KnownFrom from,
              NoiseFollower::OnScene on_scene) {
    follower_.emplace(prefixed_, options, known.scenes, from, std::move(on_scene));
  }

  const FrameFormat& format() const noexcept override { return prefixed_.format(); }
  std::optional<Frame> read() override { return follower_ ? follower_->read() : prefixed_.read(); }
  void interrupt() noexcept override { prefixed_.interrupt(); }

 private:
  RepairedSource repaired_;
  PrefixedSource prefixed_;
  std::optional<NoiseFollower> follower_;
};

/// Returns the number of frames that a session receives before its first result. If the noise
/// estimation reads at most this number of frames from a pipe, the estimation causes no additional
/// delay.
std::size_t frames_before_result(const DenoiseOptions& options, const io::VideoInfo& input) {
  return 1 + static_cast<std::size_t>(temporal_radius(options, input));
}

/// Returns whether the run tracks the noise. A process that computes segments of a shared job does
/// not track the noise, because the plan of the job contains the scenes.
bool needs_follower(const DenoiseOptions& options, const io::VideoInfo& input,
                    const NoiseRecord& known) {
  return finds_noise(options) && !options.run.job.is_part() && follows_scenes(options, input) &&
         !known.scenes.front().volume;
}

}  // namespace

void InputNoise::find(io::MediaSource& source) {
  if (options_.input.depth.on) return estimate_depth_noise(source);
  const io::VideoInfo& input = source.info();
  std::optional<NoiseRecord> noise = stated_noise(options_, source.format(), input);
  const bool again = can_read_again(options_.input.file);
  const bool needed = !noise || needs_clipping(options_, *noise, input) ||
                      (searches_defects(options_, input) && !options_.run.job.is_part());
  if (!again && needed)
    first_ = read_frames(source, noise ? frames_before_result(options_, input)
                                       : frames_to_read_ahead(options_.input));
  const InputSamples samples = repaired_samples(source, needed && again);
  const bool stated = noise.has_value();
  if (!noise)
    noise = again ? search_noise(options_, source, samples, repair_) : noise_of_pipe(input);
  add_clipping(
      options_, input,
      again ? excerpts_from(options_.input, samples) : excerpts_from(options_.input, first_),
      *noise);
  known_ = *std::move(noise);
  determine_noise_kind(options_, source, known_);
  if (stated && input.stack) assign_to_channels(source, known_);
  if (again) decompose_series(options_, source, known_.scenes.front());
  for (const std::string& line : noise_lines(options_, known_, repair_)) info_(line);
  plan_ = clip_plan(options_, known_, input);
  for (const TimedExcerpt& excerpt : samples.excerpts)
    has_areas_ = has_areas_ || has_constant_areas(plan_.method(), excerpt.frames.front());
  record_ = known_;
  if (needs_follower(options_, input, known_)) {
    record_.scenes.resize(1);
    plan_.later = std::make_shared<LaterScenes>();
  }
  write_noise_map(options_, source, known_);
}

/// Determines the sensor defects, and repairs the frames for the noise estimation. For a pipe,
/// these are the frames in `first_`. For other inputs, the function reads frames if `needed` is
/// true, and returns these frames.
InputSamples InputNoise::repaired_samples(const io::MediaSource& source, bool needed) {
  InputSamples samples;
  if (needed) samples = read_samples(options_, source);
  std::optional<RepairPlan> known = repair_of_job(options_, source.format());
  const auto excerpts = first_.empty() ? excerpts_of(samples.excerpts) : split_excerpts(first_);
  repair_ = known ? *std::move(known) : choose_repair(options_, source, excerpts);
  FrameRepairer repairer(repair_, source.format());
  repair_all(repairer, first_);
  for (TimedExcerpt& excerpt : samples.excerpts) repair_all(repairer, excerpt.frames);
  return samples;
}

NoiseRecord InputNoise::noise_of_pipe(const io::VideoInfo& input) const {
  const bool scenes = follows_scenes(options_, input);
  return noise_of_first_frames(options_, scenes ? first_scene_of(first_) : first_, input.values);
}

void InputNoise::estimate_depth_noise(io::MediaSource& source) {
  const bool again = can_read_again(options_.input.file);
  if (!again) first_ = read_frames(source, frames_ahead);
  DepthPlan depth = plan_depth(options_, source, again ? read_first_maps(options_.input) : first_);
  for (const std::string& line : depth.lines) info_(line);
  plan_ = clip_plan(options_, depth, source.info());
  known_ = record_ = std::move(depth.noise);
}

std::unique_ptr<FrameSource> InputNoise::frames(FrameSource& source, const io::VideoInfo& input,
                                                OnScene on_scene) {
  const KnownFrom from = first_.empty() ? KnownFrom::positions : KnownFrom::first_frames;
  auto frames = std::make_unique<RunSource>(source, std::move(first_), repair_);
  if (plan_.later)
    frames->follow(
        options_, known_, from,
        [this, &input, on_scene = std::move(on_scene)](const SceneNoise& scene, bool is_predicted) {
          start_scene(scene, is_predicted, input, on_scene);
        });
  return frames;
}

void InputNoise::start_scene(const SceneNoise& scene, bool is_predicted, const io::VideoInfo& input,
                             const OnScene& on_scene) {
  record_.scenes.push_back(scene);
  if (!is_predicted) info_(noise_lines(options_, record_).back());
  const ScenePlan plan = scene_plan(options_, scene, input);
  on_scene(scene, plan);
  plan_.later->add(scene.from_s,
                   // As soon as add() returns, other threads may push frames of the scene, so add()
                   // must be the last step.
                   plan);
}

void InputNoise::use_known_scenes(const io::VideoInfo& input) {
  record_ = known_;
  if (plan_.later) plan_ = clip_plan(options_, known_, input);
}

void InputNoise::keep_scenes(const io::VideoInfo& input) {
  known_ = record_;
  plan_ = clip_plan(options_, known_, input);
}

}  // namespace lull::tools
