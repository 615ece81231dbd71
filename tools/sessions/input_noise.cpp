#include "tools/sessions/input_noise.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tools/search/noise_follower.h"
#include "tools/search/noise_search.h"
#include "tools/search/volume_look.h"
#include "tools/sessions/depth.h"
#include "tools/sessions/noise_choice.h"

namespace lull::tools {
namespace {

/// Those that were read already, then those of the source, whose noise may be followed.
class FramesOfRun final : public FrameSource {
 public:
  FramesOfRun(FrameSource& source, std::vector<Frame> first) : begun_(source, std::move(first)) {}

  void follow(const DenoiseOptions& options, const NoiseRecord& known, KnownFrom from,
              NoiseFollower::Found found) {
    follower_.emplace(begun_, options, known.scenes, from, std::move(found));
  }

  const FrameFormat& format() const noexcept override { return begun_.format(); }
  std::optional<Frame> read() override { return follower_ ? follower_->read() : begun_.read(); }
  void interrupt() noexcept override { begun_.interrupt(); }

 private:
  BegunSource begun_;
  std::optional<NoiseFollower> follower_;
};

/// Whether the run finds the noise of frames for itself: a task has it from its plan.
bool is_to_be_followed(const DenoiseOptions& options, const io::VideoInfo& input,
                       const NoiseRecord& known) {
  const bool is_task = options.job.plan && !options.job.plans;
  return finds_noise(options) && !is_task && follows_scenes(options, input) &&
         !known.scenes.front().volume;
}

}  // namespace

void InputNoise::find(io::MediaSource& source, const std::function<void()>& open_sink) {
  if (options_.depth.on) return find_in_depths(source, open_sink);
  const io::VideoInfo& input = source.info();
  std::optional<NoiseRecord> noise = stated_noise(options_, source.format(), input.values);
  if (!noise)
    noise = can_read_again(options_.input) ? search_noise(options_, source)
                                           : look_at_pipe(source, open_sink);
  known_ = *std::move(noise);
  find_kind(options_, source, known_);
  for (const std::string& line : noise_lines(options_, known_)) info_(line);
  plan_ = clip_plan(options_, known_, input);
  record_ = known_;
  if (is_to_be_followed(options_, input, known_)) {
    record_.scenes.resize(1);
    plan_.later = std::make_shared<LaterScenes>();
  }
  write_noise_map(options_, source, known_);
}

/// It is neither a job in segments nor read twice for its grain.
NoiseRecord InputNoise::look_at_pipe(io::MediaSource& source,
                                     const std::function<void()>& open_sink) {
  open_sink();
  first_ = read_some(source, ahead_of(options_));
  const bool scenes = follows_scenes(options_, source.info());
  return noise_of_first(options_, scenes ? before_cut(first_) : first_, source.info().values);
}

void InputNoise::find_in_depths(io::MediaSource& source, const std::function<void()>& open_sink) {
  const bool again = can_read_again(options_.input);
  if (!again) {
    open_sink();
    first_ = read_some(source, frames_ahead);
  }
  DepthPlan depth = plan_depth(options_, source, again ? first_maps(options_) : first_);
  for (const std::string& line : depth.lines) info_(line);
  plan_ = clip_plan(options_, depth, source.info());
  known_ = record_ = std::move(depth.noise);
}

std::unique_ptr<FrameSource> InputNoise::frames(FrameSource& source, const io::VideoInfo& input,
                                                Found found) {
  const KnownFrom from = first_.empty() ? KnownFrom::places : KnownFrom::first_frames;
  auto frames = std::make_unique<FramesOfRun>(source, std::move(first_));
  if (plan_.later)
    frames->follow(
        options_, known_, from,
        [this, &input, found = std::move(found)](const SceneNoise& scene, bool foretold) {
          take_up(scene, foretold, input, found);
        });
  return frames;
}

void InputNoise::take_up(const SceneNoise& scene, bool foretold, const io::VideoInfo& input,
                         const Found& found) {
  record_.scenes.push_back(scene);
  if (!foretold) info_(noise_lines(options_, record_).back());
  const ScenePlan plan = scene_plan(options_, scene, input);
  found(scene, plan);
  plan_.later->add(scene.from_s, plan);  // last: now its frames may go in
}

void InputNoise::settle(const io::VideoInfo& input) {
  known_ = record_;
  plan_ = clip_plan(options_, known_, input);
}

}  // namespace lull::tools
