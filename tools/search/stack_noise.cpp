#include "tools/search/stack_noise.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "noise/estimate/estimate.h"
#include "series/filter/volume_levels.h"
#include "tools/noise/noise_text.h"
#include "tools/search/series_search.h"
#include "tools/search/volume_noise_search.h"

namespace lull::tools {
namespace {

/// Maximum number of excerpts per channel, number of frames per excerpt of a time series, and
/// maximum number of samples of all excerpts in memory.
constexpr std::int64_t max_excerpts = 12, frames_over_time = 3;
constexpr double max_excerpt_samples = 6.7e7;

/// Estimates the noise of one channel. The caller adds the frames of the channel in order.
class ChannelNoise {
 public:
  ChannelNoise(const DenoiseOptions& options, const io::MediaSource& source, std::int64_t channel)
      : options_(options),
        info_(source.info()),
        format_(source.format()),
        values_(info_.values_of(static_cast<std::size_t>(channel))),
        frames_(info_.frames_estimate / info_.channels),
        is_volume_(is_volume(options, info_)),
        whole_(format_, frames_,
               !is_volume_ && frames_ < CubeCollector::side ? CubeShape::square : CubeShape::cube) {
    const double samples = static_cast<double>(format_.width) * format_.height;
    length_ = info_.over_time ? std::min(frames_over_time, frames_) : 1;
    const auto bound = static_cast<std::int64_t>(max_excerpt_samples / samples) / length_;
    excerpts_wanted_ =
        std::clamp<std::int64_t>(std::min(bound, frames_ / length_), 1, max_excerpts);
  }

  void add(const Frame& slice) {
    whole_.add(slice);
    if (is_volume_)
      add_to_volume(slice);
    else
      add_to_excerpt(slice);
    ++added_;
  }

  /// Returns the scenes of the channel. Times are relative to the first frame of the channel.
  std::vector<SceneNoise> scenes() {
    finish_volume();
    std::optional<VolumeEstimate> found;
    if (is_volume_ && whole_.has_enough_cubes())
      found = estimate_volume(whole_, options_.noise.kind, sample_of_zero(values_));
    std::optional<SceneNoise> photons = photon_scene(options_, whole_, values_, found);
    if (photons) return {*std::move(photons)};
    SceneNoise scene = found ? scene_of(*std::move(found)) : scene_of_slices(excerpts_of_slices());
    if (options_.noise.photons) {
      scene.estimate.certain = false;
      scene.estimate.why = "its noise does not rise with brightness";
      if (scene.volume) scene.volume->certain = false, scene.volume->why = scene.estimate.why;
    }
    return by_time(std::move(scene));
  }

 private:
  void add_to_volume(const Frame& slice) {
    if (info_.slices == frames_) return;  // there is only one volume
    if (slice.slice == 0) {
      finish_volume();
      volume_.emplace(format_, info_.slices);
    }
    if (volume_) volume_->add(slice);
  }

  void finish_volume() {
    if (!volume_) return;
    std::optional<VolumeEstimate>& estimate = volumes_.emplace_back();
    if (volume_->has_enough_cubes())
      estimate = estimate_volume(*volume_, options_.noise.kind, sample_of_zero(values_));
    volume_.reset();
  }

  /// Stores the slice if it belongs to an excerpt. The excerpts are spread over the channel.
  void add_to_excerpt(const Frame& slice) {
    const auto begin_of = [this](std::int64_t excerpt) {
      return (2 * excerpt + 1) * (frames_ - length_) / (2 * excerpts_wanted_);
    };
    const auto last = static_cast<std::int64_t>(excerpts_.size()) - 1;
    if (last >= 0 && static_cast<std::int64_t>(excerpts_.back().size()) < length_)
      excerpts_.back().push_back(slice);
    else if (last + 1 < excerpts_wanted_ && added_ >= begin_of(last + 1))
      excerpts_.push_back({slice});
  }

  std::vector<Excerpt> excerpts_of_slices() {
    if (!excerpts_.empty()) return std::move(excerpts_);
    throw BadData("'" + options_.input.file +
                  "' has too few voxels to estimate the noise of a volume; give --sigma, or "
                  "--method bm3d");
  }

  /// Returns the unchanged scene or, if the noise levels of the volumes differ, one scene per time
  /// point.
  std::vector<SceneNoise> by_time(SceneNoise scene) const {
    if (!scene.volume || volumes_.size() < 2) return {std::move(scene)};
    std::vector<float> levels;
    for (const std::optional<VolumeEstimate>& volume : volumes_)
      levels.push_back(volume && volume->certain ? volume->level : scene.volume->level);
    if (!series::levels_differ(levels, scene.volume->noise.kind)) return {std::move(scene)};
    std::vector<SceneNoise> scenes;
    for (std::size_t t = 0; t < volumes_.size(); ++t) {
      const bool known = volumes_[t] && volumes_[t]->certain;
      SceneNoise at_time = known ? scene_of(*volumes_[t]) : scene;
      at_time.name = "time point " + std::to_string(t + 1);
      at_time.from_s = static_cast<double>(info_.slices) * static_cast<double>(t);
      scenes.push_back(std::move(at_time));
    }
    return scenes;
  }

  const DenoiseOptions& options_;
  const io::VideoInfo& info_;
  const FrameFormat format_;
  const io::ValueScale values_;
  const std::int64_t frames_;  // number of frames of the channel
  const bool is_volume_;
  CubeCollector whole_;  // cubes of all frames, or squares if there are too few frames for cubes
  std::optional<CubeCollector> volume_;  // cubes of the current volume
  std::vector<std::optional<VolumeEstimate>> volumes_;
  std::int64_t length_ = 1, excerpts_wanted_ = 1, added_ = 0;
  std::vector<Excerpt> excerpts_;
};

}  // namespace

SceneNoise scene_of_slices(const std::vector<Excerpt>& excerpts) {
  NoiseEstimate estimate = estimate_noise(excerpts);
  // The estimate contains no noise curve, because the dark background of a stack looks like clipped
  // samples.
  for (int i = 0; i < 3; ++i) {
    PlaneNoise& plane = estimate.noise.plane(i);
    plane = {plane.level_in_samples(), plane.correlation, nullptr};
  }
  SceneNoise scene;
  scene.estimate = std::move(estimate);
  return scene;
}

std::vector<SceneNoise> noise_of_tiff_stack(const DenoiseOptions& options,
                                            const io::MediaSource& source) {
  const io::VideoInfo& info = source.info();
  const std::int64_t frames = info.frames_estimate / info.channels;
  const auto reopened = open_again(options);
  std::vector<SceneNoise> scenes;
  for (std::int64_t channel = 0; channel < info.channels; ++channel) {
    ChannelNoise noise(options, source, channel);
    for (std::int64_t i = 0; i < frames; ++i) {
      const std::optional<Frame> slice = reopened->read();
      if (!slice || slice->format != source.format())
        throw BadData("'" + options.input.file + "' changed while it was read; read it again");
      noise.add(*slice);
    }
    for (SceneNoise& scene : noise.scenes()) {
      if (info.channels > 1)
        scene.name = "channel " + std::to_string(channel + 1) +
                     (scene.name.empty() ? "" : ", " + scene.name);
      scene.from_s += static_cast<double>(channel * frames);
      scene.unit = unit_of_channel(source, static_cast<std::size_t>(channel));
      scenes.push_back(std::move(scene));
    }
  }
  return scenes;
}

}  // namespace lull::tools
