#pragma once
// Tracks the noise of a stream from scene to scene, reading frames ahead where the noise may
// change.

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "core/stream.h"
#include "io/media.h"
#include "noise/estimate/estimate.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/search/quick_check.h"

namespace lull::tools {

/// The frames from which lull estimated the noise before the run.
enum class KnownFrom {
  first_frames,  // the first frames of the stream
  positions,     // excerpts that are spread over the stream
};

/// Returns the frames of a source and detects changes of the noise. Three events trigger a noise
/// estimate from several frames: a cut, the start of a scene that lull has found before the run,
/// and statistics of a frame (QuickCheck) that indicate a change of the noise.
class NoiseFollower final : public FrameSource {
 public:
  /// The reading thread calls this function before read() returns the first frame of a scene with
  /// different noise. `is_predicted` is true if lull found this scene and its start time before
  /// the run, when it estimated the noise.
  using OnScene = std::function<void(const SceneNoise& scene, bool is_predicted)>;

  /// @param known  scenes in order of time; the first scene begins with the first frame
  NoiseFollower(FrameSource& source, const DenoiseOptions& options, std::vector<SceneNoise> known,
                KnownFrom from, OnScene on_scene);

  const FrameFormat& format() const noexcept override { return source_.format(); }
  std::optional<Frame> read() override;
  void interrupt() noexcept override { source_.interrupt(); }

 private:
  struct AheadFrame {
    Frame frame;
    bool can_check;  // whether the frame may be examined
    QuickCheck check;
  };

  bool fill(std::size_t count);
  std::size_t frames_of_scene(std::size_t max_count);
  bool repeats(std::size_t count) const;
  std::vector<Excerpt> excerpts_at(std::size_t count) const;
  std::size_t predicted_at(double time_s);
  void check_next();
  bool is_near_level_of(float level, std::size_t scene, bool cut) const;
  std::optional<std::size_t> find_similar_scene(const NoiseEstimate& found) const;
  bool needs_estimate() const;
  bool has_noise_of(std::size_t scene, bool cut);
  std::optional<NoiseEstimate> estimate(std::size_t count, bool cut) const;
  void update_scene(bool cut, std::size_t expected);
  void choose_scene(std::size_t count, const NoiseEstimate& found, bool cut, std::size_t expected);
  void switch_to(std::size_t scene, bool is_predicted);

  FrameSource& source_;
  const bool fields_;
  const OnScene on_scene_;
  std::deque<AheadFrame> ahead_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::vector<SceneNoise> known_;      // the predicted scenes, followed by the detected ones
  const std::size_t predicted_count_;  // number of predicted scenes
  std::size_t next_predicted_ = 1;     // index of the next predicted scene
  std::size_t scene_ = 0;              // index in known_ of the current scene
  // True if the noise estimate of the current scene comes from differences between frames.
  bool is_temporal_;
  bool has_temporal_scene_;  // whether is_temporal_ was true for any scene
  // True if the next frame certainly belongs to the current scene.
  bool continues_scene_;
  std::optional<double> from_s_;          // start of the current scene
  std::optional<QuickCheck> last_check_;  // QuickCheck of the previous frame
  float checked_flat_noise_ = 0;          // QuickCheck::flat_noise at the last estimate
  std::size_t frames_since_check_ = 0;    // number of frames since the last estimate
  // Number of frames until the next estimate if there is no cut.
  std::size_t check_interval_;
};

/// Returns whether lull can track the noise from scene to scene. Tracking is impossible for stacks,
/// still pictures, --align, --keep, and joined parts of the input, whose timestamps are ambiguous.
[[nodiscard]] bool follows_scenes(const DenoiseOptions& options, const io::VideoInfo& input);

/// Returns the frames of the first scene. `frames` contains the first frames of a pipe.
[[nodiscard]] std::vector<Frame> first_scene_of(const std::vector<Frame>& frames);

}  // namespace lull::tools
