#pragma once
// Tracks the noise of a stream from scene to scene. The follower reads frames ahead where the noise
// may change.

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

/// The frames from which the noise was estimated before the stream starts.
enum class KnownFrom {
  first_frames,  // the first frames of the stream
  positions,     // excerpts that are spread over the stream
};

/// Returns the frames of a source and detects changes of the noise. The follower checks every frame
/// quickly. It estimates the noise at a cut, at the beginning of a known scene, and where the quick
/// check indicates another noise level. It first uses three frames. If these frames do not confirm
/// the current or the predicted noise, it uses up to `frames_ahead` frames, but no frames after a
/// cut. If the noise resembles that of an earlier scene, the follower uses the earlier scene again.
/// Equal streams give equal scenes.
///
/// The follower does not examine context frames (Frame::context_only) and frames in GPU memory.
/// Among such frames, the known scenes begin at their known times.
class NoiseFollower final : public FrameSource {
 public:
  /// The reading thread calls this function when a scene with different noise begins, before read()
  /// returns the first frame of the scene. `is_predicted` is true if the scene was known and begins
  /// at its known time.
  using OnScene = std::function<void(const SceneNoise& scene, bool is_predicted)>;

  /// @param known  scenes in the order of time; the first scene begins with the source
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
  // True if the noise of the current scene was estimated from differences between frames.
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

/// Returns whether lull can track the noise from scene to scene with these options. The result is
/// false for volumes, for frames that are combined into one picture, and for joined parts of the
/// input, whose timestamps cannot identify scenes.
[[nodiscard]] bool follows_scenes(const DenoiseOptions& options, const io::VideoInfo& input);

/// Returns the first scene of `frames`, the frames at the beginning of a pipe.
[[nodiscard]] std::vector<Frame> first_scene_of(const std::vector<Frame>& frames);

}  // namespace lull::tools
