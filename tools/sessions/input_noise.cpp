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

  void follow(const DenoiseOptions& options, const SceneNoise& first, NoiseFollower::Found found) {
    follower_.emplace(begun_, options, first, std::move(found));
  }

  const FrameFormat& format() const noexcept override { return begun_.format(); }
  std::optional<Frame> read() override { return follower_ ? follower_->read() : begun_.read(); }
  void interrupt() noexcept override { begun_.interrupt(); }

 private:
  BegunSource begun_;
  std::optional<NoiseFollower> follower_;
};

}  // namespace

void InputNoise::find(io::MediaSource& source, const std::function<void()>& open_sink) {
  if (options_.depth.on) return find_in_depths(source, open_sink);
  const io::ValueScale& values = source.info().values;
  std::optional<NoiseRecord> noise = stated_noise(options_, source.format(), values);
  if (!noise && can_read_again(options_.input)) noise = search_noise(options_, source);
  if (!noise) {
    open_sink();  // a pipe is neither a job in segments nor read twice for its grain
    first_ = read_some(source, ahead_of(options_));
    follows_ = follows_scenes(options_);
    noise = noise_of_first(options_, follows_ ? before_cut(first_) : first_, values);
    follows_ = follows_ && !noise->scenes.front().volume;
  }
  record_ = *std::move(noise);
  find_kind(options_, source, record_);
  for (const std::string& line : noise_lines(options_, record_)) info_(line);
  plan_ = clip_plan(options_, record_, source.info());
  if (follows_) plan_.later = std::make_shared<LaterScenes>();
  write_noise_map(options_, source, record_);
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
  record_ = std::move(depth.noise);
}

std::unique_ptr<FrameSource> InputNoise::frames(io::MediaSource& source, Found found) {
  auto frames = std::make_unique<FramesOfRun>(source, std::move(first_));
  if (follows_)
    frames->follow(options_, record_.scenes.front(),
                   [this, &source, found = std::move(found)](const SceneNoise& scene) {
                     take_up(scene, source.info(), found);
                   });
  return frames;
}

void InputNoise::take_up(const SceneNoise& scene, const io::VideoInfo& input, const Found& found) {
  record_.scenes.push_back(scene);
  info_(noise_lines(options_, record_).back());
  const ScenePlan plan = scene_plan(options_, scene, input);
  found(scene, plan);
  plan_.later->add(scene.from_s, plan);  // last: now its frames may go in
}

}  // namespace lull::tools
